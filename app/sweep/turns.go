package sweep

import (
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/sia"
)

// How long a task is left alone between two looks that nobody asked for, give or take a quarter. Webhooks tell of most
// of what happens at once.
const (
	hotEvery  = 4 * time.Minute  // it works, or its checks run
	warmEvery = 15 * time.Minute // it waits for a person
	coldEvery = 24 * time.Hour   // it has passed: nobody waits for what is seen there
)

// mostTurns bounds how many tasks one round of looks covers; the others' turn comes in the next. After an outage every
// task is looked at once, and GitHub is not asked about all of them in one minute.
const mostTurns = 100

func looksEvery(t sia.Task) time.Duration {
	switch {
	case t.State == sia.Passed:
		return coldEvery
	case t.Waits():
		return warmEvery
	}
	return hotEvery
}

// turns remembers when each task is to be looked at next. The zero value remembers nothing: then open tasks are looked
// at in the next rounds, and those that have passed as long after it as otherwise.
type turns struct {
	mu   sync.Mutex
	next map[sia.TaskID]turn
}

// turn is when a task is looked at, and in which state it was when that was decided.
type turn struct {
	at    time.Time
	every time.Duration
}

// take returns the tasks to look at now, those first that have waited for longest, and gives them their next turn.
// Tasks that are not among all are forgotten. One that has become hotter since its last look is not left alone for as
// long.
func (w *turns) take(all []sia.Task, now time.Time) []sia.Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := map[sia.TaskID]turn{}
	var due []sia.Task
	for _, t := range all {
		every := looksEvery(t)
		is, known := w.next[t.ID]
		switch {
		case !known && every == coldEvery:
			is = turn{t.Since.Add(jittered(t.ID, every)), every}
		case !known:
			is = turn{now, every}
		case every < is.every:
			if soon := now.Add(jittered(t.ID, every)); soon.Before(is.at) {
				is.at = soon
			}
		}
		is.every = every
		next[t.ID] = is
		if !now.Before(is.at) {
			due = append(due, t)
		}
	}
	slices.SortStableFunc(due, func(a, b sia.Task) int { return next[a.ID].at.Compare(next[b.ID].at) })
	due = due[:min(len(due), mostTurns)]
	for _, t := range due {
		every := next[t.ID].every
		next[t.ID] = turn{now.Add(jittered(t.ID, every)), every}
	}
	w.next = next
	return due
}

// again has a task looked at again at a time.
func (w *turns) again(t sia.Task, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next[t.ID] = turn{at, w.next[t.ID].every}
}

// jittered is a duration, less or more by up to a quarter: the same for a task each time, and another for each.
func jittered(id sia.TaskID, d time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return d*3/4 + time.Duration(h.Sum32()%101)*d/200
}
