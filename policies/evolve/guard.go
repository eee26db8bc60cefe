package evolve

import (
	"slices"
	"time"
)

// Guard is the state of one metric of a promoted policy.
type Guard struct {
	Metric   string  `json:"metric"`    // name of the metric
	Before   float64 `json:"before"`    // share of good tasks before the promotion, 0–1
	With     Arm     `json:"with"`      // tasks since then with the change
	HeldBack Arm     `json:"held_back"` // and with the version before it
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why"`
	Whose    Cause   `json:"whose,omitempty"` // after an alarm
}

// FewestUsual is the minimum number of baseline tasks before a promoted change is watched.
const FewestUsual = 20

const (
	// usual is the quantile of the baseline tasks that limits usual cost and time.
	usual = .8
	// baselineAfterAlarm is the number of baseline tasks after an alarm with another cause than the change.
	baselineAfterAlarm = 100
)

// metric decides whether a task is good, given the baseline tasks.
type metric struct {
	name string
	well func(before []Task) func(Task) bool
}

// metrics returns the metrics by which a promoted policy is watched, including the constraints that SIA must not ask
// people or touch tests more often.
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

// mostly returns the [usual] quantile of the tasks' values.
func mostly(ts []Task, of func(Task) float64) float64 {
	values := make([]float64, len(ts))
	for i, t := range ts {
		values[i] = of(t)
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(usual*float64(len(values))))]
}

// guards returns the guards of a promoted change. The baseline consists of the experiment's tasks of the version before
// it. If they are too few, the first held-back tasks since the promotion are added. known is the size of the baseline;
// with fewer than [FewestUsual], nothing is watched yet.
func guards(before, since []Task, watched time.Time) (all []Guard, known int) {
	before = of(before, false)
	if !watched.IsZero() {
		i := slices.IndexFunc(since, func(t Task) bool { return t.At.After(watched) })
		if i < 0 {
			i = len(since)
		}
		before, since = since[max(0, i-baselineAfterAlarm):i], since[i:]
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
			continue // impossible: more good than tried tasks
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
