package sia

import (
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReviewed applies the reviewer's verdicts one after another, with a new
// diagnosis after each rejection, and checks the task afterwards.
func TestReviewed(t *testing.T) {
	major := Review{Verdict: Major, Points: []string{"name the file"}}
	for _, c := range []struct {
		name     string
		verdicts []Review
		state    State // Reviewing: memory comes next; Diagnosing: another candidate
		refused  int
		want     Review
		prompt   string
	}{
		{"approved", []Review{{Verdict: Approved}}, Reviewing, 0, Review{Verdict: Approved}, "p0"},
		{"minor", []Review{{Verdict: Minor, Points: []string{"x"}}}, Reviewing, 0,
			Review{Verdict: Minor, Points: []string{"x"}}, "p0+"},
		{"unavailable", []Review{{Verdict: ReviewFailed}}, Reviewing, 0, Review{Verdict: ReviewFailed}, "p0"},
		{"rejected", []Review{{Verdict: Rejected}}, Diagnosing, 1, Review{Verdict: Rejected}, "p0"},
		{"rejected, then approved", []Review{{Verdict: Rejected}, {Verdict: Approved}}, Reviewing, 1,
			Review{Verdict: Approved}, "p1"},
		{"rejected three times", []Review{{Verdict: Rejected}, {Verdict: Rejected}, {Verdict: Rejected}}, Reviewing, 2,
			Review{Verdict: Rejected}, "p2"},
		{"amended, then approved", []Review{major, {Verdict: Approved}}, Reviewing, 0,
			Review{Verdict: Approved, Amended: major.Points}, "p0+"},
		{"amended, then not to be had", []Review{major, {Verdict: ReviewFailed}}, Reviewing, 0,
			Review{Verdict: ReviewFailed, Amended: major.Points}, "p0+"},
		{"amended, then major again", []Review{major, major}, Diagnosing, 1,
			Review{Verdict: Major, Points: major.Points, Amended: major.Points}, "p0+"},
		{"amended and refused, then approved", []Review{major, {Verdict: Rejected}, {Verdict: Approved}}, Reviewing, 1,
			Review{Verdict: Approved}, "p1"},
		{"nothing but objections", []Review{{Verdict: Rejected}, {Verdict: Rejected}, major, major}, Reviewing, 2,
			Review{Verdict: Major, Points: major.Points, Amended: major.Points}, "p2++"},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := Task{ID: "9-3", State: Reviewing, Approaches: 5, Settings: DefaultSettings(),
				Attempts: []Attempt{{Number: 1, Outcome: AttemptFail}}}
			techniques := []TechniqueID{Decomposition, ToolChange, ContextPruning}
			propose := func(n int) Diagnosis {
				p := "p" + strconv.Itoa(n)
				return Diagnosis{Technique: techniques[n], Prompt: p, Brief: Brief{Technique: techniques[n], Prompt: p}}
			}
			task.Next = &Intervention{After: 1, Diagnosis: propose(0)}
			proposed := 0
			say := func(kind EffectKind, fact Fact) {
				task.Pending = map[string]EffectKind{"k": kind}
				task = Step(task, Event{ID: "k", Effect: "k", Fact: fact}).Task
			}
			for _, v := range c.verdicts {
				if task.State == Diagnosing {
					proposed++
					say(DoDiagnose, Diagnosed{Diagnosis: propose(proposed)})
					say(DoDecide, Decided{Type: DecideEscalate, Choice: ChooseGoOn})
				}
				prompt := ""
				if len(v.Points) > 0 {
					prompt = task.Next.Diagnosis.Prompt + "+"
				}
				say(DoReview, Reviewed{Review: v, Prompt: prompt})
			}
			if task.State != c.state || len(task.Refused) != c.refused || task.Next.Diagnosis.Prompt != c.prompt ||
				task.Next.Diagnosis.Brief.Prompt != c.prompt {
				t.Errorf("%s, refused %v, prompt %q", task.State, task.Refused, task.Next.Diagnosis.Prompt)
			}
			if d := cmp.Diff(c.want, task.Next.Review); d != "" {
				t.Error(d)
			}
			memory := slices.Contains(slices.Collect(maps.Values(task.Pending)), DoMemory)
			if memory != (c.state == Reviewing) {
				t.Errorf("memory is committed next: %t, with %v pending", memory, task.Pending)
			}
		})
	}
}
