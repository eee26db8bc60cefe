package lesson_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// edited returns the golden file with a user's changes.
func edited(t *testing.T, old, new string) string {
	t.Helper()
	file := write(t, learned(), "")
	if !strings.Contains(file, old) {
		t.Fatalf("no %q in\n%s", old, file)
	}
	return strings.Replace(file, old, new, 1)
}

// apply applies a user's edits in file to the lessons that SIA wrote, twice: the second time must change nothing.
func apply(
	t *testing.T, ls []lesson.Lesson, s lesson.MarkdownFile, now time.Time,
) (kinds []lesson.EditKind, after []lesson.Lesson) {
	t.Helper()
	known := map[lesson.ID]lesson.Lesson{}
	for _, l := range ls {
		known[l.ID] = l
	}
	after = slices.Clone(ls)
	for _, e := range lesson.Edits(repo, ls, s) {
		kinds = append(kinds, e.Kind)
		for _, l := range e.Apply(known, ana, now) {
			if _, there := known[l.ID]; !there {
				after = append(after, l)
			}
			known[l.ID] = l
		}
		if again := e.Apply(known, ana, now.Add(time.Hour)); again != nil {
			t.Errorf("applied again, the edit changes %+v", again)
		}
	}
	for i := range after {
		after[i] = known[after[i].ID]
	}
	return kinds, after
}

var ana = sia.Actor{Login: "ana", ID: 3}

func TestEditOutranks(t *testing.T) {
	now := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	file := edited(t, "- **Lesson:** Put an interface in front of the mail provider and use a local double.",
		"- **Lesson:** Use the double in\n  internal/mailtest.")
	kinds, after := apply(t, learned(), parse(t, file), now)
	if d := cmp.Diff([]lesson.EditKind{lesson.Changed}, kinds); d != "" {
		t.Fatal(d)
	}
	want := learned()[0]
	want.ID, want.State, want.Text = after[len(after)-1].ID, lesson.Active, "Use the double in internal/mailtest."
	want.From.Source, want.From.By, want.Conflicts = lesson.FromPerson, ana, nil
	want.Good, want.Bad, want.CountedAt, want.LastSeen, want.CreatedAt, want.Occurrences = lesson.PersonWeight, 0, now,
		now, now, 1
	want.Words = []string{"double", "internal", "mailtest", "test", "mail", "provider"}
	if d := cmp.Diff(want, after[len(after)-1]); d != "" {
		t.Error(d)
	}
	if after[0].State != lesson.Merged || after[0].Into != want.ID {
		t.Errorf("the old words are told still: %+v", after[0])
	}
	if next := write(t, after, file); strings.Contains(next, "Put an interface") ||
		lesson.Edits(repo, after, parse(t, next)) != nil {
		t.Error("the edit did not stay:\n", next)
	}
}

