package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// A rejection because of files is a reason for the next attempt; a rejection by a branch rule is reported to a user.
func TestRefusedChange(t *testing.T) {
	for said, want := range map[string]bool{
		"error: File dump.sql is 117.80 MB; this exceeds GitHub's file size limit of 100.00 MB error: GH001: Large " +
			"files detected.": true,
		"error: GH013: Repository rule violations found for refs/heads/sia/issue-1. - GITHUB PUSH PROTECTION - Push cannot " +
			"contain secrets locations: path: .env:6": true,
		"error: GH013: Repository rule violations found for refs/heads/sia/issue-1. - File path is restricted": true,
		"refusing to allow a GitHub App to create or update workflow `.github/workflows/a.yml` without `workflows` " +
			"permission": true,
		"error: GH013: Repository rule violations found for refs/heads/sia/issue-1. - Changes must be made through a pull " +
			"request.": false,
		"error: GH006: Protected branch update failed for refs/heads/sia/issue-1.": false,
	} {
		got, ok := parseRefusal(fmt.Errorf("push: %w", &gitops.RejectedError{Branch: "sia/issue-1", Reason: said}))
		if ok != want || got.Change != want {
			t.Errorf("%s: %v, %+v", said, ok, got)
		}
	}
}

// Users are told what is wrong with git: a transfer that exceeded its time limit is not an unreachable server.
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
		{&gitops.ServerError{Op: "push", Status: 200, Detail: "failure"},
			"git on GitHub does not answer as it should: failure"},
	} {
		err := userError(sia.Effect{Kind: sia.DoBegin}, fmt.Errorf("begin: %w", c.err))
		var said *sia.Error
		if !errors.As(err, &said) || said.Message != c.want || said.Permanent {
			t.Errorf("%v: %v, want %q", c.err, err, c.want)
		}
	}
}

// A repository that is too large is for a person to change: a retry would fetch as much again.
func TestRepositoryTooLarge(t *testing.T) {
	err := userError(sia.Effect{Kind: sia.DoBegin}, fmt.Errorf("fetch: %w", gitops.ErrFetchTooLarge))
	var said *sia.Error
	if !errors.As(err, &said) || !said.Permanent || !strings.Contains(said.Message, "larger than SIA can work on") {
		t.Errorf("got %v", err)
	}
}

// Files that can't be checked out are for a person to change. The message tells no path of the server.
func TestUnfitFiles(t *testing.T) {
	for err, want := range map[error]string{
		fmt.Errorf("check out: %w: name \"git~1\" is not allowed", gitops.ErrTree):      `"git~1" is not allowed`,
		&fs.PathError{Op: "openat", Path: "/srv/sia/work/x", Err: syscall.ENAMETOOLONG}: "longer than 255 bytes",
	} {
		err := userError(sia.Effect{Kind: sia.DoBegin}, err)
		var said *sia.Error
		if !errors.As(err, &said) || !said.Permanent || !strings.Contains(said.Message, want) ||
			strings.Contains(said.Message, "/srv") {
			t.Errorf("got %v", err)
		}
	}
}

// Names that exclude one another are for a person to change.
func TestBranchBesideAnother(t *testing.T) {
	err := userError(sia.Effect{Kind: sia.DoPush}, &gitops.RejectedError{Branch: "sia/issue-1", Beside: "sia"})
	var said *sia.Error
	if !errors.As(err, &said) || !said.Permanent || !strings.Contains(said.Message, "rename or delete sia to go on") {
		t.Errorf("got %v", err)
	}
}

// With a full disk, an effect waits, which is no failed try. What the error passed through before does not matter.
func TestDiskFull(t *testing.T) {
	full := &fs.PathError{Op: "write", Path: "/srv/sia/git/pack", Err: syscall.ENOSPC}
	for _, err := range []error{full, &gitops.NetworkError{Op: "fetch", Err: full},
		&sia.Error{Op: "make a workspace", Message: "it can't be made", Permanent: true, Err: full}} {
		err := userError(sia.Effect{Kind: sia.DoBegin}, fmt.Errorf("begin: %w", err))
		var said *sia.Error
		if !errors.As(err, &said) || !sia.WaitsTurn(err) || sia.IsPermanent(err) || sia.RetryAfter(err) != fullDiskWait ||
			!strings.Contains(said.Message, "free some space") || strings.Contains(said.Message, "/srv") {
			t.Errorf("%+v", err)
		}
	}
}
