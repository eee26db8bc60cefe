package lesson_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

var updateSheet = flag.Bool("update-sheet", false, "write the golden lessons.md anew")

const repo = 99

// learned returns lessons of every kind and state.
func learned() []lesson.Lesson {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	return []lesson.Lesson{
		{
			ID: "0a0000000001", Repo: repo, Kind: lesson.Workaround, State: lesson.Promoted,
			Context:    "Tests need the mail provider",
			Text:       "Put an interface in front of the mail provider and use a local double.",
			Correction: "calling the provider <from> tests",
			Action:     "abstraction-level-shift", Outcome: "the checks were green", Good: 6, Bad: 1,
			CountedAt:   at.Add(time.Hour),
			Occurrences: 3,
			CreatedAt:   at, LastSeen: at.Add(time.Hour), Tags: []string{"missing-credentials", "abstraction-level-shift"},
			Tools: []string{"run"}, Words: []string{"mail"},
			From:      lesson.Provenance{Source: lesson.FromOutcome, Task: "99-1", Issue: 1, Attempt: 1},
			Conflicts: []lesson.ID{"0a0000000002"},
		},
		{
			ID: "0a0000000002", Repo: repo, Kind: lesson.Workaround, State: lesson.Archived, Text: "Ask for MAIL_API_KEY.",
			Bad:       3,
			CountedAt: at, Occurrences: 1, CreatedAt: at, LastSeen: at, From: lesson.Provenance{Source: lesson.FromPattern},
		},
		{
			ID: "0a0000000003", Repo: repo, Kind: lesson.Discovery, State: lesson.Active,
			Text: "Run `make generate` before the tests.", Good: 2,
			CountedAt: at, Occurrences: 1, CreatedAt: at, LastSeen: at,
			From: lesson.Provenance{Source: lesson.FromPerson, By: sia.Actor{Login: "ada", ID: 7}},
		},
		{ID: "0a0000000004", Repo: repo, Kind: lesson.Mistake, State: lesson.Forgotten, Text: "Never mind.", CountedAt: at,
			CreatedAt: at, LastSeen: at},
	}
}

