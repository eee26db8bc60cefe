package lesson

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

func aboutTool(id ID, text string, tools ...string) Lesson {
	return Lesson{ID: id, Repo: 1, Kind: Tool, State: Active, Text: text, Tools: tools, Good: 1, CountedAt: start,
		LastSeen: start, From: Provenance{Source: FromOutcome, Task: "1-1"}}
}

// Of the lessons about a tool only the few with the highest confidence are returned: told ones with their text,
// withheld ones with only their id.
func TestForTools(t *testing.T) {
	sure, unsure, third := aboutTool("aaaaaaaaaaaa", "Read its error.", "run"),
		aboutTool("bbbbbbbbbbbb", "Give it a timeout.", "run"), aboutTool("cccccccccccc", "Quote what has blanks.", "run")
	sure.Good, unsure.Good = 4, 2
	doubted := aboutTool("dddddddddddd", "Never edit twice.", "edit")
	doubted.Bad = 3
	archived, known := aboutTool("eeeeeeeeeeee", "Write less.", "write"),
		aboutTool("ffffffffffff", "Search first.", "search")
	archived.State = Archived
	other := aboutTool("000000000000", "Read its error.", "run")
	other.Kind = Mistake
	own := aboutTool("111111111111", "Look at the outline.", "outline")
	own.From.Task = "1-7"
	two := aboutTool("222222222222", "Read before you patch.", "read", "apply_patch")
	all := []Lesson{third, sure, unsure, doubted, archived, known, other, own, two}
	want := ChooseOptions{Most: 2, MinConfidence: .5, Now: start}
	for n := range 30 { // by chance one of these tasks is told all of them
		if want.Task = sia.TaskID(fmt.Sprintf("1-%d", 7+100*n)); n == 0 {
			continue
		}
		got := ForTools(all, []ID{known.ID}, want)
		told := 0
		for _, l := range got {
			if l.Withheld != (hashChance(string(want.Task), l.ID) < withheldShare) || l.Withheld != (l.Text == "") {
				t.Errorf("task %s: %+v is withheld otherwise than by task and lesson", want.Task, l)
			}
			if !l.Withheld {
				told++
			}
		}
		if told < 5 {
			continue
		}
		if diff := cmp.Diff([]sia.ToolLesson{
			{Tool: "apply_patch", ID: "222222222222", Text: "Read before you patch."},
			{Tool: "outline", ID: "111111111111", Text: "Look at the outline."},
			{Tool: "read", ID: "222222222222", Text: "Read before you patch."},
			{Tool: "run", ID: "aaaaaaaaaaaa", Text: "Read its error."},
			{Tool: "run", ID: "bbbbbbbbbbbb", Text: "Give it a timeout."},
		}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		want.Task = "1-7"
		for _, l := range ForTools(all, nil, want) {
			if l.ID == string(own.ID) {
				t.Error("the task that taught a lesson is told it")
			}
		}
		return
	}
	t.Error("no task is told all of them")
}
