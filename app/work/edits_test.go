package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia"
)

// Edits of attempts at all tasks are summed by agent and format; those of divided attempts are left out.
func TestEditsOf(t *testing.T) {
	attempt := func(by, format string, made, failed int) sia.Attempt {
		return sia.Attempt{Agent: by, Edits: sia.Edits{Format: format, Made: made, Failed: failed}}
	}
	divided := attempt("builtin/a", "replace", 9, 9)
	divided.Parts = []sia.Part{{}}
	got := editsOf([]sia.Attempt{attempt("builtin/a", "replace", 1, 2), attempt("claude-code/a", "", 0, 0), divided,
		attempt("builtin/a", "whole", 4, 0), attempt("builtin/b", "replace", 5, 0), attempt("builtin/a", "replace", 2, 1)})
	want := []agent.ModelEdits{
		{Agent: "builtin/a", Edits: sia.Edits{Format: "replace", Made: 3, Failed: 3}},
		{Agent: "builtin/a", Edits: sia.Edits{Format: "whole", Made: 4}},
		{Agent: "builtin/b", Edits: sia.Edits{Format: "replace", Made: 5}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
