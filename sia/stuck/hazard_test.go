package stuck

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"

	"github.com/sia-bot/sia/sia"
)

// shipped has the weights of the built-in interrupt policy.
func shipped(cost float64) Hazard {
	return Hazard{Bias: -3.8, Streak: 2, Same: 3, Idle: 3, Spent: 1, Cost: cost}
}

// pace is the pace of that policy.
var pace = Pace{Rate: 0.05, Pull: 0.002}

func TestShipped(t *testing.T) {
	for _, c := range []struct {
		name      string
		risk      sia.Risk
		interrupt bool
	}{
		{"at work", sia.Risk{Spent: 0.5}, false},
		{"a streak alone", sia.Risk{Streak: 1, Spent: 0.5}, false},
		{"the same error alone", sia.Risk{Same: 1, Spent: 0.5}, false},
		{"reading for long alone", sia.Risk{Idle: 1, Spent: 0.5}, false},
		{"the same error, and no change", sia.Risk{Same: 0.7, Idle: 0.7, Spent: 0.25}, true},
		{"the same error at the start", sia.Risk{Same: 0.25, Idle: 0.12, Spent: 0.05}, false},
		{"everything at once", sia.Risk{Streak: 1, Same: 0.75, Idle: 0.75, Spent: 0.6}, true},
		{"everything at once, and nothing to be saved", sia.Risk{Streak: 1, Same: 0.75, Idle: 0.75, Spent: 1}, false},
	} {
		if r := shipped(1).Judge(c.risk); (r.Chance > r.Limit) != c.interrupt {
			t.Errorf("%s: a chance of %.2f, and the limit is %.2f", c.name, r.Chance, r.Limit)
		}
	}
}

// The limit is a probability, rises with the spent budget and with the cost of a
// wrong interruption, and is 1 at the end.
func TestLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cost, spent := rapid.Float64Range(0, 100).Draw(t, "cost"), rapid.Float64Range(0, 0.9).Draw(t, "spent")
		got := shipped(cost).Limit(spent)
		if !(got >= 0 && got < 1) || shipped(cost).Limit(spent+0.05) <= got || shipped(cost+1).Limit(spent) <= got ||
			shipped(cost).Limit(1) != 1 {
			t.Fatalf("the limit is %g", got)
		}
	})
}

// If only idling predicts the result, and errors do not, the weights learn that;
// without cases they are the built-in ones.
func TestLearn(t *testing.T) {
	if got := Learn(shipped(1), pace, 0.1, nil); got != shipped(1) {
		t.Errorf("from nothing: %+v", got)
	}
	var cases []Case
	for i := range 500 {
		same, idle := float64(i%2), float64(i/2%2)
		cases = append(cases, Case{Risk: sia.Risk{Same: same, Idle: idle, Spent: 0.5}, Nowhere: idle > 0})
	}
	h := Learn(shipped(1), pace, 0.1, cases)
	if h.Same > 2.5 || h.Idle < 3.5 || h.Chance(sia.Risk{Same: 1, Spent: 0.5}) > 0.3 ||
		h.Chance(sia.Risk{Idle: 1, Spent: 0.5}) < 0.6 {
		t.Errorf("learned %+v", h)
	}
	spared := Learn(shipped(1), pace, 0.1, []Case{{Risk: sia.Risk{Same: 1, Idle: 1, Spared: true}}})
	plain := Learn(shipped(1), pace, 0.1, []Case{{Risk: sia.Risk{Same: 1, Idle: 1}}})
	if spared.Same >= plain.Same || plain.Same >= shipped(1).Same {
		t.Errorf("one that was spared and got somewhere teaches %.3f, another %.3f", spared.Same, plain.Same)
	}
}

// Learned weights stay finite, and the same cases give the same weights.
func TestLearnStaysSane(t *testing.T) {
	share := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		cases := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Case {
			return Case{Nowhere: rapid.Bool().Draw(t, "nowhere"), Risk: sia.Risk{
				Streak: share.Draw(t, "streak"), Same: share.Draw(t, "same"), Idle: share.Draw(t, "idle"),
				Spent: share.Draw(t, "spent"), Spared: rapid.Bool().Draw(t, "spared"),
			}}
		}), 0, 300).Draw(t, "cases")
		h := Learn(shipped(1), pace, share.Draw(t, "share"), cases)
		for _, w := range []float64{h.Bias, h.Streak, h.Same, h.Idle, h.Spent} {
			if !(math.Abs(w) < 100) {
				t.Fatalf("%+v", h)
			}
		}
		if p := h.Chance(sia.Risk{Same: 1, Spent: 1}); !(p >= 0 && p <= 1) {
			t.Fatalf("a chance of %g", p)
		}
	})
}

