package learn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/sia/lesson"
)

// A lesson about a tool has to quote the tool's error, and to name the tool that worked instead.
func TestCountCalls(t *testing.T) {
	failed := func(tool, says string) agent.Call { return agent.Call{Name: tool, Result: says, IsError: true} }
	changed := func(tool string) agent.Call { return agent.Call{Name: tool, Changed: []string{"a.go"}} }
	tools := []string{"apply_patch", "edit", "read"}
	uses := countCalls(nil, []agent.Call{
		failed("apply_patch", "hunk 1 does not match"), {Name: "read"}, changed("apply_patch"), // it succeeded itself
		failed("apply_patch", "hunk 2 does not match"), {Name: "run"}, changed("edit"), changed("write"),
	}, tools)
	uses = countCalls(uses, []agent.Call{failed("edit", "it is there twice"), failed("edit", "it is not there")}, tools)
	want := []lesson.ToolUse{
		{Tool: "apply_patch", Calls: 3, Failed: 2, Error: "hunk 2 does not match", Instead: "edit"},
		{Tool: "read", Calls: 1}, {Tool: "edit", Calls: 3, Failed: 2, Error: "it is not there"},
	}
	if diff := cmp.Diff(want, uses); diff != "" {
		t.Error(diff)
	}
}
