package learn

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
)

// policy returns a policy file, stored as a version that made decisions.
func policy(t *testing.T, s *store.Store, source string) policies.Policy {
	t.Helper()
	p, err := policies.Parse("own.yml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return keep(t, s, p)
}

func keep(t *testing.T, s *store.Store, p policies.Policy) policies.Policy {
	t.Helper()
	if err := s.KeepPolicyVersion(t.Context(), p.ID(), string(p.Decision), p.Source); err != nil {
		t.Fatal(err)
	}
	return p
}

// inForce returns the shipped policy of a type.
func inForce(t *testing.T, typ policies.Type) policies.Policy {
	t.Helper()
	return policies.ShippedSet().For(typ, policies.Context{})
}

// replayAll repeats decisions by a policy and returns its choices, or the reasons why that is impossible.
func replayAll(t *testing.T, s *store.Store, p policies.Policy, ds ...sia.Decision) (out []string) {
	t.Helper()
	r, err := NewRewind(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range ds {
		a, why, err := r.Decide(p, d)
		if err != nil {
			t.Fatal(err)
		}
		if why != "" {
			a.Choice = "? " + why
		}
		out = append(out, a.Choice)
	}
	return out
}

func choices(ds []sia.Decision) (out []string) {
	for _, d := range ds {
		out = append(out, d.Choice)
	}
	return out
}

// The original policy reproduces its decisions with what had been learned when each was made, in any order; another one
// does not.
//
//test:plain
func TestTechniquesAreDecidedAgain(t *testing.T) {
	s := database(t)
	by := keep(t, s, inForce(t, policies.TypeTechnique))
	dice := rand.New(rand.NewPCG(3, 4))
	all := library(t).All()
	var logged []sia.Decision
	for i := range 60 {
		o := store.Outcome{Task: sia.NewTaskID(7, i), Intervention: 1, Repo: shop, Pattern: sia.Patterns[dice.IntN(3)],
			Technique: all[dice.IntN(len(all))].ID, Setup: fmt.Sprint(i / 40)}
		o.Resolved = o.Technique == sia.FreshStart || dice.IntN(5) == 0
		record(t, s, o)
		if i%20 == 19 {
			logged = append(logged, decisions(t, replica(t, s))[:40]...)
		}
	}
	if d := cmp.Diff(choices(logged), replayAll(t, s, by, logged...)); d != "" {
		t.Error(d)
	}
	back := append(append([]sia.Decision{}, logged[80:]...), logged[:40]...)
	if d := cmp.Diff(choices(back), replayAll(t, s, by, back...)); d != "" {
		t.Errorf("backwards: %s", d)
	}
	other := policy(t, s, "decision: technique\nname: bold\nversion: 1\nparameters: {explore: 0.5}\n")
	if cmp.Equal(choices(logged), replayAll(t, s, other, logged...)) {
		t.Error("another policy decides everything alike")
	}
	wrong := logged[100]
	wrong.Context = json.RawMessage(`{"candidates":[{"technique":"tool-change"}],"learned":3}`)
	likelier := logged[0]
	likelier.Propensity -= 0.01
	wished := logged[0]
	wished.Policy = "person"
	unknown := logged[0]
	unknown.Policy = "technique/9@000000000000"
	unread := logged[0]
	unread.Policy = "technique/8@000000000000"
	err := s.KeepPolicyVersion(t.Context(), unread.Policy, "technique", "decision: technique\nformer: true\n")
	if err != nil {
		t.Fatal(err)
	}
	future := logged[0]
	future.Context = json.RawMessage(`{"candidates":[{"technique":"tool-change"}],"learned":300}`)
	want := []string{"? " + reasonLearned, "? " + reasonLearned, "? " + reasonUser, "? " + reasonPolicy,
		"? " + reasonPolicy, "? " + reasonContext}
	if d := cmp.Diff(want, replayAll(t, s, other, wrong, likelier, wished, unknown, unread, future)); d != "" {
		t.Error(d)
	}
}

// TestCodersAreDecidedAgain: coders are chosen by the outcomes from before the decision.
func TestCodersAreDecidedAgain(t *testing.T) {
	s := database(t)
	by := keep(t, s, inForce(t, policies.TypeAssign))
	set := policies.ShippedSet()
	l := coder.New(by.Assign().Parameters)
	now := time.Unix(1_800_000_000, 0)
	who := NewDecider(s, l, untried{}, always, func() time.Time { return now })
	two := []coder.Candidate{{Coder: "small", Cost: 2}, {Coder: "big", Cost: 3}}
	var logged []sia.Decision
	for i := range 30 {
		task := sia.Task{ID: sia.NewTaskID(7, i), Repo: shop, Title: "Fix the crash", Approaches: 5, Worthwhile: true,
			Credits: sia.Ledger{Budget: 1000 * sia.Credit}}
		d, _, err := who.Decide(t.Context(), set, task, sia.Effect{Key: fmt.Sprint(i), Question: sia.DecideAssign}, "go", two)
		if err != nil {
			t.Fatal(err)
		}
		logged = append(logged, d)
		now = now.Add(time.Minute)
		err = s.RecordCoderOutcome(t.Context(), store.CoderOutcome{Task: task.ID, Attempt: 1, Repo: 7, Org: "ada",
			Kind: "bug", Coder: d.Choice, Agent: "a", Cost: sia.Credit, Resolved: d.Choice == "big", At: now})
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Minute)
	}
	if d := cmp.Diff(choices(logged), replayAll(t, s, by, logged...)); d != "" {
		t.Error(d)
	}
	if c := choices(logged); c[0] == c[29] {
		t.Errorf("nothing was learned that decides: %q", c)
	}
	if got := replayAll(t, s, by, logged[29], logged[0]); got[0] != logged[29].Choice || got[1] != logged[0].Choice {
		t.Errorf("backwards: %q", got)
	}
	late := logged[0]
	var question decisionInput
	err := json.Unmarshal(late.Context, &question)
	question.Learned = len(logged) // as if everything had been learned by then
	if err == nil {
		late.Context, err = json.Marshal(question)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := replayAll(t, s, by, late); got[0] != "? "+reasonLearned {
		t.Errorf("got %q", got)
	}
}

func TestRulesAreDecidedAgain(t *testing.T) {
	s := database(t)
	retry := policy(t, s, "decision: recover\nname: r\nversion: 1\nparameters: {base: {person: 3}}\n")
	apart := policy(t, s, "decision: decompose\nname: d\nversion: 1\nparameters: {threshold: 0}\n")
	early := policy(t, s, "decision: escalate\nname: e\nversion: 1\nparameters: {threshold: 0}\n")
	calm := policy(t, s, "decision: interrupt\nname: calm\nversion: 1\nparameters: {bias: -9}\n")
	rerun := policy(t, s, "decision: rerun\nname: again\nversion: 1\n")
	context := json.RawMessage(`{"task":{"kind":"bug","ambiguity":0.9},"failures":2}`)
	for _, tt := range []struct {
		name string
		by   policies.Policy
		d    sia.Decision
		want string
	}{
		{"recover", retry, sia.Decision{Type: sia.DecideRecover, Context: context}, "person"},
		{"escalate", early, sia.Decision{Type: sia.DecideEscalate, Context: context}, "ask now"},
		{"decompose", apart, sia.Decision{Type: sia.DecideDecompose,
			Context: json.RawMessage(`{"task":{"kind":"bug","complexity":0.1},"checkable":true}`)}, "reproduce"},
		{"no context", early, sia.Decision{Type: sia.DecideEscalate, Context: json.RawMessage("null")}, "? " + reasonContext},
		{"rerun", rerun, sia.Decision{Type: sia.DecideRerun}, "? " + reasonCounts},
		{"interrupt", calm, sia.Decision{Type: sia.DecideInterrupt}, "? " + reasonWeights},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := replayAll(t, s, tt.by, tt.d); got[0] != tt.want {
				t.Errorf("got %q, want %q", got[0], tt.want)
			}
		})
	}
}

