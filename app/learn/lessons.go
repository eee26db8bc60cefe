package learn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
)

const (
	lessonsLike  = 20 // that a new lesson is compared with
	lessonsFound = 12 // from which the few that an attempt is told are chosen
	queryWords   = 400
	lessonsATool = 2 // that an attempt meets with a tool's first call, at most
)

// Lessons keeps what tasks and people taught each repository. Safe for concurrent use.
type Lessons struct {
	store   LessonStore
	secrets *secret.Masker
	log     *slog.Logger
	now     func() time.Time
	editing sync.Mutex // held while a person's draft is compared with a lesson and takes its place
}

// NewLessons returns the lessons of all repositories in a store.
func NewLessons(s LessonStore, secrets *secret.Masker, log *slog.Logger, now func() time.Time) *Lessons {
	return &Lessons{store: s, secrets: secrets, log: log, now: now}
}

// FromTask keeps what a task taught so far, and what its attempts say about the lessons that they were
// told. It is a function of the task: doing it again changes nothing. tools are the agent's own, which
// are the ones that something is learned about. said gives what people said on the task's issue and
// pull request; it is asked only when it is needed.
func (ls *Lessons) FromTask(
	ctx context.Context, t sia.Task, tools []string, said func(context.Context) ([]string, error),
) error {
	set, err := ls.inForce(ctx, t.Repo.ID)
	if err != nil || !set.Enabled {
		return err
	}
	m := lesson.Material{Task: t, Now: ls.now()}
	if t.State.Final() {
		if m.Tools, err = ls.toolUse(ctx, t, tools); err != nil {
			return err
		}
	}
	taught := lesson.Extract(m)
	fresh, err := ls.unknown(ctx, t.Repo.ID, taught)
	if err != nil {
		return err
	}
	// Whatever was said on the issue is kept out of what is learned from logs.
	if slices.ContainsFunc(fresh, func(l lesson.Lesson) bool { return l.Context != "" }) {
		if m.Said, err = said(ctx); err != nil {
			return err
		}
		if fresh, err = ls.unknown(ctx, t.Repo.ID, lesson.Extract(m)); err != nil {
			return err
		}
	}
	if len(fresh) > 0 {
		n, err := ls.store.LearnedSince(ctx, t.Repo.ID, m.Now.Add(-24*time.Hour))
		if err != nil {
			return err
		}
		// The surest of a task come first.
		if err := ls.keep(ctx, t.Repo.ID, fresh[:min(len(fresh), max(0, set.LessonsPerDay-n))]); err != nil {
			return err
		}
	}
	if err := ls.store.CountLessons(ctx, t.Repo.ID, lesson.OutcomeEvidence(m)...); err != nil {
		return err
	}
	return ls.countFeedback(ctx, t, taught)
}

// countFeedback counts what people said and did about the lessons that a task was
// told, and about those that it taught.
func (ls *Lessons) countFeedback(ctx context.Context, t sia.Task, taught []lesson.Lesson) error {
	if len(t.Ratings) == 0 && t.Aftermath == "" {
		return nil
	}
	var known []lesson.Lesson
	for _, l := range taught {
		kept, err := ls.store.Lesson(ctx, t.Repo.ID, l.ID)
		switch {
		case errors.Is(err, store.ErrNotFound) || kept.Kind == lesson.Model || kept.Kind == lesson.Tool:
		case err != nil:
			return err
		default:
			known = append(known, kept)
		}
	}
	return ls.store.CountLessons(ctx, t.Repo.ID, lesson.FeedbackEvidence(t, known)...)
}

