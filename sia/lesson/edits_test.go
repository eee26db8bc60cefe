package lesson_test

import (
	"maps"
	"os"
	"path/filepath"
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

// Of an earlier version's section "Models", which counted how agents did, only people's text is left: paragraphs stay,
// notes go where those on other lessons that are gone go, and lessons and bullets are lessons that people taught.
func TestModelsOfEarlierVersions(t *testing.T) {
	const repo, first, second = 1005, "fdd52c815ac0", lesson.ID("735256b2e164")
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before, _, err := lesson.ParseJSON(repo, read("models.json"))
	if err != nil {
		t.Fatal(err)
	}
	var current []lesson.Lesson
	known := map[lesson.ID]lesson.Lesson{}
	for _, l := range before {
		if l, ok := l.Upgrade(); ok {
			current = append(current, l)
			known[l.ID] = l
		}
	}
	if len(current) != 2 || known[second].Kind != lesson.Discovery {
		t.Fatalf("left are %+v", current)
	}
	for _, tt := range []struct {
		name, old, new string
		before         []lesson.Lesson // as last written; nil: unknown
		want           []string        // texts of changed lessons
		gone           string          // what is not in the file any more
	}{
		{name: "unchanged", before: before},
		{name: "without a record of what was written"},
		{name: "a bullet", before: before, old: "## Models\n", new: "## Models\n\n- It is slow on Mondays.\n",
			want: []string{"It is slow on Mondays."}, gone: "\n- It is slow"},
		{name: "SIA's words changed", before: before, old: "does at first attempts.", new: "needs help at first attempts.",
			want: []string{"How `builtin/coder` needs help at first attempts."}, gone: "### Lesson " + first},
		{name: "a person's words changed", before: before, old: "forgets the changelog.", new: "forgets the tests.",
			want: []string{"The small model forgets the tests.", "The small model forgets the changelog."},
			gone: "### Lesson " + string(second)},
		{name: "another kind's lesson moved there", before: before, old: "## What worked\n\n", new: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := strings.Replace(string(read("models.md")), tt.old, tt.new, 1)
			s, err := lesson.Parse(repo, []byte(file))
			if err != nil || len(s.Problems) > 0 {
				t.Fatal(err, s.Problems)
			}
			was := tt.before
			if was == nil {
				was = current
			}
			all := maps.Clone(known)
			var got []string
			for _, e := range lesson.Edits(repo, was, s) {
				for _, l := range e.Apply(all, ana, now) {
					if all[l.ID] = l; l.Kind == lesson.Model {
						t.Errorf("it has the kind of earlier versions: %+v", l)
					}
					got = append(got, l.Text)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			kept := slices.Collect(maps.Values(all))
			next, err := lesson.Markdown(repo, kept, []byte(file))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(tt.want[:min(1, len(tt.want))], "## Models\n\nWe pay for the small model only.\n\n## ",
				"On lesson "+first, "Ana: that was before the rate limit.", "## Good to know\n\n### Lesson ") {
				if !strings.Contains(string(next), want) {
					t.Errorf("it lacks %q:\n%s", want, next)
				}
			}
			for _, gone := range []string{"- **Lesson:** How `builtin/coder` does", tt.gone} {
				if gone != "" && strings.Contains(string(next), gone) {
					t.Errorf("it has %q:\n%s", gone, next)
				}
			}
			if again, err := lesson.Markdown(repo, kept, next); err != nil || string(again) != string(next) {
				t.Error("writing again changed the file: ", cmp.Diff(string(next), string(again)), err)
			}
			again, err := lesson.Parse(repo, next)
			if edits := lesson.Edits(repo, kept, again); err != nil || len(edits)+len(again.Problems) > 0 {
				t.Errorf("nobody edited it, but %+v, %v, %v", edits, again.Problems, err)
			}
		})
	}
	only := strings.Replace(string(read("models.md")), "We pay for the small model only.\n", "", 1)
	next, err := lesson.Markdown(repo, current, []byte(only))
	if err != nil || strings.Contains(string(next), "## Models") {
		t.Errorf("the section stands there without anybody's text: %v\n%s", err, next)
	}
}
