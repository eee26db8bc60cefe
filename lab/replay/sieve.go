package replay

import (
	"context"

	"github.com/sia-bot/sia/agent/testrun"
)

// notRun is the reason to skip a commit that changed no test that can run alone.
const notRun = "no way to run its tests is known"

// sieve is a language that recognizes, by reading, many commits with tests that can't fail before them. Nothing of
// those is built or run.
type sieve interface {
	// missing returns, like a build, the errors for what tests use and their tree lacks, by group. It reports a
	// subset of a build's errors.
	missing(tree testrun.Files, tests []string, read testrun.ReadFile) map[string]string
	// idle returns why the tests of a split can't fail before the commit, and pass with it; "" if they may. was reads
	// the parent, before and after the split's trees.
	idle(c candidate, s split, was, before, after testrun.ReadFile) string
}

// goSieve filters commits of Go, and removes declarations from test files.
type goSieve struct{ testrun.Golang }

func (goSieve) faults(log, group string) map[string][]int { return goFaults(log, group) }

// sieveOf returns the sieve of a language.
func sieveOf(l testrun.Language) sieve {
	if g, ok := l.(testrun.Golang); ok {
		return goSieve{g}
	}
	return lineSieve{l}
}

// filtered is a candidate without the tests that can't be built before.
type filtered struct {
	candidate
	parent, commit testrun.Files
	choice         *choice
	said           string // by the first failure; "": nothing was removed
}

// filterTests removes from a candidate the tests that can't count, without building. why is the reason if nothing
// remains that may be a task.
func filterTests(ctx context.Context, b *testrun.Runner, c candidate) (_ filtered, why string, err error) {
	out := filtered{candidate: c, choice: newChoice()}
	if out.parent, err = b.History.Files(ctx, c.Parent); err == nil {
		out.commit, err = b.History.Files(ctx, c.SHA)
	}
	if err != nil {
		return out, "", err
	}
	return out, out.leaveOut(b.Reader), nil
}

// leaveOut chooses the tests for filterTests. reader returns the files of a tree; made are those in no commit.
func (s *filtered) leaveOut(reader func(tree testrun.Files, made map[string][]byte) testrun.ReadFile) (why string) {
	was, now := reader(s.parent, nil), reader(s.commit, nil)
	over := s.splitAt(s.parent, s.commit, s.choice)
	if _, ok := s.lang.Suite(over.after, over.tests, reader(over.after, over.made)); !ok {
		return notRun
	}
	l := sieveOf(s.lang)
	for range mostAttempts {
		lacks := testrun.Report{Builds: l.missing(over.before, over.tests, reader(over.before, over.made))}
		if len(lacks.Builds) == 0 {
			break
		}
		if s.said == "" {
			s.said = firstLog(lacks)
		}
		s.choice.narrow(s.candidate, over, lacks, false, now, was)
		over = s.splitAt(s.parent, s.commit, s.choice)
	}
	return l.idle(s.candidate, over, was, reader(over.before, over.made), reader(over.after, over.made))
}
