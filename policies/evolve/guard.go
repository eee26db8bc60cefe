package evolve

import (
	"slices"
	"time"
)

// Guard is one metric of a promoted policy.
type Guard struct {
	Metric   string  `json:"metric"`    // in words
	Before   float64 `json:"before"`    // share of tasks that went well by it before the promotion, 0–1
	With     Arm     `json:"with"`      // tasks since then, by the change
	HeldBack Arm     `json:"held_back"` // and by the version before it
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why"`
	Whose    Cause   `json:"whose,omitempty"` // after an alarm
}

// FewestUsual are the tasks that have to say what is usual before a promoted change is watched.
const FewestUsual = 20

const (
	// usual is the share of tasks before the promotion that bounds what is usual.
	usual = .8
	// anew are the tasks that say what is usual after an alarm that was not the change's.
	anew = 100
)

// metric says of a task whether it went well, given what was usual before.
type metric struct {
	name string
	well func(before []Task) func(Task) bool
}

// metrics are what a promoted policy is watched by. The constraints, that SIA must not ask more
// people or touch more tests, are among them.
func metrics() []metric {
	plain := func(well func(Task) bool) func([]Task) func(Task) bool {
		return func([]Task) func(Task) bool { return well }
	}
	within := func(of func(Task) float64) func([]Task) func(Task) bool {
		return func(before []Task) func(Task) bool {
			limit := mostly(before, of)
			return func(t Task) bool { return of(t) <= limit }
		}
	}
	return []metric{
		{"resolved", plain(func(t Task) bool { return t.Came == Resolved })},
		{"without asking a person", plain(func(t Task) bool { return !t.Escalated })},
		{"without touching tests or protected paths", plain(func(t Task) bool { return !t.Tampered })},
		{"within the usual cost", within(func(t Task) float64 { return t.Credits })},
		{"within the usual time", within(func(t Task) float64 { return t.Seconds })},
	}
}

// mostly is what [usual] of the tasks do not exceed.
func mostly(ts []Task, of func(Task) float64) float64 {
	values := make([]float64, len(ts))
	for i, t := range ts {
		values[i] = of(t)
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(usual*float64(len(values))))]
}

// guards watch a promoted change by its tasks. Those of the version before it that took part in
// the experiment say what was usual. Where they are too few to say that, the first of those that were
// held back since the promotion do as well. known counts the tasks that say it; with fewer than
// [FewestUsual], nothing is watched yet.
func guards(before, since []Task, watched time.Time) (all []Guard, known int) {
	before = of(before, false)
	if !watched.IsZero() {
		i := slices.IndexFunc(since, func(t Task) bool { return t.At.After(watched) })
		if i < 0 {
			i = len(since)
		}
		before, since = since[max(0, i-anew):i], since[i:]
	}
	changed, held := of(since, true), of(since, false)
	if n := min(FewestUsual-len(before), len(held)); n > 0 {
		before, held = slices.Concat(before, held[:n]), held[n:]
	}
	if len(before) < FewestUsual {
		return nil, len(before)
	}
	for _, m := range metrics() {
		well := m.well(before)
		was := tally(before, well)
		rail, err := NewGuardrail(was.Resolved, was.Tried)
		if err != nil {
			continue // more went well than were tried: not by this count
		}
		for _, t := range changed {
			rail.Add(well(t))
		}
		g := Guard{Metric: m.name, Before: was.share(), With: tally(changed, well), HeldBack: tally(held, well),
			Verdict: rail.Verdict(), Why: rail.Why()}
		if g.Verdict == RollBack {
			g.Whose = Blame(was, g.With, g.HeldBack)
		}
		all = append(all, g)
	}
	return all, len(before)
}
