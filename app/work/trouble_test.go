package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// People read what is wrong with git: a transfer that was not done in time is no server that can't be reached.
func TestForPeople(t *testing.T) {
	late := fmt.Errorf("took longer than 15m0s: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		err  error
		want string
	}{
		{&gitops.NetworkError{Op: "fetch", Err: io.ErrUnexpectedEOF}, "git on GitHub can't be reached"},
		{&gitops.NetworkError{Op: "fetch", Err: late}, "git on GitHub did not send everything in time: the repository is " +
			"large, and the connection slow"},
		{&gitops.ServerError{Op: "fetch", Status: 502}, "git on GitHub does not answer as it should (HTTP 502)"},
	} {
		err := forPeople(sia.Effect{Kind: sia.DoBegin}, fmt.Errorf("begin: %w", c.err))
		var said *sia.Error
		if !errors.As(err, &said) || said.Message != c.want || said.Permanent {
			t.Errorf("%v: %v, want %q", c.err, err, c.want)
		}
	}
}
