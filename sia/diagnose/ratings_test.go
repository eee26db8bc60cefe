package diagnose_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/technique"
)

// tried returns a failed task with one technique used and one refused, and the remaining techniques.
func tried(t *testing.T) (task sia.Task, free []string) {
	t.Helper()
	task = failed()
	task.Interventions = []sia.Intervention{{Number: 1, After: 1,
		Diagnosis: sia.Diagnosis{Pattern: sia.MissingCredentials, Technique: sia.Decomposition}}}
	task.Refused = []sia.TechniqueID{sia.ToolChange}
	l, errs := technique.LoadLibrary(nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	for _, x := range l.All() {
		if x.ID != sia.Decomposition && x.ID != sia.ToolChange {
			free = append(free, string(x.ID))
		}
	}
	slices.Sort(free)
	return task, free
}

// hears is a model that answers and records the last request.
type hears struct {
	says
	request *llm.Request
}

func (h hears) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	*h.request = r
	return h.says.Complete(ctx, r)
}

// TestAskedForRatings: the schema lists each free technique, as strict mode requires, and neither schema nor prompt
// asks for ratings when no technique is chosen.
func TestAskedForRatings(t *testing.T) {
	task, free := tried(t)
	answer, err := json.Marshal(with("blocker", "b", "question", "What now?"))
	if err != nil {
		t.Fatal(err)
	}
	used := failed()
	l, _ := technique.LoadLibrary(nil)
	for _, x := range l.All() {
		used.Refused = append(used.Refused, x.ID)
	}
	for _, tt := range []struct {
		name string
		in   diagnose.Input
		want []string
	}{
		{"some are free", diagnose.Input{Task: task}, free},
		{"a person is asked whatever it says", diagnose.Input{Task: task, Final: true}, nil},
		{"nothing is free", diagnose.Input{Task: used}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var q llm.Request
			run(t, hears{says(answer), &q}, tt.in)
			var schema struct {
				Required   []string
				Properties map[string]struct {
					Type                 string
					Required             []string
					AdditionalProperties *bool
					Properties           map[string]struct{ Type string }
				}
			}
			if err := json.Unmarshal(q.Schema.JSON, &schema); err != nil {
				t.Fatal(err)
			}
			ratings, asked := schema.Properties["ratings"]
			if asked != (tt.want != nil) || slices.Contains(schema.Required, "ratings") != asked ||
				strings.Contains(q.Messages[0].Content, "Ratings are that chance") != asked {
				t.Fatalf("asked %v, required %v:\n%s", asked, schema.Required, q.Messages[0].Content)
			}
			if !asked {
				return
			}
			if d := cmp.Diff(tt.want, slices.Sorted(maps.Keys(ratings.Properties))); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(tt.want, ratings.Required); d != "" || ratings.AdditionalProperties == nil ||
				*ratings.AdditionalProperties {
				t.Errorf("not strict: %s", q.Schema.JSON)
			}
			for id, p := range ratings.Properties {
				if p.Type != "number" {
					t.Errorf("%s is a %s", id, p.Type)
				}
			}
		})
	}
}

