package sia

import (
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// Plan is an agent's plan for a task, made before any work.
type Plan struct {
	Attempt int         `json:"attempt"`         // number of the attempt that proposed it
	Summary string      `json:"summary"`         // what will be done, and why
	Steps   []plan.Part `json:"steps,omitempty"` // in order; empty if the agent wrote only prose
	By      Actor       `json:"by,omitzero"`     // who approved it; zero: nobody yet, or not known
	At      time.Time   `json:"at,omitzero"`     // time of the approval
}

// String returns the plan as text of several lines.
func (p Plan) String() string {
	var b strings.Builder
	b.WriteString(p.Summary)
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n%d. %s", i+1, s.Do)
		if s.DoneWhen != "" {
			b.WriteString("\n   Done when: " + s.DoneWhen)
		}
	}
	return b.String()
}

// Approve: /sia go, or a 👍 on the plan's comment.
type Approve struct {
	Question int `json:"question,omitempty"` // number of the escalation with the plan; 0: the open one
}

// Kind returns the kind of the fact.
func (Approve) Kind() Kind { return KApprove }

// Worked reports whether the attempt worked on the task itself, and neither made
// a plan nor ended with a question.
func (a Attempt) Worked() bool { return !a.Planning && a.Outcome != AttemptAsked }
