package sweep

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// watchEvery is how long a pull request that has passed is left alone, give or take a quarter: nobody waits for what
// is seen there, and webhooks tell of most of it at once.
const watchEvery = 24 * time.Hour

// watchRetry is how long after a look that failed the next one follows.
const watchRetry = time.Hour

// Watcher reads how a passed pull request stands.
type Watcher interface {
	Standing(ctx context.Context, t sia.Task) (sia.Watched, error)
}

// watched remembers when each passed task is to be looked at. After a start each is looked at once.
type watched struct {
	mu   sync.Mutex
	next map[sia.TaskID]time.Time
}

// due reports whether a task's turn has come, and notes that it is looked at.
func (w *watched) due(t sia.Task, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.ID))
	turn := watchEvery*3/4 + time.Duration(h.Sum32()%101)*watchEvery/200 // with 0 to a half of jitter
	next, ok := w.next[t.ID]
	if !ok {
		next = t.Since.Add(turn)
	}
	if now.Before(next) {
		return false
	}
	if w.next == nil || len(w.next) > 10*maxLook {
		w.next = map[sia.TaskID]time.Time{}
	}
	w.next[t.ID] = now.Add(turn)
	return true
}

// failed notes that a look at a task failed.
func (w *watched) failed(t sia.Task, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next[t.ID] = now.Add(watchRetry)
}

// watch looks at the pull requests that have passed and are neither merged nor closed, each about once a day. What a
// look finds changed goes the way of a webhook, and is read once more there.
func (s *Sweeper) watch(ctx context.Context) error {
	tasks, err := s.store.Tasks(ctx, store.Filter{State: sia.Passed, Limit: maxLook})
	if err != nil {
		return err
	}
	var all []error
	for _, t := range tasks {
		if t.Pull.Number == 0 || t.Pull.Merged || t.Gone || !s.watched.due(t, s.now()) {
			continue
		}
		if err := s.watchOne(ctx, t); err != nil {
			s.watched.failed(t, s.now())
			all = append(all, fmt.Errorf("look at the pull request of task %s, which has passed: %w", t.ID, err))
		}
	}
	return errors.Join(all...)
}

func (s *Sweeper) watchOne(ctx context.Context, t sia.Task) error {
	now, err := s.watcher.Standing(ctx, t)
	if err != nil || t.Stands(now) {
		return err
	}
	_, err = s.store.Apply(ctx, t.ID, sia.Event{ID: fmt.Sprintf("watch/%s/v%d", t.ID, t.Version), At: s.now(),
		Fact: sia.CheckSeen{SHA: t.Head, Bad: true}})
	return err
}
