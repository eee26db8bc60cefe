package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

const (
	lessonsPerDay = 50 // that are learned in a repository; the surest of a task come first
	lessonsLike   = 20 // that a new lesson is compared with
	lessonsFound  = 12 // from which the few that an attempt is told are chosen
	queryWords    = 400
)

// learn keeps what a task taught so far, and what its attempts say about the
// lessons that they were told. It is a function of the task: doing it again
// changes nothing.
func (w *Worker) learn(ctx context.Context, t sia.Task) error {
	m := lesson.Material{Task: t, Now: w.Now()}
	var err error
	if t.State.Final() {
		if m.Tools, err = w.toolUse(ctx, t); err != nil {
			return err
		}
	}
	taught := lesson.Extract(m)
	fresh, err := w.unknown(ctx, t.Repo.ID, taught)
	if err != nil {
		return err
	}
	// Whatever was said on the issue is kept out of what is learned from logs.
	if slices.ContainsFunc(fresh, func(l lesson.Lesson) bool { return l.Context != "" }) {
		if m.Said, err = w.comments(ctx, t); err != nil {
			return err
		}
		if fresh, err = w.unknown(ctx, t.Repo.ID, lesson.Extract(m)); err != nil {
			return err
		}
	}
	if len(fresh) > 0 {
		n, err := w.Store.LearnedSince(ctx, t.Repo.ID, m.Now.Add(-24*time.Hour))
		if err != nil {
			return err
		}
		if err := w.keep(ctx, t.Repo.ID, fresh[:min(len(fresh), max(0, lessonsPerDay-n))]); err != nil {
			return err
		}
	}
	if err := w.Store.CountLessons(ctx, t.Repo.ID, lesson.Judged(m)...); err != nil {
		return err
	}
	return w.countFeedback(ctx, t, taught)
}

// countFeedback counts what people said and did about the lessons that a task was
// told, and about those that it taught.
func (w *Worker) countFeedback(ctx context.Context, t sia.Task, taught []lesson.Lesson) error {
	if len(t.Ratings) == 0 && t.Aftermath == "" {
		return nil
	}
	var known []lesson.Lesson
	for _, l := range taught {
		kept, err := w.Store.Lesson(ctx, t.Repo.ID, l.ID)
		switch {
		case errors.Is(err, store.ErrNotFound) || kept.Kind == lesson.Model || kept.Kind == lesson.Tool:
		case err != nil:
			return err
		default:
			known = append(known, kept)
		}
	}
	return w.Store.CountLessons(ctx, t.Repo.ID, lesson.Feedback(t, known)...)
}

// unknown are the lessons that are not kept yet.
func (w *Worker) unknown(ctx context.Context, repo int64, lessons []lesson.Lesson) ([]lesson.Lesson, error) {
	var fresh []lesson.Lesson
	for _, l := range lessons {
		_, err := w.Store.Lesson(ctx, repo, l.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			fresh = append(fresh, l)
		case err != nil:
			return nil, err
		}
	}
	return fresh, nil
}

// keep saves new lessons, without secrets; what is known already is seen once
// more, and what contradicts something known is noted in both.
func (w *Worker) keep(ctx context.Context, repo int64, fresh []lesson.Lesson) error {
	for _, l := range fresh {
		l = l.Clean(w.Secrets.Mask)
		if err := w.Store.PutLessons(ctx, repo, l); err != nil {
			return err
		}
		if err := w.mergeLike(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// mergeLike merges a lesson with those that are like it.
func (w *Worker) mergeLike(ctx context.Context, l lesson.Lesson) error {
	found, err := w.Store.LessonsLike(ctx, l.Repo, l.Terms(), lessonsLike)
	if err != nil {
		return err
	}
	all := []lesson.Lesson{l}
	for _, f := range found {
		if f.ID != l.ID {
			all = append(all, f.Lesson)
		}
	}
	return w.merge(ctx, l.Repo, all)
}

func (w *Worker) merge(ctx context.Context, repo int64, lessons []lesson.Lesson) error {
	changed, evidence := lesson.Merge(lessons, w.Now())
	if err := w.Store.PutLessons(ctx, repo, changed...); err != nil {
		return err
	}
	return w.Store.CountLessons(ctx, repo, evidence...)
}

// comments are what was said on the task's issue and pull request, but for what
// SIA wrote there itself: it quotes the logs.
func (w *Worker) comments(ctx context.Context, t sia.Task) ([]string, error) {
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	var said []string
	for _, n := range []int{t.Issue, t.Pull.Number} {
		if n == 0 {
			continue
		}
		list, err := w.repo(t).CommentsSince(ctx, n, t.CreatedAt.Add(-allComments))
		if err != nil {
			return nil, err
		}
		for _, c := range list {
			if c.Author != self.Login {
				said = append(said, c.Body)
			}
		}
	}
	return said, nil
}

// allComments is how long before the task an issue may have been talked about.
const allComments = 10 * 365 * 24 * time.Hour

// toolUse counts how the agent's tools fared in a task.
func (w *Worker) toolUse(ctx context.Context, t sia.Task) ([]lesson.ToolUse, error) {
	var uses []lesson.ToolUse
	for _, a := range t.Attempts {
		turns, err := w.transcript(ctx, t, a.Number)
		if err != nil {
			return nil, err
		}
		for _, turn := range turns {
			for _, c := range turn.Calls {
				if slices.Contains(w.Tools, c.Name) {
					uses = countCall(uses, c)
				}
			}
		}
	}
	return uses, nil
}

func countCall(uses []lesson.ToolUse, c agent.Call) []lesson.ToolUse {
	i := slices.IndexFunc(uses, func(u lesson.ToolUse) bool { return u.Tool == c.Name })
	if i < 0 {
		i, uses = len(uses), append(uses, lesson.ToolUse{Tool: c.Name})
	}
	uses[i].Calls++
	if c.IsError {
		uses[i].Failed++
	}
	return uses
}

// lessonsFor chooses what the next attempt at a task is told of earlier ones, and
// what is withheld from it. The issue's text finds lessons, and so do the
// failures of the task's last attempt.
func (w *Worker) lessonsFor(ctx context.Context, t sia.Task, set sia.Settings) (told, withheld []lesson.Lesson, err error) {
	if set.Learning.LessonsInPrompt == 0 {
		return nil, nil, nil
	}
	text := t.Title + "\n" + t.Body
	if a := t.Attempt(); a != nil {
		for _, f := range a.Failures {
			text += "\n" + f.Excerpt
		}
	}
	if n := len(t.Interventions); n > 0 {
		text += "\n" + string(t.Interventions[n-1].Diagnosis.Pattern)
	}
	found, err := w.Store.SearchLessons(ctx, t.Repo.ID, lesson.Words(text, queryWords), lessonsFound)
	if err != nil {
		return nil, nil, err
	}
	told, withheld = lesson.Choose(found, lesson.Want{
		Task: t.ID, Most: set.Learning.LessonsInPrompt, MinConfidence: set.Learning.MinConfidence, Now: w.Now(),
	})
	return told, withheld, nil
}

// lessonTexts are the lessons that fit a failed attempt, as a diagnosis reads them.
func (w *Worker) lessonTexts(ctx context.Context, t sia.Task) ([]string, error) {
	told, _, err := w.lessonsFor(ctx, t, t.Settings)
	texts := slices.Clone(t.Brief.Lessons)
	for _, r := range lesson.Refs(told) {
		if !slices.Contains(texts, r.Text) {
			texts = append(texts, r.Text)
		}
	}
	return texts, err
}
