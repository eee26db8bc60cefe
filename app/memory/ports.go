package memory

import (
	"context"
	"encoding/json"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Store is the part of the database that the memory branches need. [store.Store] implements it.
type Store interface {
	Apply(ctx context.Context, id sia.TaskID, e sia.Event) (sia.Result, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	Deleted(ctx context.Context, id sia.TaskID) (bool, error)
	LessonEvidence(ctx context.Context, repo int64, id lesson.ID) ([]lesson.Evidence, error)
	Lessons(ctx context.Context, repo int64) ([]lesson.Lesson, error)
	LogAct(ctx context.Context, a store.Act) error
	LogDecision(ctx context.Context, d sia.Decision) error
	MemoryHead(ctx context.Context, repo int64) (h store.MemoryHead, err error)
	OutcomesOf(ctx context.Context, id sia.TaskID) ([]store.Outcome, error)
	PutLessons(ctx context.Context, repo int64, lessons ...lesson.Lesson) error
	RecordCoderOutcome(ctx context.Context, o store.CoderOutcome) error
	RecordOutcome(ctx context.Context, o store.Outcome) (isNew bool, err error)
	RecordTaskEnd(ctx context.Context, e store.TaskEnd) error
	Repository(ctx context.Context, id int64) (store.Repository, error)
	RestoreLessons(
		ctx context.Context, repo int64, lessons []lesson.Lesson, evidence []lesson.Evidence,
	) (restored int, err error)
	SaveMemoryHead(ctx context.Context, repo int64, h store.MemoryHead) error
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	UpsertInstallation(ctx context.Context, v store.Installation) error
	UpsertRepository(ctx context.Context, v store.Repository) error
}

// Results returns the results of the coders that worked on a task, and its own; nil: it has none yet.
type Results func(t sia.Task) (coders []store.CoderOutcome, end *store.TaskEnd)
