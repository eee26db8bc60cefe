package technique

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// splitSteps splits the task into parts, each with its own test, and a last one that runs everything. The parts come
// from the diagnosis, else from the task's own list, else from the directories that the attempt touched, else from the
// tests that failed.
func splitSteps(in Input) []plan.Part {
	parts := proposedSteps(in.Steps, maxSteps-1)
	if len(parts) < 2 {
		parts = nil
		for _, item := range listItems(in.Body) {
			parts = append(parts, plan.Part{Do: item, DoneWhen: "a test for this part passes, and every test that passed " +
				"before still does"})
		}
	}
	if len(parts) < 2 {
		parts = stepsByDirectory(in.Touched)
	}
	if len(parts) < 2 {
		parts = stepsByTest(in.Failures)
	}
	if len(parts) < 2 {
		parts = []plan.Part{
			{Do: "Find the smallest part of the task that can be tested alone, and do only that.",
				DoneWhen: "a test for that part passes, and every test that passed before still does"},
			{Do: "Add what remains, one part after another.", DoneWhen: "each part has a test that passes"},
		}
	}
	return finishSteps(parts, plan.Part{Do: "Run everything together and mend what the parts break in each other.",
		DoneWhen: allGreen(in.Failures)})
}

// finishSteps limits the number of steps and appends last.
func finishSteps(parts []plan.Part, last plan.Part) []plan.Part {
	return append(bundleSteps(parts, maxSteps-1), last)
}

// bundleSteps reduces steps to at most most by combining adjacent ones; none is dropped.
func bundleSteps(parts []plan.Part, most int) []plan.Part {
	n := min(len(parts), most)
	bundles := make([]plan.Part, n)
	for i := range bundles {
		of := parts[i*len(parts)/n : (i+1)*len(parts)/n]
		b := of[0]
		for j, p := range of[1:] {
			b.Do += "; and: " + p.Do
			if p.DoneWhen != of[j].DoneWhen {
				b.DoneWhen += "; and: " + p.DoneWhen
			}
			if b.Check != p.Check {
				b.Check = "" // neither command checks both
			}
			b.Paths = slices.Concat(b.Paths, p.Paths)
		}
		b.Do, b.DoneWhen = text.Clip(b.Do, maxBundle), text.Clip(b.DoneWhen, maxBundle)
		bundles[i] = b
	}
	return bundles
}

// proposedSteps returns the non-empty, distinct steps, each with a done-when, as at most most steps.
func proposedSteps(steps []plan.Part, most int) []plan.Part {
	var kept []plan.Part
	for _, s := range steps {
		s.Do, s.DoneWhen = text.Clip(text.OneLine(s.Do), maxStepText), text.Clip(text.OneLine(s.DoneWhen), maxStepText)
		if s.Do == "" || slices.ContainsFunc(kept, func(k plan.Part) bool { return k.Do == s.Do }) {
			continue
		}
		if s.Check = strings.TrimSpace(s.Check); len(s.Check) > maxStepText {
			s.Check = "" // a truncated command is a different one
		}
		s.Needs = nil
		if s.DoneWhen == "" {
			s.DoneWhen = "a test for this step passes, and every test that passed before still does"
		}
		kept = append(kept, s)
	}
	return bundleSteps(kept, most)
}

// stepsByDirectory returns one step per touched directory, deepest first: deep directories are more often used by those
// above than vice versa.
func stepsByDirectory(touched []string) []plan.Part {
	byDir := map[string][]string{}
	var dirs []string
	for _, p := range touched {
		d := path.Dir(p)
		if byDir[d] == nil {
			dirs = append(dirs, d)
		}
		byDir[d] = append(byDir[d], p)
	}
	slices.SortFunc(dirs, func(a, b string) int {
		return cmp.Or(cmp.Compare(buildLayer(a), buildLayer(b)), cmp.Compare(a, b))
	})
	var steps []plan.Part
	for _, d := range dirs {
		where := "under " + d
		if d == "." {
			where = "at the top of the repository"
		}
		names := slices.Sorted(slices.Values(byDir[d]))
		steps = append(steps, plan.Part{
			Do:       text.Clip(fmt.Sprintf("Change only what lies %s: %s.", where, strings.Join(names, ", ")), maxStepText),
			DoneWhen: fmt.Sprintf("the tests %s pass, and every test that passed before still does", where),
		})
	}
	return steps
}

// buildLayer returns a directory's position in the build order: deep ones first, entry points last.
func buildLayer(dir string) int {
	switch first, _, _ := strings.Cut(dir, "/"); first {
	case "cmd", "bin", "main", "scripts", "deploy", "docs", ".github":
		return 100
	case ".":
		return 90
	}
	return 50 - min(40, strings.Count(dir, "/"))
}