func write(t testing.TB, ls []lesson.Lesson, previous string) string {
	t.Helper()
	b, err := lesson.Markdown(repo, ls, []byte(previous))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func parse(t testing.TB, file string) lesson.MarkdownFile {
	t.Helper()
	s, err := lesson.Parse(repo, []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSheetGolden(t *testing.T) {
	got := write(t, learned(), "")
	path := filepath.Join("testdata", "lessons.md")
	if *updateSheet {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// Everything that users may edit of a lesson is parsed back unchanged, and so are its origin and evidence. The words,
// the other figures and forgotten lessons are in the machine-readable file.
func TestSheetReadsBack(t *testing.T) {
	s := parse(t, write(t, learned(), ""))
	want := learned()[:3]
	for i, l := range want {
		want[i] = lesson.Lesson{ID: l.ID, Repo: l.Repo, Kind: l.Kind, State: l.State, Context: l.Context, Text: l.Text,
			Correction: l.Correction, Action: l.Action, Outcome: l.Outcome, Tags: l.Tags, Tools: l.Tools, From: l.From,
			Good: l.Good, Bad: l.Bad, CountedAt: l.CountedAt}
	}
	if d := cmp.Diff(want, s.Lessons); d != "" {
		t.Error(d)
	}
	for i, line := range []string{"Evidence:** a lot for", "Evidence:** 1 for, 1..2 against, counted 2026-03-01T10:00:00Z",
		"From:** outcomes, task 99-1"} {
		key, _, _ := strings.Cut(line, " ")
		lines := strings.SplitAfter(write(t, learned(), ""), "\n")
		at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "- **"+key) })
		lines[at] = "- **" + line + "\n"
		l := parse(t, strings.Join(lines, "")).Lessons[0]
		evidence := i < 2
		if evidence != l.CountedAt.IsZero() || evidence && l.Good != 0 || evidence == (l.From.Source == "") {
			t.Errorf("%s: %+v", line, l)
		}
	}
	if len(s.New)+len(s.Problems) != 0 {
		t.Errorf("SIA's own file has additions %v and problems %v", s.New, s.Problems)
	}
}

func TestWhatPeopleWroteIsKept(t *testing.T) {
	file := edited(t, "## What works instead\n",
		"Ana looks after this file.\n\n- Not read yet.\n\n## What works instead\n\nThese we trust:\n")
	file = strings.Replace(file, "### Lesson 0a0000000002\n",
		"- **Owner:** Ana\n\n```sh\n## not a heading\n```\n\n### Lesson 0a0000000002\n", 1)
	file += "\n## Our rules\n\n- be kind\n\n### Lesson plan\n\nnone\n"
	next := write(t, learned(), file)
	for _, kept := range []string{
		"Ana looks after this file.", "- Not read yet.", "These we trust:",
		"- **Owner:** Ana\n\n```sh\n## not a heading\n```", "## Our rules\n\n- be kind", "### Lesson plan\n\nnone",
	} {
		if strings.Count(next, kept) != 1 {
			t.Errorf("%q stands there %d times:\n%s", kept, strings.Count(next, kept), next)
		}
	}
	if again := write(t, learned(), next); again != next {
		t.Error("writing again changed the file: ", cmp.Diff(next, again))
	}
	gone := learned()
	gone[0].State = lesson.Forgotten
	next = write(t, gone, next)
	if !strings.Contains(next, "## Notes on lessons that are gone\n\nOn lesson 0a0000000001, “Put an interface") ||
		!strings.Contains(next, "- **Owner:** Ana") {
		t.Error("the notes on a lesson went with it:\n", next)
	}
	if again := write(t, gone, next); again != next {
		t.Error("writing again changed the file: ", cmp.Diff(next, again))
	}
}

// Sections and lessons stay where users put them. The one that replaces a lesson takes its place.
func TestOrderIsKept(t *testing.T) {
	file := write(t, learned(), "")
	from := strings.Index(file, "## Good to know")
	file = "# Ours\n\n" + file[from:] + "\n## Our rules\n\n- be kind\n\n" + strings.TrimSpace(file[:from]) + "\n"
	if next := write(t, learned(), file); next != file {
		t.Error(cmp.Diff(file, next))
	}
	after := learned()
	after[0].State, after[0].Into = lesson.Merged, "0a0000000005"
	after = append(after, learned()[0])
	after[4].ID, after[4].CreatedAt = "0a0000000005", after[4].CreatedAt.Add(time.Hour)
	next := write(t, after, file)
	at := strings.Index(file, "### Lesson 0a0000000001")
	if !strings.HasPrefix(next[at:], "### Lesson 0a0000000005") || strings.Contains(next, "### Lesson 0a0000000001") {
		t.Error(next)
	}
}

func TestBrokenSectionsAreKept(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"no text", "- **Lesson:** Run", "- **Lessn:** Run", `lessons.md:42: the field “Lesson” is missing`},
		{"an id", "### Lesson 0a0000000003", "### Lesson three", `lessons.md:42: "three" is no lesson's id`},
		{"twice", "### Lesson 0a0000000003", "### Lesson 0a0000000001",
			"lessons.md:42: lesson 0a0000000001 stands here a second time"},
		{"a state", "- **State:** archived", "- **State:** gone", `State: "gone" is none of`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := edited(t, tt.old, tt.new)
			s := parse(t, file)
			if len(s.Problems) != 1 || !strings.Contains(s.Problems[0].String(), tt.want) {
				t.Fatalf("got %v, want %q", s.Problems, tt.want)
			}
			next := write(t, learned(), file)
			if !strings.Contains(next, tt.new) {
				t.Errorf("it was not kept:\n%s", next)
			}
			if again := write(t, learned(), next); again != next {
				t.Error("writing again changed the file: ", cmp.Diff(next, again))
			}
		})
	}
	for _, tt := range []struct{ name, file, want string }{
		{"a merge conflict", "# Lessons\n<<<<<<< HEAD\n", ":2: a merge conflict"},
		{"an open code block", "# Lessons\n\n```\n## x\n", ":3: what is opened here has no end"},
		{"an open comment", "# Lessons\n<!-- later\n", ":2: what is opened here has no end"},
		{"not text", "\xff", "not UTF-8"},
		{"huge", strings.Repeat("a", 9<<20), "at most"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, err := lesson.Markdown(repo, learned(), []byte(tt.file))
			var broken *lesson.BrokenFile
			if !errors.As(err, &broken) || out != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v; want %q", out, err, tt.want)
			}
		})
	}
}

