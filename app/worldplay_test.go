package app_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// A world is one task in a repository of its own, and everything that happens to it. Whatever is drawn follows from
// the seed, so that a world can be played again.
type world struct {
	*lane
	seed uint64
	rng  *rand.Rand
	skip map[int]bool // moves that are left out, by their number

	repo   string
	repoID int64
	issue  int
	id     sia.TaskID
	set    sia.Settings
	jobs   []string // names of what the first workflows run

	temper temper
	task   sia.Task
	todo   []dueEffect
	known  map[string]bool // effects that were seen
	letter []letter
	agenda []appointment
	fates  map[int64]bool // jobs for which it is settled how they go

	fellByChance map[string]bool // commits of which a job fails for a reason outside the code
	start        map[int]string  // where the branch was when an attempt began
	pushes       int
	moves        int
	ruled        time.Time        // when rules last changed
	looked       time.Time        // when the checks were last looked at
	report       map[sia.SHA]bool // heads on which the reporter has reported
	during       bool             // somebody changed the pull request while the last look went on
	passed       bool
	log          []string
	count        map[string]int          // what the world reached
	looks        int                     // how often the checks were looked at, where between is set
	between      func(look, request int) // called before each request of a look at the checks; nil: it is not
	broken       string                  // what does not hold, with why; empty: all holds
}

// temper is how often things happen in a world.
type temper struct {
	loss, twice float64
	late        time.Duration // of deliveries, at most
	bad         float64       // of commits
	odd         float64       // of jobs that go in an odd way
	moves       int           // at most
	deaf        bool          // to GraphQL
	reporter    bool          // an app reports on each head, and mends what it said by a new check run
}

type dueEffect struct {
	sia.Effect
	tries int
}

type letter struct {
	at time.Time
	store.Delivery
}

// appointment is something that happens in the world at a time, if it can by then.
type appointment struct {
	at   time.Time
	what string
	do   func() error
}

// maxSteps bounds one world.
const maxSteps = 600

// play plays the world to its end.
func (w *world) play() {
	w.draw()
	if w.broken != "" {
		return
	}
	for step := 0; w.broken == ""; step++ {
		if step == maxSteps {
			w.count["endless"]++
			break
		}
		w.collect()
		if w.moves < w.temper.moves && w.rng.IntN(6) == 0 && (w.task.Pull.Number != 0 || w.rng.IntN(8) == 0) {
			w.move()
			continue
		}
		if !w.next() {
			if w.rest(); w.moves >= w.temper.moves {
				break
			}
			w.advance(time.Duration(w.rng.IntN(900)) * time.Second)
			w.move()
		}
	}
	w.end()
}

// note writes down what happens.
func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.clock.Now().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// fail ends the world: something does not hold.
func (w *world) fail(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
		w.note("BROKEN: %s", w.broken)
		w.note("base %s at %s, explained: %s", w.task.BaseBranch, w.task.BaseSHA.Short(),
			strings.Join(w.task.Gate.Explain, " "))
		for _, c := range w.task.Checks {
			w.note("check %s (%s): %s, required %v, %s", c.Name, c.From, c.Colour, c.Required, c.Why)
		}
	}
}

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// advance lets time pass.
func (w *world) advance(d time.Duration) { w.clock.Jump(w.clock.Now().Add(d)) }

// collect takes what the simulator sent, and settles how new jobs go.
func (w *world) collect() {
	now := w.clock.Now()
	for _, d := range w.take() {
		for n := 0; n == 0 || n == 1 && w.chance(w.temper.twice); n++ {
			if w.chance(w.temper.loss) {
				w.count["delivery lost"]++
				continue
			}
			at := now
			if w.temper.late > 0 {
				at = at.Add(time.Duration(w.rng.Int64N(int64(w.temper.late))))
			}
			w.letter = append(w.letter, letter{at, d})
			if n == 1 {
				w.count["delivery doubled"]++
			}
		}
	}
	w.settleFates()
	w.reports()
}

