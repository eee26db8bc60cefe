package render_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// policyChange is a change with a model's words, which are foreign.
func policyChange(phase string) render.PolicyChange {
	return render.PolicyChange{Decision: "recover", Name: "recover", File: ".sia/policies/recover.yml",
		Change: "parameters.base.retry: 0.1 -> 0.3", Diff: "-  base: {retry: 0.1}\n+  base: {retry: 0.3}",
		Reason: "Time-outs pass on a second try. @everyone <img src=x> #1", By: "gpt-5", Number: 2, Phase: phase,
		Gate: "not replayed", Why: "12 of 20 with the candidate", Everywhere: true, Waits: true,
		Place: sia.Repo{ID: 1, Owner: "acme", Name: ".github"}, Present: [2]int{30, 60}, Candidate: [2]int{41, 60}, Open: 3,
		E: 4.2, Harm: 0.3, Guards: []render.PolicyGuard{{Metric: "resolved", Before: .5, Well: 8, Tried: 40, Alarm: true},
			{Metric: "within the usual cost", Before: .8}}}
}

func TestPolicyChange(t *testing.T) {
	var all strings.Builder
	for _, phase := range []string{"proposed", "running", "better", "promoted", "rolled-back", "stopped"} {
		c := policyChange(phase)
		if phase == "proposed" {
			c.Present, c.Candidate, c.Guards = [2]int{}, [2]int{}, nil
		}
		all.WriteString("# " + phase + "\n\n" + render.PolicyComment(c) + "\n\n")
	}
	merged := policyChange("promoted")
	merged.Usual, merged.Guards = [2]int{3, 20}, nil
	all.WriteString("# promoted, untried\n\n" + render.PolicyComment(merged) + "\n\n")
	golden(t, "policy/comment.md", all.String())
	c := policyChange("proposed")
	golden(t, "policy/pull.md", render.PolicyTitle(c)+"\n\n"+render.PolicyBody(c)+"\n")
	golden(t, "policy/revert.md", render.PolicyRevertTitle(c)+"\n\n"+
		render.PolicyRevertBody(c, "https://github.test/acme/.github/pull/7")+"\n")
	c.Person, c.Waits, c.Everywhere, c.By = true, false, false, "ann"
	golden(t, "policy/pull-by-a-person.md", render.PolicyBody(c)+"\n")
	for _, text := range []string{all.String(), render.PolicyBody(c), render.PolicyRevertBody(c, "x")} {
		for _, live := range []string{"@everyone", "<img", " #1 "} {
			if strings.Contains(text, live) {
				t.Errorf("%q is alive in\n%s", live, text)
			}
		}
	}
}
