package lesson

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia"
)

// say returns a lesson from outcomes of attempts.
func say(name string, kind Kind, text string) Lesson {
	return Lesson{ID: NewID(7, name), Repo: 7, Kind: kind, State: Active, Text: text, Occurrences: 1,
		CountedAt: start, CreatedAt: start, LastSeen: start, From: Provenance{Source: FromOutcome}}
}

const putBehind = "Put the mail service behind an interface with a local double that records what it was asked."

const withoutSpaces = "修改数据库之后请运行代码生成脚本"

func TestMerge(t *testing.T) {
	person := func(l Lesson) Lesson { l.From.Source = FromPerson; return l }
	with := func(l Lesson, good, bad float64) Lesson { l.Good, l.Bad = good, bad; return l }
	in := func(l Lesson, s State) Lesson { l.State = s; return l }
	a, b := say("a", Workaround, putBehind),
		say("b", Workaround, "Please put the mail service behind an interface, with a local double that records what it "+
			"was asked")
	for _, c := range []struct {
		name   string
		x, y   Lesson
		stands ID // of the merged pair; "" when they stay two
	}{
		{"the same words", a, b, min(a.ID, b.ID)},
		{"more evidence stands", a, with(b, 3, 1), b.ID},
		{"a person's stands", with(a, 9, 0), person(b), b.ID},
		{"two of people's", person(a), with(person(b), 5, 0), b.ID},
		{"forgotten absorbs what outcomes teach", in(a, Forgotten), with(b, 5, 0), a.ID},
		{"forgotten does not absorb a person's", in(a, Forgotten), person(b), b.ID},
		{"archived with evidence absorbs", with(in(a, Archived), 0, 4), b, a.ID},
		{"another kind", a, say("b", Success, b.Text), ""},
		{"the opposite", a, say("b", Workaround,
			"Never put the mail service behind an interface with a local double that records what it was asked."), ""},
		{"the same in a script without spaces", say("a", Workaround, withoutSpaces),
			with(say("b", Workaround, withoutSpaces+"。"), 1, 0), b.ID},
		{"the opposite in one", say("a", Workaround, withoutSpaces),
			say("b", Workaround, strings.Replace(withoutSpaces, "运行", "不要运行", 1)), ""},
		{"other words", a, say("b", Workaround, "Round tax half to even."), ""},
		{"merged already", a, in(b, Merged), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed, evidence := Merge([]Lesson{c.x, c.y}, start)
			var stands ID
			for _, l := range changed {
				if l.State == Merged {
					stands = l.Into
				} else if l.Occurrences != 1 && l.Occurrences != 2 {
					t.Errorf("seen %d times", l.Occurrences)
				}
			}
			if stands != c.stands {
				t.Errorf("%q stands, want %q", stands, c.stands)
			}
			for _, e := range evidence {
				if e.Lesson != stands {
					t.Errorf("evidence about %s, and %s stands", e.Lesson, stands)
				}
			}
		})
	}
}

func TestConflicts(t *testing.T) {
	yes, no := say("a", Discovery, "Run make generate after a change of the schema."),
		say("b", Mistake, "Don't run make generate after a change of the schema.")
	third := say("c", Discovery, "Round tax half to even.")
	changed, _ := Merge([]Lesson{yes, no, third}, start)
	yes.Conflicts, no.Conflicts = []ID{no.ID}, []ID{yes.ID}
	want := []Lesson{yes, no}
	slices.SortFunc(want, func(x, y Lesson) int { return strings.Compare(string(x.ID), string(y.ID)) })
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Error(diff)
	}
	if again, _ := Merge(append(changed, third), start); len(again) != 0 {
		t.Errorf("noted again: %v", again)
	}
}

// Any number of equivalent lessons is merged into one, with all occurrences and evidence; merging again changes
// nothing.
func TestMergeToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		var all []Lesson
		good := 0.0
		for i := range n {
			l := say(fmt.Sprint(i), Workaround, putBehind)
			l.Good = float64(rapid.IntRange(0, 3).Draw(t, "good"))
			good += l.Good
			all = append(all, l)
		}
		counted := map[string]bool{}
		var stand []Lesson
		for range n + 1 {
			changed, evidence := Merge(all, start)
			for _, c := range changed {
				all[slices.IndexFunc(all, func(l Lesson) bool { return l.ID == c.ID })] = c
			}
			for _, e := range evidence {
				i := slices.IndexFunc(all, func(l Lesson) bool { return l.ID == e.Lesson })
				for all[i].State == Merged {
					i = slices.IndexFunc(all, func(l Lesson) bool { return l.ID == all[i].Into })
				}
				if !counted[e.Key] {
					counted[e.Key] = true
					all[i] = e.Count(all[i])
				}
			}
			stand = slices.DeleteFunc(slices.Clone(all), func(l Lesson) bool { return l.State == Merged })
		}
		if len(stand) != 1 || stand[0].Occurrences != n || stand[0].Good < good {
			t.Fatalf("%d of %d stand: %+v", len(stand), n, stand)
		}
	})
}

func TestSignature(t *testing.T) {
	words := func(from, to int) []string {
		var w []string
		for i := from; i < to; i++ {
			w = append(w, fmt.Sprint("word", i))
		}
		return w
	}
	for _, c := range []struct{ share, of int }{{0, 100}, {30, 100}, {70, 100}, {90, 100}, {100, 100}} {
		a, b := words(0, c.of), words(c.of-c.share, 2*c.of-c.share)
		want := jaccardIndex(a, b)
		if got := NewSignature(a).Similarity(NewSignature(b)); got < want-.15 || got > want+.15 {
			t.Errorf("%d of %d shared: %.2f, want about %.2f", c.share, c.of, got, want)
		}
	}
	if NewSignature(nil).Similarity(NewSignature(nil)) != 0 {
		t.Error("two lessons without words are alike")
	}
}

func TestTaught(t *testing.T) {
	l := NewTaught(7, "comment/1", " Run  `make generate`\nafter a change. ", sia.Actor{Login: "mia"},
		sia.Task{ID: "7-3", Issue: 3}, start)
	if l.Text != "Run `make generate` after a change." || l.Confidence(start) != .75 || !l.Live() ||
		l.From.By.Login != "mia" {
		t.Errorf("%+v", l)
	}
	secret := l.Clean(func(s string) string { return "[" + s + "]" })
	if secret.Text != "["+l.Text+"]" || secret.Words[0] != "["+l.Words[0]+"]" {
		t.Errorf("%+v", secret)
	}
	if MatchShare("make generate", l) != 1 || MatchShare("bake bread", l) != 0 || MatchShare("", l) != 0 {
		t.Error("Means is wrong")
	}
}
