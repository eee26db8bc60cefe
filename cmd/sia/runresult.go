package main

import (
	"cmp"
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

// runResult is the JSON of sia run.
type runResult struct {
	Passed    bool         `json:"passed"` // the test command passed on the branch's head
	State     sia.State    `json:"state"`  // of the task; empty: it did not begin
	Reason    string       `json:"reason"` // why it did not pass; empty: it passed
	Branch    string       `json:"branch"` // empty: nothing was committed
	Head      string       `json:"head"`   // commit
	Base      string       `json:"base"`   // commit
	Test      string       `json:"test"`
	BaseFails bool         `json:"base_fails"` // whether the test command fails without any change
	SecondRun bool         `json:"second_run"` // whether it failed on the branch's head before it passed there
	Attempts  []runAttempt `json:"attempts"`
	Credits   string       `json:"credits"` // spent, including what exceeds the budget
	USD       float64      `json:"usd"`
	Seconds   float64      `json:"seconds"`
	Diff      string       `json:"diff"` // against the base, as git apply reads it

	// Changes of tests, their setup and protected files. The run passes only if the user accepted them.
	Findings []string          `json:"findings"`
	Evidence *sia.TestEvidence `json:"evidence,omitempty"` // result of running the tests with and without the change
	Review   *sia.FinalReview  `json:"review,omitempty"`   // a model's review of the change against the issue

	// Requested model features that were not available, such as a reasoning effort that an endpoint refuses.
	Weaker []runModel `json:"weaker,omitempty"`

	asks   bool // the reason is a question
	awaits bool // the check passes, and a person has to accept changes of tests or protected files
}

// runModel lists the requested features that a model worked without.
type runModel struct {
	Model    string       `json:"model"` // its name
	Protocol llm.Protocol `json:"protocol"`
	Without  []string     `json:"without"`
}

// weaker returns the features that the run's models worked without, where known.
func (r *localRun) weaker(memory *app.ModelMemory) (all []runModel) {
	for _, m := range (app.Config{Models: r.job.models}).WithDefaults().Models.Named() {
		if dialect, without := m.Found(memory); len(without) > 0 {
			all = append(all, runModel{m.Name, dialect, without})
		}
	}
	return all
}

// runAttempt is one attempt of a run.
type runAttempt struct {
	Number    int    `json:"number"`
	Outcome   string `json:"outcome"`
	Reason    string `json:"reason"`
	Technique string `json:"technique,omitempty"`
	LeftOut   string `json:"left_out,omitempty"` // changes that are not in its commit, and why
	ByRules   string `json:"by_rules,omitempty"` // why no model diagnosed the failure before it
	Credits   string `json:"credits"`

	Unreviewed string `json:"unreviewed,omitempty"` // why the independent review of that diagnosis failed
}

// end returns the result. The branch stays in the clone.
func (r *localRun) end(t sia.Task) (out runResult, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Ctx), time.Minute)
	defer cancel()
	cost := t.Credits.Cost() + r.unbooked(ctx, t)
	out = runResult{Passed: t.State == sia.Passed, State: t.State, Base: r.job.base, Test: r.job.settings.Agent.Test,
		BaseFails: !r.baseOK, Credits: cost.String(), USD: float64(cost) / float64(sia.Credit) / 100,
		Seconds: time.Since(r.began).Seconds(), Attempts: []runAttempt{}, Findings: []string{}}
	for _, a := range t.Attempts {
		told := runAttempt{Number: a.Number, Outcome: string(a.Outcome), Reason: a.Reason,
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
	case strings.HasPrefix(t.Ended, "@"+runUser+" "):
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
	out.asks = question != "" && out.Reason == question
	branches, err := r.Sim.Branches(r.repo)
	if err != nil {
		return out, err
	}
	for name, head := range branches {
		if !strings.HasPrefix(name, fmt.Sprintf("sia/issue-%d-", r.issue)) || head == r.job.base {
			continue
		}
		kept := r.keep(ctx, head)
		diff, err := ownGit(r.bare).run(ctx, "diff", "--binary", "--no-color", "--no-ext-diff", "--end-of-options",
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
	r.keepRun(out, cost)
	if r.cmd.Memory && out.Branch != "" {
		out.Head, err = r.commitMemory(ctx, out.Head)
	}
	return out, err
}

// unbooked returns what the turns of an attempt cost that was stopped and did not end in time.
func (r *localRun) unbooked(ctx context.Context, t sia.Task) (cost sia.Credits) {
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
func (r *localRun) findings(ctx context.Context, t sia.Task, head string) ([]string, error) {
	if string(t.Head) == head {
		if said := gate.Findings(t.Gate.Explain); len(said) > 0 || t.State == sia.Passed {
			return said, nil
		}
	}
	changes, err := ownGit(r.bare).changes(ctx, r.job.base, head)
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

// maxDiffBytes is the maximum size of a printed diff, in bytes.
const maxDiffBytes = 20_000

// show prints the result as text.
func (r *localRun) show(out runResult) {
	r.progress("")
	if out.Passed {
		r.progress("%s in %s, %s, %s credits (%.2f USD).", r.Style.Green("Passed"),
			(time.Duration(out.Seconds * float64(time.Second))).Round(time.Second), text.Count(len(out.Attempts), "attempt"),
			out.Credits, out.USD)
	} else {
		r.progress("%s: %s", r.Style.Red("Not passed"), text.Sentence(out.Reason))
		r.progress("%s, %s credits (%.2f USD).", text.Count(len(out.Attempts), "attempt"), out.Credits, out.USD)
	}
	if out.SecondRun {
		r.progress("The check failed on the result before it passed there when it was run again.")
	}
	if out.asks {
		r.progress("Put the answer into the text of the issue, and run again.")
	}
	for i, a := range out.Attempts {
		by := ""
		if a.Technique != "" {
			by = ", by " + a.Technique
		}
		open := "not finished"
		if out.awaits {
			open = "waits to be accepted"
		}
		line := fmt.Sprintf("  attempt %d%s: %s", a.Number, by, cmp.Or(a.Outcome, open))
		if a.Reason != "" && !strings.Contains(out.Reason, strings.TrimRight(a.Reason, ".")) {
			line += ": " + text.Clip(cli.Plain(a.Reason), 160)
		}
		r.progress("%s", line)
		if !strings.Contains(out.Reason, a.LeftOut) && (i == 0 || a.LeftOut != out.Attempts[i-1].LeftOut) {
			r.progress("    %s", a.LeftOut)
		}
	}
	for _, m := range out.Weaker {
		r.progress("  %s works with less than was asked for (dialect %s): %s.", m.Model, m.Protocol,
			strings.Join(m.Without, "; "))
	}
	if out.Branch == "" {
		if out.Head == "" {
			r.progress("No change was committed.")
		}
		return
	}
	stat, _ := r.job.git.run(context.WithoutCancel(r.Ctx), "diff", "--stat", "--no-color", "--end-of-options", out.Base,
		out.Head)
	r.progress("\nThe change is on the branch %s:\n%s", r.Style.Bold(out.Branch), strings.TrimRight(string(stat), "\n"))
	if r.cmd.diff {
		r.progress("\n%s", cli.Plain(strings.TrimRight(text.Fit(out.Diff, maxDiffBytes, text.Head), "\n")))
	}
	r.list(out.Evidence.Shown())
	r.showReview(out.Review)
	r.progress("Look at it with `git diff %.9s %s`; with --binary that is a patch for `git apply`.", out.Base, out.Branch)
	switch {
	case out.Passed:
	case len(out.Findings) > 0:
		r.progress("A person has to accept this first; a run that begins at this branch would take it for wanted:")
		r.list(out.Findings)
		if e := out.Evidence; e != nil && e.NotRun != "" && len(r.editFindings(out.Head)) == 0 {
			r.progress("SIA goes by their text, since it did not run the tests: %s.", e.NotRun)
		}
		r.progress("At a terminal SIA asks about them when the checks pass. Undo what is not wanted before you go on " +
			"from there.")
	default:
		r.progress("To go on from there: sia run --base %s, with the same --issue.", out.Branch)
	}
}

// showReview prints what a model's review of the change against the issue found. It is advice: only checks decide.
func (r *localRun) showReview(f *sia.FinalReview) {
	switch {
	case f == nil:
	case f.Why != "":
		r.progress("The change was not reviewed against the issue: %s", text.Sentence(cli.Plain(text.OneLine(f.Why))))
	default:
		r.progress("A model that had not seen the work reviewed the change against the issue. This is advice:")
		r.list(reviewNotes(*f))
	}
}

// demandNames and remarkNames are the states of demands that are not met, and the kinds of remarks, in words.
var (
	demandNames = map[sia.DemandState]string{sia.DemandUnmet: "Not done", sia.DemandUnclear: "Can't tell"}
	remarkNames = map[sia.RemarkKind]string{sia.RemarkScope: "Not asked for", sia.RemarkSecurity: "Security",
		sia.RemarkTests: "Tests", sia.RemarkAPI: "Interface"}
)

// reviewNotes returns what a review found, without the demands that are met.
func reviewNotes(f sia.FinalReview) (notes []string) {
	add := func(about, said string, at sia.Place) {
		if at.Path != "" {
			about += fmt.Sprintf(" (%s:%d)", at.Path, at.Line)
		}
		notes = append(notes, cli.Plain(about+": "+text.OneLine(said)))
	}
	for _, d := range f.Demands {
		if name := demandNames[d.State]; name != "" {
			add(name, strings.TrimSuffix(fmt.Sprintf("“%s”: %s", d.Quote, d.Why), ": "), d.At)
		}
	}
	for _, m := range f.Remarks {
		add(remarkNames[m.About], m.Why, m.At)
	}
	return notes
}

// list prints sentences.
func (r *localRun) list(sentences []string) {
	for _, s := range sentences {
		r.progress("  %s", text.Sentence(s))
	}
}
