package replay

import "context"

// notRun is why a commit is not judged that changed none of the tests that can be run by themselves.
const notRun = "no way to run its tests is known"

// sieve is a language that can tell of many commits, by reading them, that their tests can't fail before them: nothing
// of those is built or run.
type sieve interface {
	// missing says, as a build would, what tests use that their tree does not have, by group. It says less than a
	// build, and nothing that a build would not.
	missing(tree files, tests []string, read readFile) map[string]string
	// idle says why what a split lays over can't fail before the commit, and pass with it; "": it may. was reads the
	// parent, before and after the split's ends.
	idle(c candidate, s split, was, before, after readFile) string
}

// sifted is a candidate without the tests that can't be built before.
type sifted struct {
	candidate
	parent, commit files
	choice         *choice
	said           string // by what failed first; "": nothing was left out
}

// sift leaves out of a candidate what can be told without building it. why says that nothing is left that may be a
// task.
func (b *bench) sift(ctx context.Context, c candidate) (_ sifted, why string, err error) {
	out := sifted{candidate: c, choice: newChoice()}
	if out.parent, err = b.history.Files(ctx, c.Parent); err == nil {
		out.commit, err = b.history.Files(ctx, c.SHA)
	}
	if err != nil {
		return out, "", err
	}
	return out, out.leaveOut(b.reader), nil
}

// leaveOut chooses what is laid over, as sift says. reader gives the files of a tree, of which made is no commit's.
func (s *sifted) leaveOut(reader func(tree files, made map[string][]byte) readFile) (why string) {
	was, now := reader(s.parent, nil), reader(s.commit, nil)
	over := s.splitAt(s.parent, s.commit, s.choice)
	if _, ok := s.lang.suite(over.after, over.tests, reader(over.after, over.made)); !ok {
		return notRun
	}
	l, ok := s.lang.(sieve)
	if !ok {
		return ""
	}
	for range mostAttempts {
		lacks := report{builds: l.missing(over.before, over.tests, reader(over.before, over.made))}
		if len(lacks.builds) == 0 {
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
