package render_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
)

// People tick what they can read: SIA's own options are never cut, whatever else is asked.
func TestOwnOptionsAreWhole(t *testing.T) {
	long := strings.Repeat("a question of many words ", 10)
	asked := []sia.Escalation{{Kind: sia.AskBlocked, Question: "Can you see to it that these checks say something?",
		Options: []sia.Option{
			{Letter: "A", Text: "It is seen to: look again at the commit that is there", Fastest: true},
			{Letter: "B", Text: "It should not be required, and I took it out of the rule or of `checks.required`: look again"},
			{Letter: "C", Text: "It need not report on this pull request: go on without it"},
			{Letter: "D", Text: "Nothing can be done: stop here and leave the pull request to a person"}}}}
	for _, p := range []sia.Pattern{sia.MissingCredentials, sia.ExternalDependencyBlocker, sia.UnclearSpecification,
		sia.OverConstrained, sia.FlakyCheck, "another"} {
		asked = append(asked, escalate.FromDiagnosis(sia.Diagnosis{Pattern: p, Question: long, Blocker: long}, sia.Task{}))
	}
	for _, e := range asked {
		e.Blocker = long
		for name, body := range map[string]string{"issue": render.EscalationBody(escalated(), e, links),
			"comment": render.AskComment(escalated(), e)} {
			shown, _, _ := strings.Cut(body, "<details>")
			for _, o := range e.Options {
				if !strings.Contains(shown, o.Text) {
					t.Errorf("%s: %q is cut:\n%s", name, o.Text, shown)
				}
			}
		}
	}
}
