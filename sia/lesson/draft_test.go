package lesson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// A draft has the same effect on a lesson as an edit of its section.
func TestDrafts(t *testing.T) {
	was := learned()[0]
	known := map[lesson.ID]lesson.Lesson{}
	for _, l := range learned() {
		known[l.ID] = l
	}
	for name, c := range map[string]struct {
		change func(*lesson.Draft)
		want   string // of the error; "": it is taken
	}{
		"other words": {func(d *lesson.Draft) { d.Text = " Say\r\n it\tplainly. " }, ""},
		"no words":    {func(d *lesson.Draft) { d.Text = " \n" }, "is empty"},
		"many words": {func(d *lesson.Draft) { d.Text = strings.Repeat("é", lesson.MaxText+1) },
			"601 characters; at most 600"},
		"a long context":  {func(d *lesson.Draft) { d.Context = strings.Repeat("x", 301) }, "“When” has 301 characters"},
		"another kind":    {func(d *lesson.Draft) { d.Kind = lesson.Mistake }, ""},
		"no kind":         {func(d *lesson.Draft) { d.Kind = "rumour" }, "no such kind"},
		"many tags":       {func(d *lesson.Draft) { d.Tags = strings.Repeat("a, ", 21) }, "at most 20 names"},
		"a long tool":     {func(d *lesson.Draft) { d.Tools = strings.Repeat("a", 81) }, "at most 80 characters"},
		"nothing":         {func(d *lesson.Draft) { d.Text += "\u202e " }, "Nothing is different"},
		"archived":        {func(d *lesson.Draft) { d.Archived = true }, ""},
		"of another page": {func(d *lesson.Draft) { d.Seen = "0" }, "changed meanwhile"},
	} {
		d := lesson.DraftOf(was)
		c.change(&d)
		e, err := d.Edit(was)
		if c.want != "" || err != nil {
			if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		after := e.Apply(known, ana, was.LastSeen)
		if len(after) == 0 {
			t.Errorf("%s changes nothing", name)
			continue
		}
		got, want := lesson.DraftOf(after[0]), d
		want.Text, want.Seen, got.Seen = strings.Join(strings.Fields(d.Text), " "), "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
	gone := was
	gone.State = lesson.Forgotten
	var stale *lesson.StaleError
	if _, err := lesson.DraftOf(gone).Edit(gone); !errors.As(err, &stale) {
		t.Errorf("a forgotten lesson: %v", err)
	}
	if (lesson.Author(sia.Actor{Operator: true}) != sia.Actor{}) {
		t.Error("whoever runs the server is an author by name")
	}
}
