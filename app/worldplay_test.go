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

// A world is one task in its own repository, and everything that happens to it. All random values follow from the seed,
// so that a world can be played again.
type world struct {
	*lane
	seed uint64
	rng  *rand.Rand
	skip map[int]bool // skipped moves, by number

	repo   string
	repoID int64
	issue  int
	id     sia.TaskID
	set    sia.Settings
	jobs   []string // names of the jobs of the first workflows

	temper temper
	task   sia.Task
	todo   []dueEffect
	known  map[string]bool // effects seen so far
	letter []letter
	agenda []appointment
	fates  map[int64]bool // jobs with a drawn result

	fellByChance map[string]bool // commits with a job that fails for a reason outside the code
	start        map[int]string  // branch's head when an attempt began
	pushes       int
	moves        int
	ruled        time.Time        // time of the last change of rules
	looked       time.Time        // time of the last look at the checks
	report       map[sia.SHA]bool // heads on which the reporter has reported
	against      map[sia.SHA]bool // heads that their tests speak against
	during       bool             // somebody changed the pull request during the last look
	passed       bool
	log          []string
	count        map[string]int          // situations that the world reached
	looks        int                     // number of looks at the checks, if between is set
	between      func(look, request int) // called before each request of a look at the checks; nil: not
	broken       string                  // a violated invariant, with the reason; empty: none
}

// temper contains the frequencies of events in a world.
type temper struct {
	loss, twice float64
	late        time.Duration // of deliveries, at most
	bad         float64       // of commits
	odd         float64       // of jobs with unusual results
	moves       int           // at most
	deaf        bool          // to GraphQL
	reporter    bool          // an app reports on each head, and corrects its report with a new check run
}

type dueEffect struct {
	sia.Effect
	tries int
}

type letter struct {
	at time.Time
	store.Delivery
}

// appointment is an event scheduled for a time, if it is still possible then.
type appointment struct {
	at   time.Time
	what string
	do   func() error
}

// maxSteps limits the steps of one world.
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

// note logs an event.
func (w *world) note(format string, args ...any) {
	w.log = append(w.log, w.clock.Now().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// fail ends the world because an invariant is violated.
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

// advance advances the clock.
func (w *world) advance(d time.Duration) { w.clock.Jump(w.clock.Now().Add(d)) }

// collect receives the simulator's deliveries, and draws the results of new jobs.
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
			if w.runsTests() && d.Event == "pull_request" && d.Action == "synchronize" {
				at = at.Add(2 * time.Hour)
				w.count["synchronize hours late"]++
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

// next performs one due event, or advances the clock until one is due. It returns false if nothing is pending.
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

// earliest returns the time of the next event.
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

// look reads the task again, schedules its new effects, and checks the invariants for its changes.
func (w *world) look() {
	t, err := w.parts.Store.Task(w.ctx, w.id)
	w.must(err)
	w.observeTask(t)
}

// observeTask is like look for a task that was read already.
func (w *world) observeTask(t sia.Task) {
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
		if r.Effect.Kind == sia.DoEvidence && w.runsTests() {
			r.Effect.At = w.clock.Now().Add(time.Duration(r.Effect.SHA[0]%8) * time.Minute)
		}
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

// tries is the maximum number of tries of an effect, as in the engine.
const tries = 5

// carryOut executes an effect, and applies its result.
func (w *world) carryOut(f dueEffect) {
	_, waits := w.task.Pending[f.Key]
	if !waits || shown[f.Kind] || f.Kind == sia.DoMemory && w.task.AwaitMemory != f.Key {
		return // the task's display does not matter here, and nothing waits for it
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
	w.observeTask(res.Task)
}

// shown are the effects that affect only the display.
var shown = map[sia.EffectKind]bool{sia.DoSync: true, sia.DoReact: true, sia.DoReply: true, sia.DoRespond: true,
	sia.DoClose: true, sia.DoStudy: true, sia.DoCancel: true}

// logged are the effects that are logged.
var logged = map[sia.EffectKind]bool{sia.DoGate: true, sia.DoPush: true, sia.DoPull: true, sia.DoReady: true,
	sia.DoDraft: true, sia.DoRerun: true, sia.DoWatch: true, sia.DoUpdate: true, sia.DoDecide: true,
	sia.DoTakeBack: true,
	sia.DoEscalate: true}

// say applies a user's event.
func (w *world) say(what string, fact sia.Fact) error {
	res, err := w.parts.Store.Apply(w.ctx, w.id, sia.Event{ID: fmt.Sprintf("%s/%d", what, w.moves), At: w.clock.Now(),
		By: sia.Actor{Login: member, ID: 2}, Origin: sia.Origin{OnIssue: w.issue}, Fact: fact})
	if err == nil && res.Ignored != "" {
		err = fmt.Errorf("ignored: %s", res.Ignored)
	}
	w.look()
	return err
}
