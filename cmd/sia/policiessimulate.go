package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/learn"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

type policiesSimulateCmd struct {
	openedDatabase `embed:""`
	File           string `arg:"" help:"The policy file." type:"path"`
	Repo           string `help:"Only decisions of this repository: owner/name or GitHub's id." placeholder:"OWNER/NAME" type:"repository"`
	Limit          int    `help:"At most so many of the last decisions." default:"1000" min:"1"`
}

// simulation is what a policy would have decided, as JSON.
type simulation struct {
	Policy    string         `json:"policy"`
	Decision  policies.Type  `json:"decision"`
	Holds     string         `json:"holds"` // for which contexts, in words
	Decisions int            `json:"decisions"`
	Alike     int            `json:"alike"`
	Untouched int            `json:"untouched"` // the selector does not fit their context
	Otherwise []otherwise    `json:"otherwise"`
	Undecided map[string]int `json:"undecided"` // how many can't be decided again, by why
	Ranking   mine.Ranking   `json:"ranking"`
}

// otherwise is a decision that the policy would have made otherwise.
type otherwise struct {
	ID      string     `json:"id"`
	Task    sia.TaskID `json:"task"`
	Attempt int        `json:"attempt"`
	Was     string     `json:"was"`
	Would   string     `json:"would"`
	Why     string     `json:"why"`     // the policy's reason
	Outcome string     `json:"outcome"` // of what was done; empty while it is open
}

// Run puts a policy to the log.
func (c *policiesSimulateCmd) Run(e *cli.Env) error {
	p, err := policyFile(c.File)
	if err != nil {
		return err
	}
	return c.with(e, func(s *store.Store) error {
		repo, err := repositoryID(e, s, c.Repo)
		if err != nil {
			return err
		}
		ds, err := s.DecisionsOf(e.Ctx, sia.DecisionType(p.Decision), repo, c.Limit)
		if err != nil {
			return err
		}
		sim, err := simulate(e, s, p, ds)
		if err != nil {
			return err
		}
		return c.Print(e, sim, func() error { return showSimulation(e, sim) })
	})
}

// simulate puts decisions of a policy's type to it.
func simulate(e *cli.Env, s *store.Store, p policies.Policy, ds []sia.Decision) (simulation, error) {
	sim := simulation{Policy: p.ID(), Decision: p.Decision, Holds: p.Selector.String(), Decisions: len(ds),
		Otherwise: []otherwise{}, Undecided: map[string]int{}}
	contexts, err := contextsOf(e, s, ds)
	if err != nil {
		return sim, err
	}
	again, err := learn.NewRewind(e.Ctx, s)
	if err != nil {
		return sim, err
	}
	var known []mine.Decision // with what the policy would have done
	var would [][]mine.Option
	for _, d := range ds {
		c, kept := contexts[d.ID]
		if kept && !p.Selector.Fits(c) {
			sim.Untouched++
			continue
		}
		var a learn.ReplayResult
		why := "its context was not kept, so that it can't be said whether the selector fits"
		if kept || p.Selector.Fits(policies.Context{}) {
			if a, why, err = again.Decide(p, d); err != nil {
				return sim, err
			}
		}
		switch {
		case why != "":
			sim.Undecided[why]++
		case a.Choice == d.Choice && slices.Equal(a.Racers, learn.Racers(d)):
			sim.Alike++
		default:
			sim.Otherwise = append(sim.Otherwise, otherwise{d.ID, d.Task, d.Attempt,
				atOnce(d.Choice, learn.Racers(d)), atOnce(a.Choice, a.Racers), a.Reason, d.Outcome})
		}
		if m, ok := learn.ForMining(d, c); ok {
			known = append(known, m)
			would = append(would, minedOptions(a.Options))
		}
	}
	sim.Ranking = mine.Rank(known, would)
	return sim, nil
}

// atOnce is a choice in words: all who work at once, where several do.
func atOnce(choice string, racers []string) string {
	if len(racers) > 0 {
		return strings.Join(racers, " + ")
	}
	return choice
}

// contextsOf are the contexts of decisions by their ids, as far as their tasks have any.
func contextsOf(e *cli.Env, s *store.Store, ds []sia.Decision) (map[string]policies.Context, error) {
	out, seen := map[string]policies.Context{}, map[sia.TaskID]bool{}
	for _, d := range ds {
		if seen[d.Task] {
			continue
		}
		seen[d.Task] = true
		all, err := s.Decisions(e.Ctx, d.Task)
		if err != nil {
			return nil, err
		}
		contexts, ok := learn.Snapshots(all)
		for i := range all {
			if ok[i] {
				out[all[i].ID] = contexts[i]
			}
		}
	}
	return out, nil
}

// minedOptions are options as they are mined; nil stays nil.
func minedOptions(chances []learn.Chance) (out []mine.Option) {
	for _, o := range chances {
		out = append(out, mine.Option(o))
	}
	return out
}

func showSimulation(e *cli.Env, sim simulation) error {
	p := e.Linef
	p("%s, for %s, put to %d logged decisions of the type %s:", e.Style.Bold(sim.Policy), sim.Holds, sim.Decisions,
		sim.Decision)
	p("  %d it would have decided alike", sim.Alike)
	p("  %d otherwise", len(sim.Otherwise))
	p("  %d are untouched: its selector does not fit their context", sim.Untouched)
	for _, why := range slices.Sorted(maps.Keys(sim.Undecided)) {
		p("  %d can't be decided again: %s", sim.Undecided[why], why)
	}
	if r := sim.Ranking; r.Enough {
		p("  of %d decisions that chance had a part in (an effective %.0f), it would have led %s to success, doubly "+
			"robust %s; what was done led %s there. That ranks policies and decides nothing.", r.Decisions, r.Effective,
			estimateText(r.SNIPS), estimateText(r.Doubly), estimateText(r.Logged))
	}
	if len(sim.Otherwise) == 0 {
		return nil
	}
	p("")
	w := cli.NewTable(e.Out, "TASK", "ATTEMPT", "WAS -> WOULD BE", "OUTCOME OF WHAT WAS DONE", "WHY IT WOULD BE")
	for _, o := range sim.Otherwise {
		w.Rowf("%s\t%d\t%s -> %s\t%s\t%s", o.Task, o.Attempt, chosenText(o.Was), chosenText(o.Would),
			cmp.Or(o.Outcome, "open"), cmp.Or(text.Clip(text.OneLine(o.Why), 160), "–"))
	}
	return w.Flush()
}

func estimateText(x mine.Estimate) string {
	return fmt.Sprintf("%.0f %% (%.0f–%.0f)", 100*x.Mean, 100*max(0, x.Low), 100*min(1, x.High))
}
