package localrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/tamper"
	"github.com/sia-bot/sia/sia/text"
)

// Result is the result of a run, and the JSON of sia run.
type Result struct {
	Passed    bool      `json:"passed"` // the test command passed on the branch's head
	State     sia.State `json:"state"`  // of the task; empty: it did not begin
	Reason    string    `json:"reason"` // why it did not pass; empty: it passed
	Branch    string    `json:"branch"` // empty: nothing was committed
	Head      string    `json:"head"`   // commit
	Base      string    `json:"base"`   // commit
	Test      string    `json:"test"`
	BaseFails bool      `json:"base_fails"` // whether the test command fails without any change
	SecondRun bool      `json:"second_run"` // whether it failed on the branch's head before it passed there
	Attempts  []Attempt `json:"attempts"`
	Credits   string    `json:"credits"` // spent, including what exceeds the budget
	USD       float64   `json:"usd"`
	Seconds   float64   `json:"seconds"`
	Diff      string    `json:"diff"` // against the base, as git apply reads it

	// The question that the run ended with, without what led to it, and the answers that are offered.
	Question string       `json:"question,omitempty"`
	Options  []sia.Option `json:"options,omitempty"`

	// Changes of tests, their setup and protected files. The run passes only if the user accepted them.
	Findings []string          `json:"findings"`
	Evidence *sia.TestEvidence `json:"evidence,omitempty"` // result of running the tests with and without the change
	Review   *sia.FinalReview  `json:"review,omitempty"`   // a model's review of the change against the issue

	// Requested model features that were not available, such as a reasoning effort that an endpoint refuses.
	Weaker []WeakerModel `json:"weaker,omitempty"`

	asks   bool // the reason is a question
	awaits bool // the check passes, and a person has to accept changes of tests or protected files
}

