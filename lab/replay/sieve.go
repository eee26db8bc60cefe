package replay

import (
	"context"

	"github.com/sia-bot/sia/agent/testrun"
)

// notRun is why a commit is not judged that changed none of the tests that can be run by themselves.
const notRun = "no way to run its tests is known"

// sieve is a language that can tell of many commits, by reading them, that their tests can't fail before them: nothing
// of those is built or run.
type sieve interface {
	// missing says, as a build would, what tests use that their tree does not have, by group. It says less than a
	// build, and nothing that a build would not.
	missing(tree testrun.Files, tests []string, read testrun.ReadFile) map[string]string
	// idle says why what a split lays over can't fail before the commit, and pass with it; "": it may. was reads the
	// parent, before and after the split's ends.
	idle(c candidate, s split, was, before, after testrun.ReadFile) string
}

// goSieve sieves commits of Go, and leaves declarations out of its test files.
type goSieve struct{ testrun.Golang }

func (goSieve) faults(log, group string) map[string][]int { return goFaults(log, group) }

// sieveOf is the sieve of a language.
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
	said           string // by what failed first; "": nothing was left out
}

// sift leaves out of a candidate what can be told without building it. why says that nothing is left that may be a
// task.
func sift(ctx context.Context, b *testrun.Runner, c candidate) (_ filtered, why string, err error) {
	out := filtered{candidate: c, choice: newChoice()}
	if out.parent, err = b.History.Files(ctx, c.Parent); err == nil {
		out.commit, err = b.History.Files(ctx, c.SHA)
	}
	if err != nil {
		return out, "", err
	}
	return out, out.leaveOut(b.Reader), nil
}

// leaveOut chooses what is laid over, as sift says. reader gives the files of a tree, of which made is no commit's.
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
