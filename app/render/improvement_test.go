package render_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia/improve"
)

// The pull request of SIA's improvements has a model's words: none of them may mention, link or draw.
func TestImprovement(t *testing.T) {
	cycles := []improve.Cycle{
		{Number: 1, File: ".sia/techniques/careful.md", Goal: "Say <!-- hidden --> what @ada reads", Why: "See #12.",
			Outcome: improve.Kept, Reason: "parses", Evaluation: improve.Evaluation{
				Parse:    improve.Parse{Verdict: improve.Parses, Language: "Markdown"},
				SelfTest: &improve.TestRun{Command: "sia reads its techniques and policies", OK: true, Ending: "it is read"},
				Critique: &improve.Critique{Score: .8,
					Reasons: []string{"It is | clear.", "![x](https://example.com/x.png) is not."}},
				Replay: &improve.Replayed{Verdict: improve.ReplayPass, Tasks: 9, Proposal: 1, E: 102, Threshold: 32.9,
					Why: "9 tasks only with the proposal"},
			}},
		{Number: 2, File: ".sia/policies/recover.yml", Goal: "Try twice", Outcome: improve.Kept,
			Evaluation: improve.Evaluation{Parse: improve.Parse{Verdict: improve.Parses, Language: "YAML"}}},
		{Number: 3, File: ".sia/techniques/careful.md", Goal: "Be brief", Outcome: improve.Reverted,
			Reason: "the critique scores it 0.40; 0.60 is wanted"},
		{Number: 4, Outcome: improve.Failed, Reason: "the model could not be asked"},
	}
	golden(t, "improvement.md", render.ImprovementTitle(cycles)+"\n\n"+
		render.ImprovementBody(cycles, []string{".sia/policies/recover.yml"}))
	if got := render.ImprovementTitle(cycles[3:]); !strings.Contains(got, "better instructions") {
		t.Errorf("a title without a goal: %s", got)
	}
}