func TestJSONReadsBack(t *testing.T) {
	evidence := []lesson.Evidence{{Key: "merge/1", Lesson: "0a0000000001", Good: 1, At: learned()[0].CreatedAt,
		Why: "it says the same"}}
	b, err := lesson.JSON(learned(), evidence)
	if err != nil {
		t.Fatal(err)
	}
	got, counted, err := lesson.ParseJSON(repo, b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(learned(), got) + cmp.Diff(evidence, counted); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{"", "[]", `{"schema_version":2}`, `{"lessons":[{"id":"x"}]}`,
		`{"lessons":[{"id":"0a0000000001"},{"id":"0a0000000001"}]}`} {
		if _, _, err := lesson.ParseJSON(repo, []byte(bad)); err == nil || !strings.Contains(err.Error(), lesson.JSONPath) {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

var hostile = []string{
	"```\n## Mistakes to avoid\n```", "- **Lesson:** forged", "### Lesson 0a0000000009", "a\r\nb\rc", "<!-- x -->", "<!--",
	"![x](http://x.test/y)", "\\[x](y)", `C:\new`,
	"&lt;b&gt; & <b>", "\x00\x1b[31m", "\u202eevil", "## Add a lesson", "> quoted", "~~~", "a, b", "- x", "*y*",
	"日本語 \U0001f469\u200d\U0001f4bb", "<<<<<<< HEAD",
}

// lessons draws lessons with hostile text in every text field.
func lessons(t *rapid.T) []lesson.Lesson {
	text := rapid.OneOf(rapid.String(), rapid.StringMatching("[ -~\n`#*<&-]{0,60}"), rapid.SampledFrom(hostile))
	when := rapid.Custom(func(t *rapid.T) time.Time { return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0).UTC() })
	n := rapid.IntRange(0, 6).Draw(t, "lessons")
	var all []lesson.Lesson
	for i := range n {
		all = append(all, lesson.Lesson{
			ID: lesson.NewID(repo, string(rune('a'+i))), Repo: repo, Kind: rapid.SampledFrom(lesson.Kinds).Draw(t, "kind"),
			State: rapid.SampledFrom([]lesson.State{lesson.Active, lesson.Promoted, lesson.Archived, lesson.Forgotten,
				lesson.Merged}).Draw(t, "state"),
			Context: text.Draw(t, "context"), Action: text.Draw(t, "action"), Outcome: text.Draw(t, "outcome"),
			Text: text.Draw(t, "text"), Correction: text.Draw(t, "correction"),
			Good: rapid.Float64Range(0, 1e6).Draw(t, "good"), Bad: rapid.Float64Range(0, 10).Draw(t, "bad"),
			CountedAt:   when.Draw(t, "counted"),
			Occurrences: rapid.IntRange(0, 1000).Draw(t, "occurrences"), CreatedAt: when.Draw(t, "created"),
			LastSeen: when.Draw(t, "seen"),
			Tags:     rapid.SliceOfN(text, 0, 3).Draw(t, "tags"), Tools: rapid.SliceOfN(text, 0, 2).Draw(t, "tools"),
			From: lesson.Provenance{
				Source: rapid.SampledFrom([]lesson.Source{lesson.FromOutcome, lesson.FromPerson, lesson.FromPattern,
					lesson.FromOrganisation}).Draw(t, "source"),
				Task: "99-1", Issue: rapid.IntRange(0, 9).Draw(t, "issue"),
				By: sia.Actor{Login: rapid.StringMatching(`[a-z-]{0,9}(\[bot\])?`).Draw(t, "login"),
					ID: rapid.Int64Range(0, 99).Draw(t, "id")},
			},
		})
	}
	return all
}

// The file is stable: written over itself it is the same byte for byte, and what is read from it has the same words;
// and there are no edits without a user's edit.
func TestSheetRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ls := lessons(t)
		first := write2(t, ls, nil)
		s, err := lesson.Parse(repo, first)
		if err != nil || len(s.Problems)+len(s.New) != 0 {
			t.Fatalf("SIA's own file: %v %v %v\n%s", err, s.Problems, s.New, first)
		}
		again, err := lesson.Parse(repo, write2(t, s.Lessons, nil))
		if diff := cmp.Diff(s.Lessons, again.Lessons, sameIDs); err != nil || diff != "" {
			t.Fatal("read from what was read: ", diff, err)
		}
		if again := write2(t, ls, first); string(again) != string(first) {
			t.Fatal("written over itself: ", cmp.Diff(string(first), string(again)))
		}
		if edits := lesson.Edits(repo, ls, s); len(edits) != 0 {
			t.Fatalf("nobody edited it, but %+v", edits)
		}
	})
}

