package work

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
)

// countLimit is how much of a log is read for what it says of tests: summaries stand near
// its end.
const countLimit = 32 << 20

// countTests compares how many tests checks ran with how many they ran on the base commit,
// where both logs say it.
func (w *Worker) countTests(
	ctx context.Context, t sia.Task, e *headEvidence, pairs []gate.Pair,
) ([]gate.TestCount, error) {
	var out []gate.TestCount
	for _, p := range pairs {
		base, err := w.testsRun(ctx, t, e.base, p.Base)
		if err != nil {
			return nil, err
		}
		if base <= 0 {
			continue
		}
		head, err := w.testsRun(ctx, t, e.head, p.Head)
		if err != nil {
			return nil, err
		}
		if head >= 0 {
			out = append(out, gate.TestCount{Run: p.Head, Head: head, Base: base})
		}
	}
	return out, nil
}

// testsRun is how many tests the log of a run says have run, 0 where it says nothing of
// them; -1: there is no log.
func (w *Worker) testsRun(ctx context.Context, t sia.Task, set github.CheckSet, id int64) (int, error) {
	i := slices.IndexFunc(set.Runs, func(r github.CheckRun) bool { return r.ID == id })
	log, err := w.repo(t).JobLog(ctx, set.Runs[i], countLimit)
	if errors.Is(err, github.ErrNoLog) {
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	defer log.Close()
	n, _, err := failure.CountTests(log)
	if err != nil {
		return 0, fmt.Errorf("count the tests of %s: %w", set.Runs[i].Name, err)
	}
	return n, nil
}
