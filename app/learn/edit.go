package learn

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Edit applies a user's draft to a lesson, like an edit of lessons.md, and returns the resulting lesson. The caller has
// checked the user's permission. If the draft is based on outdated text the error is a *[lesson.StaleError], if it is
// invalid [lesson.Refused]; nothing is changed then.
func (ls *Lessons) Edit(
	ctx context.Context, repo int64, id lesson.ID, d lesson.Draft, by sia.Actor,
) (lesson.Lesson, error) {
	ls.editing.Lock() // of two concurrent edits, the second gets a StaleError
	defer ls.editing.Unlock()
	known, err := ls.byID(ctx, repo)
	if err != nil {
		return lesson.Lesson{}, err
	}
	was, there := known[id]
	if !there {
		return lesson.Lesson{}, fmt.Errorf("edit lesson %s: %w", id, store.ErrNotFound)
	}
	if now := lesson.Unmerged(known, id); now.ID != id {
		return lesson.Lesson{}, &lesson.StaleError{Now: now}
	}
	e, err := d.Edit(was)
	if err != nil {
		return lesson.Lesson{}, err
	}
	e.Lesson = e.Lesson.Clean(ls.secrets.Mask)
	changed := e.Apply(known, lesson.Author(by), ls.now())
	if len(changed) == 0 {
		return lesson.Lesson{}, lesson.Refused("A lesson in these words is there already; forget this one instead.")
	}
	return changed[0], ls.store.PutLessons(ctx, repo, changed...)
}

// byID returns a repository's lessons of every state.
func (ls *Lessons) byID(ctx context.Context, repo int64) (map[lesson.ID]lesson.Lesson, error) {
	all, err := ls.store.Lessons(ctx, repo)
	known := make(map[lesson.ID]lesson.Lesson, len(all))
	for _, l := range all {
		known[l.ID] = l
	}
	return known, err
}
