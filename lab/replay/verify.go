package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// Verdict is the result of a candidate.
type Verdict string

// The verdicts.
const (
	Verified     Verdict = "verified"
	NoBuild      Verdict = "does not build before" // the commit adds what its tests call
	PassesBefore Verdict = "does not fail before"
	FailsAfter   Verdict = "fails with the commit too"
	BreaksAfter  Verdict = "does not build with the commit"
	Flaky        Verdict = "flaky"
	Ended        Verdict = "ended by a limit"
	Unprepared   Verdict = "its dependencies could not be fetched"
	Absent       Verdict = "the clone lacks its files"
)

// Tests that don't build before are removed and the others tried.
const (
	mostCuts     = 5 // of single declarations
	mostAttempts = 8 // builds of a candidate
)

// judged is the result of judging a candidate.
type judged struct {
	verdict Verdict
	why     string // for people; if not verified
	split   split
	failing []string
	passing []string
	output  string // the end of the tests' output before; if verified
}

// pair runs both trees of candidates, one candidate at a time.
type pair struct {
	*testrun.Runner
	before, after *testrun.WorkTree
}

func newPair(b *testrun.Runner, dir string) *pair {
	return &pair{Runner: b, before: testrun.NewWorkTree(filepath.Join(dir, "before"), b.History),
		after: testrun.NewWorkTree(filepath.Join(dir, "after"), b.History)}
}

// judge verifies a candidate. An error says nothing about it.
func (p *pair) judge(ctx context.Context, c filtered) (judged, error) {
	out, err := p.judgeTrees(ctx, c)
	if isAbsent(err) {
		return judged{verdict: Absent, why: err.Error()}, nil
	}
	return out, err
}

// isAbsent reports whether a clone lacks files of a commit, or the commit is too large to write.
func isAbsent(err error) bool {
	return errors.Is(err, gitops.ErrMissing) || errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge)
}

func (p *pair) judgeTrees(ctx context.Context, c filtered) (judged, error) {
	said := c.said
	for attempt := 1; ; attempt++ {
		s := c.splitAt(c.parent, c.commit, c.choice)
		run, ok := c.lang.Suite(s.after, s.tests, p.Reader(s.after, s.made))
		if !ok { // nothing is left
			return judged{verdict: NoBuild, why: said}, nil
		}
		before, after, why, err := p.bothEnds(ctx, c.lang, run, s)
		if err != nil {
			return judged{}, err
		}
		if why != "" {
			return judged{verdict: Unprepared, why: why}, nil
		}
		if len(before.Builds) > 0 && before.Ended == "" && attempt < mostAttempts {
			said = cmp.Or(said, firstLog(before))
			c.choice.narrow(c.candidate, s, before, attempt > mostCuts, p.Reader(c.commit, nil), p.Reader(c.parent, nil))
			continue
		}
		out := compare(s, before, after)
		if down := p.Unreached(ctx, run); out.verdict == FailsAfter && run.Eager && down != "" {
			out.verdict, out.why = Unprepared, down+"; with what is installed: "+out.why
		}
		if said != "" && (out.verdict == PassesBefore || out.verdict == FailsAfter) { // removed tests may show it
			out.verdict, out.why = NoBuild, said
		}
		return out, nil
	}
}

// anyFlaky reports whether a test of a group that ran twice had different results.
func anyFlaky(r testrun.Report) bool {
	for _, one := range r.Runs {
		for test := range one {
			group, _, _ := strings.Cut(test, "::")
			if slices.Contains(r.Groups, group) && r.Runs[0][test] != r.Runs[1][test] {
				return true
			}
		}
	}
	return false
}

// anyFailed reports whether a test that the other tree also has failed in every run.
func anyFailed(r, other testrun.Report) bool {
	for test := range r.Runs[0] {
		if _, known := other.Runs[0][test]; known && r.All(test, testrun.Failed) {
			return true
		}
	}
	return false
}

