package evidence

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// affectedLog is the maximum size of [agent.TestsRun.Log], in bytes.
const affectedLog = 6000

// OfTree is [Looker.Affected] for the changes in a work tree since w.Base, as agents need it. It commits the work tree,
// with at as the time, and leaves the commit in the mirror.
func (l *Looker) OfTree(
	ctx context.Context, space *gitops.Workspace, at time.Time, w Wanted,
) (agent.TestsRun, error) {
	head, err := commitTree(ctx, space, at)
	if errors.Is(err, gitops.ErrEmpty) {
		return agent.TestsRun{}, nil
	}
	if err != nil {
		return agent.TestsRun{}, err
	}
	w.Head = head
	return l.Affected(ctx, w)
}

// commitTree commits a work tree.
func commitTree(ctx context.Context, space *gitops.Workspace, at time.Time) (string, error) {
	by := gitops.Signature{Name: "SIA", Email: "sia@localhost", When: at}
	return space.Commit(ctx, gitops.CommitSpec{Message: "Tests before the push", Author: by, Committer: by})
}

// Affected runs the tests that a change can reach at its head, the nearest first, and on the base only those that fail.
// Failed are the tests that fail twice at the head and not on the base, as "group::name", and groups that can't be
// built. Tests that could not be run, or that ctx's deadline prevented, are omitted. An error means that the result is
// unknown, as for [Look].
func (l *Looker) Affected(ctx context.Context, w Wanted) (out agent.TestsRun, err error) {
	if !l.Runs() {
		return out, nil
	}
	err = l.with(ctx, w, func(s Spec) error {
		x, why, err := newLook(ctx, s, &sia.TestEvidence{})
		if err != nil || why != "" {
			return err
		}
		for _, lang := range testrun.Languages() {
			if err := x.affected(ctx, lang, &out); err != nil {
				return fmt.Errorf("run the tests that a change reaches: %w", err)
			}
		}
		return nil
	})
	if out.Ran > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = nil // the runs so far are valid
	}
	slices.Sort(out.Failed)
	out.Failed = out.Failed[:min(len(out.Failed), sia.MaxEvidence)]
	return out, err
}

// affected runs the reachable tests of one language.
func (l *look) affected(ctx context.Context, lang testrun.Language, out *agent.TestsRun) error {
	found, err := l.reach(ctx, lang)
	if err != nil || len(found.groups) == 0 || !l.Runner.Has(lang.Program()) {
		return err
	}
	p, began := newPass(l, lang, found), l.workTime()
	for _, batch := range p.batches() {
		if !l.timeLeft() || batch[0].far && l.workTime().Sub(began) > maxFarDelay {
			break
		}
		head, err := p.run(ctx, atHead, batch, plain)
		if err != nil {
			return err
		}
		log := p.log
		for _, r := range head {
			out.Ran += len(r.Tests)
		}
		failed := failedTests(head)
		if len(failed) == 0 {
			continue
		}
		base, err := p.run(ctx, atBase, p.failing(batch, head), plain)
		if err != nil {
			return err
		}
		before := failedTests(base)
		failed = slices.DeleteFunc(failed, func(name string) bool { return slices.Contains(before, name) })
		if len(failed) > 0 && out.Log == "" {
			out.Log = testrun.LongTail(log, affectedLog)
		}
		out.Failed = append(out.Failed, failed...)
	}
	return nil
}

// failing returns the groups of a batch in which a test failed.
func (p *pass) failing(batch []group, runs map[string]groupRun) []group {
	if !p.namesGroups() {
		return batch
	}
	return slices.DeleteFunc(slices.Clone(batch), func(g group) bool {
		r, ran := runs[g.name]
		return !ran || len(failedTests(map[string]groupRun{g.name: r})) == 0
	})
}

// failedTests returns the tests that failed twice, and the groups that could not be built.
func failedTests(runs map[string]groupRun) (out []string) {
	for _, g := range slices.Sorted(maps.Keys(runs)) {
		r := runs[g]
		if !r.Built {
			out = append(out, g)
		}
		for _, test := range slices.Sorted(maps.Keys(r.Tests)) {
			if r.Tests[test] == testrun.Failed {
				out = append(out, agent.ClipName(g+"::"+test))
			}
		}
	}
	return out
}
