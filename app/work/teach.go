package work

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
// done. Whether the person may, the caller has found out. The event is done once,
// however often it comes.
func (w *Worker) Teach(ctx context.Context, intent sia.Intent) (answer string, err error) {
	if text := intent.Teach.Forget; text != "" {
		return w.forget(ctx, intent, text)
	}
	return w.remember(ctx, intent, intent.Teach.Learn)
}

func (w *Worker) remember(ctx context.Context, intent sia.Intent, text string) (string, error) {
	repo := intent.Repo.ID
	about := sia.Task{ID: sia.NewTaskID(repo, intent.Event.Origin.OnIssue), Issue: intent.Event.Origin.OnIssue}
	l := lesson.Taught(repo, intent.Event.ID, text, intent.Event.By, about, w.Now())
	if err := w.learnOnce(ctx, l); err != nil {
		return "", err
	}
	kept, err := w.Store.Lesson(ctx, repo, l.ID)
	if err != nil {
		return "", err
	}
	if kept.State == lesson.Merged {
		if kept, err = w.Store.Lesson(ctx, repo, kept.Into); err != nil {
			return "", err
		}
	}
	var against []lesson.Lesson
	for _, id := range kept.Conflicts {
		other, err := w.Store.Lesson(ctx, repo, id)
		if err != nil {
			return "", err
		}
		if other.Live() {
			against = append(against, other)
		}
	}
	return render.Learned(kept, kept.ID != l.ID, against), nil
}

// learnOnce keeps a person's lesson, unless that was done already.
func (w *Worker) learnOnce(ctx context.Context, l lesson.Lesson) error {
	fresh, err := w.unknown(ctx, l.Repo, []lesson.Lesson{l})
	if err != nil {
		return err
	}
	return w.keep(ctx, l.Repo, fresh)
}

// forget forgets the lesson that is named by its id or by words of its own. Where
// words fit several, nothing is forgotten and the answer lists them.
func (w *Worker) forget(ctx context.Context, intent sia.Intent, text string) (string, error) {
	repo, event := intent.Repo.ID, intent.Event.ID
	found, err := w.named(ctx, repo, event, strings.TrimSpace(text))
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return render.ForgotNone(text, found), nil
	}
	l := found[0]
	if l.State != lesson.Forgotten {
		l.State, l.ForgottenBy = lesson.Forgotten, event
		if err := w.Store.PutLessons(ctx, repo, l); err != nil {
			return "", err
		}
	}
	return render.Forgot(l), nil
}

// forgetShare is how much of a person's words a lesson has to have to be meant.
const forgetShare = .7

// named are the lessons that a person can mean.
func (w *Worker) named(ctx context.Context, repo int64, event, text string) ([]lesson.Lesson, error) {
	if id := lesson.ID(strings.Trim(text, "`# ")); id.Valid() {
		l, err := w.Store.Lesson(ctx, repo, id)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil
		}
		return []lesson.Lesson{l}, err
	}
	found, err := w.Store.LessonsLike(ctx, repo, lesson.Words(text, queryWords), lessonsLike)
	if err != nil {
		return nil, err
	}
	var all []lesson.Lesson
	for _, f := range found {
		switch {
		case f.State == lesson.Forgotten && f.ForgottenBy == event:
			return []lesson.Lesson{f.Lesson}, nil // this command did it before
		case f.Live() && lesson.Means(text, f.Lesson) >= forgetShare:
			all = append(all, f.Lesson)
		}
	}
	return all, nil
}
