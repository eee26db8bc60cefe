package render_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// A check that is not required is described so once, whether or not the gate already says it.
func TestNotRequiredIsSaidOnce(t *testing.T) {
	task := checking()
	task.Checks = []sia.Check{{Name: "lint", Colour: sia.Red, Why: "not required; failed"},
		{Name: "docs", Colour: sia.Green}}
	for _, line := range strings.Split(render.PullBody(task, nil, links), "\n") {
		if strings.HasPrefix(line, "| `") && strings.Count(line, "not required") != 1 {
			t.Error(line)
		}
	}
}
