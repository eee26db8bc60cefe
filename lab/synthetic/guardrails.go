package synthetic

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/policies/evolve"
)

const (
	guardedFirst = 200    // tasks of the one-shot test
	guardedTasks = 10_000 // tasks after these
	guardedMost  = 5000   // maximum number of tasks until a fall is found
)

// record has a guardrail's data from before a promotion.
type record struct {
	tasks int
	rate  float64 // the true one
}

var records = []record{{50, .6}, {200, .5}, {200, .7}, {1000, .6}}

// guarded is the result of a guardrail if nothing was wrong.
type guarded struct {
	after int  // tasks to the roll-back, 0 for none
	right bool // its limit is at most the true rate
}

// guardrails measures false alarms, and after how many tasks a fall is rolled back.
func (m measure) guardrails(ctx context.Context) (out []Figure, err error) {
	for _, rec := range records {
		key := fmt.Sprintf("guardrail.%d-%.0f", rec.tasks, 100*rec.rate)
		world := fmt.Sprintf("%d tasks before, %.0f %% went well", rec.tasks, 100*rec.rate)
		all, err := m.guard(ctx, key+".null", rec, 0, guardedFirst+guardedTasks)
		if err != nil {
			return nil, err
		}
		out = append(out, m.falseAlarms(key, world+", and do", all)...)
		for _, drop := range []float64{.25, .15} {
			bar := ""
			if drop == .25 {
				bar = "≤ 60"
			}
			key := fmt.Sprintf("%s.drop-%.0f", key, 100*drop)
			all, err := m.guard(ctx, key, rec, drop, guardedMost)
			if err != nil {
				return nil, err
			}
			out = append(out, m.found(key, fmt.Sprintf("%s, now %.0f points less", world, 100*drop), "rolled back",
				"tasks", bar, column(all, func(g guarded) int { return g.after }), guardedMost)...)
		}
	}
	blamed, err := m.blame(ctx)
	return append(out, blamed...), err
}

// blamedMost is the number of tasks since a promotion in which the cause of a fall is searched.
const blamedMost = 1000

// blame measures guardrails together with the held-out tasks: how soon a harmful change is
// rolled back, and how often a harmless one.
func (m measure) blame(ctx context.Context) (out []Figure, err error) {
	for _, rec := range []record{{200, .5}, {200, .7}} {
		for _, fall := range []struct {
			name, world   string
			with, without float64 // falls of the rates
		}{
			{"change", "now 25 points less with the change", .25, 0},
			{"all", "now 25 points less with it and without", .25, .25},
			{"none", "and do", 0, 0},
		} {
			key := fmt.Sprintf("blame.%d-%.0f.%s", rec.tasks, 100*rec.rate, fall.name)
			world := fmt.Sprintf("%d tasks before, %.0f %% went well, %s", rec.tasks, 100*rec.rate, fall.world)
			after, err := inWorlds(ctx, m.worlds, func(i int) (int, error) {
				return m.heldBack(key, i, rec, rec.rate-fall.with, rec.rate-fall.without)
			})
			if err != nil {
				return nil, err
			}
			if fall.name == "change" {
				out = append(out, m.found(key, world, "taken back, with tasks held back", "tasks", "≤ 60", after, blamedMost)...)
				continue
			}
			out = append(out, m.figure(key, world, fmt.Sprintf("taken back within %d tasks", blamedMost), "").
				share(column(after, func(n int) bool { return n > 0 })))
		}
	}
	return out, nil
}

// heldBack returns the number of tasks until a change is rolled back, including held-out ones; 0: it is not.
func (m measure) heldBack(key string, world int, rec record, with, without float64) (int, error) {
	r, well := m.dice(key, world), 0
	for range rec.tasks {
		if r.Float64() < rec.rate {
			well++
		}
	}
	g, err := evolve.NewGuardrail(well, rec.tasks)
	if err != nil {
		return 0, err
	}
	var changed, held evolve.Arm
	for n := range blamedMost {
		arm, rate := &changed, with
		if evolve.HeldBack(fmt.Sprint(key, world), fmt.Sprint(n), n) {
			arm, rate = &held, without
		}
		good := r.Float64() < rate
		arm.Tried++
		if good {
			arm.Resolved++
		}
		if arm == &changed {
			g.Add(good)
		}
		if g.Verdict() != evolve.RollBack {
			continue
		}
		switch evolve.Blame(evolve.Arm{Resolved: well, Tried: rec.tasks}, changed, held) {
		case evolve.TheChanges:
			return n + 1, nil
		case evolve.Everyones, evolve.Nobodys:
			return 0, nil // it is watched again
		}
	}
	return 0, nil
}

// falseAlarms returns the figures of guardrails without a change. Those that are
// rolled back in the first tasks don't count for later tasks.
func (m measure) falseAlarms(key, world string, all []guarded) (out []Figure) {
	add := func(name, what, bar string, happened []bool) {
		if len(happened) > 0 {
			out = append(out, m.figure(key+".null."+name, world, what, bar).share(happened))
		}
	}
	var first, firstRight, later, laterRight []bool
	watched, alarms := 0, 0
	for _, g := range all {
		early := g.after > 0 && g.after <= guardedFirst
		first = append(first, early)
		if g.right {
			firstRight = append(firstRight, early)
		}
		if early {
			continue
		}
		later = append(later, g.after > 0)
		if g.right {
			laterRight = append(laterRight, g.after > 0)
		}
		watched += guardedTasks
		if g.after > 0 {
			alarms++
			watched += g.after - guardedFirst - guardedTasks
		}
	}
	add("first", fmt.Sprintf("rolled back in the first %d tasks", guardedFirst), "", first)
	add("first-right", "likewise, where the limit is not above the true rate", "≤ 2.5 %", firstRight)
	add("later", fmt.Sprintf("rolled back in the %d tasks after", guardedTasks), "", later)
	add("later-right", "likewise, where the limit is not above the true rate", "", laterRight)
	if alarms > 0 {
		out = append(out, m.figure(key+".null.every", world, "tasks after, for each that is rolled back", "≥ 10,000").
			every(watched, alarms))
	}
	return out
}

// guard watches a number of tasks in each world, after a fall.
func (m measure) guard(ctx context.Context, key string, rec record, drop float64, tasks int) ([]guarded, error) {
	return inWorlds(ctx, m.worlds, func(i int) (guarded, error) {
		r, well := m.dice(key, i), 0
		for range rec.tasks {
			if r.Float64() < rec.rate {
				well++
			}
		}
		g, err := evolve.NewGuardrail(well, rec.tasks)
		if err != nil {
			return guarded{}, err
		}
		out := guarded{right: g.Limit() <= rec.rate}
		for n := range tasks {
			if g.Add(r.Float64() < rec.rate-drop); g.Verdict() == evolve.RollBack {
				out.after = n + 1
				break
			}
		}
		return out, nil
	})
}