// stepsByTest returns one step per failing test.
func stepsByTest(fs []sia.CheckFailure) []plan.Part {
	var steps []plan.Part
	seen := map[string]bool{}
	for _, f := range fs {
		for _, t := range f.Tests {
			if t = text.Clip(text.OneLine(t), 200); t == "" || seen[t] {
				continue
			}
			seen[t] = true
			steps = append(steps, plan.Part{
				Do:       fmt.Sprintf("Make %s pass, and nothing else.", t),
				DoneWhen: fmt.Sprintf("%s passes, and every test that passed before still does", t),
			})
		}
	}
	return steps
}

// sameStep reports whether two steps are equal.
func sameStep(a, b plan.Part) bool {
	return a.Do == b.Do && a.DoneWhen == b.DoneWhen && a.Check == b.Check
}

// reorderSteps returns the same steps in another order. The order comes from the diagnosis when it differs from the
// present one. Otherwise a present step that names a failed test or file moves to the front, else the last one does.
// Without present steps, the touched directories are ordered by dependency.
func reorderSteps(present []plan.Part, in Input) []plan.Part {
	if s := proposedSteps(in.Steps, maxSteps); len(s) >= 2 && !slices.EqualFunc(s, present, sameStep) {
		return s
	}
	if len(present) >= 2 {
		move := len(present) - 1
		for i, s := range present {
			if i > 0 && namesFailure(s.Do+" "+s.DoneWhen, in.Failures) {
				move = i
				break
			}
		}
		order := slices.Clone(present)
		order = slices.Delete(order, move, move+1)
		return slices.Insert(order, 0, present[move])
	}
	if s := stepsByDirectory(in.Touched); len(s) >= 2 {
		return finishSteps(s, plan.Part{Do: "Run everything together.", DoneWhen: allGreen(in.Failures)})
	}
	return []plan.Part{
		{Do: "Declare the types, interfaces and signatures that the change needs, without behaviour.",
			DoneWhen: "the repository builds and every test that passed before still does"},
		{Do: "Write the code that the rest of the change rests on, with its test.", DoneWhen: "that test passes alone"},
		{Do: "Change the callers, one after another.", DoneWhen: "the repository builds after each"},
		{Do: "Wire it in: entry points, configuration, documentation.", DoneWhen: allGreen(in.Failures)},
	}
}

// namesFailure reports whether a step names a test or a file of the failures.
func namesFailure(step string, fs []sia.CheckFailure) bool {
	for _, f := range fs {
		for _, t := range f.Tests {
			if t != "" && strings.Contains(step, t) {
				return true
			}
		}
		for _, p := range pathsIn(f.Excerpt) {
			if strings.Contains(step, p) {
				return true
			}
		}
	}
	return false
}

// levelSteps returns steps that go one level up, to an interface with a local double, or down, to the concrete case.
func levelSteps(in Input) []plan.Part {
	if in.Level == "down" && in.Pattern != sia.MissingCredentials && in.Pattern != sia.ExternalDependencyBlocker {
		return []plan.Part{
			{Do: "Write the one concrete case that the failing checks ask for, in plain code and in one place.",
				DoneWhen: "the checks of that case pass"},
			{Do: "Take out the layer that now has only this one user.", DoneWhen: "nothing refers to it, and the repository " +
				"builds"},
			{Do: "Run everything.", DoneWhen: allGreen(in.Failures)},
		}
	}
	return []plan.Part{
		{Do: "Name what the code needs from the outside as a small interface, in the words of the code that uses it.",
			DoneWhen: "the repository builds, and the code that uses it names no vendor, key or address"},
		{Do: "Write a local double of it that does the useful part without network, keys or other machines, by recording " +
			"or answering from memory.", DoneWhen: "a test of the double passes with an empty environment"},
		{Do: "Use the interface where the last attempt used the real thing, with the double as the default in development " +
			"and tests.", DoneWhen: "a test shows the behaviour the task asks for, by looking at what the double recorded, " +
			"and every test that passed before still does"},
		{Do: "Leave one place where a real implementation can be plugged in later, off unless it is configured.",
			DoneWhen: allGreen(in.Failures)},
	}
}

// relaxSteps returns steps that do the work without the constraint and then restore it.
func relaxSteps(constraint string, in Input) []plan.Part {
	steps := proposedSteps(in.Steps, maxSteps-1)
	if len(steps) == 0 {
		steps = []plan.Part{{Do: "Make the task work without the lifted constraint; every other one holds.",
			DoneWhen: "the failing checks pass, but for what the lifted constraint asks"}}
	}
	return append(steps, plan.Part{Do: "Put the constraint back: " + constraint,
		DoneWhen: "it holds again, and " + allGreen(in.Failures)})
}

// allGreen returns a done-when that names the checks.
func allGreen(fs []sia.CheckFailure) string {
	var names []string
	for _, f := range fs {
		if f.Check != "" && !slices.Contains(names, f.Check) {
			names = append(names, f.Check)
		}
	}
	if len(names) == 0 {
		return "every check passes"
	}
	slices.Sort(names)
	return fmt.Sprintf("every check passes, above all %s", strings.Join(names[:min(len(names), 5)], ", "))
}
