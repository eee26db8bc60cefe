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

// Watcher reads how a passed pull request stands.
type Watcher interface {
	Standing(ctx context.Context, t sia.Task) (sia.Watched, error)
}

// watched remembers when each passed task was looked at. After a start each is looked at once.
type watched struct {
	mu   sync.Mutex
	last map[sia.TaskID]time.Time
}

// due reports whether a task's turn has come, and notes that it is looked at.
func (w *watched) due(t sia.Task, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[t.ID]
	if !ok {
		last = t.Since
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.ID))
	jitter := time.Duration(h.Sum32()%101) * watchEvery / 200 // 0 to a half
	if now.Sub(last) < watchEvery*3/4+jitter {
		return false
	}
	if w.last == nil || len(w.last) > 10*maxLook {
		w.last = map[sia.TaskID]time.Time{}
	}
	w.last[t.ID] = now
	return true
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
