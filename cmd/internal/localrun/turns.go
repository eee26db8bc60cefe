package localrun

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
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

// tell prints what is new about the task, in chronological order.
func (r *run) tell(t sia.Task) error {
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
func (r *run) printDiagnoses(t sia.Task, attempt int) {
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
func (r *run) printTurns(t sia.Task, a *sia.Attempt) error {
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
			r.progress("  %s", text.Clip(cli.Plain(partDescription(a, turn.Run)), 160))
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

// partDescription describes a run of an attempt in parts.
func partDescription(a *sia.Attempt, run int) string {
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
