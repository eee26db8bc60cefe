package render_test

import (
	"regexp"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// A squash merge turns titles and texts of pull requests into commit messages: no word of an issue skips workflows.
func TestNothingSkipsChecks(t *testing.T) {
	acts := regexp.MustCompile(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|skip-checks:|\*\*\*NO_CI\*\*\*`)
	for _, words := range []string{"[skip ci]", "[CI Skip]", "[no ci]", "[skip actions]", "[Actions skip]", "***NO_CI***",
		"x\n\nSkip-Checks: true", "x\n\nSKIP-CHECKS:true"} {
		task := queued()
		task.Title, task.Body = "Greet "+words, words
		a := sia.Attempt{Number: 1, Summary: words, Outcome: sia.AttemptPass}
		task.Attempts = append(task.Attempts, a)
		for name, text := range map[string]string{"title": render.PullTitle(task), "body": render.PullBody(task, nil, links),
			"commit": render.CommitMessage(task, a), "merge": render.MergeMessage(task), "line": render.Line(words, 0)} {
			if m := acts.FindString(text); m != "" {
				t.Errorf("the %s of %q says %q", name, words, m)
			}
		}
	}
}
