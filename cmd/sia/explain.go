package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia"
)

type taskExplainCmd struct {
	openedDatabase `embed:""`
	Task           string `arg:"" help:"Task id, or owner/name#issue." type:"task"`
	All            bool   `help:"Ignored events too."`
}

// taskExplanation is the JSON of sia task explain.
type taskExplanation struct {
	Task      sia.TaskID          `json:"task"`
	RestsOn   []string            `json:"rests_on"`  // checks that the pass depends on; empty before a pass
	Decisions []explainedDecision `json:"decisions"` // logged choices with their options, oldest first
	Events    []store.EventRecord `json:"events"`    // all events with the decision about each
	Retries   []retriedStep       `json:"retries"`   // steps that are tried again
}

// Run prints the decisions on a task in chronological order: each state change with its reason, and each choice with
// its options.
func (c *taskExplainCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		t, err := findTask(e, s, c.Task)
		if err != nil {
			return err
		}
		events, err := s.Events(e.Ctx, t.ID)
		if err != nil {
			return err
		}
		decisions, err := explainedDecisions(e, s, t.ID)
		if err != nil {
			return err
		}
		retries, err := retriedSteps(e, s, t.ID)
		if err != nil {
			return err
		}
		if c.Output == "json" {
			return e.JSON(taskExplanation{t.ID, nonNil(render.PassChecks(t)), decisions, nonNil(events), nonNil(retries)})
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
		if rests := render.PassChecks(t); len(rests) > 0 {
			e.Linef("\nThe pass of %s rests on:", t.Head.Short())
			for _, r := range rests {
				e.Linef("  %s", r)
			}
		}
		showRetries(e, retries)
		return nil
	})
}

func explainEvent(e *cli.Env, r store.EventRecord) {
	why, state := r.Why, string(r.To)
	if r.Ignored != "" {
		why = "ignored: " + r.Ignored
	}
	if r.From == r.To {
		state = ""
	}
	explainLine(e, r.Event.At, state, string(r.Event.Fact.Kind()), why)
}

func explainLine(e *cli.Env, at time.Time, state, what string, why any) {
	e.Linef("%s  %-11s %-18s %s", at.Local().Format("15:04:05.000"), e.Style.Bold(state), e.Style.Dim(what), why)
}

// explainOptions prints the techniques that were available.
func explainOptions(e *cli.Env, d sia.Decision) {
	var options []bandit.Option
	if json.Unmarshal(d.Options, &options) != nil {
		return
	}
	var asked bandit.Diagnosis            // part of the decision's context
	_ = json.Unmarshal(d.Context, &asked) // empty if no model was asked
	w := cli.NewTable(e.Out)
	model := func(cell string) string { // column that is left out without a model's answer
		if len(asked.Confidence) == 0 {
			return ""
		}
		return cell + "\t"
	}
	w.Rowf("    OPTION\tEXPECTED\t80 %% INTERVAL\tHERE\tORGANISATION\tOTHERS\t%sPROBABILITY", model("MODEL"))
	for _, o := range options {
		rating := "–"
		if c, ok := asked.Confidence[o.Technique]; ok {
			rating = fmt.Sprintf("%.0f %%", 100*c)
		}
		w.Rowf("    %s\t%.0f %%\t%.0f–%.0f %%\t%s\t%s\t%s\t%s%.3f",
			o.Technique, 100*o.Mean, 100*o.Low, 100*o.High,
			tallyText(o.Here), tallyText(o.Org), tallyText(o.Elsewhere), model(rating), o.Propensity)
	}
	_ = w.Flush() // the same writer has already reported its error
}

func tallyText(t bandit.Tally) string {
	if t.Tried == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f of %.0f", t.Resolved, t.Tried)
}
