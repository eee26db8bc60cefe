package replay

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sia-bot/sia/agent/testrun"
)

// trimmer is a language in which single declarations can be removed from a test file. They are identified by names,
// so that a task can list them.
type trimmer interface {
	// faults returns the lines of test files with build errors, by path.
	faults(log, group string) map[string][]int
	// cutAt adds the declarations at these lines to those already removed from a file, and those unused then.
	// ok is false if no test remains, or if it does not help.
	cutAt(src []byte, cut []string, lines []int) (names []string, ok bool)
	// adds reports whether a file has a declaration that another version of it lacks or has in another form.
	adds(src, was []byte) bool
	// without returns the file without them. Its lines keep their numbers.
	without(src []byte, names []string) ([]byte, error)
}

// trimmerOf returns the trimmer of a language; false if it has none.
func trimmerOf(l testrun.Language) (trimmer, bool) {
	g, ok := l.(testrun.Golang)
	return goSieve{g}, ok
}

// choice selects the tests of a commit that are added to its parent.
type choice struct {
	left map[string]bool // files that stay as in the parent
	cuts map[string]cut  // files added without some of their declarations
}

func newChoice() *choice { return &choice{left: map[string]bool{}, cuts: map[string]cut{}} }

// cut is a test file without some of its declarations.
type cut struct {
	names []string
	text  []byte
}

// cutFile removes declarations from a test file.
func cutFile(l testrun.Language, src []byte, names []string) (cut, error) {
	t, ok := trimmerOf(l)
	if !ok {
		return cut{}, fmt.Errorf("declarations can't be left out of tests of %q", l.Name())
	}
	text, err := t.without(src, names)
	return cut{names: names, text: text}, err
}

// narrow removes what prevents the build on the parent: what the compiler names, or else the whole
// group. It removes whole files if nothing less is possible, or if wholeOnly. commit and parent read the files of both.
func (ch *choice) narrow(c candidate, s split, before testrun.Report, wholeOnly bool, commit, parent testrun.ReadFile) {
	was := len(ch.left)
	progress := false
	for _, group := range slices.Sorted(maps.Keys(before.Builds)) {
		log := before.Builds[group]
		named := slices.DeleteFunc(broken(c.lang, log, group), func(f string) bool { return !slices.Contains(s.tests, f) })
		for _, f := range named {
			if !wholeOnly && ch.cutFurther(c.lang, f, log, group, commit, parent) {
				progress = true
			} else {
				ch.leave(f)
			}
		}
		if len(named) > 0 {
			continue
		}
		for _, f := range s.tests {
			if inGroup(f, group) {
				ch.leave(f)
			}
		}
	}
	if !progress && len(ch.left) == was { // ensures termination
		for _, f := range s.tests {
			ch.leave(f)
		}
	}
}

func (ch *choice) leave(f string) {
	ch.left[f] = true
	delete(ch.cuts, f)
}

// cutFurther removes the declarations with build errors from a file, unless no new one would remain.
func (ch *choice) cutFurther(l testrun.Language, f, log, group string, commit, parent testrun.ReadFile) bool {
	t, ok := trimmerOf(l)
	if !ok {
		return false
	}
	src, err := commit(f)
	if err != nil {
		return false
	}
	names, ok := t.cutAt(src, ch.cuts[f].names, t.faults(log, group)[f])
	if !ok || len(names) <= len(ch.cuts[f].names) {
		return false
	}
	k, err := cutFile(l, src, names)
	if err != nil {
		return false
	}
	if was, err := parent(f); err == nil && !t.adds(k.text, was) {
		return false
	}
	ch.cuts[f] = k
	return true
}
