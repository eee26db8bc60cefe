package web

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
)

// A test's output is shown as plain text, not as Markdown, in which an open comment hides the rest.
func TestLastTestIsShownAsItStands(t *testing.T) {
	got := lastTestOf([]agent.Turn{{Number: 3, Calls: []agent.Call{{Name: "run",
		Arguments: `{"command":"grep '<a class=\"x\">' page.html"}`,
		Result:    "exit status 1\ngot <a class=\"y\"> <!-- nothing\nwant two\u200b things\n"}}}})
	if got == nil {
		t.Fatal("there is no test")
	}
	want := lastTest{ID: got.ID, Turn: 3, Command: `grep '<a class="x">' page.html`,
		Result: "exit status 1\ngot <a class=\"y\"> <!-- nothing\nwant two things"}
	if d := cmp.Diff(want, *got); d != "" {
		t.Error(d)
	}
}
