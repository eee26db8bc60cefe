package render

import (
	"fmt"
	"strings"
)

// WorkflowsRefused says why an attempt was not pushed that changes workflow files:
// to the next attempt, and to people.
func WorkflowsRefused(paths []string) string {
	what := "workflow files"
	if len(paths) > 0 {
		what = pathNames(paths)
	}
	return "nothing was pushed, since the change touches " + what + ", which GitHub lets the app do with the permission " +
		"\"workflows: write\" only. Leave everything in `.github/workflows` as it is; where the task can't be done " +
		"without, an owner can grant the permission under Settings → GitHub Apps → Configure"
}

// ChangeRefused says why GitHub did not take an attempt's commit for what is in its files,
// in GitHub's words: to the next attempt, and to people.
func ChangeRefused(said string) string {
	return "nothing was pushed, since GitHub does not take what the change holds: " + Code(said, 600) +
		". Leave that out of the change"
}

// ConflictsLeft says why an attempt was not pushed that left both sides of a conflict in
// files: to the next attempt, and to people.
func ConflictsLeft(paths []string) string {
	return "nothing was pushed, since both sides of a conflict with the base branch are left in " + pathNames(paths)
}

// pathNames names files, the first five of many.
func pathNames(paths []string) string {
	const most = 5
	named := make([]string, 0, most)
	for _, p := range paths[:min(len(paths), most)] {
		named = append(named, Code(p, 0))
	}
	out := strings.Join(named, ", ")
	if more := len(paths) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}
