package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// ask returns the oracle's verdict on the pull request.
func (w *world) ask() ghsim.OracleAnswer {
	t := w.task
	q := ghsim.OracleQuestion{Repo: w.repo, Pull: t.Pull.Number, Own: apptest.Slug, Required: t.Settings.Checks.Required,
		Waived: t.Waived, Vouched: t.Vouched, Accepted: slices.Contains(t.Accepted, t.Head), Base: string(t.BaseSHA),
		Wait: t.Settings.Checks.Wait.D()}
	for _, a := range t.Attempts {
		if a.Head != "" && a.Head != t.Head {
			q.Earlier = append(q.Earlier, string(a.Head))
		}
	}
	answer, err := w.sim.Oracle(q)
	w.must(err)
	return answer
}

// check checks the invariants for the task's latest change.
func (w *world) check(before sia.Task) {
	t := w.task
	if t.State == sia.Passed && before.State != sia.Passed {
		w.passed = true
		w.count["passed"]++
		if t.Pull.Number == 0 {
			w.fail("the task passed without a pull request")
			return
		}
		if w.against[t.Head] && !slices.Contains(t.Accepted, t.Head) && t.HeadBy == (sia.Actor{}) &&
			!before.RunsTests() {
			w.fail("the task passed, and the tests of %s speak against it", t.Head.Short())
			return
		}
		a := w.ask()
		w.note("oracle: open %v green %v red %v why %v", a.Open, a.Green, a.Red, a.Why)
		switch {
		case !a.Open:
			w.fail("the task passed, and the pull request is not open")
		case a.Head != string(t.Head):
			w.fail("the task passed at %s, and the pull request's head is %.7s", t.Head.Short(), a.Head)
		case w.restsBeside(a):
			w.count["passed on what is not required"]++
		case !a.Green:
			w.fail("the task passed, and the oracle says: %s", strings.Join(a.Why, " "))
		}
	}
	if t.State == sia.Diagnosing && before.State == sia.Checking {
		w.count["failed"]++
		last := t.Attempt()
		a := w.ask()
		switch {
		case t.HeadBy != (sia.Actor{}) || last.Head != t.Head:
			w.fail("attempt %d is blamed for %s, which somebody else pushed", last.Number, t.Head.Short())
		case w.clock.Now().Sub(w.ruled) < time.Minute: // rules are read again for a pass, and otherwise cached for a minute
		case w.during: // a look that passes reads the head again; others use its state at their beginning
		case a.Head != string(t.Head):
			w.fail("attempt %d is blamed for %s, and the pull request's head is %.7s", last.Number, t.Head.Short(), a.Head)
		case len(a.Red) == 0 && !strings.Contains(strings.Join(a.Why, " "), "of the same run is red") && !w.brokenRun() &&
			!w.baseIsMixed() && !w.fellByChance[string(w.task.BaseSHA)]: // the oracle reads no logs, so it also excuses by those
			w.fail("attempt %d is blamed, and the oracle finds nothing red: %s", last.Number, strings.Join(a.Why, " "))
		}
	}
	if a := t.Attempt(); t.State == sia.Checking && t.HeadBy != (sia.Actor{}) && a != nil && a.Outcome == "" &&
		a.Head == t.Head {
		w.fail("attempt %d made %s, which is taken for somebody else's", a.Number, t.Head.Short())
	}
	if t.State != before.State {
		w.count["state "+string(t.State)]++
		if t.State == sia.Escalated {
			w.count["escalated: "+string(t.Escalation.Kind)]++
		}
		if t.State == sia.OnHold {
			w.count["paused: "+string(t.Pause.Kind)]++
		}
	}
	switch {
	case t.State == sia.Escalated && (t.Escalation == nil || t.Escalation.Question == "" || t.Escalation.Blocker == ""):
		w.fail("the task asks a person, and does not say what")
	case t.State == sia.OnHold && (t.Pause == nil || t.Pause.Reason == ""):
		w.fail("the task is paused, and does not say why")
	}
}

// restsBeside reports whether SIA and the oracle differ only in this: a check that ran the code and is not required,
// such as one that a required job sums up, suffices for SIA. The oracle requires a required one.
func (w *world) restsBeside(a ghsim.OracleAnswer) bool {
	return len(a.Why) == 1 && strings.Contains(a.Why[0], "ran the repository's code") &&
		slices.ContainsFunc(w.task.Checks, func(c sia.Check) bool { return c.Colour == sia.Green && c.Code && !c.Required })
}

// brokenRun reports whether a workflow failed on the head as a whole. If one of its jobs is required, SIA counts that
// as red; GitHub, which requires only the job, does not.
func (w *world) brokenRun() bool {
	return slices.ContainsFunc(w.task.Checks, func(c sia.Check) bool {
		return c.Colour == sia.Red && c.Required && strings.Contains(c.Why, "none of its jobs says why")
	})
}

