package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// People who decide about changes to tests see the first of them before anything is unfolded, on the issue and on the
// pull request. Foreign words in them are neutralised.
func TestChangesToAccept(t *testing.T) {
	task := tampered()
	task.Gate.Explain = []string{"1 required check is green."}
	for i := range 5 {
		task.Gate.Explain = append(task.Gate.Explain, fmt.Sprintf("The attempt changed how it is checked: check%d.sh:1: "+
			"failures of checks are ignored: `exit 0 # @everyone`.", i+1))
	}
	first, more := render.ChangesToAccept(task)
	if len(first) != 3 || more != 2 || first[0] != "check1.sh:1: failures of checks are ignored: `exit 0 # @everyone`" {
		t.Errorf("%q and %d more", first, more)
	}
	status, _, _ := strings.Cut(render.Status(task, links, now), "<details>")
	pull, _, _ := strings.Cut(render.PullBody(task, nil, links), "###")
	for name, said := range map[string]string{"the status": status, "the pull request": pull} {
		if !strings.Contains(said, "\n- check1.sh:1: failures of checks are ignored") ||
			!strings.Contains(said, "\n- check3.sh:1: ") ||
			!strings.Contains(said, "\n- 2 more\n") || !strings.Contains(said, "/sia accept-tests") ||
			strings.Contains(said, "@everyone") {
			t.Errorf("%s says\n%s", name, said)
		}
	}
	if strings.Contains(pull, "still working") {
		t.Errorf("nothing works on it:\n%s", pull)
	}
	task.Accepted = append(task.Accepted, task.Head)
	if first, more := render.ChangesToAccept(task); len(first)+more != 0 {
		t.Errorf("they are accepted already: %q", first)
	}
}

// A task whose changed tests wait for a person can be paused by a click, wherever there is something to click.
func TestPauseBesideTestChanges(t *testing.T) {
	var names [][]string
	for _, t := range []sia.Task{tampered(), escalated()} {
		var buttons, page []string
		for _, a := range render.CheckRun(t, nil, links).Actions {
			buttons = append(buttons, a.Identifier)
		}
		for _, o := range render.PageOffers(t) {
			page = append(page, o.Name)
		}
		names = append(names, buttons, page)
	}
	want := [][]string{{"accept-tests", "pause", "stop"}, {"accept-tests", "pause", "stop"}, {"retry", "stop"},
		{"retry", "pause", "stop"}}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	board := render.BoardBody(render.Board{Tasks: []sia.Task{tampered()}}, links)
	if !strings.Contains(board, "<!-- sia:do pause 12 -->") {
		t.Error(board)
	}
}

// Values from a repository's settings are not shown before the settings are read.
func TestFiguresBeforeSettings(t *testing.T) {
	task := queued()
	task.BaseSHA = ""
	if said := render.Status(task, links, now); strings.Contains(said, "Approaches left") {
		t.Errorf("it says\n%s", said)
	}
	task.BaseSHA = "f00d"
	if said := render.Status(task, links, now); !strings.Contains(said, "Approaches left") {
		t.Errorf("it says\n%s", said)
	}
}

// The note of a red check repeats nothing.
func TestCheckNote(t *testing.T) {
	for why, want := range map[string]string{"failed": "", "timed out": "timed out"} {
		if got := render.CheckNote(sia.Check{Colour: sia.Red, Why: why}); got != want {
			t.Errorf("%s: %q, want %q", why, got, want)
		}
	}
}
