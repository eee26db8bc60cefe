package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// result is the JSON of sia demo. Fields are only added.
type result struct {
	Passed   bool         `json:"passed"`           // whether every step of the story happened
	Reason   string       `json:"reason,omitempty"` // the step that did not happen
	Tasks    []taskResult `json:"tasks"`            // oldest first
	USD      float64      `json:"usd"`              // at the assumed prices
	Requests int          `json:"requests"`         // to GitHub
	Seconds  float64      `json:"seconds"`
}

// taskResult is the result of a task of the demo.
type taskResult struct {
	Issue      int       `json:"issue"`
	Title      string    `json:"title"`
	State      sia.State `json:"state"`
	Attempts   int       `json:"attempts"`
	Techniques []string  `json:"techniques"` // techniques that SIA changed to
	Credits    string    `json:"credits"`
}

// result returns the result of the demo.
func (n *narrator) result(failed error) (result, error) {
	r := result{Passed: failed == nil, Tasks: []taskResult{}, Requests: n.Sim.CountCalls(),
		Seconds: time.Since(n.began).Seconds()}
	if failed != nil {
		r.Reason = failed.Error()
	}
	tasks, err := n.App.Store.Tasks(n.Ctx, store.Filter{})
	for _, t := range slices.Backward(tasks) {
		told := taskResult{t.Issue, t.Title, t.State, len(t.Attempts), []string{}, t.Credits.Spent.String()}
		for _, iv := range t.Interventions {
			told.Techniques = append(told.Techniques, string(iv.Diagnosis.Technique))
		}
		r.USD += float64(t.Credits.Spent) / float64(sia.Credit) / 100
		r.Tasks = append(r.Tasks, told)
	}
	return r, err
}

// summary prints the result at the end of the demo.
func (n *narrator) summary(r result) {
	if !r.Passed {
		n.Linef("\n%s %s", n.Style.Red("The demo failed:"), r.Reason)
	}
	n.heading("Summary")
	attempts, techniques := 0, []string{}
	for _, t := range r.Tasks {
		attempts += t.Attempts
		techniques = append(techniques, t.Techniques...)
		fmt.Fprintf(n.Out, "  #%d %-50s %s, %s, %s credits\n", t.Issue, text.Clip(t.Title, 50), n.state(t.State),
			text.Count(t.Attempts, "attempt"), t.Credits)
	}
	fmt.Fprintf(n.Out, "  %s · %s · techniques: %s · %s credits (%.2f USD at the prices assumed) · "+
		"%d GitHub calls · %s\n",
		text.Count(len(r.Tasks), "task"), text.Count(attempts, "attempt"),
		cmp.Or(strings.Join(techniques, ", "), "none"), sia.CreditsOf(r.USD), r.USD,
		r.Requests, time.Since(n.began).Round(100*time.Millisecond))
	if n.Model != nil {
		fmt.Fprintf(n.Out, "  The model was scripted; git, checks, webhooks and everything SIA decided were real.\n")
	}
}

func (n *narrator) state(s sia.State) cli.Styled {
	if s == sia.Passed {
		return n.Style.Green(string(s))
	}
	return n.Style.Amber(string(s))
}