// unknown are the lessons that are not kept yet.
func (ls *Lessons) unknown(ctx context.Context, repo int64, lessons []lesson.Lesson) ([]lesson.Lesson, error) {
	var fresh []lesson.Lesson
	for _, l := range lessons {
		_, err := ls.store.Lesson(ctx, repo, l.ID)
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
func (ls *Lessons) keep(ctx context.Context, repo int64, fresh []lesson.Lesson) error {
	for _, l := range fresh {
		l = l.Clean(ls.secrets.Mask)
		if err := ls.store.PutLessons(ctx, repo, l); err != nil {
			return err
		}
		if err := ls.mergeLike(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// mergeLike merges a lesson with those that are like it.
func (ls *Lessons) mergeLike(ctx context.Context, l lesson.Lesson) error {
	found, err := ls.store.SearchAllLessons(ctx, l.Repo, l.Terms(), lessonsLike)
	if err != nil {
		return err
	}
	all := []lesson.Lesson{l}
	for _, f := range found {
		if f.ID != l.ID {
			all = append(all, f.Lesson)
		}
	}
	return ls.merge(ctx, l.Repo, all)
}

func (ls *Lessons) merge(ctx context.Context, repo int64, lessons []lesson.Lesson) error {
	changed, evidence := lesson.Merge(lessons, ls.now())
	return ls.store.MergeLessons(ctx, repo, changed, evidence)
}

// toolUse counts how the agent's tools fared in a task.
func (ls *Lessons) toolUse(ctx context.Context, t sia.Task, tools []string) ([]lesson.ToolUse, error) {
	var uses []lesson.ToolUse
	for _, a := range t.Attempts {
		rows, err := ls.store.Turns(ctx, t.ID, a.Number)
		if err != nil {
			return nil, err
		}
		turns, err := agent.Turns(rows)
		if err != nil {
			return nil, fmt.Errorf("read attempt %d of task %s: %w", a.Number, t.ID, err)
		}
		var calls []agent.Call
		for _, turn := range turns {
			calls = append(calls, turn.Calls...)
		}
		uses = countCalls(uses, calls, tools)
	}
	return uses, nil
}

// countCalls adds an attempt's calls of the named tools. What a tool failed at is taken to be done by the next other
// call that changes files.
func countCalls(uses []lesson.ToolUse, calls []agent.Call, tools []string) []lesson.ToolUse {
	failed := map[string]bool{} // since files were changed last
	for _, c := range calls {
		if !c.IsError && len(c.Changed) > 0 {
			for i, u := range uses {
				if failed[u.Tool] && u.Tool != c.Name {
					uses[i].Instead = c.Name
				}
			}
			clear(failed)
		}
		if !slices.Contains(tools, c.Name) {
			continue
		}
		i := slices.IndexFunc(uses, func(u lesson.ToolUse) bool { return u.Tool == c.Name })
		if i < 0 {
			i, uses = len(uses), append(uses, lesson.ToolUse{Tool: c.Name})
		}
		uses[i].Calls++
		if c.IsError {
			uses[i].Failed++
			uses[i].Error, failed[c.Name] = c.Result, true
		}
	}
	return uses
}

// ForAttempt chooses what the next attempt at a task is told of earlier ones, and
// what is withheld from it. The text finds lessons, and so do the
// failures of the task's last attempt.
func (ls *Lessons) ForAttempt(
	ctx context.Context, t sia.Task, set sia.Settings,
) (told, withheld []lesson.Lesson, err error) {
	if !set.Learning.Enabled || set.Learning.LessonsInPrompt == 0 {
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
	found, err := ls.store.SearchLessons(ctx, t.Repo.ID, lesson.Words(text, queryWords), lessonsFound)
	if err != nil {
		return nil, nil, err
	}
	told, withheld = lesson.Choose(found, lesson.ChooseOptions{
		Task: t.ID, Most: set.Learning.LessonsInPrompt, MinConfidence: set.Learning.MinConfidence, Now: ls.now(),
	})
	return told, withheld, nil
}

// ForTools chooses the lessons about tools that an attempt meets when it first calls them. Those that
// [Lessons.ForAttempt] chose are given, and are not among them.
func (ls *Lessons) ForTools(
	ctx context.Context, t sia.Task, set sia.Settings, chosen ...lesson.Lesson,
) ([]sia.ToolLesson, error) {
	if !set.Learning.Enabled || set.Learning.LessonsInPrompt == 0 {
		return nil, nil
	}
	all, err := ls.store.ToolLessons(ctx, t.Repo.ID)
	if err != nil {
		return nil, err
	}
	var known []lesson.ID
	for _, l := range chosen {
		known = append(known, l.ID)
	}
	return lesson.ForTools(all, known, lesson.ChooseOptions{
		Task: t.ID, Most: lessonsATool, MinConfidence: set.Learning.MinConfidence, Now: ls.now(),
	}), nil
}

// ForDiagnosis gives the lessons that fit a failed attempt, as a diagnosis reads them.
func (ls *Lessons) ForDiagnosis(ctx context.Context, t sia.Task) ([]string, error) {
	told, _, err := ls.ForAttempt(ctx, t, t.Settings)
	texts := slices.Clone(t.Brief.Lessons)
	for _, r := range lesson.Refs(told) {
		if !slices.Contains(texts, r.Text) {
			texts = append(texts, r.Text)
		}
	}
	return texts, err
}
