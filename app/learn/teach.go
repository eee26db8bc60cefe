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

// Teach has a person's words remembered or a lesson forgotten, and says what was
// done, or why it was not. Whether the person may, the caller has found out. The
// event is done once, however often it comes.
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

// correct keeps what a person says was wrong with the last attempt of the task that the comment is
// about, and counts it as their 👎 to what that attempt was told.
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

// Learn keeps a person's lesson, once, and returns it as it is kept, or what is
// kept that says the same; and the lessons that advise the opposite.
func (ls *Lessons) Learn(
	ctx context.Context, l lesson.Lesson,
) (kept lesson.Lesson, against []lesson.Lesson, err error) {
	fresh, err := ls.unknown(ctx, l.Repo, []lesson.Lesson{l})
	if err != nil {
		return kept, nil, err
	}
	if err := ls.keep(ctx, l.Repo, fresh); err != nil {
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
		if err != nil && !errors.Is(err, store.ErrNotFound) { // a copy that was taken away since
			return kept, nil, err
		}
		if other.Live() {
			against = append(against, other)
		}
	}
	return kept, against, nil
}

// Forget forgets for good the lesson that is named by its id or by words of its
// own; event says by what, so that the same event forgets no second one. Where
// words fit several lessons, or none, nothing is done and these are returned.
func (ls *Lessons) Forget(
	ctx context.Context, repo int64, event, text string,
) (found []lesson.Lesson, done bool, err error) {
	if found, err = ls.named(ctx, repo, event, strings.TrimSpace(text)); err != nil || len(found) != 1 {
		return found, false, err
	}
	l := &found[0]
	if l.State == lesson.Forgotten {
		return found, true, nil
	}
	l.State, l.ForgottenBy = lesson.Forgotten, event
	return found, true, ls.store.PutLessons(ctx, repo, *l)
}

// forgetShare is how much of a person's words a lesson has to have to be meant.
const forgetShare = .7

// named are the lessons that a person can mean; by the id of one that was merged, the one that stands for it.
func (ls *Lessons) named(ctx context.Context, repo int64, event, text string) ([]lesson.Lesson, error) {
	if id := lesson.ID(strings.Trim(text, "`# ")); id.Valid() {
		known, err := ls.byID(ctx, repo)
		if l := lesson.Standing(known, id); l.ID != "" {
			return []lesson.Lesson{l}, nil
		}
		return nil, err
	}
	found, err := ls.store.SearchAllLessons(ctx, repo, lesson.Words(text, queryWords), lessonsLike)
	if err != nil {
		return nil, err
	}
	var all []lesson.Lesson
	for _, f := range found {
		switch {
		case f.State == lesson.Forgotten && f.ForgottenBy == event:
			return []lesson.Lesson{f.Lesson}, nil // this event did it before
		case f.Live() && lesson.MatchShare(text, f.Lesson) >= forgetShare:
			all = append(all, f.Lesson)
		}
	}
	return all, nil
}
