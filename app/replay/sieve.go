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
	was, now := b.reader(out.parent, nil), b.reader(out.commit, nil)
	s := c.splitAt(out.parent, out.commit, out.choice)
	if _, ok := c.lang.suite(s.after, s.tests, b.reader(s.after, s.made)); !ok {
		return out, notRun, nil
	}
	l, ok := c.lang.(sieve)
	if !ok {
		return out, "", nil
	}
	for range mostAttempts {
		lacks := report{builds: l.missing(s.before, s.tests, b.reader(s.before, s.made))}
		if len(lacks.builds) == 0 {
			break
		}
		if out.said == "" {
			out.said = firstLog(lacks)
		}
		out.choice.narrow(c, s, lacks, false, now, was)
		s = c.splitAt(out.parent, out.commit, out.choice)
	}
	return out, l.idle(c, s, was, b.reader(s.before, s.made), b.reader(s.after, s.made)), nil
}