// baseIsMixed reports whether a workflow ran more than once on the base commit. The oracle excuses what is red in any
// of those runs; SIA requires a red run of the same event, and no green one.
func (w *world) baseIsMixed() bool {
	runs, err := w.sim.Runs(w.repo, string(w.task.BaseSHA))
	w.must(err)
	ran := map[string]bool{}
	for _, r := range runs {
		if ran[r.Workflow] {
			return true
		}
		ran[r.Workflow] = true
	}
	return false
}

// rest checks the invariants when nothing is pending.
func (w *world) rest() {
	w.count["at rest"]++
	if !w.task.State.Final() && !w.task.Waits() {
		w.fail("the world is at rest, and the task is %s and waits for nothing: %v", w.task.State, w.task.Gate.Explain)
	}
}

// end looks once more, after a day, and ends the task.
func (w *world) end() {
	if w.broken == "" && w.task.State == sia.Passed {
		w.afterwards()
	}
	w.toggleGraphQL(false)
	w.sim.Lag(0)
	_, err := w.parts.Store.Apply(w.ctx, w.id, sia.Event{ID: "end", At: w.clock.Now(), Fact: sia.Stop{Reason: "the end",
		Gone: true}})
	w.must(err)
	w.take()
}

// afterwards checks that changes after a pass are noticed a day later.
func (w *world) afterwards() {
	if w.chance(0.5) {
		w.turnRed()
	}
	for range 2 {
		w.advance(30 * time.Hour) // a look at each takes a day and a quarter at most
		err := w.periodic()
		for tries := 0; err != nil && tries < 5; tries++ { // retried like in package sweep
			w.note("watch: %v", err)
			w.advance(time.Hour)
			err = w.periodic()
		}
		for range 20 {
			if w.collect(); !w.next() {
				break
			}
		}
	}
	t := w.task
	if t.State != sia.Passed || t.Pull.Merged || t.Pull.Number == 0 {
		return
	}
	p, err := w.sim.Pull(w.repo, t.Pull.Number)
	w.must(err)
	a := w.ask()
	switch {
	case p.State == "closed":
		w.fail("the pull request was closed after the pass, and SIA does not know")
	case p.Head != string(t.Head):
		w.count["head moved after pass"]++
		if t.Moved == nil || string(t.Moved.SHA) != p.Head {
			w.fail("%.7s was pushed after the pass, and SIA does not say so", p.Head)
		}
	case len(a.Red) > 0:
		w.count["red after pass"]++
		if t.Afterwards == nil || len(t.Afterwards.Red) == 0 {
			w.fail("%v turned red after the pass, and SIA does not say so", slices.Clip(a.Red))
		}
	}
}

// turnRed turns a check of the head red: a passed one, created again by its app, or a status.
func (w *world) turnRed() {
	head := string(w.task.Head)
	for _, c := range w.task.Checks {
		switch {
		case c.Colour != sia.Green || !c.Required:
		case c.From == "commit status":
			err := w.sim.CreateStatus(w.repo, head, owner, c.Name, "failure", "after the pass")
			w.note("MOVE after the pass: status %s fails%s", c.Name, orError(err))
			return
		default:
			checks, err := w.sim.CheckRuns(w.repo, head)
			w.must(err)
			i := slices.IndexFunc(checks, func(k ghsim.CheckView) bool { return k.Name == c.Name })
			if i < 0 {
				continue
			}
			if strings.HasPrefix(c.From, "workflow") {
				err = w.sim.RerequestCheckRun(w.repo, checks[i].ID, member)
				w.temper.bad = 1 // it fails
			} else {
				_, err = w.sim.CreateCheck(w.repo, head, ghsim.AppCheck{App: checks[i].App, Name: c.Name, Status: "completed",
					Conclusion: "failure"})
			}
			w.note("MOVE after the pass: %s of %s fails%s", c.Name, c.From, orError(err))
			return
		}
	}
}

// checkReached checks that the worlds reach the tested situations: a property that is never exercised shows nothing.
// The figures are for 2,000 worlds; fewer worlds need a proportional part.
func checkReached(t *testing.T, count map[string]int) {
	t.Helper()
	want := map[string]int{"passed": 150, "failed": 100, "head moved after pass": 5,
		"merged before": 100, "red base": 20, "weather": 20, "unpaid": 5, "no end": 5, "no runner": 5, "delivery lost": 1000,
		"delivery doubled": 500, "escalated: blocked": 100, "escalated: no-checks": 10, "escalated: issue": 20,
		"move after pass": 15, "move in a look": 50, "a sum is required": 500,
		"what is called is required": 100, "red after pass": 20,
		"tests speak against a head": 30, "synchronize hours late": 20,
		"rule before a look": 50, "reported anew": 100}
	for _, kind := range moveKinds {
		want["move "+kind] = 4
	}
	want["move merge"] = 1 // few worlds reach a mergeable pull request
	for what, least := range want {
		if least = least * min(count["worlds"], 2000) / 2000; count[what] < least {
			t.Errorf("the worlds reach %q %d times, and %d are wanted", what, count[what], least)
		}
	}
}
