package learn

import (
	"context"
	"errors"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Teach stores a user's lesson or forgets one, and returns what was done, or why not. The caller has checked the user's
// permission. It is idempotent by event.
func (ls *Lessons) Teach(ctx context.Context, intent sia.Intent) (answer string, done bool, err error) {
	repo, e := intent.Repo.ID, intent.Event
	if text := intent.Teach.Forget; text != "" {
		found, done, err := ls.Forget(ctx, repo, e.ID, text)
		switch {
		case err != nil:
			return "", false, err
		case !done:
			return render.ForgotNone(text, found), false, nil
		}
		return render.Forgot(found[0]), true, nil
	}
	if set, err := ls.inForce(ctx, repo); err != nil || !set.Enabled {
		return render.LearningOff, false, err
	}
	if intent.Teach.Wrong != "" {
		return ls.correct(ctx, intent)
	}
	about := sia.Task{ID: sia.NewTaskID(repo, e.Origin.OnIssue), Issue: e.Origin.OnIssue}
	l := lesson.NewTaught(repo, e.ID, intent.Teach.Learn, e.By, about, ls.now())
	kept, against, err := ls.Learn(ctx, l)
	if err != nil {
		return "", false, err
	}
	return render.Learned(kept, kept.ID != l.ID, against), true, nil
}

// correct stores a user's correction of the last attempt of the task that the comment is about, and counts it as a 👎 to
// the lessons of that attempt.
func (ls *Lessons) correct(ctx context.Context, intent sia.Intent) (answer string, done bool, err error) {
	repo, e := intent.Repo.ID, intent.Event
	ids, err := ls.store.TaskByRef(ctx, repo, sia.IssueRef(e.Origin.OnIssue))
	if err != nil || len(ids) == 0 {
		return render.NothingToCorrect, false, err
	}
	t, err := ls.store.Task(ctx, ids[0])
	if err != nil {
		return "", false, err
	}
	l, against, ok := lesson.NewCorrection(t, e.ID, intent.Teach.Wrong, e.By, ls.now())
	if !ok {
		return render.NothingToCorrect, false, nil
	}
	kept, contrary, err := ls.Learn(ctx, l)
	if err != nil {
		return "", false, err
	}
	if err := ls.store.CountLessons(ctx, repo, against...); err != nil {
		return "", false, err
	}
	return render.Corrected(kept, kept.ID != l.ID, len(against), contrary), true, nil
}

// Learn stores a user's lesson, once. It returns the stored lesson, or the equivalent one that was stored before, and
// the lessons that advise the opposite.
func (ls *Lessons) Learn(
	ctx context.Context, l lesson.Lesson,
) (kept lesson.Lesson, against []lesson.Lesson, err error) {
	fresh, err := ls.filterNew(ctx, l.Repo, []lesson.Lesson{l})
	if err != nil {
		return kept, nil, err
	}
	if err := ls.saveNew(ctx, l.Repo, fresh); err != nil {
		return kept, nil, err
	}
	if kept, err = ls.store.Lesson(ctx, l.Repo, l.ID); err != nil {
		return kept, nil, err
	}
	if kept.State == lesson.Merged {
		if kept, err = ls.store.Lesson(ctx, l.Repo, kept.Into); err != nil {
			return kept, nil, err
		}
	}
	for _, id := range kept.Conflicts {
		other, err := ls.store.Lesson(ctx, l.Repo, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // a copy may have been removed
			return kept, nil, err
		}
		if other.Live() {
			against = append(against, other)
		}
	}
	return kept, against, nil
}

// Forget permanently forgets the lesson identified by its id or by words of its text. event identifies the request, so
// that a repetition forgets no second lesson. If the words match several lessons, or none, it returns these and changes
// nothing.
func (ls *Lessons) Forget(
	ctx context.Context, repo int64, event, text string,
) (found []lesson.Lesson, done bool, err error) {
	if found, err = ls.findNamed(ctx, repo, event, strings.TrimSpace(text)); err != nil || len(found) != 1 {
		return found, false, err
	}
	l := &found[0]
	if l.State == lesson.Forgotten {
		return found, true, nil
	}
	l.State, l.ForgottenBy = lesson.Forgotten, event
	return found, true, ls.store.PutLessons(ctx, repo, *l)
}

// minForgetShare is the minimum share of a user's words that a matching lesson contains.
const minForgetShare = .7

// findNamed returns the lessons that a user may mean; for the id of a merged lesson, the one it was merged into.
func (ls *Lessons) findNamed(ctx context.Context, repo int64, event, text string) ([]lesson.Lesson, error) {
	if id := lesson.ID(strings.Trim(text, "`# ")); id.Valid() {
		known, err := ls.byID(ctx, repo)
		if l := lesson.Unmerged(known, id); l.ID != "" {
			return []lesson.Lesson{l}, nil
		}
		return nil, err
	}
	found, err := ls.store.SearchAllLessons(ctx, repo, lesson.Words(text, queryWords), maxSimilar)
	if err != nil {
		return nil, err
	}
	var all []lesson.Lesson
	for _, f := range found {
		switch {
		case f.State == lesson.Forgotten && f.ForgottenBy == event:
			return []lesson.Lesson{f.Lesson}, nil // done by this event before
		case f.Live() && lesson.MatchShare(text, f.Lesson) >= minForgetShare:
			all = append(all, f.Lesson)
		}
	}
	return all, nil
}
