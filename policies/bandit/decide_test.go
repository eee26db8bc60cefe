package bandit_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/policies/bandit"
)

var update = flag.Bool("update", false, "write golden files")

// still returns the shipped policy without exploration.
func still(t testing.TB) bandit.Policy {
	p := defaults(t)
	p.Parameters.Explore = 0
	return p
}

var here = bandit.Diagnosis{Org: "o", Repo: "r", Pattern: "p"}

// ask returns the order in which a learner prefers techniques.
func ask(l *bandit.Learner, r bandit.Request) (order []string) {
	for _, o := range l.Decide(r).Options {
		order = append(order, o.Technique)
	}
	return order
}

func want(t *testing.T, got []string, order ...string) {
	t.Helper()
	if !slices.Equal(got, order) {
		t.Errorf("order is %v, want %v", got, order)
	}
}

func TestCandidatesBreakTies(t *testing.T) {
	l := newLearner(t, still(t))
	for _, order := range [][]string{{"a", "b", "c"}, {"c", "a", "b"}} {
		want(t, ask(l, bandit.Request{Diagnosis: here, Candidates: candidates(order...)}), order...)
	}
}

func TestTableDecidesFirst(t *testing.T) {
	l := newLearner(t, still(t))
	d := bandit.Diagnosis{Pattern: "accumulated-cruft"}
	want(t, ask(l, bandit.Request{Diagnosis: d,
		Candidates: candidates("decomposition", "context-pruning", "fresh-start")}),
		"fresh-start", "context-pruning", "decomposition")
	cs := candidates("decomposition", "context-pruning", "fresh-start")
	cs[0].Rank, cs[2].Odds = 1, 0.1 // a rank of the candidate's own, and an unmet precondition
	want(t, ask(l, bandit.Request{Diagnosis: d, Candidates: cs}), "decomposition", "context-pruning", "fresh-start")
}

// tried returns outcomes with a share of resolved ones, spread evenly.
func tried(l *bandit.Learner, d bandit.Diagnosis, technique string, resolved, of int) {
	for i := range of {
		l.Observe(bandit.Outcome{
			Org: d.Org, Repo: d.Repo, Pattern: d.Pattern, Technique: technique, Resolved: (i+1)*resolved/of > i*resolved/of,
		})
	}
}

// heard returns diagnoses as outcomes without a technique: only their confidence is learned.
func heard(ds ...bandit.Diagnosis) []bandit.Outcome {
	os := make([]bandit.Outcome, len(ds))
	for i, d := range ds {
		os[i] = bandit.Outcome{Org: d.Org, Repo: d.Repo, Pattern: d.Pattern, Confidence: d.Confidence}
	}
	return os
}

func TestOutcomesRerank(t *testing.T) {
	l := newLearner(t, still(t))
	r := bandit.Request{Diagnosis: here, Candidates: candidates("a", "b", "c")}
	tried(l, here, "a", 0, 6)
	tried(l, here, "c", 4, 6)
	want(t, ask(l, r), "c", "b", "a")

	r.Pattern = "another"
	want(t, ask(l, r), "a", "b", "c") // one pattern says nothing of another
}

// Narrower scopes count more: the repository's outcomes outweigh its organisation's, and those the world's; a
// repository without outcomes follows the others.
func TestNearerScopesCountMore(t *testing.T) {
	l := newLearner(t, still(t))
	sibling := bandit.Diagnosis{Org: "o", Repo: "sibling", Pattern: "p"}
	stranger := bandit.Diagnosis{Org: "x", Repo: "y", Pattern: "p"}
	tried(l, stranger, "a", 30, 40)
	tried(l, sibling, "b", 30, 40)
	tried(l, here, "c", 30, 40)
	for _, tt := range []struct {
		who  bandit.Diagnosis
		best string
	}{{stranger, "a"}, {sibling, "b"}, {here, "c"}} {
		if got := ask(l, bandit.Request{Diagnosis: tt.who,
			Candidates: candidates("d", "c", "b", "a")}); got[0] != tt.best || got[3] != "d" {
			t.Errorf("%s/%s prefers %v, want %s first and d, which nobody tried, last", tt.who.Org, tt.who.Repo, got, tt.best)
		}
	}
	stranger.Org = "new"
	tried(l, here, "a", 0, 40) // now the world prefers b and c
	want(t, ask(l, bandit.Request{Diagnosis: stranger, Candidates: candidates("d", "c", "b", "a")}), "c", "b", "a", "d")
}