func TestCaseOf(t *testing.T) {
	risk := &sia.Risk{Same: 0.5}
	change := sia.DiffStat{Files: 1}
	for _, c := range []struct {
		name        string
		attempt     sia.Attempt
		nowhere, ok bool
	}{
		{"passed", sia.Attempt{Risk: risk, Outcome: sia.AttemptPass, Diff: change}, false, true},
		{"failed with a change", sia.Attempt{Risk: risk, Outcome: sia.AttemptFail, Diff: change}, false, true},
		{"changed nothing", sia.Attempt{Risk: risk, Outcome: sia.AttemptFail}, true, true},
		{"ran into a limit", sia.Attempt{Risk: risk, Outcome: sia.AttemptCheckpoint, Diff: change}, true, true},
		{"was interrupted", sia.Attempt{Risk: &sia.Risk{Interrupted: true}, Outcome: sia.AttemptFail}, false, false},
		{"went round in circles", sia.Attempt{Risk: risk, Outcome: sia.AttemptFail,
			Signals: []sia.Signal{{Name: sia.AboutToStick}}}, false, false},
		{"a person stopped it", sia.Attempt{Risk: risk, Outcome: sia.AttemptCancelled}, false, false},
		{"was not watched", sia.Attempt{Outcome: sia.AttemptPass}, false, false},
	} {
		if got, ok := CaseOf(c.attempt); ok != c.ok || got.Nowhere != c.nowhere {
			t.Errorf("%s: %+v, %t", c.name, got, ok)
		}
	}
}

// The risk of an attempt may come from a runner: no number breaks what is learned, and the features are shares.
func TestLearnFromImpossibleRisks(t *testing.T) {
	var cases []Case
	for _, r := range []sia.Risk{{Streak: 1e308, Same: -1e308}, {Idle: 1e9, Same: -1e10},
		{Spent: math.Inf(1), Streak: math.Inf(-1)}, {Idle: math.NaN()}} {
		for range 100 {
			c, ok := CaseOf(sia.Attempt{Risk: &r, Outcome: sia.AttemptFail})
			if ok == math.IsNaN(r.Idle) {
				t.Errorf("%+v: %t", r, ok)
			}
			if ok {
				cases = append(cases, c)
			}
		}
	}
	h := Learn(shipped(1), pace, 0.1, cases)
	if r := h.Judge(sia.Risk{Spent: 0.5}); !(r.Chance < r.Limit) {
		t.Errorf("an attempt at work is interrupted: %+v by %+v", r, h)
	}
	spared := Case{Nowhere: true, Risk: sia.Risk{Streak: 1, Same: 1, Idle: 1, Spent: 1, Spared: true}}
	h = Learn(Hazard{Bias: -20, Streak: 10, Same: -20, Idle: 10, Spent: 10}, Pace{Rate: 1}, 0, []Case{spared})
	for _, w := range []float64{h.Bias, h.Streak, h.Same, h.Idle, h.Spent} {
		if !(math.Abs(w) <= maxWeight) {
			t.Errorf("learned %+v", h)
		}
	}
}

// About the requested share is spared.
func TestSpared(t *testing.T) {
	for _, share := range []float64{0, 0.1, 0.5, 1} {
		n := 0
		for i := range 4000 {
			id := sia.NewTaskID(int64(1000+i/40), i%40)
			if Spared(id, 1+i%3, share) {
				n++
			}
		}
		if got := float64(n) / 4000; math.Abs(got-share) > 0.02 {
			t.Errorf("%.3f of the attempts are spared, want %.1f", got, share)
		}
	}
}

func TestLook(t *testing.T) {
	missing := func(i int) Action {
		return failing("read", fmt.Sprintf("f%d.go", i),
			fmt.Sprintf("read %q: there is no such file or directory", fmt.Sprintf("f%d.go", i)))
	}
	var lost []Action
	for i := range 9 {
		lost = append(lost, missing(i), act("list", fmt.Sprint(i), fmt.Sprint("files ", i)))
	}
	for _, c := range []struct {
		name    string
		actions []Action
		want    sia.Risk
	}{
		{"nothing yet", nil, sia.Risk{}},
		{"one error", []Action{missing(1)}, sia.Risk{Same: 1. / 12}},
		{"the same error of different calls", lost, sia.Risk{Same: 0.5}},
		{"three calls alike", slices.Repeat([]Action{act("run", "make", "ok")}, 3), sia.Risk{Streak: 2. / 3}},
		{"waiting is no streak", slices.Repeat([]Action{act("run", "sleep 9", "ok")}, 3), sia.Risk{}},
	} {
		if got := Look(c.actions); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	why := Evidence(sia.Risk{Streak: 2. / 3, Same: 0.5, Spent: 0.25, Chance: 0.8, Limit: 0.625}, 17)
	for _, words := range []string{"80 %", "63 %", "3 calls in a row", "6 of the last 12 calls", "17 turns",
		"25 % of its budget"} {
		if !strings.Contains(why, words) {
			t.Errorf("%q does not say %q", why, words)
		}
	}
}