// compare returns the verdict by the reports of both trees.
func compare(s split, before, after testrun.Report) judged {
	out := judged{verdict: Verified, split: s, failing: fixedTests(before, after)}
	switch {
	case len(out.failing) > 0:
		out.passing, out.output = stillPassing(before, after), before.Log
	case before.Ended != "" || after.Ended != "":
		out.verdict, out.why = Ended, cmp.Or(before.Ended, after.Ended)
	case len(after.Builds) > 0:
		out.verdict, out.why = BreaksAfter, firstLog(after)
	case anyFlaky(before) || anyFlaky(after):
		out.verdict = Flaky
	case anyFailed(before, after):
		out.verdict, out.why = FailsAfter, testrun.Tail(after.Log)
	case len(before.Builds) > 0:
		out.verdict, out.why = NoBuild, firstLog(before)
	case anyFailed(before, before): // tests that the commit lacks by this name: a file that can't be loaded
		out.verdict, out.why = NoBuild, testrun.Tail(before.Log)
	case len(after.Runs[0]) == 0: // the runner itself failed
		out.verdict, out.why = FailsAfter, testrun.Tail(after.Log)
	default:
		out.verdict = PassesBefore
	}
	return out
}

func firstLog(r testrun.Report) string {
	for _, group := range slices.Sorted(maps.Keys(r.Builds)) {
		return group + ": " + testrun.Tail(r.Builds[group])
	}
	return ""
}

// bothEnds writes both trees and runs the suite in them at the same time. why is the reason if dependencies
// could not be fetched.
func (p *pair) bothEnds(
	ctx context.Context, l testrun.Language, s testrun.Suite, t split,
) (before, after testrun.Report, why string, err error) {
	if err := errors.Join(p.before.Set(ctx, t.before, t.made, s.Links),
		p.after.Set(ctx, t.after, t.made, s.Links)); err != nil {
		return before, after, "", err
	}
	at := testrun.Tree{At: p.after, Files: t.after}
	if s.Eager {
		if why, err := p.Fetch(ctx, l, s, at); err != nil || why != "" {
			return before, after, why, err
		}
	}
	for {
		if before, after, err = p.runBoth(ctx, l, s); err != nil {
			return before, after, "", err
		}
		if !before.Lacks(l) && !after.Lacks(l) {
			return before, after, "", nil
		} else if p.Prepared(ctx, l, s, t.after) {
			why, err := p.unfetched(l, s, t.after, after)
			return before, after, why, err
		}
		if why, err := p.Fetch(ctx, l, s, at); err != nil || why != "" {
			return before, after, why, err
		}
	}
}

// unfetched returns what a commit still lacks after its dependencies were fetched, and marks them for the next
// time. If only its parent lacks something, the commit adds it.
func (p *pair) unfetched(
	l testrun.Language, s testrun.Suite, at testrun.Files, after testrun.Report,
) (why string, err error) {
	if !after.Lacks(l) {
		return "", nil
	}
	return firstLog(after), p.FetchAgain(l, s, at)
}

// errDecided ends the run of one tree when the other has decided.
var errDecided = errors.New("the other end has decided")

// runBoth runs the suite in both trees at the same time. If nothing can be built before, the
// commit's result does not matter.
func (p *pair) runBoth(
	ctx context.Context, l testrun.Language, s testrun.Suite,
) (before, after testrun.Report, err error) {
	g, both := errgroup.WithContext(ctx)
	later, end := context.WithCancelCause(both)
	defer end(nil)
	g.Go(func() error {
		once := s
		once.Env = append(slices.Clone(s.Env), testrun.Once)
		var err error
		if before, err = p.Run(both, l, once, p.before.Dir); err != nil {
			return err
		}
		if len(before.Builds) > 0 && len(before.Runs[0]) == 0 && !before.Lacks(l) {
			end(errDecided)
		}
		return nil
	})
	g.Go(func() error {
		var err error
		if after, err = p.Run(later, l, s, p.after.Dir); errors.Is(err, errDecided) {
			return nil
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return before, after, fmt.Errorf("run both ends: %w", err)
	}
	return before, after, nil
}
