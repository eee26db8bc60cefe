package render

import (
	"fmt"
	"strings"
)

// WorkflowsRefused says why an attempt was not pushed that changes workflow files:
// to the next attempt, and to people.
func WorkflowsRefused(paths []string) string {
	const most = 5
	what := "workflow files"
	if len(paths) > 0 {
		named := make([]string, 0, most)
		for _, p := range paths[:min(len(paths), most)] {
			named = append(named, Code(p, 0))
		}
		what = strings.Join(named, ", ")
	}
	if more := len(paths) - most; more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return "nothing was pushed, since the change touches " + what + ", which GitHub lets the app do with the permission " +
		"\"workflows: write\" only. Leave everything in `.github/workflows` as it is; where the task can't be done " +
		"without, an owner can grant the permission under Settings → GitHub Apps → Configure"
}
