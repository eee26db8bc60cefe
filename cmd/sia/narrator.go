package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// demoNarrator acts as the demo's users, waits for each expected step, and prints it.
type demoNarrator struct {
	*cli.Env
	*stage.Stage
	repo    string
	timeout time.Duration
	seq     int // number of the last journal entry that was printed
	began   time.Time
}

func (n *demoNarrator) opening(modelURL, model string) {
	n.began = time.Now()
	fmt.Fprintf(n.Out, "%s — a GitHub simulator, real git, real test runs, and the production app.\n",
		n.Style.Bold("SIA demo"))
	if modelURL == "" {
		fmt.Fprintf(n.Out, "The model is %s: it plays back answers written beforehand. Whether they are right is decided "+
			"by checks that really run.\n", n.Style.Amber("scripted"))
	} else {
		limit := ""
		if _, known := llm.KnownPrice(model); !known {
			limit = ", with no budget, since its price is not known"
		}
		fmt.Fprintf(n.Out, "The model is %s at %s%s.\n", n.Style.Bold(model), modelURL, limit)
	}
	fmt.Fprintf(n.Out, "Look on while it runs: %s\n", n.Style.Bold(n.Sim.URL()+"/"+n.repo))
	fmt.Fprintf(n.Out, "SIA's own pages, to which its comments link: %s (sign in as %s)\n",
		n.Style.Bold(n.Pages()), demoUser)
}

func (n *demoNarrator) heading(format string, args ...any) {
	fmt.Fprintf(n.Out, "\n%s\n", n.Style.Bold(fmt.Sprintf(format, args...)))
}

func (n *demoNarrator) tell(format string, args ...any) {
	fmt.Fprintf(n.Out, "  %s %s\n", n.Style.Green("✓"), fmt.Sprintf(format, args...))
}

// await waits for the next journal entry that matches. If the step does not happen in time, the error names it. If SIA
// pauses a task meanwhile, await returns the reason of the pause at once, since nothing more would happen.
func (n *demoNarrator) await(step string, match func(ghsim.Entry) bool) (ghsim.Entry, error) {
	ctx, cancel := context.WithTimeout(n.Ctx, n.timeout)
	defer cancel()
	entry, err := n.Sim.WaitEntry(ctx, n.seq, func(e ghsim.Entry) bool { return match(e) || paused(e) })
	if err == nil && !match(entry) {
		err = errors.New(n.waiting(entry.Number))
	} else if err != nil && n.Ctx.Err() == nil {
		err = fmt.Errorf("nothing was seen of it within %s%s", n.timeout, n.trouble())
	}
	if err != nil {
		if n.Ctx.Err() == nil {
			fmt.Fprintf(n.Out, "  %s %s\n", n.Style.Red("✗"), step)
		}
		return entry, fmt.Errorf("this step did not happen: %s (%w)", step, err)
	}
	n.seq = entry.Seq
	return entry, nil
}

// paused reports whether SIA paused a task.
func paused(e ghsim.Entry) bool { return e.Kind == "issues.labeled" && e.Detail == render.LabelPaused }

// waiting returns what the task of an issue waits for.
func (n *demoNarrator) waiting(issue int) string {
	t, err := n.TaskOf(n.Ctx, issue)
	if err != nil {
		return err.Error()
	}
	return cmp.Or(render.Waiting(t), fmt.Sprintf("SIA has no task for #%d", issue))
}

// trouble returns the error of an effect that SIA retries.
func (n *demoNarrator) trouble() string {
	tasks, err := n.App.Store.Tasks(n.Ctx, store.Filter{})
	if err != nil {
		return "; " + err.Error()
	}
	for _, t := range tasks {
		effects, err := n.App.Store.Effects(n.Ctx, t.ID)
		if err != nil {
			return "; " + err.Error()
		}
		for _, f := range effects {
			if f.State == store.EffectPending && f.Error != "" {
				return "; it is tried again, because " + f.Error
			}
		}
	}
	return ""
}

// keep keeps the demo running until its context ends, and prints why tasks are paused.
func (n *demoNarrator) keep() {
	fmt.Fprintf(n.Out, "\nStill up at %s — label an issue there. Ctrl-C ends it.\n", n.Style.Bold(n.Sim.URL()))
	if n.Model != nil {
		fmt.Fprintf(n.Out, "The scripted model knows the issues of this story only. For others, start `sia demo --keep "+
			"--model-url URL --model NAME`.\n")
	}
	for {
		entry, err := n.Sim.WaitEntry(n.Ctx, n.seq, paused)
		if err != nil {
			return // the context has ended
		}
		n.seq = entry.Seq
		fmt.Fprintf(n.Out, "  %s #%d is paused: %s\n", n.Style.Amber("!"), entry.Number, n.waiting(entry.Number))
	}
}

