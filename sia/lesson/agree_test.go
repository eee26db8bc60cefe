package lesson

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// in returns a lesson as one of another repository.
func in(repo int64, name string, l Lesson) Lesson {
	l.Repo, l.ID = repo, NewID(repo, name)
	return l
}

// sets returns agreements as sets of ids.
func sets(all []Agreement) [][]ID {
	var out [][]ID
	for _, a := range all {
		ids := []ID{}
		for _, l := range a.Lessons {
			ids = append(ids, l.ID)
		}
		slices.Sort(ids)
		out = append(out, ids)
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

func TestAgreements(t *testing.T) {
	told := say("a", Workaround, putBehind)
	with := func(change func(*Lesson)) Lesson {
		l := in(8, "b", told)
		change(&l)
		return l
	}
	other := in(8, "b", told)
	when := patternVocabulary["missing-credentials"].when
	quoting := func(l Lesson, log string) Lesson {
		l.Context = when + "; check test failed with “" + log + "”"
		return l
	}
	for _, c := range []struct {
		name  string
		x, y  Lesson
		agree bool
	}{
		{"the same words", told, other, true},
		{"nearly the same words", told,
			with(func(l *Lesson) { l.Text = "Please " + strings.ToLower(l.Text[:1]) + l.Text[1:] }), true},
		{"promoted", told, with(func(l *Lesson) { l.State = Promoted }), true},
		{"a person's", told, with(func(l *Lesson) { l.From.Source = FromPerson }), true},
		{"each with its log line", quoting(told, "relay: error: SMTP_TOKEN is not set"),
			quoting(other, "boto: no AWS_SESSION key configured for bucket uploads"), true},
		{"the same repository", told, say("b", Workaround, putBehind), false},
		{"brought from there", told, with(func(l *Lesson) { l.ID = told.ID }), false},
		{"given", told, with(func(l *Lesson) { l.From.Source = FromOrganisation }), false},
		{"another kind", told, with(func(l *Lesson) { l.Kind = Success }), false},
		{"archived", told, with(func(l *Lesson) { l.State = Archived }), false},
		{"forgotten", told, with(func(l *Lesson) { l.State = Forgotten }), false},
		{"merged", told, with(func(l *Lesson) { l.State = Merged }), false},
		{"less sure", told, with(func(l *Lesson) { l.Bad = 1 }), false},
		{"the opposite", told, with(func(l *Lesson) { l.Text = "Don't p" + l.Text[1:] }), false},
		{"the same in a script without spaces", say("a", Workaround, withoutSpaces),
			in(8, "b", say("b", Workaround, withoutSpaces+"。")), true},
		{"the opposite in one", say("a", Workaround, withoutSpaces),
			in(8, "b", say("b", Workaround, strings.Replace(withoutSpaces, "运行", "不要运行", 1))), false},
		{"other words", told, with(func(l *Lesson) { l.Text = "Round tax half to even." }), false},
		{"tools", say("a", Tool, putBehind), in(8, "b", say("b", Tool, putBehind)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, order := range [][]Lesson{{c.x, c.y}, {c.y, c.x}} {
				got := Agreements(order, .5, start)
				if (len(got) == 1) != c.agree || len(got) > 1 {
					t.Fatalf("%d agreements: %+v", len(got), got)
				}
				if c.agree && len(got[0].Lessons) != 2 {
					t.Errorf("%d lessons agree", len(got[0].Lessons))
				}
			}
		})
	}
	got := Agreements([]Lesson{quoting(told, "SMTP_TOKEN is not set"),
		quoting(other, "no AWS_SESSION key was configured for uploads of files")}, .5, start)
	for _, l := range got[0].Lessons {
		if s := got[0].Shared(l); s.Context != when {
			t.Errorf("what only one of them saw goes along: %q", s.Context)
		}
	}
	same := quoting(told, "ERR_PNPM_OUTDATED_LOCKFILE")
	got = Agreements([]Lesson{same, in(8, "b", same)}, .5, start)
	if s := got[0].Shared(got[0].Lessons[0]); s.Context != same.Context {
		t.Errorf("what both saw does not go along: %q", s.Context)
	}
}

// A shared lesson contains what was learned, but not its provenance, words of an issue or its evidence.
func TestShared(t *testing.T) {
	a, b := say("a", Workaround, putBehind), in(8, "b", say("b", Workaround, putBehind))
	a.Good, a.Action, a.Outcome, a.Tools, a.Conflicts = 6, "used abstraction-level-shift", "it passed", []string{"run"},
		[]ID{b.ID}
	a.Correction, a.From = "calling the real service", Provenance{Source: FromPerson, Task: "7-1", Issue: 1, Attempt: 2}
	a.Words, b.Words = []string{"mail", "project", "falcon"}, []string{"invoice", "mail"}
	a.Tags, b.Tags = []string{"environment", "house-rule"}, []string{"environment"}
	got := Agreements([]Lesson{b, a}, .5, start)
	if got[0].Lessons[0].ID != a.ID {
		t.Fatalf("the surest is not first: %+v", got)
	}
	want := Lesson{
		ID: a.ID, Repo: 7, Kind: Workaround, State: Active, Text: putBehind, Correction: a.Correction,
		Tags: []string{"environment"}, Words: []string{"mail"}, From: Provenance{Source: FromOrganisation},
	}
	shared := got[0].Shared(a)
	if d := cmp.Diff(want, shared); d != "" {
		t.Error(d)
	}
	if !got[0].Covers(shared) || got[0].Covers(in(9, "c", say("c", Workaround, "Round tax half to even."))) {
		t.Error("Says is wrong")
	}
	given := shared.CopyTo(9, start)
	want.Repo, want.CountedAt, want.CreatedAt, want.LastSeen = 9, start, start, start
	if d := cmp.Diff(want, given); d != "" {
		t.Error(d)
	}
	counted := given.InitialEvidence().Count(given)
	if again, why := counted.Count(0, 1, start.Add(day)).UpdateState(start.Add(day)); counted.Confidence(start) != 2./3 ||
		!again.Live() {
		t.Errorf("it is given a confidence of %v, and one failure makes it %s: %s", counted.Confidence(start), again.State,
			why)
	}
	// It stands in lessons.md as what it is.
	file, err := Markdown(9, []Lesson{given}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(file), "- **From:** organisation\n") {
		t.Errorf("%s", file)
	}
}

func TestAgainst(t *testing.T) {
	a := say("a", Discovery, "Run make generate after a change of the schema.")
	b, c := in(8, "b", a), in(9, "c", a)
	c.Kind, c.Text = Mistake, "Don't run make generate after a change of the schema."
	got := Agreements([]Lesson{c, b, a, in(9, "d", say("d", Discovery, "Don't round tax."))}, .5, start)
	if len(got) != 1 || len(got[0].Against) != 1 || got[0].Against[0].ID != c.ID {
		t.Errorf("%+v", got)
	}
}

// A repository's own lesson replaces an equivalent copy and gets the evidence of both; a forgotten lesson stays
// forgotten.
func TestGiven(t *testing.T) {
	own, given := say("a", Workaround, putBehind), say("b", Workaround, putBehind).CopyTo(7, start)
	own.Context, own.Words = patternVocabulary["missing-credentials"].when+
		"; check test failed with “boto: no AWS_SESSION key configured for bucket uploads”", []string{"mail"}
	given.Context, given.Words = patternVocabulary["missing-credentials"].when, []string{"invoice"}
	tried, unwanted, forgotten, hers := given, own, own, own
	tried.Good, tried.CountedAt = 9, start.Add(day)
	given = given.InitialEvidence().Count(given)
	unwanted.State, unwanted.Bad = Archived, 4
	forgotten.State = Forgotten
	hers.From.Source = FromPerson
	gone := given
	gone.State = Forgotten
	for _, c := range []struct {
		name   string
		x, y   Lesson
		stands Lesson
	}{
		{"learned", own, given, own}, {"learned, and the other was tried", own, tried, own},
		{"archived", unwanted, given, unwanted},
		{"forgotten", forgotten, given, forgotten}, {"a person's", hers, tried, hers},
		{"given and forgotten", own, gone, gone},
	} {
		changed, evidence := Merge([]Lesson{c.y, c.x}, start)
		i := slices.IndexFunc(changed, func(l Lesson) bool { return l.State == Merged })
		if i < 0 || changed[i].Into != c.stands.ID {
			t.Errorf("%s: %+v", c.name, changed)
			continue
		}
		if c.stands.ID == own.ID && !slices.ContainsFunc(changed,
			func(l Lesson) bool { return l.ID == own.ID && cmp.Equal(l, c.stands) }) {
			t.Errorf("%s: what it learned itself changed: %+v", c.name, changed)
		}
		if (len(evidence) == 1) != (c.y.Good == tried.Good) {
			t.Errorf("%s: evidence %+v", c.name, evidence)
		}
	}
	// Of opposite advice, its own is told, however well the other fits.
	no := say("c", Workaround, "Never p"+putBehind[1:])
	if got := choose(ChooseOptions{Task: "7-9", Most: 5, MinConfidence: .5, Now: start}, found(given, 9),
		found(no, 5)); !slices.Equal(got, []string{no.Text}) {
		t.Errorf("told %q", got)
	}
}

// Lessons with one of a few clearly different texts agree, in any order and distribution, if two repositories have the
// text.
func TestAgreementsHold(t *testing.T) {
	things := []string{putBehind, "Round tax half to even, as the tax office demands it of every shop.",
		"Run make generate after each change of the schema.",
		"Follow the table tests that stand beside the parser when you add a case."}
	rapid.Check(t, func(t *rapid.T) {
		var all []Lesson
		want := map[string]map[int64]bool{}
		for i := range rapid.IntRange(0, 40).Draw(t, "n") {
			text := rapid.SampledFrom(things).Draw(t, "text")
			l := in(rapid.Int64Range(1, 4).Draw(t, "repo"), fmt.Sprint(i), say("", Success, text))
			l.Good = float64(rapid.IntRange(0, 3).Draw(t, "good"))
			if rapid.Bool().Draw(t, "live") {
				if want[text] == nil {
					want[text] = map[int64]bool{}
				}
				want[text][l.Repo] = true
			} else {
				l.State = Archived
			}
			all = append(all, l)
		}
		got := Agreements(all, .5, start)
		n := 0
		for _, repos := range want {
			if len(repos) > 1 {
				n++
			}
		}
		if len(got) != n {
			t.Fatalf("%d agreements, want %d", len(got), n)
		}
		for i, a := range got {
			text := a.Lessons[0].Text
			repos := map[int64]bool{}
			for j, l := range a.Lessons {
				repos[l.Repo] = true
				if l.Text != text || !l.Live() || j > 0 && l.Confidence(start) > a.Lessons[j-1].Confidence(start) {
					t.Fatalf("agreement %d: %+v", i, a.Lessons)
				}
			}
			if d := cmp.Diff(want[text], repos); d != "" {
				t.Fatal(d)
			}
		}
		if d := cmp.Diff(sets(got), sets(Agreements(rapid.Permutation(all).Draw(t, "order"), .5, start))); d != "" {
			t.Fatal("another order agrees otherwise: ", d)
		}
	})
}

// many returns lessons of ten repositories in SIA's own words, which differ only in the output of the checks. Each is
// equivalent to one of another repository.
func many(repos, each int) []Lesson {
	var all []Lesson
	for r := range repos {
		for i := range each {
			p := patternVocabulary["missing-credentials"]
			l := in(int64(1+r), fmt.Sprint(i), say("", Workaround, localDouble))
			thing := fmt.Sprint((r/2*each + i) * 7919)
			l.Context = p.when + "; check test failed with “" +
				strings.NewReplacer("0", " alpha", "1", " beta", "2", " gamma", "3", " delta", "4", " epsilon",
					"5", " zeta", "6", " eta", "7", " theta", "8", " iota", "9", " kappa").Replace(thing) + "”"
			all = append(all, l)
		}
	}
	return all
}

// Each lesson is in at most one agreement, even if many are similar.
func TestAgreementsOfMany(t *testing.T) {
	seen := map[ID]bool{}
	lessons := many(10, 100)
	for _, a := range Agreements(lessons, .5, start) {
		for _, l := range a.Lessons {
			if seen[l.ID] {
				t.Fatalf("%s is in two agreements", l.ID)
			}
			seen[l.ID] = true
		}
	}
	if len(seen) != len(lessons) {
		t.Errorf("%d of %d agree", len(seen), len(lessons))
	}
}

func BenchmarkAgreements(b *testing.B) {
	crowded := many(10, 1000)
	apart := make([]Lesson, len(crowded))
	for i, l := range crowded {
		l.Context = ""
		words := make([]string, 0, 20)
		for n := range 20 {
			words = append(words, fmt.Sprintf("w%dx", (i*31+n*n*17)%5000))
		}
		l.Text = strings.Join(words, " ")
		apart[i] = l
	}
	for name, lessons := range map[string][]Lesson{"crowded": crowded, "apart": apart} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Agreements(lessons, .5, start)
			}
		})
	}
}
