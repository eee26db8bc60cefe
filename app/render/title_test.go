package render_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// Titles fit GitHub's limit of 256 characters, also when neutralising foreign words adds characters.
func TestTitlesFit(t *testing.T) {
	for _, words := range []string{strings.Repeat("@a", 128), strings.Repeat("#1 ", 100), strings.Repeat("<b>", 90),
		"short"} {
		task := sia.Task{Issue: 12, Title: words}
		for what, title := range map[string]string{
			"pull request": render.PullTitle(task),
			"question":     render.EscalationTitle(task, sia.Escalation{Question: words}),
			"policy":       render.PolicyTitle(render.PolicyChange{Name: "technique", Change: words}),
			"taking back":  render.PolicyRevertTitle(render.PolicyChange{Name: "technique", Change: words}),
			"technique":    render.TechniqueTitle(words),
		} {
			if n := utf8.RuneCountInString(title); n == 0 || n > 256 {
				t.Errorf("the title of a %s has %d characters: %s", what, n, title)
			}
		}
	}
}
