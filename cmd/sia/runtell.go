package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// printedTurns records which turns of the current attempt have been printed.
type printedTurns struct {
	last  map[int]int // number of the last printed turn, by run of the attempt
	run   int         // the run of the last printed turn
	waits string      // tool call that the newest turn waits for; "": the model
}

// progress prints a line, on standard error with --output json or if nobody reads the output any more.
func (r *localRun) progress(format string, args ...any) {
	r.outputMu.Lock()
	defer r.outputMu.Unlock()
	r.quiet = quiet{since: time.Now()}
	r.say(format, args...)
}

// say prints a line; the caller holds the lock.
func (r *localRun) say(format string, args ...any) {
	to, line := r.Out, cli.Sprintf(format+"\n", args...)
	if r.cmd.Output == "json" {
		to = r.Err
	}
	if _, err := io.WriteString(to, line); errors.Is(err, syscall.EPIPE) {
		fmt.Fprint(r.Err, line)
	}
}

// reportSilence prints now and then what the run waits for, so that a slow model does not look like a hung program.
func (r *localRun) reportSilence(t sia.Task) {
	r.outputMu.Lock()
	defer r.outputMu.Unlock()
	if passed := r.quiet.due(time.Now()); passed > 0 {
		r.say("  … %s: %s; Ctrl-C stops and keeps what was done", passed.Round(time.Second), r.waitsFor(t))
	}
}

// waitTexts describe what a run waits for while an effect is executed.
var waitTexts = []struct {
	kind sia.EffectKind
	said string
}{
	{sia.DoEvidence, "SIA runs the tests that the change can reach, without and with it"},
	{sia.DoDiagnose, "SIA looks for the reason of the failure"},
	{sia.DoReview, "the model reviews the diagnosis"},
	{sia.DoFinalReview, "the model reads the change against the issue"},
	{sia.DoAggregate, "SIA tests the parts together"},
	{sia.DoBegin, "SIA prepares the attempt"},
}

// begins records which command of a check is running.
func (r *localRun) begins(command string) {
	step := "setup: " + command
	if command == r.job.settings.Agent.Test {
		step = "the check: " + command
	}
	r.step.Store(&step)
}

// runsTests records which tests SIA runs. It prints a line the first time after other output.
func (r *localRun) runsTests(step string) {
	step = "SIA runs " + step
	if r.tests.Swap(&step) == nil {
		r.progress("  SIA runs the tests that the change can reach")
	}
}

// usesCommandAgent reports whether the agent is a command instead of one of SIA's models.
func (r *localRun) usesCommandAgent() bool { return r.job.settings.Agent.Kind == "command" }

// waitsFor returns what the run waits for.
func (r *localRun) waitsFor(t sia.Task) string {
	if step := r.step.Load(); step != nil {
		return *step
	}
	pending := slices.Collect(maps.Values(t.Pending))
	if slices.Contains(pending, sia.DoAttempt) {
		if tests := r.tests.Load(); tests != nil {
			return *tests
		}
		coder := "the model has not answered yet"
		if r.usesCommandAgent() {
			coder = "the agent's command runs"
		}
		if len(r.turns.last) == 0 && len(r.job.settings.Agent.Setup) > 0 {
			coder = "an attempt prepares its checkout, or " + coder
		}
		return cmp.Or(r.turns.waits, coder)
	}
	for _, w := range waitTexts {
		if slices.Contains(pending, w.kind) {
			return w.said
		}
	}
	return "nothing new"
}

// quiet measures how long nothing was printed.
type quiet struct {
	since time.Time
	said  time.Duration // value of the last report
}

// due returns the time without output when that is worth a line: after one minute, two, four, and so on; otherwise 0.
func (q *quiet) due(now time.Time) time.Duration {
	passed := now.Sub(q.since)
	if passed < max(time.Minute, 2*q.said) {
		return 0
	}
	q.said = passed
	return passed
}

// trouble is an error that keeps a run from progressing, such as an overloaded model.
type trouble struct {
	words string // empty: none
	since time.Time
}

// checkRetries prints errors of retried effects. It reports whether retries have lasted longer than a model may take
// for an answer, or will. The server's loop would continue for hours, which makes no sense for a user at a terminal.
func (r *localRun) checkRetries(t sia.Task) (lost bool, err error) {
	effects, err := r.App.Store.Effects(r.Ctx, t.ID)
	if err != nil {
		return false, err
	}
	words, next := "", time.Time{}
	for _, f := range effects {
		if f.State == store.EffectPending && f.Error != "" {
			words = f.Error
			if next, err = r.App.Store.NextTry(r.Ctx, f.Key); err != nil {
				return false, err
			}
		}
	}
	most := cmp.Or(r.job.models.Coder.Timeout, llm.DefaultTimeout)
	if wait := time.Until(next); !next.IsZero() && wait > most {
		r.trouble.words = fmt.Sprintf("%s It can be tried again in %s, and --model-timeout is %s.",
			text.Sentence(text.OneLine(words)), render.Duration(wait), most)
		r.progress("  %s", r.trouble.words)
		return true, nil
	}
	switch {
	case words == "":
		r.trouble = trouble{}
	case r.trouble.words == "":
		r.trouble.since = time.Now()
		fallthrough
	case words != r.trouble.words:
		r.trouble.words = words
		r.progress("  %s It is tried again.", text.Sentence(text.OneLine(words)))
	}
	return words != "" && time.Since(r.trouble.since) > most, nil
}

