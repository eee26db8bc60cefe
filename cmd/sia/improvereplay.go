package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	improving "github.com/sia-bot/sia/app/improve"

	"github.com/sia-bot/sia/cmd/internal/cli"
)

// Timeouts of a replay.
const (
	buildTimeout  = 20 * time.Minute
	listTimeout   = time.Minute
	replayTimeout = 6 * time.Hour
)

// builtCopy replays tasks with a program that is built from a copy of SIA's source, since prompts, techniques and
// policies are embedded in it. It runs with this process's environment, as the current program would: only texts were
// changed.
type builtCopy struct {
	root      string // checkout that the tasks were mined from
	iteration string
	say       io.Writer
}

// Replay builds the copy in dir and plays every task of the checkout. It returns no result if the copy has no replay
// command.
func (b builtCopy) Replay(ctx context.Context, dir string) (map[string]bool, error) {
	bin, err := os.MkdirTemp("", "sia-built-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	program := filepath.Join(bin, "sia")
	if _, err := b.run(ctx, buildTimeout, dir, "go", "build", "-buildvcs=false", "-o", program, "./cmd/sia"); err != nil {
		return nil, fmt.Errorf("build the copy: %w", err)
	}
	out, err := b.run(ctx, listTimeout, b.root, program, "replay", "list", "--output", "json")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == cli.ExitUsage {
		return nil, nil
	}
	var tasks []json.RawMessage
	if err == nil {
		err = json.Unmarshal(out, &tasks)
	}
	if err != nil {
		return nil, fmt.Errorf("list the replay tasks: %w", err)
	}
	if len(tasks) == 0 {
		return nil, nil
	}
	// It exits 1 if some tasks could not be played; the output has the results of the others.
	out, ran := b.run(ctx, replayTimeout, b.root, program, "replay", "run", "--loop", "--output", "json")
	var played struct {
		Runs []struct {
			Task     string `json:"task"`
			Resolved bool   `json:"resolved"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(out, &played); err != nil {
		return nil, fmt.Errorf("play the replay tasks: %w", errors.Join(ran, err))
	}
	balance := map[string]int{}
	for _, r := range played.Runs {
		if r.Resolved {
			balance[r.Task]++
		} else {
			balance[r.Task]--
		}
	}
	results := map[string]bool{}
	for id, n := range balance {
		results[id] = n > 0 // resolved with more than half of the seeds
	}
	return results, nil
}

// run runs a program and returns its output, also if it fails.
func (b builtCopy) run(ctx context.Context, within time.Duration, dir, program string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), improving.Environment+"="+b.iteration)
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = b.say
	return cmd.Output()
}