// next does one of the things that are due, or lets time pass until one is. It reports false when nothing is to come.
func (w *world) next() bool {
	now := w.clock.Now()
	if at, ok := w.earliest(); !ok {
		return false
	} else if at.After(now) {
		w.clock.Jump(at)
		now = at
	}
	var due []func()
	for i, l := range w.letter {
		if !l.at.After(now) {
			due = append(due, func() {
				w.letter = slices.Delete(w.letter, i, i+1)
				l.Received = w.clock.Now()
				if err := w.parts.Intake.Deliver(w.ctx, l.Delivery); err != nil {
					w.note("delivery %s %s: %v", l.Event, l.Action, err)
				}
				w.look()
			})
			if w.temper.late == 0 { // in order
				break
			}
		}
	}
	for i, f := range w.todo {
		if !f.At.After(now) {
			due = append(due, func() {
				w.todo = slices.Delete(w.todo, i, i+1)
				w.carryOut(f)
			})
		}
	}
	for i, a := range w.agenda {
		if !a.at.After(now) {
			due = append(due, func() {
				w.agenda = slices.Delete(w.agenda, i, i+1)
				err := a.do()
				w.note("%s%s", a.what, orError(err))
			})
		}
	}
	due[w.rng.IntN(len(due))]()
	return true
}

func orError(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// earliest is when something is due next.
func (w *world) earliest() (at time.Time, ok bool) {
	take := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	for _, l := range w.letter {
		take(l.at)
	}
	for _, f := range w.todo {
		take(f.At)
	}
	for _, a := range w.agenda {
		take(a.at)
	}
	return at, ok
}

// look reads the task anew, takes up the effects that were asked for, and holds what must hold against what changed.
func (w *world) look() {
	t, err := w.parts.Store.Task(w.ctx, w.id)
	w.must(err)
	w.saw(t)
}

// saw is look at a task that was read already.
func (w *world) saw(t sia.Task) {
	before := w.task
	if t.Version == before.Version {
		return
	}
	w.task = t
	for key := range t.Pending {
		if w.known[key] {
			continue
		}
		w.known[key] = true
		r, err := w.parts.Store.Effect(w.ctx, key)
		w.must(err)
		w.todo = append(w.todo, dueEffect{Effect: r.Effect})
	}
	slices.SortStableFunc(w.todo, func(a, b dueEffect) int { return compareKeys(a.Effect, b.Effect) })
	if t.State != before.State {
		w.note("→ %s (head %s)", t.State, t.Head.Short())
	}
	w.check(before)
}

func compareKeys(a, b sia.Effect) int {
	if c := a.At.Compare(b.At); c != 0 {
		return c
	}
	if a.Key < b.Key {
		return -1
	}
	return 1
}

// tries is how often an effect is tried, as the engine does.
const tries = 5

// carryOut does what an effect asks for, and applies its result.
func (w *world) carryOut(f dueEffect) {
	_, waits := w.task.Pending[f.Key]
	if !waits || shown[f.Kind] || f.Kind == sia.DoMemory && w.task.AwaitMemory != f.Key {
		return // what people see of the task plays no part here, and nothing waits for it
	}
	fact, err := w.outcome(f.Effect)
	if err != nil {
		w.note("%s: %v", f.Kind, err)
		if f.tries++; f.tries < tries && !sia.IsPermanent(err) {
			f.At = w.clock.Now().Add(time.Duration(f.tries) * 10 * time.Second)
			w.todo = append(w.todo, f)
			return
		}
		fact = sia.EffectFailed{Effect: f.Kind, Reason: err.Error()}
	}
	res, err := w.parts.Store.Apply(w.ctx, w.id, sia.Event{ID: f.Key, At: w.clock.Now(), Effect: f.Key, Fact: fact})
	w.must(err)
	if logged[f.Kind] {
		w.note("%s: %s%s", f.Kind, res.Why, res.Ignored)
	}
	w.saw(res.Task)
}

// shown are the effects that nothing but what people see depends on.
var shown = map[sia.EffectKind]bool{sia.DoSync: true, sia.DoReact: true, sia.DoReply: true, sia.DoRespond: true,
	sia.DoClose: true, sia.DoStudy: true, sia.DoCancel: true}

// logged are the effects of which the log tells.
var logged = map[sia.EffectKind]bool{sia.DoGate: true, sia.DoPush: true, sia.DoPull: true, sia.DoReady: true,
	sia.DoDraft: true, sia.DoRerun: true, sia.DoWatch: true, sia.DoUpdate: true, sia.DoDecide: true,
	sia.DoTakeBack: true,
	sia.DoEscalate: true}

// say applies an event of a person.
func (w *world) say(what string, fact sia.Fact) error {
	res, err := w.parts.Store.Apply(w.ctx, w.id, sia.Event{ID: fmt.Sprintf("%s/%d", what, w.moves), At: w.clock.Now(),
		By: sia.Actor{Login: member, ID: 2}, Origin: sia.Origin{OnIssue: w.issue}, Fact: fact})
	if err == nil && res.Ignored != "" {
		err = fmt.Errorf("ignored: %s", res.Ignored)
	}
	w.look()
	return err
}
