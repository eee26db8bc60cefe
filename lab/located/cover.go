package located

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun"
)

// Coverage runs the tests of tasks and others near them, as before an attempt.
type Coverage struct {
	Box    *sandbox.Sandbox
	Dir    string // stored results: a second measurement runs nothing
	Within time.Duration
}

// Covered is the coverage of a task's tests.
type Covered struct {
	Runs []locate.Run
	Took time.Duration
	Why  string `json:",omitempty"` // the reason if there are no runs
}

// of runs a task's tests in a tree.
func (c *Coverage) of(ctx context.Context, r *Repository, t Task, tree *overlaidTree) (out Covered, err error) {
	if c == nil {
		return out, nil
	}
	dir := filepath.Join(c.Dir, r.Name)
	file := filepath.Join(dir, t.Commit+".json")
	if b, err := os.ReadFile(file); err == nil {
		return out, json.Unmarshal(b, &out)
	}
	tests, err := locate.FindTests(ctx, tree, locate.Query{Tests: t.Tests, Output: t.Output})
	if err != nil {
		return out, err
	}
	within, cancel := context.WithTimeout(ctx, c.Within)
	defer cancel()
	runner, began := testrun.NewRunner(c.Box, r.History, dir, nil, 0), time.Now()
	runner.Near = true // the dependencies of Node's tasks hardly differ
	at := testrun.NewWorkTree(filepath.Join(dir, "tree"), r.History)
	out.Runs, err = runner.Cover(within, testrun.Tree{At: at, Files: tree.files}, tests)
	out.Took = time.Since(began)
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if err != nil {
		out.Why = err.Error()
	}
	b, err := json.Marshal(out)
	if err := errors.Join(err, os.MkdirAll(dir, 0o700), os.WriteFile(file, b, 0o600)); err != nil {
		return out, fmt.Errorf("keep what tests ran: %w", err)
	}
	return out, nil
}

// CoverWords returns how many of the cases have coverage, and in which time; "" without coverage.
func CoverWords(cases []Case) string {
	var took []time.Duration
	n := 0
	for _, c := range cases {
		if c.Covered.Took > 0 {
			took = append(took, c.Covered.Took)
		}
		if len(c.Covered.Runs) > 0 {
			n++
		}
	}
	if len(took) == 0 {
		return ""
	}
	slices.Sort(took)
	return fmt.Sprintf(", %d with coverage, %.1f s in the median and %.1f s at most", n, took[len(took)/2].Seconds(),
		took[len(took)-1].Seconds())
}
