package evolve

import (
	"slices"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies/evolve"
)

// Guard is one metric of a promoted policy.
type Guard struct {
	Metric   string       `json:"metric"`    // in words
	Before   float64      `json:"before"`    // share of tasks that went well by it before the promotion, 0–1
	With     evolve.Arm   `json:"with"`      // tasks since then, by the change
	HeldBack evolve.Arm   `json:"held_back"` // and by the version before it
	Verdict  string       `json:"verdict"`
	Why      string       `json:"why"`
	Whose    evolve.Whose `json:"whose,omitempty"` // after an alarm
}

// usual is the share of tasks before the promotion that bounds what is usual.
const usual = .8

// fewest are the tasks before a promotion that a metric has to be known by.
const fewest = 20

// metric says of a task whether it went well, given what was usual before.
type metric struct {
	name string
	well func(before []store.ExperimentTask) func(store.ExperimentTask) bool
}

// metrics are what a promoted policy is watched by. The constraints, that SIA must not ask more
// people or touch more tests, are among them; they are never a goal.
var metrics = []metric{
	{"resolved", func([]store.ExperimentTask) func(store.ExperimentTask) bool {
		return func(t store.ExperimentTask) bool { return t.Came == store.TaskResolved }
	}},
	{"without asking a person", func([]store.ExperimentTask) func(store.ExperimentTask) bool {
		return func(t store.ExperimentTask) bool { return !t.Escalated }
	}},
	{"without touching tests or protected paths", func([]store.ExperimentTask) func(store.ExperimentTask) bool {
		return func(t store.ExperimentTask) bool { return !t.Tampered }
	}},
	{"within the usual cost", func(before []store.ExperimentTask) func(store.ExperimentTask) bool {
		limit := quantile(before, func(t store.ExperimentTask) float64 { return float64(t.Credits) })
		return func(t store.ExperimentTask) bool { return float64(t.Credits) <= limit }
	}},
	{"within the usual time", func(before []store.ExperimentTask) func(store.ExperimentTask) bool {
		limit := quantile(before, func(t store.ExperimentTask) float64 { return t.Seconds })
		return func(t store.ExperimentTask) bool { return t.Seconds <= limit }
	}},
}

// quantile is what [usual] of the tasks do not exceed.
func quantile(ts []store.ExperimentTask, of func(store.ExperimentTask) float64) float64 {
	values := make([]float64, len(ts))
	for i, t := range ts {
		values[i] = of(t)
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(usual*float64(len(values))))]
}

// anew are the tasks that say what is usual after an alarm that was not the change's.
const anew = 100

// guards watch a promoted change by its tasks. Those of the version before it that took part in
// the experiment say what was usual. Where they are too few to say that, nothing is watched.
func guards(x store.Experiment, before, since []store.ExperimentTask) (all []Guard) {
	before = slices.DeleteFunc(slices.Clone(before), func(t store.ExperimentTask) bool { return t.Candidate })
	if !x.WatchedAt.IsZero() {
		i := slices.IndexFunc(since, func(t store.ExperimentTask) bool { return t.At.After(x.WatchedAt) })
		if i < 0 {
			i = len(since)
		}
		before, since = since[max(0, i-anew):i], since[i:]
	}
	if len(before) < fewest {
		return nil
	}
	for _, m := range metrics {
		well := m.well(before)
		rail, err := evolve.NewGuardrail(tally(before, well).Resolved, len(before))
		if err != nil {
			continue // more went well than were tried: not by this count
		}
		changed := slices.DeleteFunc(slices.Clone(since), func(t store.ExperimentTask) bool { return !t.Candidate })
		held := slices.DeleteFunc(slices.Clone(since), func(t store.ExperimentTask) bool { return t.Candidate })
		for _, t := range changed {
			rail.Add(well(t))
		}
		g := Guard{Metric: m.name, Before: float64(tally(before, well).Resolved) / float64(len(before)),
			With: tally(changed, well), HeldBack: tally(held, well), Verdict: string(rail.Verdict()), Why: rail.Why()}
		if rail.Verdict() == evolve.RollBack {
			g.Whose = evolve.Blame(g.With, g.HeldBack)
		}
		all = append(all, g)
	}
	return all
}

// tally counts the tasks that went well.
func tally(ts []store.ExperimentTask, well func(store.ExperimentTask) bool) evolve.Arm {
	a := evolve.Arm{Tried: len(ts)}
	for _, t := range ts {
		if well(t) {
			a.Resolved++
		}
	}
	return a
}
