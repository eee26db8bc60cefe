package sweep

import (
	"cmp"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// How long a task is left alone between two looks that nobody asked for, give or take a quarter. Webhooks tell of most
// of what happens at once.
const (
	hotEvery  = 4 * time.Minute
	warmEvery = 15 * time.Minute
	coldEvery = 24 * time.Hour // nobody waits for what is seen there
)

// mostTurns bounds how many tasks one round covers; the others' turn comes in the next. After an outage every task is
// looked at once, and GitHub is not asked about all of them in one minute.
const mostTurns = 100

// looksEvery says how long a task of a temperature is left alone.
var looksEvery = map[sia.Temperature]time.Duration{sia.Hot: hotEvery, sia.Warm: warmEvery, sia.Cold: coldEvery}

// repairsEvery is the same of repairs.
var repairsEvery = map[sia.Temperature]time.Duration{sia.Hot: 30 * time.Minute, sia.Warm: 30 * time.Minute}

// mostReactions bounds at how many tasks' comments one round looks for reactions, with a conditional request for each.
const mostReactions = 500

// turns remembers when it is each task's turn next.
type turns struct {
	every map[sia.Temperature]time.Duration // what is missing has its turn in every round that has room for all
	most  int                               // in one round
	// a task that is not known had its turn when it last changed; else its turn is now
	changed bool

	mu   sync.Mutex
	next map[sia.TaskID]turn
}

// turn is when a task has its turn, and how long it was to be left alone when that was decided.
type turn struct {
	at    time.Time
	every time.Duration
}

// take returns the tasks that have their turn now, and gives them their next. Those come first that have waited for
// longest, by the measure of how often each has its turn: where there are more than can be served, the ones that work
// are still served more often than the ones that wait. Tasks that are not among all are forgotten. One that has become
// hotter is not left alone for as long.
func (w *turns) take(all []store.Look, now time.Time) []sia.TaskID {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := make(map[sia.TaskID]turn, len(all))
	var due []sia.TaskID
	for _, t := range all {
		every := cmp.Or(w.every[t.Temperature], 1)
		is, known := w.next[t.Task]
		switch {
		case !known && w.changed:
			is = turn{t.Changed.Add(jittered(t.Task, every)), every}
		case !known:
			is = turn{now, every}
		case every < is.every:
			if soon := now.Add(jittered(t.Task, every)); soon.Before(is.at) {
				is.at = soon
			}
		}
		is.every = every
		next[t.Task] = is
		if !now.Before(is.at) {
			due = append(due, t.Task)
		}
	}
	late := func(id sia.TaskID) float64 { return float64(now.Sub(next[id].at)) / float64(next[id].every) }
	slices.SortStableFunc(due, func(a, b sia.TaskID) int { return cmp.Compare(late(b), late(a)) })
	due = due[:min(len(due), w.most)]
	for _, id := range due {
		every := next[id].every
		next[id] = turn{now.Add(jittered(id, every)), every}
	}
	w.next = next
	return due
}

// again gives a task its next turn at a time.
func (w *turns) again(id sia.TaskID, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next[id] = turn{at, w.next[id].every}
}

// jittered is a duration, less or more by up to a quarter: the same for a task each time, and another for each.
func jittered(id sia.TaskID, d time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return d*3/4 + time.Duration(h.Sum32()%101)*d/200
}
