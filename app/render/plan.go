package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// PlanComment is a plan as a comment on the task's issue: what will be done after approval, and how to approve it. It
// has no tick boxes, because a tick in the comment of an older plan would be taken for approval of this one.
func PlanComment(t sia.Task, e sia.Escalation, l Links) string {
	var p page
	p.add("### 📝 Shall it be done like this?")
	p.add(briefPlan(*e.Plan))
	p.add("- **To start it**, put a 👍 on this comment, or comment `/sia go`.\n" +
		"- **To change it**, comment `/sia answer` and what should be different.\n" +
		"- **To end the task**, comment `/sia stop`.")
	var whole page
	whole.add(planText(*e.Plan))
	whole.add(fmt.Sprintf("The task has cost %s of its %s credits so far (1 credit = 0.01 USD). A plan costs no "+
		"approach. %s shows how this one came about.",
		t.Credits.Spent, t.Credits.Budget, link("The transcript", l.Transcript(t, e.Plan.Attempt))))
	whole.add(fmt.Sprintf("SIA sees a 👍 within a minute or two; an answer has another plan made. "+
		"Nothing is changed and nothing is spent until somebody with %s access says so. It counts while "+
		"no newer plan has taken this one's place. "+
		"The repository's checks decide in the end whether the work is right.", permission(t)))
	p.fold("The whole plan", whole.text())
	return p.String()
}

// shownSteps is how many steps of a plan are visible.
const shownSteps = 4

// briefPlan is a plan in a few words: its summary, quoted, and its first steps.
func briefPlan(p sia.Plan) string {
	s := "> " + few(p.Summary, 32)
	if len(p.Steps) > 0 {
		s += "\n"
	}
	for i, step := range p.Steps {
		if i == shownSteps {
			return s + fmt.Sprintf("\n\n… and %s.", text.Count(len(p.Steps)-i, "more step"))
		}
		s += fmt.Sprintf("\n%d. %s", i+1, few(step.Do, 8))
	}
	return s
}

// planText is a plan: its summary, quoted, and its steps.
func planText(p sia.Plan) string {
	s := Quote(cut(p.Summary, 4000))
	var steps []string
	for i, step := range p.Steps {
		line := fmt.Sprintf("%d. %s", i+1, Line(step.Do, 500))
		if step.DoneWhen != "" {
			line += "  \n   **Done when:** " + Line(step.DoneWhen, 500)
		}
		steps = append(steps, line)
	}
	if len(steps) > 0 {
		s += "\n\n" + strings.Join(steps, "\n")
	}
	return s
}

// planWaits says in the status comment what a plan waits for.
func planWaits(t sia.Task, e sia.Escalation) string {
	where := "below"
	if e.URL != "" {
		where = "in " + link("this comment", e.URL)
	}
	s := fmt.Sprintf("The plan is %s. A 👍 on it or `/sia go` by somebody with %s access starts it; nothing is "+
		"changed and nothing is spent until then.", where, permission(t))
	if e.Stale {
		s += "\n\nThe issue was edited after the plan was made. `/sia retry` has a new one made."
	}
	return s
}

// waitsForYes reports whether a plan waits for approval.
func waitsForYes(t sia.Task) bool {
	return t.State == sia.Escalated && t.Escalation != nil && t.Escalation.Kind == sia.AskPlan
}

// plans reports whether the present attempt makes a plan.
func plans(t sia.Task) bool {
	a := t.Attempt()
	return t.State == sia.Working && a != nil && a.Planning
}