// tell prints what is new about the task, in chronological order.
func (r *localRun) tell(t sia.Task) error {
	for _, a := range t.Attempts[max(0, r.attempt-1):] {
		if r.attempt != a.Number {
			r.printDiagnoses(t, a.Number-1)
			r.attempt, r.turns = a.Number, printedTurns{last: map[int]int{}}
			if o := t.Omission; o != nil && o.Attempt == a.Number {
				r.progress("The check passes, and a model that reviewed the change says that %s. One more attempt does that; "+
					"if it does not pass, its commit is not kept.", o.Review.Unmet())
				r.list(reviewNotes(sia.FinalReview{Demands: o.Review.Demands}))
			}
			r.lastProgress = fmt.Sprintf("Attempt %d: %s", a.Number, sia.Working)
			r.progress("%s", r.lastProgress)
		}
		if err := r.printTurns(t, &a); err != nil {
			return err
		}
	}
	r.printDiagnoses(t, len(t.Attempts))
	a := t.Attempt()
	if a == nil {
		return nil
	}
	line := fmt.Sprintf("Attempt %d: %s", a.Number, t.State)
	if line == r.lastProgress {
		return nil
	}
	r.lastProgress = line
	r.tests.Store(nil)
	if t.Credits.Spent > 0 {
		line += fmt.Sprintf(" (%s of %s credits, %s)", t.Credits.Spent, t.Credits.Budget,
			time.Since(r.began).Round(time.Second))
	}
	r.progress("%s", line)
	return nil
}

// printDiagnoses prints the diagnoses after attempts up to the given one.
func (r *localRun) printDiagnoses(t sia.Task, attempt int) {
	for ; r.diagnosed < len(t.Interventions) && t.Interventions[r.diagnosed].After <= attempt; r.diagnosed++ {
		d := t.Interventions[r.diagnosed].Diagnosis
		r.progress("%s %s → %s", r.Style.Amber("Diagnosis:"), d.Summary, d.Technique)
		if d.Fallback != "" {
			r.progress("  It is by fixed rules: %s", text.Clip(cli.Plain(text.OneLine(d.Fallback)), 160))
		}
		if why := unreviewed(t.Interventions[r.diagnosed]); why != "" {
			r.progress("  It was not reviewed: %s", text.Clip(cli.Plain(text.OneLine(why)), 160))
		}
	}
}

// unreviewed returns why the independent review of a diagnosis failed; "" if it did not.
func unreviewed(iv sia.Intervention) string {
	if iv.Review.Verdict != sia.ReviewFailed {
		return ""
	}
	return cmp.Or(strings.Join(iv.Review.Points, "; "), "the reviewer did not answer")
}

// printTurns prints the turns of an attempt since the last call, run by run.
func (r *localRun) printTurns(t sia.Task, a *sia.Attempt) error {
	rows, err := r.App.Store.Turns(r.Ctx, t.ID, a.Number)
	if err != nil {
		return err
	}
	r.turns.waits = ""
	for _, row := range rows {
		var turn agent.Turn
		if err := json.Unmarshal(row, &turn); err != nil {
			return fmt.Errorf("read a turn of attempt %d: %w", a.Number, err)
		}
		switch {
		case turn.Kind != agent.TurnModel || turn.Number <= r.turns.last[turn.Run]:
			continue
		case a.Outcome == "" && len(turn.Calls) > 0 && turn.Calls[len(turn.Calls)-1].Result == "":
			r.turns.waits = fmt.Sprintf("turn %d is carried out (%s)", turn.Number, callNames(turn))
			continue // it is updated with the results of its calls
		}
		r.tests.Store(nil)
		r.turns.last[turn.Run] = turn.Number
		if turn.Run != r.turns.run {
			r.turns.run = turn.Run
			r.progress("  %s", text.Clip(cli.Plain(runDescription(a, turn.Run)), 160))
		}
		switch {
		case r.usesCommandAgent(): // a command works without tool calls
			r.toolCalls++
		case len(turn.Calls) == 0:
			r.turnsWithoutCalls++
			if turn.Finish == llm.FinishLength {
				r.truncatedTurns++
			}
		}
		r.toolCalls += len(turn.Calls)
		r.progress("%s", text.Clip(cli.Plain(turnLine(turn, r.usesCommandAgent())), 160))
	}
	return nil
}

// runDescription describes a run of an attempt in parts.
func runDescription(a *sia.Attempt, run int) string {
	part, n := a.PartOf(run)
	switch {
	case part == nil:
		return "the plan"
	case part.Do == "":
		return fmt.Sprintf("part %d of %d", n, len(a.Parts))
	}
	return fmt.Sprintf("part %d of %d: %s", n, len(a.Parts), text.OneLine(part.Do))
}

// callNames returns the tools that a turn called, with the files that they changed.
func callNames(turn agent.Turn) string {
	var did []string
	for _, c := range turn.Calls {
		did = append(did, strings.Join(append([]string{c.Name}, c.Changed...), " "))
	}
	return strings.Join(did, ", ")
}

// turnLine describes a turn of the model, or of a command, in one line.
func turnLine(turn agent.Turn, command bool) string {
	said := fmt.Sprintf("  turn %d: %s", turn.Number, callNames(turn))
	switch {
	case len(turn.Calls) > 0:
	case command:
		printed := strings.TrimSpace(turn.Text)
		said = fmt.Sprintf("  turn %d: %s", turn.Number, text.OneLine(printed[strings.LastIndexByte(printed, '\n')+1:]))
	default:
		said = fmt.Sprintf("  turn %d called no tool, and says: %s", turn.Number,
			cmp.Or(text.OneLine(turn.Text), "nothing"))
	}
	if tests := turn.Tests(); tests != "" {
		said += "; tests: " + tests
	}
	return said
}