// Attempt is one attempt of a run.
type Attempt struct {
	Number    int    `json:"number"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Technique string `json:"technique,omitempty"`
	LeftOut   string `json:"left_out,omitempty"` // changes that are not in its commit, and why
	ByRules   string `json:"by_rules,omitempty"` // why no model diagnosed the failure before it
	Credits   string `json:"credits"`

	Unreviewed string `json:"unreviewed,omitempty"` // why the independent review of that diagnosis failed
}

// WeakerModel lists the requested features that a model worked without.
type WeakerModel struct {
	Model    string       `json:"model"` // its name
	Protocol llm.Protocol `json:"protocol"`
	Without  []string     `json:"without"`
}

// weaker returns the features that the run's models worked without, where known.
func (r *run) weaker(memory *app.ModelMemory) (all []WeakerModel) {
	for _, m := range (app.Config{Models: r.job.opts.Models}).WithDefaults().Models.Named() {
		if dialect, without := m.Found(memory); len(without) > 0 {
			all = append(all, WeakerModel{m.Name, dialect, without})
		}
	}
	return all
}

// end returns the result. The branch stays in the clone.
func (r *run) end(t sia.Task) (out Result, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), time.Minute)
	defer cancel()
	cost := t.Credits.Cost() + r.unbooked(ctx, t)
	out = Result{Passed: t.State == sia.Passed, State: t.State, Base: r.job.base, Test: r.job.settings.Agent.Test,
		BaseFails: !r.baseCheck.passed, Credits: cost.String(), USD: float64(cost) / float64(sia.Credit) / 100,
		Seconds: time.Since(r.began).Seconds(), Attempts: []Attempt{}, Findings: []string{}}
	for _, a := range t.Attempts {
		told := Attempt{Number: a.Number, Outcome: string(a.Outcome), Reason: a.Reason,
			Technique: string(a.Technique), LeftOut: strings.TrimSpace(a.LeftOut + " " + a.Built), Credits: a.Cost.String()}
		for _, iv := range t.Interventions {
			if iv.After == a.Number-1 {
				told.ByRules, told.Unreviewed = iv.Diagnosis.Fallback, unreviewed(iv)
			}
		}
		out.Attempts = append(out.Attempts, told)
	}
	out.awaits = t.State == sia.Checking && t.Gate.AwaitsPerson
	switch {
	case out.Passed:
	case out.awaits:
		out.Reason = "the check passes, but tests or protected files were changed, and a person has to accept that"
	case t.State == sia.OnHold && t.Pause != nil && !r.interactive: // no user can resume it
		out.Reason = t.Pause.Reason
	case strings.HasPrefix(t.Ended, "@"+login+" "):
		out.Reason = "you stopped it"
	default:
		out.Reason = waitsForUser(t)
	}
	question := ""
	if e := t.Escalation; t.State == sia.Escalated {
		question = r.withoutLinks(strings.TrimSpace(text.Sentence(e.Blocker) + " " + e.Question))
		out.Reason = question
	}
	if r.turnsWithoutCalls > 0 && r.toolCalls == 0 && !out.Passed {
		out.Reason = withoutCalls(r.turnsWithoutCalls, r.truncatedTurns, t)
	}
	if r.trouble.words != "" && !out.Passed {
		out.Reason = r.trouble.words
	}
	if r.Ctx.Err() != nil && !out.Passed {
		out.Reason = "it was stopped"
		if errors.Is(context.Cause(r.Ctx), syscall.EPIPE) {
			out.Reason = "nobody reads its output"
		}
	}
	if out.asks = question != "" && out.Reason == question; out.asks {
		out.Question, out.Options = r.withoutLinks(t.Escalation.Question), t.Escalation.Options
	}
	branches, err := r.Sim.Branches(r.repo)
	if err != nil {
		return out, err
	}
	for name, head := range branches {
		if !strings.HasPrefix(name, fmt.Sprintf("sia/issue-%d-", r.issue)) || head == r.job.base {
			continue
		}
		kept := r.keep(ctx, head)
		diff, err := r.bare.Run(ctx, "diff", "--binary", "--no-color", "--no-ext-diff", "--end-of-options",
			r.job.base, head)
		if err != nil {
			return out, errors.Join(kept, err)
		}
		out.Branch, out.Head, out.Diff = r.job.branch, head, string(diff)
		out.SecondRun = r.passedLater(head)
		if out.Findings, err = r.findings(ctx, t, head); err != nil {
			return out, errors.Join(kept, err)
		}
		out.Findings = r.withoutBroken(head, out.Findings)
		if kept == nil {
			r.noteFinished(ctx, head)
		}
		if e := t.Gate.Evidence; e != nil && string(e.Head) == head {
			out.Evidence = e
		}
		if t.Final.Tells(sia.SHA(head)) {
			out.Review = new(*t.Final)
			out.Review.URL = "" // of the simulated GitHub
		}
		if kept != nil {
			out.Passed, out.Branch, out.Reason = false, "", strings.TrimPrefix(out.Reason+"; "+inPatch(kept, diff), "; ")
		}
	}
	out.Weaker = r.weaker(r.App.ModelMemory())
	r.addToHistory(out, cost)
	if r.job.opts.Memory && out.Branch != "" {
		out.Head, err = r.commitMemory(ctx, out.Head)
	}
	return out, err
}

// unbooked returns what the turns of an attempt cost that was stopped and did not end in time.
func (r *run) unbooked(ctx context.Context, t sia.Task) (cost sia.Credits) {
	a := t.Attempt()
	if a == nil || a.Outcome != "" || a.Cost > 0 {
		return 0
	}
	rows, err := r.App.Store.Turns(ctx, t.ID, a.Number)
	if err != nil {
		r.Logger.WarnContext(ctx, "the cost of a stopped attempt is not known", "error", err)
	}
	for _, row := range rows {
		var turn agent.Turn
		if json.Unmarshal(row, &turn) == nil {
			cost += turn.Cost
		}
	}
	return cost
}

// withoutCalls returns why a task without tool calls did not pass. cut of its answers were truncated at their length
// limit.
func withoutCalls(answers, cut int, t sia.Task) string {
	for _, a := range t.Attempts {
		if strings.HasPrefix(a.Reason, agent.CallsUnread) || strings.HasPrefix(a.Reason, agent.AnswersCut) {
			return a.Reason
		}
	}
	if 2*cut >= answers { // the budget may end attempts first
		return fmt.Sprintf("%d of the model's %s were cut off at their length, before it called a tool: let it reason less, "+
			"or set max_output of the model higher in the file of --config", cut, text.Count(answers, "answer"))
	}
	if a := t.Attempt(); a != nil && a.Outcome == sia.AttemptError { // such as an answer that its provider withheld
		return a.Reason
	}
	return "the model called no tool in any of its " + text.Count(answers, "answer") + ": take one that can call tools"
}

// findings returns the changes of tests, their setup and protected files in a head: those that the gate reported, or,
// if the gate did not judge that head, those found in the text.
func (r *run) findings(ctx context.Context, t sia.Task, head string) ([]string, error) {
	if string(t.Head) == head {
		if said := gate.Findings(t.Gate.Explain); len(said) > 0 || t.State == sia.Passed {
			return said, nil
		}
	}
	changes, err := r.bare.Changes(ctx, r.job.base, head)
	found := []string{}
	for _, f := range tamper.Find(changes, r.job.settings.Checks.Protected, sia.AlwaysProtected()...) {
		found = append(found, f.String())
	}
	return found, err
}

// inPatch writes a change that the clone refuses to a file, and returns a message with its path.
func inPatch(why error, diff []byte) string {
	f, err := os.CreateTemp("", "sia-*.patch")
	if err == nil {
		_, err = f.Write(diff)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return cli.ErrorText(errors.Join(why, err))
	}
	return fmt.Sprintf("%v; the change is in %s, which `git apply` takes", why, f.Name())
}
