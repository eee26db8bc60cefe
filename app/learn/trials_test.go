package learn

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/technique"
)

// withTrials returns the library of a repository that has techniques on trial, and one written by its users.
func withTrials(t *testing.T, ids ...string) *technique.Library {
	t.Helper()
	files := map[string][]byte{}
	for _, id := range append(ids, "by-hand") {
		trial := "trial: true\n"
		if id == "by-hand" {
			trial = ""
		}
		files[technique.Dir+"/own-"+id+".md"] = fmt.Appendf(nil, "---\nid: %s\nname: N\nwhen: it is new\n"+
			"patterns: {wrong-order: 2}\nchanges: [drop-history]\n%s---\nDo it.\n", id, trial)
	}
	l, errs := technique.LoadLibrary(files)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return l
}

// outcomesOf records outcomes of a technique in the repository.
func outcomesOf(t *testing.T, s *store.Store, id sia.TechniqueID, resolved, all int) {
	t.Helper()
	for i := range all {
		record(t, s, store.Outcome{Task: sia.TaskID(fmt.Sprintf("7-%s%d", id, i)), Intervention: 1, Repo: shop,
			Pattern: sia.WrongOrder, Technique: id, Resolved: i < resolved, Attempt: 1, Setup: "new"})
	}
}

// TestTrialsInTurn: two techniques are on trial at a time, in the order in which they were seen; failed and proven ones
// free their slot; before a task's first technique none is on trial. Techniques written by users are available from the
// start.
func TestTrialsInTurn(t *testing.T) {
	s := database(t)
	first := sia.Task{ID: "7-1", Repo: shop}
	later := sia.Task{ID: "7-1", Repo: shop, Interventions: []sia.Intervention{{Number: 1}}}
	minutes := 0
	look := func(task sia.Task, ids ...string) (names, active []string, said string) {
		t.Helper()
		w := replica(t, s)
		minutes++
		w.now = func() time.Time { return time.Unix(1_800_000_000, 0).Add(time.Duration(minutes) * time.Minute) }
		if err := w.catchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, err := w.Trials(t.Context(), task, withTrials(t, ids...))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range got.Library.All() {
			if !k.Shipped {
				names = append(names, string(k.ID))
			}
		}
		for _, id := range got.Active {
			active = append(active, string(id))
		}
		return names, active, got.Said
	}
	check := func(why string, task sia.Task, ids, names, active []string, said string) {
		t.Helper()
		n, a, words := look(task, ids...)
		if diff := cmp.Diff(names, n) + cmp.Diff(active, a); diff != "" || !strings.Contains(words, said) ||
			said == "" && words != "" {
			t.Errorf("%s: %s\n%q", why, diff, words)
		}
	}
	check("none", later, nil, []string{"by-hand"}, nil, "")
	check("the first was met alone", later, []string{"zeta"}, []string{"by-hand", "zeta"}, []string{"zeta"}, "")
	all := []string{"alpha", "beta", "zeta"}
	check("a third waits", later, all, []string{"alpha", "by-hand", "zeta"}, []string{"zeta", "alpha"}, "")
	check("never first", first, all, []string{"by-hand"}, nil, "")
	wanted := later
	wanted.Wanted = "beta"
	check("a person asks", wanted, all, []string{"alpha", "beta", "by-hand", "zeta"}, []string{"zeta", "alpha"}, "")
	check("a file is gone", later, []string{"alpha", "beta"}, []string{"alpha", "beta", "by-hand"},
		[]string{"alpha", "beta"}, "")

	outcomesOf(t, s, "zeta", 0, 40)
	check("one failed", later, all, []string{"alpha", "beta", "by-hand"}, []string{"alpha", "beta"},
		"zeta is retired: on trial it resolved 0 of 40; its file `.sia/techniques/own-zeta.md` can be removed.")
	outcomesOf(t, s, "alpha", 25, 30)
	check("one proved itself", later, []string{"alpha", "beta"}, []string{"alpha", "beta", "by-hand"},
		[]string{"beta"}, "")
	check("and may be first", first, []string{"alpha", "beta"}, []string{"alpha", "by-hand"}, nil, "")
}

// TestTrialIsReplayed: the log of a decision with techniques on trial has the exact probability, and repeating the
// decision from the log gives the same.
func TestTrialIsReplayed(t *testing.T) {
	s := database(t)
	w := replica(t, s)
	policy := policies.ShippedSet().For(policies.TypeTechnique, policies.Context{})
	if err := s.KeepPolicyVersion(t.Context(), policy.ID(), string(policy.Decision), policy.Source); err != nil {
		t.Fatal(err)
	}
	library := withTrials(t, "alpha", "beta", "gamma")
	chosen := map[string]int{}
	rewind, err := NewRewind(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for issue := range 200 {
		task := sia.Task{ID: sia.NewTaskID(7, issue), Repo: shop, Approaches: 5,
			Attempts:      []sia.Attempt{{Number: 1}, {Number: 2}},
			Interventions: []sia.Intervention{{Number: 1, Diagnosis: sia.Diagnosis{Technique: sia.FreshStart}}}}
		trials, err := w.Trials(t.Context(), task, library)
		if err != nil {
			t.Fatal(err)
		}
		cs := w.Candidates(trials, task, "go", sia.WrongOrder, policy.Technique())
		made, err := w.Choose(task, "go", sia.Effect{Key: fmt.Sprint(issue), Attempt: 2},
			diagnose.Choice{Pattern: sia.WrongOrder, Candidates: cs, Pick: "alpha", Confidence: .9, Model: true},
			policy.Technique(), trials)
		if err != nil {
			t.Fatal(err)
		}
		d := *made.Decision
		chosen[d.Choice]++
		again, why, err := rewind.Decide(policy, d)
		if err != nil || why != "" || again.Choice != d.Choice {
			t.Fatalf("chose %s, and again %s (%s, %v)", d.Choice, again.Choice, why, err)
		}
		i := slices.IndexFunc(again.Options, func(o Chance) bool { return o.Choice == d.Choice })
		onTrial := slices.Contains([]string{"alpha", "beta"}, d.Choice)
		if again.Options[i].Probability != d.Propensity || onTrial && d.Propensity != policy.Technique().Parameters.Trial/2 {
			t.Fatalf("%s with %v, again with %v", d.Choice, d.Propensity, again.Options[i].Probability)
		}
	}
	if n := chosen["alpha"] + chosen["beta"]; n < 2 || n > 30 || chosen["gamma"] > 0 {
		t.Errorf("of 200 decisions, 12 are expected to go to what is on trial: %v", chosen)
	}
}
