package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sia-bot/sia/gitops"
)

// Verdict is what came of a candidate.
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

// Tests that don't build before are left out and the others tried.
const (
	mostCuts     = 5 // how often single declarations are
	mostAttempts = 8 // how often a candidate is built
)

// judged is what came of looking at a candidate.
type judged struct {
	verdict Verdict
	why     string // for people; of what was not verified
	split   split
	failing []string
	passing []string
}

// pair runs both ends of candidates, one candidate at a time.
type pair struct {
	*bench
	before, after *slot
}

func newPair(b *bench, dir string) *pair {
	return &pair{bench: b, before: newSlot(filepath.Join(dir, "before"), b.history),
		after: newSlot(filepath.Join(dir, "after"), b.history)}
}

// judge verifies a candidate. An error says nothing about it.
func (p *pair) judge(ctx context.Context, c sifted) (judged, error) {
	out, err := p.judgeTrees(ctx, c)
	if isAbsent(err) {
		return judged{verdict: Absent, why: err.Error()}, nil
	}
	return out, err
}

// isAbsent reports whether a clone lacks what a commit needs, or has more of it than can be laid out.
func isAbsent(err error) bool {
	return errors.Is(err, gitops.ErrMissing) || errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge)
}

func (p *pair) judgeTrees(ctx context.Context, c sifted) (judged, error) {
	said := c.said
	for attempt := 1; ; attempt++ {
		s := c.splitAt(c.parent, c.commit, c.choice)
		run, ok := c.lang.suite(s.after, s.tests, p.reader(s.after, s.made))
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
		if len(before.builds) > 0 && before.ended == "" && attempt < mostAttempts {
			said = cmp.Or(said, firstLog(before))
			c.choice.narrow(c.candidate, s, before, attempt > mostCuts, p.reader(c.commit, nil), p.reader(c.parent, nil))
			continue
		}
		out := compare(s, before, after)
		if said != "" && (out.verdict == PassesBefore || out.verdict == FailsAfter) { // it shows in what was left out
			out.verdict, out.why = NoBuild, said
		}
		return out, nil
	}
}

// compare judges by what both ends came to.
func compare(s split, before, after report) judged {
	out := judged{verdict: Verified, split: s, failing: turned(before, after)}
	switch {
	case len(out.failing) > 0:
		out.passing = unmoved(before, after)
	case before.ended != "" || after.ended != "":
		out.verdict, out.why = Ended, cmp.Or(before.ended, after.ended)
	case len(after.builds) > 0:
		out.verdict, out.why = BreaksAfter, firstLog(after)
	case before.anyFlaky() || after.anyFlaky():
		out.verdict = Flaky
	case before.anyFailed(after):
		out.verdict, out.why = FailsAfter, tail(after.log)
	case len(before.builds) > 0:
		out.verdict, out.why = NoBuild, firstLog(before)
	case before.anyFailed(before): // of what the commit has under no such name: a file that can't be loaded
		out.verdict, out.why = NoBuild, tail(before.log)
	default:
		out.verdict = PassesBefore
	}
	return out
}

func firstLog(r report) string {
	for _, group := range slices.Sorted(maps.Keys(r.builds)) {
		return group + ": " + tail(r.builds[group])
	}
	return ""
}

// bothEnds lays both trees out and runs the suite in them at the same time. why says that what it
// depends on could not be fetched.
func (p *pair) bothEnds(
	ctx context.Context, l language, s suite, t split,
) (before, after report, why string, err error) {
	if err := errors.Join(p.before.set(ctx, t.before, t.made, s.links),
		p.after.set(ctx, t.after, t.made, s.links)); err != nil {
		return before, after, "", err
	}
	at := tree{p.after, t.after}
	if s.eager {
		if why, err := p.prepare(ctx, l, s, at); err != nil || why != "" {
			return before, after, why, err
		}
	}
	for {
		if before, after, err = p.runBoth(ctx, l, s); err != nil {
			return before, after, "", err
		}
		if mark := p.prepared(l, s, t.after); !lacking(l, before) && !lacking(l, after) {
			return before, after, "", nil
		} else if exists(mark) {
			why, err := unfetched(l, after, mark)
			return before, after, why, err
		}
		if why, err := p.prepare(ctx, l, s, at); err != nil || why != "" {
			return before, after, why, err
		}
	}
}

// unfetched says what a commit still lacks after its dependencies were fetched, and has them fetched again the next
// time. Where only its parent lacks something, that is what the commit adds.
func unfetched(l language, after report, mark string) (why string, err error) {
	if !lacking(l, after) {
		return "", nil
	}
	if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("have dependencies fetched again: %w", err)
	}
	return firstLog(after), nil
}

// lacking reports whether a build stopped for want of something that can be fetched.
func lacking(l language, r report) bool {
	for _, log := range r.builds {
		if l.lacks(log) {
			return true
		}
	}
	return false
}

// errNeedless ends the run of one end when the other has decided.
var errNeedless = errors.New("the other end has decided")

// runBoth runs the suite at both ends at the same time. Where nothing can be built before, what the
// commit makes of it does not matter.
func (p *pair) runBoth(ctx context.Context, l language, s suite) (before, after report, err error) {
	g, both := errgroup.WithContext(ctx)
	later, end := context.WithCancelCause(both)
	defer end(nil)
	g.Go(func() error {
		once := s
		once.env = append(slices.Clone(s.env), "ONCE=1")
		var err error
		if before, err = p.run(both, l, once, p.before.dir); err != nil {
			return err
		}
		if len(before.builds) > 0 && len(before.runs[0]) == 0 && !lacking(l, before) {
			end(errNeedless)
		}
		return nil
	})
	g.Go(func() error {
		var err error
		if after, err = p.run(later, l, s, p.after.dir); errors.Is(err, errNeedless) {
			return nil
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return before, after, fmt.Errorf("run both ends: %w", err)
	}
	return before, after, nil
}