// Decisions without a context of their own get their task's.
func TestSnapshots(t *testing.T) {
	bug := func(pattern string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"task":{"kind":"bug"},"pattern":%q}`, pattern))
	}
	ds := []sia.Decision{
		{Task: "1", Type: sia.DecideInterrupt, Context: json.RawMessage(`{"streak":1}`)},
		{Task: "2", Type: sia.DecideRerun, Context: json.RawMessage(`{"checks":["test"]}`)},
		{Task: "1", Type: sia.DecideRecover, Context: bug("a")},
		{Task: "1", Type: sia.DecideTechnique, Context: json.RawMessage(`{"pattern":"b"}`)},
		{Task: "1", Type: sia.DecideRerun,
			Context: json.RawMessage(`{"task":{"kind":"bug"},"pattern":"c","checks":["test"]}`)},
		{Task: "1", Type: sia.DecideInterrupt, Context: json.RawMessage(`{"task":{"kind":"bug"},"pattern":"d","risk":{}}`)},
	}
	cs, ok := Snapshots(ds)
	for i, want := range []string{"a", "", "a", "b", "c", "d"} {
		if ok[i] != (want != "") || cs[i].Pattern != want || ok[i] && cs[i].Task.Kind != policies.KindBug {
			t.Errorf("%d: %v %+v", i, ok[i], cs[i])
		}
	}
}

func TestCame(t *testing.T) {
	for _, tt := range []struct {
		typ             sia.DecisionType
		outcome         string
		resolved, known bool
	}{
		{sia.DecideTechnique, outcomeResolved, true, true},
		{sia.DecideAssign, outcomeFailed, false, true},
		{sia.DecideRecover, outcomeUntried, false, false},
		{sia.DecideRecover, "", false, false},
		{sia.DecideRerun, "green", true, true},
		{sia.DecideRerun, "red", false, true},
		{sia.DecideInterrupt, "got nowhere", false, false},
	} {
		resolved, known := Resolved(sia.Decision{Type: tt.typ, Outcome: tt.outcome})
		if resolved != tt.resolved || known != tt.known {
			t.Errorf("%s %q: %v %v", tt.typ, tt.outcome, resolved, known)
		}
	}
}

func TestChances(t *testing.T) {
	for options, want := range map[string][]Chance{
		`[{"technique":"a","propensity":0.9},{"technique":"b","propensity":0.1}]`: {{"a", 0.9}, {"b", 0.1}},
		`[{"coder":"c","propensity":1}]`:                                          {{"c", 1}},
		`[{"choice":"retry","score":0.5}]`:                                        {{"retry", 0}},
		`["re-run","blame the attempt"]`:                                          nil,
		`null`:                                                                    {},
	} {
		if d := cmp.Diff(want, Chances(sia.Decision{Options: json.RawMessage(options)})); d != "" {
			t.Errorf("%s: %s", options, d)
		}
	}
}