func TestEdits(t *testing.T) {
	now := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	section := func(id string) string {
		file := write(t, learned(), "")
		_, rest, _ := strings.Cut(file, "### Lesson "+id)
		if end := strings.Index(rest, "\n#"); end >= 0 {
			rest = rest[:end]
		}
		return "### Lesson " + id + rest
	}
	for _, tt := range []struct {
		name, old, new string
		want           []lesson.EditKind
		check          func(t *testing.T, after []lesson.Lesson)
	}{
		{name: "nothing", old: "# Lessons", new: "# Lessons"},
		{name: "notes", old: "### Lesson 0a0000000003", new: "We like these.\n\n### Lesson 0a0000000003"},
		{name: "SIA's own counting", old: "- **Confidence:** 0.78", new: "- **Confidence:** 0.01"},
		{name: "evidence", old: "6 for, 1 against", new: "600 for, 0 against"},
		{
			name: "deleted", old: section("0a0000000001"), new: "", want: []lesson.EditKind{lesson.Deleted},
			check: func(t *testing.T, after []lesson.Lesson) {
				if after[0].State != lesson.Forgotten || strings.Contains(write(t, after, ""), "mail provider") {
					t.Error("it was not forgotten")
				}
			},
		},
		{
			name: "added", old: "## What works instead", new: "- Dates are UTC,\n  always.\n\n## What works instead",
			want: []lesson.EditKind{lesson.Added},
			check: func(t *testing.T, after []lesson.Lesson) {
				l := after[len(after)-1]
				if l.Text != "Dates are UTC, always." || l.From.Source != lesson.FromPerson || l.Good != lesson.PersonWeight ||
					!l.CreatedAt.Equal(now) || l.Kind != lesson.Discovery {
					t.Errorf("got %+v", l)
				}
			},
		},
		{
			name: "added to a kind", old: "## Good to know", new: "- Use the double.\n\n## Good to know",
			want: []lesson.EditKind{lesson.Added},
			check: func(t *testing.T, after []lesson.Lesson) {
				if l := after[len(after)-1]; l.Kind != lesson.Workaround {
					t.Errorf("got %+v", l)
				}
			},
		},
		{
			name: "moved", old: "## Good to know", new: "## Mistakes to avoid", want: []lesson.EditKind{lesson.Changed},
			check: func(t *testing.T, after []lesson.Lesson) {
				if after[2].Kind != lesson.Mistake || after[2].Good != 2 {
					t.Errorf("got %+v", after[2])
				}
			},
		},
		{
			name: "a heading of people's own", old: "## Good to know", new: "## Things", want: nil,
			check: func(t *testing.T, after []lesson.Lesson) {
				if after[2].State != lesson.Active {
					t.Error("a lesson under another heading is still there")
				}
			},
		},
		{
			name: "revived", old: "- **State:** archived\n", new: "", want: []lesson.EditKind{lesson.Changed},
			check: func(t *testing.T, after []lesson.Lesson) {
				if l := after[len(after)-1]; l.State != lesson.Active || l.Bad != 0 || l.Text != after[1].Text ||
					after[1].Into != l.ID {
					t.Errorf("got %+v", l)
				}
			},
		},
		{
			name: "archived", old: "- **Evidence:** 2 for", new: "- **State:** archived\n- **Evidence:** 2 for",
			want: []lesson.EditKind{lesson.Changed},
			check: func(t *testing.T, after []lesson.Lesson) {
				l, why := after[2].Count(5, 0, now).UpdateState(now)
				if after[2].State != lesson.Archived || l.State != lesson.Archived {
					t.Errorf("it is %s, and with evidence for it %s: %s", after[2].State, l.State, why)
				}
			},
		},
		{name: "a section that can't be read is not deleted", old: "- **Lesson:** Run", new: "- **Lessn:** Run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := edited(t, tt.old, tt.new)
			kinds, after := apply(t, learned(), parse(t, file), now)
			if d := cmp.Diff(tt.want, kinds); d != "" {
				t.Fatal(d)
			}
			if tt.check != nil {
				tt.check(t, after)
			}
			next := write(t, after, file)
			if left := lesson.Edits(repo, after, parse(t, next)); len(left) != 0 {
				t.Errorf("after they were read, edits are left: %+v\n%s", left, next)
			}
		})
	}
}

// A lesson that a user changed while it was removed elsewhere becomes the user's; an unchanged one is removed.
func TestEditOfWhatIsGone(t *testing.T) {
	now := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	file := edited(t, "before the tests.", "before the tests and the docs.")
	edits := lesson.Edits(repo, learned(), parse(t, file))
	if len(edits) != 1 {
		t.Fatalf("edits: %+v", edits)
	}
	known := map[lesson.ID]lesson.Lesson{}
	got := edits[0].Apply(known, ana, now)
	if len(got) != 1 || got[0].ID == learned()[2].ID ||
		got[0].Text != "Run `make generate` before the tests and the docs." || got[0].From.By != ana ||
		got[0].Good != lesson.PersonWeight {
		t.Fatalf("it makes %+v", got)
	}
	known[got[0].ID] = got[0]
	if again := edits[0].Apply(known, ana, now); again != nil {
		t.Errorf("applied again, it makes %+v", again)
	}
	file = edited(t, "- **Evidence:** 2 for", "- **State:** archived\n- **Evidence:** 2 for")
	for _, e := range lesson.Edits(repo, learned(), parse(t, file)) {
		if got := e.Apply(nil, ana, now); got != nil {
			t.Errorf("archiving what is gone makes %+v", got)
		}
	}
}

// A user can restore a forgotten lesson.
func TestForgottenComesBackByAPerson(t *testing.T) {
	before := learned()
	file := write(t, before, "")
	before[0].State = lesson.Forgotten
	_, after := apply(t, before, parse(t, file), before[0].CountedAt)
	if l := after[len(after)-1]; l.State != lesson.Active || l.From.Source != lesson.FromPerson ||
		l.Text != after[0].Text {
		t.Errorf("got %+v", l)
	}
}
