package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/stuck"
	"github.com/sia-bot/sia/sim/scripted"
)

// lost returns a model that looks for one missing file after another; no call is repeated, so that rules about
// repetition don't apply.
func lost(n int) scripted.Script {
	var answers []scripted.Answer
	for i := range n {
		answers = append(answers, calls(scripted.Call{Name: "read", Args: args{"path": fmt.Sprintf("pkg%d/mail.go", i)}}))
	}
	return turns(append(answers, done)...)
}

func TestHazardInterrupts(t *testing.T) {
	b := newBench(t, lost(22))
	b.in.Hazard = shippedHazard(1)
	b.in.Limits.Turns = 60
	res := b.run()
	if res.End != sia.EndStuck || res.Turns >= 22 || res.Turns < 10 {
		t.Errorf("ended as %s after %d turns: %s", res.End, res.Turns, res.Reason)
	}
	if len(res.Signals) != 1 || res.Signals[0].Name != sia.AboutToStick ||
		!strings.Contains(res.Reason, "ended in the same error") {
		t.Errorf("signals %+v, reason %q", res.Signals, res.Reason)
	}
	if r := res.Risk; r == nil || !r.Interrupted || r.Chance <= r.Limit {
		t.Errorf("risk %+v", r)
	}
}

// The same attempt continues to its end if it is spared, if wrong interruptions are expensive, or without a hazard.
func TestHazardLetsGoOn(t *testing.T) {
	for _, c := range []struct {
		name   string
		hazard stuck.Hazard
		spare  bool
		risk   func(*sia.Risk) bool
	}{
		{"spared", shippedHazard(1), true,
			func(r *sia.Risk) bool { return r != nil && r.Spared && !r.Interrupted && r.Chance > r.Limit }},
		{"patient", shippedHazard(20), false, func(r *sia.Risk) bool { return r != nil && !r.Spared && r.Chance < r.Limit }},
		{"no hazard", stuck.Hazard{}, false, func(r *sia.Risk) bool { return r == nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, lost(22))
			b.in.Hazard, b.in.Spare = c.hazard, c.spare
			res := b.run()
			if res.End != sia.EndFinished || !c.risk(res.Risk) {
				t.Errorf("ended as %s (%s), risk %+v", res.End, res.Reason, res.Risk)
			}
		})
	}
}

// An attempt that makes a change now and then is not interrupted, despite other problems.
func TestHazardSeesProgress(t *testing.T) {
	var answers []scripted.Answer
	for i := range 20 {
		answers = append(answers, calls(scripted.Call{Name: "read", Args: args{"path": fmt.Sprintf("pkg%d/mail.go", i)}}))
		if i%4 == 3 {
			answers = append(answers, calls(scripted.Call{Name: "write",
				Args: args{"path": fmt.Sprintf("pkg%d/mail.go", i), "content": "package mail\n"}}))
		}
	}
	b := newBench(t, turns(append(answers, done)...))
	b.in.Hazard = shippedHazard(1)
	if res := b.run(); res.End != sia.EndFinished {
		t.Errorf("ended as %s: %s", res.End, res.Reason)
	}
}

// shippedHazard returns the weights of the shipped interrupt policy.
func shippedHazard(cost float64) stuck.Hazard {
	return stuck.Hazard{Bias: -3.8, Streak: 2, Same: 3, Idle: 3, Spent: 1, Cost: cost}
}