func TestConfidence(t *testing.T) {
	l := newLearner(t, still(t))
	r := bandit.Request{Diagnosis: here, Candidates: candidates("a", "b", "c", "d")}
	r.Confidence = map[string]float64{"a": 0.1, "b": 0.5, "c": 0.9}
	d := l.Decide(r)
	z := map[string]float64{}
	for _, o := range d.Options {
		z[o.Technique] = o.Z
	}
	if d.Choice != "c" || z["c"] <= 0 || z["c"] != -z["a"] || math.Abs(z["b"]) > 1e-12 || z["d"] != 0 {
		t.Errorf("chose %s, z is %v; want c, symmetrical, and nothing for what was not rated", d.Choice, z)
	}

	t.Run("not a share", func(t *testing.T) {
		clean := l.Decide(r)
		r.Confidence = map[string]float64{"a": 0.1, "b": 0.5, "c": 0.9, "d": math.NaN(), "e": math.Inf(1), "f": math.Inf(-1),
			"g": 7, "h": -1}
		if diff := cmp.Diff(clean, l.Decide(r), cmpopts.IgnoreUnexported(bandit.Option{})); diff != "" {
			t.Errorf("what is no number in 0–1 changed the decision:\n%s", diff)
		}
		l.Observe(heard(r.Diagnosis)...)
		l.Observe(bandit.Outcome{Org: "o", Repo: "r", Pattern: "p", Technique: "a", Z: math.NaN()},
			bandit.Outcome{Pattern: "p"})
		if got := l.Decide(r); got.Learned != 1 || math.IsNaN(got.Options[0].Score) {
			t.Errorf("after an outcome without a number, and one of no technique: %+v", got)
		}
	})
}

// A model's average confidence in a technique counts, even without a current rating, until outcomes contradict it.
func TestUsualConfidence(t *testing.T) {
	l := newLearner(t, still(t))
	r := bandit.Request{Diagnosis: here, Candidates: candidates("a", "b", "c")}
	usual := here
	usual.Confidence = map[string]float64{"a": 0.4, "b": 0.6, "c": 0.8}
	for range 10 {
		l.Observe(heard(usual)...)
	}
	want(t, ask(l, r), "c", "b", "a")
	tried(l, here, "c", 1, 60)
	want(t, ask(l, r), "b", "a", "c")
}

// A model with uninformative confidence is soon ignored. One with informative confidence gets more weight.
func TestConfidenceIsWorthWhatItProves(t *testing.T) {
	for _, tt := range []struct {
		name  string
		right bool
	}{{"right", true}, {"guessing", false}} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLearner(t, still(t))
			r := bandit.Request{Diagnosis: here, Candidates: candidates("a", "b", "c")}
			r.Confidence = map[string]float64{"a": 0.1, "b": 0.5, "c": 0.9}
			move := func() float64 {
				os := l.Decide(r).Options
				c := os[slices.IndexFunc(os, func(o bandit.Option) bool { return o.Technique == "c" })]
				return c.Score - math.Log(c.Mean/(1-c.Mean)) // what today's confidence adds
			}
			before := move()
			for i := range 400 {
				z := float64(i%2)*2 - 1 // a half each at -1 and 1
				resolved := i%8 < 4     // as often as not, whatever z is
				if tt.right {
					resolved = z > 0
				}
				l.Observe(bandit.Outcome{Org: "o", Repo: "r", Pattern: fmt.Sprint(i % 5), Technique: "b", Z: z,
					Resolved: resolved})
			}
			after := move()
			if tt.right && after < 2*before || !tt.right && after > before/2 {
				t.Errorf("confidence moved the score by %.2f at first and by %.2f after 400 outcomes", before, after)
			}
		})
	}
}

