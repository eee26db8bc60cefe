package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// A successful attack fails the whole command, which names it. Here the untrusted user has write access; without it,
// the user's commands don't count.
//
//test:thorough
func TestAbuseFindsAFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		plant func(*demoStage) error
		held  bool
	}{
		"as it is": {nil, true},
		"the stranger may": {func(s *demoStage) error {
			return s.sim.SetPermission(targetRepo, targetStranger, "write")
		}, false},
		"the stage can't play": {func(*demoStage) error { return errors.New("a planted fault") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			bench := benchAbuseCmd{Only: []string{"10 "}, plant: c.plant, Format: cli.Format{Output: "text"}}
			err := bench.Run(&cli.Env{Ctx: t.Context(), Out: &out, Err: io.Discard, Logger: silentLogger()})
			if (err == nil) != c.held || strings.Contains(out.String(), "\n1 of 1 held") != c.held {
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
}
