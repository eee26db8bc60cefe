package sia

import (
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// Plan is what an agent means to do about a task, before it does any of it.
type Plan struct {
	Attempt int         `json:"attempt"`         // that proposed it
	Summary string      `json:"summary"`         // what will be done, and why so
	Steps   []plan.Part `json:"steps,omitempty"` // in order; none where the agent gave prose alone
	By      Actor       `json:"by,omitzero"`     // who approved it; zero while nobody has, or when it isn't known who
	At      time.Time   `json:"at,omitzero"`     // when it was approved
}

// String is the plan as text of several lines.
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
	Question int `json:"question,omitempty"` // number of the escalation with the plan; 0: whichever waits
}

// Kind names the fact.
func (Approve) Kind() Kind { return KApprove }

// Worked reports whether the attempt was one at the task itself, and neither made
// a plan nor ended with a question.
func (a Attempt) Worked() bool { return !a.Planning && a.Outcome != AttemptAsked }