// demoStep is an expected step, and how it is printed.
type demoStep struct {
	what  string
	match func(ghsim.Entry) bool
	told  func(ghsim.Entry) string // nil: print what
}

// expect waits for steps in the given order and prints each.
func (n *demoNarrator) expect(steps ...demoStep) error {
	for _, s := range steps {
		entry, err := n.await(s.what, s.match)
		if err != nil {
			return err
		}
		text := s.what
		if s.told != nil {
			text = s.told(entry)
		}
		n.tell("%s", text)
	}
	return nil
}

// Matchers of journal entries.

func branchPushed(branchPrefix string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		return strings.HasPrefix(e.Kind, "push") && strings.HasPrefix(e.Ref, branchPrefix)
	}
}

func checkConcluded(check, conclusion string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		return e.Kind == "check_run.completed" && e.Ref == check && e.Detail == conclusion
	}
}

func commentedAs(kind string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool {
		m, ok := render.ParseMarker(e.Detail)
		return e.Kind == "issue_comment.created" && ok && m.Kind == kind
	}
}

func issueLabelled(number int, label string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool { return e.Kind == "issues.labeled" && e.Number == number && e.Detail == label }
}

func entryOfKind(k string) func(ghsim.Entry) bool {
	return func(e ghsim.Entry) bool { return e.Kind == k }
}

// link returns the address of a page of the repository.
func (n *demoNarrator) link(path string, args ...any) cli.Styled {
	return n.Style.Dim(n.Sim.URL() + "/" + n.repo + fmt.Sprintf(path, args...))
}

// open opens an issue and labels it.
func (n *demoNarrator) open(title, body string) (int, error) {
	number, err := n.Sim.OpenIssue(n.repo, demoUser, title, body)
	if err != nil {
		return 0, err
	}
	n.tell("@%s opens #%d and labels it `sia`  %s", demoUser, number, n.link("/issues/%d", number))
	return number, n.Sim.Label(n.repo, number, demoUser, sia.DefaultSettings().Label)
}

// demoResult is the JSON of sia demo. Fields are only added.
type demoResult struct {
	Passed   bool       `json:"passed"`           // whether every step of the story happened
	Reason   string     `json:"reason,omitempty"` // the step that did not happen
	Tasks    []demoTask `json:"tasks"`            // oldest first
	USD      float64    `json:"usd"`              // at the assumed prices
	Requests int        `json:"requests"`         // to GitHub
	Seconds  float64    `json:"seconds"`
}

// demoTask is the result of a task of the demo.
type demoTask struct {
	Issue      int       `json:"issue"`
	Title      string    `json:"title"`
	State      sia.State `json:"state"`
	Attempts   int       `json:"attempts"`
	Techniques []string  `json:"techniques"` // techniques that SIA changed to
	Credits    string    `json:"credits"`
}

// result returns the result of the demo.
func (n *demoNarrator) result(failed error) (demoResult, error) {
	r := demoResult{Passed: failed == nil, Tasks: []demoTask{}, Requests: n.Sim.CountCalls(),
		Seconds: time.Since(n.began).Seconds()}
	if failed != nil {
		r.Reason = failed.Error()
	}
	tasks, err := n.App.Store.Tasks(n.Ctx, store.Filter{})
	for _, t := range slices.Backward(tasks) {
		told := demoTask{t.Issue, t.Title, t.State, len(t.Attempts), []string{}, t.Credits.Spent.String()}
		for _, iv := range t.Interventions {
			told.Techniques = append(told.Techniques, string(iv.Diagnosis.Technique))
		}
		r.USD += float64(t.Credits.Spent) / float64(sia.Credit) / 100
		r.Tasks = append(r.Tasks, told)
	}
	return r, err
}

// summary prints the result at the end of the demo.
func (n *demoNarrator) summary(r demoResult) {
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

func (n *demoNarrator) state(s sia.State) cli.Styled {
	if s == sia.Passed {
		return n.Style.Green(string(s))
	}
	return n.Style.Amber(string(s))
}
