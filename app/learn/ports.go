package learn

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// ChooserStore is the part of the database that a [Chooser] needs. [store.Store] implements it.
type ChooserStore interface {
	PriorStore
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	NoteTrials(ctx context.Context, repo int64, at time.Time, techniques ...sia.TechniqueID) ([]sia.TechniqueID, error)
	OutcomesSince(ctx context.Context, id int64) ([]store.Outcome, error)
	RecordOutcome(ctx context.Context, o store.Outcome) (isNew bool, err error)
	SettleDecision(ctx context.Context, id, outcome string, credit float64) error
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
}

// DeciderStore is the part of the database that a [Decider] needs. [store.Store] implements it.
type DeciderStore interface {
	PriorStore
	CoderOutcomesSince(ctx context.Context, id int64) ([]store.CoderOutcome, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	RecordCoderOutcome(ctx context.Context, o store.CoderOutcome) error
	RecordTaskEnd(ctx context.Context, e store.TaskEnd) error
	SettleDecision(ctx context.Context, id, outcome string, credit float64) error
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	TaskEnds(ctx context.Context, repo int64, kind string) (alone, helped store.TaskCount, err error)
}

// LessonStore is the part of the database that [Lessons] needs. [store.Store] implements it.
type LessonStore interface {
	RecordHeartbeat(ctx context.Context, repo int64, at time.Time) error
	CountLessons(ctx context.Context, repo int64, evidence ...lesson.Evidence) error
	EventsInBrief(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	Installations(ctx context.Context) ([]store.Installation, error)
	LastHeartbeat(ctx context.Context, repo int64) (time.Time, error)
	LearnedSince(ctx context.Context, repo int64, since time.Time) (n int, err error)
	Lesson(ctx context.Context, repo int64, id lesson.ID) (lesson.Lesson, error)
	LessonRepositories(ctx context.Context) ([]int64, error)
	Lessons(ctx context.Context, repo int64) ([]lesson.Lesson, error)
	SearchAllLessons(ctx context.Context, repo int64, words []string, limit int) ([]lesson.SearchHit, error)
	MergeLessons(ctx context.Context, repo int64, read, lessons []lesson.Lesson, evidence []lesson.Evidence) error
	PutLessons(ctx context.Context, repo int64, lessons ...lesson.Lesson) error
	Repositories(ctx context.Context, installation int64) ([]store.Repository, error)
	Repository(ctx context.Context, id int64) (store.Repository, error)
	RepositoryNamed(ctx context.Context, installation int64, name string) (store.Repository, error)
	SearchLessons(
		ctx context.Context, repo int64, words []string, limit int, usable func(lesson.SearchHit) bool,
	) ([]lesson.SearchHit, error)
	Settings(ctx context.Context, repo int64) (own store.OwnSettings, err error)
	ShareLesson(ctx context.Context, v store.SharedLesson) error
	SharedLessons(ctx context.Context) ([]store.SharedLesson, error)
	TakeSharedLessons(ctx context.Context, repo int64, now time.Time) (copies []lesson.Lesson, err error)
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	TaskByRef(ctx context.Context, repo int64, ref string) ([]sia.TaskID, error)
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	ToolLessons(ctx context.Context, repo int64) ([]lesson.Lesson, error)
	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	UnshareLesson(ctx context.Context, installation int64, id lesson.ID, by string) (out store.Unshared, err error)
}

// SharingStore is the part of the database that [Sharing] needs. [store.Store] implements it.
type SharingStore interface {
	CoderOutcomesSince(ctx context.Context, id int64) ([]store.CoderOutcome, error)
	LastSharedReport(ctx context.Context) (r store.SharedReport, err error)
	OutcomesSince(ctx context.Context, id int64) ([]store.Outcome, error)
	Repositories(ctx context.Context, installation int64) ([]store.Repository, error)
	RestoredTasks(ctx context.Context) ([]sia.TaskID, error)
	SaveSharedReport(ctx context.Context, r store.SharedReport, counted []store.SharedTask) error
	SharedTasks(ctx context.Context) ([]store.SharedTask, error)
	TaskLanguages(ctx context.Context) (map[sia.TaskID]string, error)
}

// RewindStore is the part of the database that a [Rewind] needs. [store.Store] implements it.
type RewindStore interface {
	CoderOutcomesSince(ctx context.Context, id int64) ([]store.CoderOutcome, error)
	OutcomesSince(ctx context.Context, id int64) ([]store.Outcome, error)
	PolicyVersion(ctx context.Context, id string) (source string, err error)
}

// HistoryStore is the part of the database that a [History] needs. [store.Store] implements it.
type HistoryStore interface {
	RewindStore
	DecisionsIn(ctx context.Context, installation int64, typ sia.DecisionType, limit int) ([]sia.Decision, error)
	PolicyRecord(
		ctx context.Context, installation, repo int64, policy string, after time.Time,
	) (store.PolicyRecord, error)
}

// PriorStore reads imported priors. [store.Store] implements it.
type PriorStore interface {
	ImportedPriors(ctx context.Context, id int64) (v store.PriorImport, err error)
	PriorsInForce(ctx context.Context) (id int64, err error)
}
