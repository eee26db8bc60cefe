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

// Intervals between two looks at a task, plus or minus a quarter. Webhooks report most changes immediately.
const (
	hotEvery  = 4 * time.Minute
	warmEvery = 15 * time.Minute
	coldEvery = 24 * time.Hour // nothing waits for the changes of these tasks
)

// mostTurns is the maximum number of tasks in one round; the others remain due. After an outage every task is due, and
// the limit spreads the requests to GitHub over several minutes.
const mostTurns = 100

// looksEvery has the intervals of looks.
var looksEvery = map[sia.Temperature]time.Duration{sia.Hot: hotEvery, sia.Warm: warmEvery, sia.Cold: coldEvery}

// repairsEvery has the intervals of repairs.
var repairsEvery = map[sia.Temperature]time.Duration{sia.Hot: 30 * time.Minute, sia.Warm: 30 * time.Minute}

// mostReactions is the maximum number of tasks in a round that polls reactions, each with a conditional request.
const mostReactions = 500

// turns schedules tasks.
type turns struct {
	every map[sia.Temperature]time.Duration // intervals; tasks of a missing temperature are due in every round
	most  int                               // maximum number of tasks in one round
	// whether the interval of a new task begins at its last change; otherwise a new task is due now
	changed bool

	mu   sync.Mutex
	next map[sia.TaskID]turn
}

// turn is the next due time of a task, and the interval from which it was computed.
type turn struct {
	at    time.Time
	every time.Duration
}

// take returns the tasks that are due, and schedules them again. It sorts them by their delay relative to their
// interval: under overload, tasks with short intervals are still handled more often than others. Tasks that are not in
// all are removed. The next turn of a task with a shorter interval than before is moved forward.
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

// again sets the next turn of a task.
func (w *turns) again(id sia.TaskID, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next[id] = turn{at, w.next[id].every}
}

// jittered returns a duration, plus or minus up to a quarter, which depends on the task only.
func jittered(id sia.TaskID, d time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return d*3/4 + time.Duration(h.Sum32()%101)*d/200
}