// For any edit of the file: it is either updated or kept, the second update changes nothing, and users' text survives.
func TestSheetOverAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ls := lessons(t)
		lines := strings.SplitAfter(string(write2(t, ls, nil)), "\n")
		for range rapid.IntRange(0, 6).Draw(t, "edits") {
			i := rapid.IntRange(0, len(lines)-1).Draw(t, "line")
			switch rapid.IntRange(0, 2).Draw(t, "edit") {
			case 0:
				lines = slices.Delete(lines, i, i+1)
			case 1:
				lines = slices.Insert(lines, i, rapid.SampledFrom(hostile).Draw(t, "inserted")+"\n")
			default:
				lines = slices.Insert(lines, i, "\n", "kept-word and more\n", "\n")
			}
			if len(lines) == 0 {
				lines = []string{"\n"}
			}
		}
		checkOver(t, ls, []byte(strings.Join(lines, "")))
	})
}

// sameIDs compares lessons in the order of their ids.
var sameIDs = cmpopts.SortSlices(func(a, b lesson.Lesson) bool { return a.ID < b.ID })

func write2(t interface{ Fatal(...any) }, ls []lesson.Lesson, previous []byte) []byte {
	b, err := lesson.Markdown(repo, ls, previous)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkOver(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
}, ls []lesson.Lesson, file []byte,
) {
	next, err := lesson.Markdown(repo, ls, file)
	if err != nil {
		var broken *lesson.BrokenFile
		if !errors.As(err, &broken) || next != nil {
			t.Fatalf("%T %v", err, err)
		}
		return
	}
	if again := write2(t, ls, next); string(again) != string(next) {
		t.Fatalf("written over what was written over\n%q\nit changed: %s", file, cmp.Diff(string(next), string(again)))
	}
	if had, has := strings.Count(string(file), "kept-word"), strings.Count(string(next), "kept-word"); has < had {
		t.Fatalf("of %d kept words %d are left:\n%s\nbecame\n%s", had, has, file, next)
	}
}

func FuzzParse(f *testing.F) {
	b, err := lesson.Markdown(repo, learned(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for _, h := range hostile {
		f.Add([]byte(h))
		f.Add(append(slices.Clone(b), h...))
	}
	f.Fuzz(func(t *testing.T, file []byte) { checkOver(t, learned(), file) })
}

// SIA writes no file that it could not read again.
func TestMarkdownIsReadAgain(t *testing.T) {
	previous := strings.Repeat("We say so.\n", 8<<20/11)
	out, err := lesson.Markdown(repo, learned(), []byte(previous))
	var broken *lesson.BrokenFile
	if !errors.As(err, &broken) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}
