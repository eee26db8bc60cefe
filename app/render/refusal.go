package render

import (
	"fmt"
	"strings"
)

// WorkflowsRefused says why an attempt that changes workflow files was not pushed: for the next attempt, and for
// people.
func WorkflowsRefused(paths []string) string {
	what := "workflow files"
	if len(paths) > 0 {
		what = pathNames(paths)
	}
	return "nothing was pushed, since the change touches " + what + ", which GitHub lets the app do with the permission " +
		"\"workflows: write\" only. Leave everything in `.github/workflows` as it is; where the task can't be done " +
		"without, an owner can grant the permission under Settings → GitHub Apps → Configure"
}

// ChangeRefused says why GitHub refused the files of an attempt's commit, in GitHub's words: for the next attempt, and
// for people.
func ChangeRefused(said string) string {
	return "nothing was pushed, since GitHub does not take what the change holds: " + Code(said, 600) +
		". Leave that out of the change"
}

// MemoryRefused says why GitHub refused the files of memory, in GitHub's words, and what people can do.
// https://docs.github.com/en/code-security/secret-scanning/using-advanced-secret-scanning-and-push-protection-features/excluding-folders-and-files-from-secret-scanning
func MemoryRefused(branch, said string) string {
	return "Memory could not be written to " + Code(branch, 100) + ", since GitHub does not take what it holds: " +
		Code(said, 600) + ". The task goes on without it; SIA keeps it and tries again whenever the task goes on " +
		"or ends. A secret that is named there and is real has to be revoked. One that isn't is let through by " +
		"`.sia/**` under `paths-ignore` in `.github/secret_scanning.yml`, and what a ruleset refuses by making the app one " +
		"that may bypass it"
}

// ConflictsLeft says why an attempt with conflict markers in files was not pushed: for the next attempt, and for
// people.
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