// The reasons are readable sentences.
func TestReason(t *testing.T) {
	var b strings.Builder
	write := func(title string, l *bandit.Learner, r bandit.Request) bandit.Decision {
		d := l.Decide(r)
		fmt.Fprintf(&b, "-- %s --\n%s\n", title, d.Reason)
		return d
	}
	d := bandit.Diagnosis{Org: "ada", Repo: "shop", Pattern: "repeated-error"}
	r := bandit.Request{Diagnosis: d, Candidates: candidates("error-pattern-recognition", "tool-change", "fresh-start"),
		Left: 4}
	l := newLearner(t, still(t))
	write("nothing known", l, r)
	write("nothing left", l, bandit.Request{Diagnosis: d, Candidates: r.Candidates[:1],
		Used: []string{"error-pattern-recognition"}})
	write("one left", l, bandit.Request{Diagnosis: d, Candidates: r.Candidates[2:]})
	tried(l, d, "tool-change", 9, 12)
	tried(l, bandit.Diagnosis{Org: "ada", Repo: "till", Pattern: d.Pattern}, "tool-change", 2, 7)
	tried(l, bandit.Diagnosis{Org: "bob", Repo: "blog", Pattern: d.Pattern}, "tool-change", 30, 51)
	write("outcomes everywhere", l, r)
	r.Confidence = map[string]float64{"error-pattern-recognition": 0.2, "tool-change": 0.9, "fresh-start": 0.3}
	write("ratings for it", l, r)
	r.Confidence["tool-change"] = 0.19
	write("ratings against it", l, r)
	r.Confidence["tool-change"] = 0.25
	write("ratings alike", l, r)
	r.Confidence = map[string]float64{"error-pattern-recognition": 0.9, "tool-change": 0.1, "fresh-start": 0.3}
	write("ratings for another", l, r)
	r.Confidence = map[string]float64{"tool-change": 0.9, "fresh-start": 7}
	write("the pick's confidence alone", l, r)
	r.Confidence = map[string]float64{"tool-change": 0.2}
	write("a low confidence alone", l, r)

	chance := defaults(t)
	chance.Parameters.Explore = 0.5
	l = newLearner(t, chance)
	for i := range 20 {
		r := bandit.Request{Diagnosis: d, Candidates: candidates("error-pattern-recognition", "tool-change", "fresh-start"),
			Task: fmt.Sprint("ada/shop#", i)}
		if l.Decide(r).Explored {
			write("by chance", l, r)
			break
		}
	}

	golden := filepath.Join("testdata", "reasons.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), b.String()); diff != "" {
		t.Errorf("reasons changed; look, then run with -update:\n%s", diff)
	}
}

// Imported outcomes rank between the table and local outcomes: they change the expectation of untried techniques, and
// are outweighed like outcomes of other organisations.
func TestImportedIsOutlearned(t *testing.T) {
	l := newLearner(t, still(t))
	cs := candidates("a", "b")
	cs[1].Imported = bandit.Tally{Resolved: 30, Tried: 60}
	r := bandit.Request{Diagnosis: here, Candidates: cs}
	share := still(t).Rules.Shares.Other
	d := l.Decide(r)
	if o, mean := d.Options[0], (24*share+30)/84; o.Technique != "b" || math.Abs(o.Mean-mean) > 1e-9 ||
		o.Imported != cs[1].Imported || !strings.Contains(d.Reason, "it resolved 30 of 60 by what was imported") {
		t.Errorf("%+v, want the mean %.4f: %s", o, mean, d.Reason)
	}
	for range 40 {
		l.Observe(bandit.Outcome{Org: "o", Repo: "r", Pattern: "p", Technique: "b", Imported: cs[1].Imported})
	}
	want(t, ask(l, r), "a", "b")
	for _, bad := range []bandit.Tally{{Resolved: 5, Tried: 4}, {Resolved: -1, Tried: 4}, {Resolved: math.NaN(), Tried: 4},
		{Resolved: 1, Tried: math.Inf(1)}} {
		cs[0].Imported = bad
		if o := l.Decide(r).Options[0]; o.Imported != (bandit.Tally{}) || math.IsNaN(o.Mean) {
			t.Errorf("by %+v: %+v", bad, o)
		}
	}
}
