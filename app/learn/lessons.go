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
	maxSimilar = 20 // compared with a new lesson
	minFound   = 40 // minimum number of candidates for the lessons of an attempt
	foundEach  = 4  // minimum number of candidates for each lesson that the attempt may get
	queryWords = 400
	maxPerTool = 2 // maximum shown at the first call of a tool
)

// Lessons stores what tasks and users taught each repository. It is safe for concurrent use.
type Lessons struct {
	store   LessonStore
	secrets *secret.Masker
	log     *slog.Logger
	now     func() time.Time
	editing sync.Mutex // held while a user's draft is compared with a lesson and replaces it
}

// NewLessons returns the lessons of all repositories in a store.
func NewLessons(s LessonStore, secrets *secret.Masker, log *slog.Logger, now func() time.Time) *Lessons {
	return &Lessons{store: s, secrets: secrets, log: log, now: now}
}

// FromTask stores what a task has taught so far, and what its attempts show about the lessons that they were given. It
// depends only on the task and is idempotent. tools are the agent's own tools; nothing is learned about others. said
// returns the comments on the task's issue and pull request; it is called only if needed.
func (ls *Lessons) FromTask(
	ctx context.Context, t sia.Task, tools []string, said func(context.Context) ([]string, error),
) error {
	set, err := ls.inForce(ctx, t.Repo.ID)
	if err != nil || !set.Enabled {
		return err
	}
	t = t.Judged()
	m := lesson.Material{Task: t, Now: ls.now()}
	if t.State.Final() {
		if m.Tools, err = ls.toolUse(ctx, t, tools); err != nil {
			return err
		}
	}
	taught := lesson.Extract(m)
	fresh, err := ls.filterNew(ctx, t.Repo.ID, taught)
	if err != nil {
		return err
	}
	// Text from comments, and from all versions of the issue, is excluded from what is learned from logs.
	if slices.ContainsFunc(fresh, lesson.Lesson.MayQuote) {
		if m.Said, err = said(ctx); err != nil {
			return err
		}
		earlier, err := ls.issueTexts(ctx, t.ID)
		if err != nil {
			return err
		}
		m.Said = append(m.Said, earlier...)
		if fresh, err = ls.filterNew(ctx, t.Repo.ID, lesson.Extract(m)); err != nil {
			return err
		}
	}
	if err := ls.saveLearned(ctx, t.Repo.ID, fresh, set); err != nil { // sorted by confidence, highest first
		return err
	}
	if err := ls.store.CountLessons(ctx, t.Repo.ID, lesson.OutcomeEvidence(m)...); err != nil {
		return err
	}
	return ls.countFeedback(ctx, t, taught)
}

// issueTexts returns the texts that a task's issue has had.
func (ls *Lessons) issueTexts(ctx context.Context, id sia.TaskID) (texts []string, err error) {
	events, err := ls.store.EventsInBrief(ctx, id)
	for _, e := range events {
		var title, body string
		switch f := e.Event.Fact.(type) {
		case sia.Start:
			title, body = f.Title, f.Body
		case sia.Edited:
			title, body = f.Title, f.Body
		case sia.Begun:
			title, body = f.Title, f.Body
		}
		if text := title + "\n" + body; text != "\n" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, err
}

// countFeedback counts users' ratings and reactions for the lessons that a task was given, and for those that it
// taught.
func (ls *Lessons) countFeedback(ctx context.Context, t sia.Task, taught []lesson.Lesson) error {
	if len(t.Ratings) == 0 && t.Aftermath == "" {
		return nil
	}
	var known []lesson.Lesson
	for _, l := range taught {
		kept, err := ls.store.Lesson(ctx, t.Repo.ID, l.ID)
		switch {
		case errors.Is(err, store.ErrNotFound) || kept.Kind == lesson.Tool:
		case err != nil:
			return err
		default:
			known = append(known, kept)
		}
	}
	return ls.store.CountLessons(ctx, t.Repo.ID, lesson.FeedbackEvidence(t, known)...)
}

// filterNew returns the lessons that are not stored yet.
func (ls *Lessons) filterNew(ctx context.Context, repo int64, lessons []lesson.Lesson) ([]lesson.Lesson, error) {
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

// saveLearned saves the first of new lessons, as many as may be learned today.
func (ls *Lessons) saveLearned(
	ctx context.Context, repo int64, fresh []lesson.Lesson, set sia.LearningSettings,
) error {
	if len(fresh) == 0 {
		return nil
	}
	n, err := ls.store.LearnedSince(ctx, repo, ls.now().Add(-24*time.Hour))
	if err != nil {
		return err
	}
	return ls.saveNew(ctx, repo, fresh[:min(len(fresh), max(0, set.LessonsPerDay-n))])
}

// saveNew saves new lessons, with secrets masked. A known lesson is counted once more, and a contradiction to a known
// one is recorded in both.
func (ls *Lessons) saveNew(ctx context.Context, repo int64, fresh []lesson.Lesson) error {
	for _, l := range fresh {
		l = l.Clean(ls.secrets.Mask)
		if err := ls.store.PutLessons(ctx, repo, l); err != nil {
			return err
		}
		if err := ls.mergeSimilar(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// mergeSimilar merges a lesson with similar ones.
func (ls *Lessons) mergeSimilar(ctx context.Context, l lesson.Lesson) error {
	found, err := ls.store.SearchAllLessons(ctx, l.Repo, l.Terms(), maxSimilar)
	if err != nil {
		return err
	}
	all := []lesson.Lesson{l}
	for _, f := range found {
		if f.ID != l.ID {
			all = append(all, f.Lesson)
		}
	}
	if err := ls.merge(ctx, l.Repo, all); !errors.Is(err, store.ErrStale) {
		return err
	}
	return nil // a user is changing one of them; [Lessons.Tidy] merges them later
}

// merge merges lessons as they were read. The error wraps [store.ErrStale] if a user has changed one of them since.
func (ls *Lessons) merge(ctx context.Context, repo int64, lessons []lesson.Lesson) error {
	changed, evidence := lesson.Merge(lessons, ls.now())
	return ls.store.MergeLessons(ctx, repo, lessons, changed, evidence)
}

// toolUse counts the agent's tool calls and failures in a task.
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

// countCalls adds an attempt's calls of the named tools. The next successful call of another tool that changes files is
// recorded as the replacement of a failed one.
func countCalls(uses []lesson.ToolUse, calls []agent.Call, tools []string) []lesson.ToolUse {
	failed := map[string]bool{} // since the last change of files
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

// ForAttempt chooses the lessons for the next attempt at a task, and those withheld from it. It searches by the issue's
// text and the failures of the task's last attempt.
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
	want := lesson.ChooseOptions{
		Task: t.ID, Most: set.Learning.LessonsInPrompt, MinConfidence: set.Learning.MinConfidence, Now: ls.now(),
	}
	found, err := ls.store.SearchLessons(ctx, t.Repo.ID, lesson.Words(text, queryWords),
		max(minFound, foundEach*want.Most), want.Usable)
	if err != nil {
		return nil, nil, err
	}
	told, withheld = lesson.Choose(found, want)
	return told, withheld, nil
}

// ForTools chooses the lessons about tools that are shown at their first call. It excludes chosen, the lessons that
// [Lessons.ForAttempt] chose.
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
		Task: t.ID, Most: maxPerTool, MinConfidence: set.Learning.MinConfidence, Now: ls.now(),
	}), nil
}

// ForDiagnosis returns the lessons that fit a failed attempt, as texts for a diagnosis.
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
