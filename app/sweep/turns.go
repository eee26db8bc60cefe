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
	hotInterval  = 4 * time.Minute
	warmInterval = 15 * time.Minute
	coldInterval = 24 * time.Hour // nothing waits for the changes of these tasks
)

// maxPerRound is the maximum number of tasks in one round; the others remain due. After an outage every task is due,
// and the limit spreads the requests to GitHub over several minutes.
const maxPerRound = 100

// lookIntervals has the intervals of looks.
var lookIntervals = map[sia.Temperature]time.Duration{
	sia.Hot: hotInterval, sia.Warm: warmInterval, sia.Cool: coldInterval, sia.Cold: coldInterval,
}

// repairIntervals has the intervals of repairs.
var repairIntervals = map[sia.Temperature]time.Duration{sia.Hot: 30 * time.Minute, sia.Warm: 30 * time.Minute}

// maxReactionTasks is the maximum number of tasks in a round that polls reactions, each with a conditional request.
const maxReactionTasks = 500

// schedule schedules tasks.
type schedule struct {
	every map[sia.Temperature]time.Duration // intervals; tasks of a missing temperature are due in every round
	max   int                               // maximum number of tasks in one round
	// whether the interval of a new task begins at its last change; otherwise a new task is due now
	fromLastChange bool

	mu   sync.Mutex
	next map[sia.TaskID]turn
}

// turn is the next due time of a task, and the interval from which it was computed.
type turn struct {
	at    time.Time
	every time.Duration
}

// due returns the tasks that are due, and schedules them again. It sorts them by their delay relative to their
// interval: under overload, tasks with short intervals are still handled more often than others. Tasks that are not in
// all are removed. The next turn of a task with a shorter interval than before is moved forward.
func (w *schedule) due(all []store.Look, now time.Time) []sia.TaskID {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := make(map[sia.TaskID]turn, len(all))
	var ids []sia.TaskID
	for _, t := range all {
		every := cmp.Or(w.every[t.Temperature], 1)
		is, known := w.next[t.Task]
		switch {
		case !known && w.fromLastChange:
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
			ids = append(ids, t.Task)
		}
	}
	late := func(id sia.TaskID) float64 { return float64(now.Sub(next[id].at)) / float64(next[id].every) }
	slices.SortStableFunc(ids, func(a, b sia.TaskID) int { return cmp.Compare(late(b), late(a)) })
	ids = ids[:min(len(ids), w.max)]
	for _, id := range ids {
		every := next[id].every
		next[id] = turn{now.Add(jittered(id, every)), every}
	}
	w.next = next
	return ids
}

// reschedule sets the next turn of a task.
func (w *schedule) reschedule(id sia.TaskID, at time.Time) {
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
