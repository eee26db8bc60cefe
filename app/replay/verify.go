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
	Unknown      Verdict = "no way to run its tests is known"
	Absent       Verdict = "the clone lacks its files"
)

// again reports whether another look may come to something else: the machine was at fault.
func (v Verdict) again() bool { return v == Unprepared || v == Absent }

// mostAttempts is how often tests that don't build before are left out and the others tried.
const mostAttempts = 4

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
func (p *pair) judge(ctx context.Context, c candidate) (judged, error) {
	out, err := p.judgeTrees(ctx, c)
	if errors.Is(err, gitops.ErrMissing) || errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge) {
		return judged{verdict: Absent, why: err.Error()}, nil
	}
	return out, err
}

func (p *pair) judgeTrees(ctx context.Context, c candidate) (judged, error) {
	parent, err := p.history.Files(ctx, c.Parent)
	if err != nil {
		return judged{}, err
	}
	commit, err := p.history.Files(ctx, c.SHA)
	if err != nil {
		return judged{}, err
	}
	leave := map[string]bool{}
	said := "" // by the build that failed last
	for attempt := 1; ; attempt++ {
		s := c.splitAt(parent, commit, leave)
		run, ok := c.lang.suite(s.after, s.tests, p.reader(s.after))
		switch {
		case !ok && attempt > 1:
			return judged{verdict: NoBuild, why: said}, nil
		case !ok:
			return judged{verdict: Unknown, why: "none of the changed tests is run by itself"}, nil
		}
		before, after, why, err := p.bothEnds(ctx, c.lang, run, s)
		if err != nil {
			return judged{}, err
		}
		if why != "" {
			return judged{verdict: Unprepared, why: why}, nil
		}
		if len(before.builds) > 0 && before.ended == "" && attempt < mostAttempts {
			said = firstLog(before)
			for _, f := range c.unbuildable(s, before) {
				leave[f] = true
			}
			continue
		}
		return compare(s, before, after), nil
	}
}

// unbuildable are the tests laid over that keep their group from being built: those that the compiler
// names, or all of the group.
func (c candidate) unbuildable(s split, before report) (out []string) {
	for group, log := range before.builds {
		named := slices.DeleteFunc(c.lang.broken(log, group), func(f string) bool { return !slices.Contains(s.tests, f) })
		if len(named) == 0 {
			for _, f := range s.tests {
				if inGroup(f, group) {
					named = append(named, f)
				}
			}
		}
		out = append(out, named...)
	}
	if len(out) == 0 { // so that there is an end
		return s.tests
	}
	return out
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
	if err := errors.Join(p.before.set(ctx, t.before, s.links), p.after.set(ctx, t.after, s.links)); err != nil {
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
		if !lacking(l, before) && !lacking(l, after) || exists(p.prepared(l, s, t.after)) {
			return before, after, "", nil
		}
		if why, err := p.prepare(ctx, l, s, at); err != nil || why != "" {
			return before, after, why, err
		}
	}
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

// holds reports whether a task's tests still fail on its parent and pass with its commit; why says what
// does not.
func (p *pair) holds(ctx context.Context, t Task) (why string, err error) {
	e, err := p.endsOf(ctx, t)
	if err != nil {
		return "", err
	}
	before, after, why, err := p.bothEnds(ctx, e.lang, e.suite, e.split)
	if err != nil || why != "" {
		return why, err
	}
	found := turned(before, after)
	gone := slices.DeleteFunc(slices.Clone(t.Failing), func(test string) bool { return slices.Contains(found, test) })
	if len(gone) > 0 {
		return "no longer so: " + strings.Join(gone, ", "), nil
	}
	return "", nil
}

// ends are a task as it is run.
type ends struct {
	lang  language
	suite suite
	split split
}

// endsOf reads what a task runs from the history.
func (b *bench) endsOf(ctx context.Context, t Task) (ends, error) {
	l := languageNamed(t.Language)
	if l == nil {
		return ends{}, fmt.Errorf("task %s: this program can't run tests of %q", t.ID, t.Language)
	}
	parent, err := b.history.Files(ctx, t.Parent)
	if err != nil {
		return ends{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	commit, err := b.history.Files(ctx, t.Commit)
	if err != nil {
		return ends{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	s := split{over: files{}, without: t.Without, before: maps.Clone(parent), after: maps.Clone(parent)}
	for p := range commit { // the commit, but for tests that are not laid over
		if !l.isTest(p) {
			s.after[p] = commit[p]
		}
	}
	for p := range parent {
		if _, stays := commit[p]; !stays && !l.isTest(p) {
			delete(s.after, p)
		}
	}
	for _, p := range t.Without {
		delete(s.before, p)
		delete(s.after, p)
	}
	for _, p := range t.Tests {
		f, ok := commit[p]
		if !ok {
			return ends{}, fmt.Errorf("task %s: its commit has no file %s", t.ID, p)
		}
		s.over[p], s.before[p], s.after[p] = f, f, f
		if l.isTest(p) {
			s.tests = append(s.tests, p)
		}
	}
	run, ok := l.suite(s.after, s.tests, b.reader(s.after))
	if !ok {
		return ends{}, fmt.Errorf("task %s: no way to run its tests is known", t.ID)
	}
	return ends{lang: l, suite: run, split: s}, nil
}