// TestRatings: only invalid ratings are dropped, and the diagnosis is kept without asking again.
func TestRatings(t *testing.T) {
	task, _ := tried(t)
	for _, tt := range []struct {
		name    string
		ratings string
		want    sia.Ratings
	}{
		{"of all kinds", `{"abstraction-level-shift": 0.7, "fresh-start": 0, "example-injection": 1,
			"decomposition": 0.9, "tool-change": 0.9, "magic": 0.9,
			"context-pruning": 1.01, "prompt-restructuring": -0.1, "constraint-relaxation": 1e999}`,
			sia.Ratings{sia.AbstractionLevelShift: 0.7, sia.FreshStart: 0, sia.ExampleInjection: 1}},
		{"no numbers", `{"abstraction-level-shift": "0.7", "fresh-start": null, "example-injection": {"chance": 1},
			"context-pruning": 0.2}`, sia.Ratings{sia.ContextPruning: 0.2}},
		{"percentages", `{"abstraction-level-shift": 70, "fresh-start": 20}`, nil},
		{"a list", `[{"technique": "fresh-start", "chance": 0.2}]`, nil},
		{"a word", `"high"`, nil},
		{"null", `null`, nil},
		{"empty", `{}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(good())
			if err != nil {
				t.Fatal(err)
			}
			answer := strings.TrimSuffix(string(b), "}") + `, "ratings": ` + tt.ratings + "}"
			var asked diagnose.Choice
			choose := func(q diagnose.Choice) (diagnose.Chosen, error) {
				asked = q
				return last(q)
			}
			got, usage := run(t, says(answer), diagnose.Input{Task: task, Choose: choose})
			if got.Fallback != "" || usage.Input != 1 {
				t.Fatalf("%s after %d calls", got.Fallback, usage.Input)
			}
			if d := cmp.Diff(tt.want, asked.Ratings); d != "" {
				t.Error("the question: ", d)
			}
			if d := cmp.Diff(tt.want, got.Ratings); d != "" {
				t.Error("the diagnosis: ", d)
			}
		})
	}
}

// A confidence written as a percentage is not clamped to 1.
func TestConfidenceAsAPercentage(t *testing.T) {
	for said, want := range map[float64]float64{0.4: 0.4, 1: 1, 40: 0.4, 100: 1, 250: 1, -3: 0} {
		b, err := json.Marshal(with("confidence", said))
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := run(t, says(b), diagnose.Input{Task: failed()}); got.Confidence != want {
			t.Errorf("%v: %v, want %v", said, got.Confidence, want)
		}
	}
}

// TestConfidenceInWhatWasChosen: the confidence is about the next attempt, so it is the rating of the technique that
// was chosen instead of the pick.
func TestConfidenceInWhatWasChosen(t *testing.T) {
	for _, tt := range []struct {
		name    string
		ratings map[string]any
		choose  func(diagnose.Choice) (diagnose.Chosen, error)
		want    float64
	}{
		{"the pick", map[string]any{"abstraction-level-shift": 0.6, "constraint-relaxation": 0.3}, nil, 0.85},
		{"another", map[string]any{"abstraction-level-shift": 0.6, "constraint-relaxation": 0.3}, last, 0.3},
		{"another, not rated", map[string]any{"abstraction-level-shift": 0.6}, last, 0.85},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := json.Marshal(with("ratings", tt.ratings))
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := run(t, says(b), diagnose.Input{Task: failed(), Choose: tt.choose}); got.Confidence != tt.want {
				t.Errorf("%s with confidence %v, want %v", got.Technique, got.Confidence, tt.want)
			}
		})
	}
}

// TestFieldsOfAnotherTechnique: what a model writes for its pick is not taken for the technique that is chosen instead.
func TestFieldsOfAnotherTechnique(t *testing.T) {
	b, err := json.Marshal(with("technique", "decomposition", "hypothesis", "In parts it passes.",
		"steps", []map[string]string{{"do": "Split off the sender."}, {"do": "Split off the handler."}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		choose func(diagnose.Choice) (diagnose.Chosen, error)
		kept   bool
	}{{"the pick", nil, true}, {"another", relax, false}} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := run(t, says(b), diagnose.Input{Task: failed(), Choose: tt.choose})
			proposed := slices.ContainsFunc(got.Brief.Steps, func(p plan.Part) bool {
				return strings.Contains(p.Do, "Split off")
			})
			if proposed != tt.kept || (got.Hypothesis == "In parts it passes.") != tt.kept || got.Hypothesis == "" {
				t.Errorf("%s with the hypothesis %q and the steps %+v", got.Technique, got.Hypothesis, got.Brief.Steps)
			}
		})
	}
}

// relax is a Choose function that chooses constraint relaxation, which takes the steps of a diagnosis, too.
func relax(q diagnose.Choice) (diagnose.Chosen, error) {
	return diagnose.Chosen{Technique: sia.ConstraintRelaxation, Candidates: q.Candidates,
		Decision: &sia.Decision{ID: "d3"}}, nil
}

// TestRatedAreCandidates: a technique that the model rates above the mean is a candidate even if it is not listed for
// the pattern, with odds reduced by unmet preconditions. But a user is asked when no listed technique is left.
func TestRatedAreCandidates(t *testing.T) {
	ratings := map[string]any{"abstraction-level-shift": 0.3, "dependency-reordering": 0.8, "fresh-start": 0.7,
		"example-injection": 0.1, "decomposition": 0.9}
	b, err := json.Marshal(with("ratings", ratings))
	if err != nil {
		t.Fatal(err)
	}
	asked := func(task sia.Task) (q diagnose.Choice) {
		run(t, says(b), diagnose.Input{Task: task, Choose: func(c diagnose.Choice) (diagnose.Chosen, error) {
			q = c
			return last(c)
		}})
		return q
	}
	task := failed()
	task.Body, task.Refused = "Send a mail.", []sia.TechniqueID{sia.DependencyReordering}
	task.Attempt().Diff.Paths, task.Attempt().Failures[0].Tests = nil, nil
	q := asked(task)
	odds := map[sia.TechniqueID]float64{}
	for _, c := range q.Candidates {
		if strings.Contains(c.Reason, "the model rates it above the others") {
			odds[c.Technique] = c.Odds
		}
	}
	// Reordering is refused, example-injection is below the mean, and the task seems to
	// have no parts that decomposition could take apart.
	if d := cmp.Diff(map[sia.TechniqueID]float64{sia.FreshStart: 1, sia.Decomposition: 0.5}, odds); d != "" {
		t.Error(d)
	}
	listed := len(q.Candidates) - len(odds)
	for _, c := range q.Candidates[:listed] {
		task.Refused = append(task.Refused, c.Technique)
	}
	for _, c := range asked(task).Candidates {
		if strings.Contains(c.Reason, "the model rates it above the others") {
			t.Errorf("%s is offered although nothing listed is left", c.Technique)
		}
	}
}
