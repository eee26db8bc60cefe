package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
)

type taskExplainCmd struct {
	openedDatabase `embed:""`
	Task           string `arg:"" help:"Task id, or owner/name#issue."`
	All            bool   `help:"Ignored events too."`
}

// taskExplanation is the JSON of sia task explain.
type taskExplanation struct {
	Task      sia.TaskID          `json:"task"`
	RestsOn   []string            `json:"rests_on"`  // checks that the pass rests on; none before a pass
	Decisions []sia.Decision      `json:"decisions"` // of the log: what was chosen among what, oldest first
	Events    []store.EventRecord `json:"events"`    // every event, and what was decided about it
}

// Run prints the decisions on a task: each move with its reason, and each choice
// with the options that there were, in the order of time.
func (c *taskExplainCmd) Run(e *commandEnv) error {
	return c.with(e, func(s *store.Store) error {
		t, err := findTask(e, s, c.Task)
		if err != nil {
			return err
		}
		events, err := s.Events(e.ctx, t.ID)
		if err != nil {
			return err
		}
		decisions, err := s.Decisions(e.ctx, t.ID)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return printJSON(e, taskExplanation{t.ID, append([]string{}, render.PassRests(t)...),
				append([]sia.Decision{}, decisions...), append([]store.EventRecord{}, events...)})
		}
		for _, r := range events {
			for len(decisions) > 0 && (decisions[0].ID == r.Event.Effect || decisions[0].At.Before(r.Event.At)) {
				explainDecision(e, decisions[0])
				decisions = decisions[1:]
			}
			if r.Ignored == "" || c.All {
				explainEvent(e, r)
			}
		}
		for _, d := range decisions {
			explainDecision(e, d)
		}
		if rests := render.PassRests(t); len(rests) > 0 {
			fmt.Fprintf(e.out, "\nThe pass of %s rests on:\n", t.Head.Short())
			for _, r := range rests {
				fmt.Fprintln(e.out, "  "+r)
			}
		}
		return nil
	})
}

func explainEvent(e *commandEnv, r store.EventRecord) {
	why, state := r.Why, string(r.To)
	if r.Ignored != "" {
		why = "ignored: " + r.Ignored
	}
	if r.From == r.To {
		state = ""
	}
	explainLine(e, r.Event.At, state, string(r.Event.Fact.Kind()), why)
}

func explainLine(e *commandEnv, at time.Time, state, what, why string) {
	fmt.Fprintf(e.out, "%s  %-11s %-18s %s\n", at.Local().Format("15:04:05.000"), e.style.bold(state), e.style.dim(what),
		why)
}

// explainDecision prints one choice, and beneath it what could have been chosen
// and what came of it.
func explainDecision(e *commandEnv, d sia.Decision) {
	choice := e.style.bold(d.Choice)
	if words := render.ChoiceWords(d); words != "" {
		choice += " (" + words + ")"
	}
	explainLine(e, d.At, "chosen", string(d.Type),
		fmt.Sprintf("%s, with probability %.2f by %s: %s", choice, d.Propensity, d.Policy, d.Reason))
	explainOptions(e, d)
	if d.Outcome != "" {
		fmt.Fprintf(e.out, "    outcome: %s (%+.2f against what was to be expected)\n", d.Outcome, d.Credit)
	}
}

func explainOptions(e *commandEnv, d sia.Decision) {
	var options []bandit.Option
	if d.Type != sia.DecideTechnique || json.Unmarshal(d.Options, &options) != nil {
		return // of another kind of decision, whose reason has to do
	}
	var asked bandit.Diagnosis // within what else it was decided by
	if err := json.Unmarshal(d.Context, &asked); err != nil {
		asked.Confidence = nil
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	model := func(cell string) string { // a column that stands there when a model said something
		if len(asked.Confidence) == 0 {
			return ""
		}
		return cell + "\t"
	}
	fmt.Fprintf(w, "    OPTION\tEXPECTED\t80 %% INTERVAL\tHERE\tORGANISATION\tOTHERS\t%sPROBABILITY\n", model("MODEL"))
	for _, o := range options {
		rating := "–"
		if c, ok := asked.Confidence[o.Technique]; ok {
			rating = fmt.Sprintf("%.0f %%", 100*c)
		}
		fmt.Fprintf(w, "    %s\t%.0f %%\t%.0f–%.0f %%\t%s\t%s\t%s\t%s%.3f\n",
			o.Technique, 100*o.Mean, 100*o.Low, 100*o.High,
			tallyText(o.Here), tallyText(o.Org), tallyText(o.Elsewhere), model(rating), o.Propensity)
	}
	_ = w.Flush() // it writes to the same place, which has told of its trouble
}

func tallyText(t bandit.Tally) string {
	if t.Tried == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f of %.0f", t.Resolved, t.Tried)
}
