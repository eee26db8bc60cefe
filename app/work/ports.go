package work

import (
	"context"
	"encoding/json"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Store is the part of the database that the worker needs. [store.Store] implements it.
type Store interface {
	AppendTurn(ctx context.Context, id sia.TaskID, attempt, run, number int, turn []byte) error
	Apply(ctx context.Context, id sia.TaskID, e sia.Event) (sia.Result, error)
	AttemptSpent(ctx context.Context, key string) (sia.Credits, error)
	CountJudged(ctx context.Context, repo int64) (passed, judged int, err error)
	Decision(ctx context.Context, id string) (sia.Decision, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	Effects(ctx context.Context, id sia.TaskID) ([]store.EffectRecord, error)
	EndedAttempts(ctx context.Context, limit int) ([]sia.Attempt, error)
	EventsInBrief(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	FlipCounts(ctx context.Context, repo int64) (own []store.FlipCount, all store.FlipCount, err error)
	HaltOver(ctx context.Context, installation, repo int64) (store.Halt, bool, error)
	KeepPolicyVersion(ctx context.Context, id, decision, source string) error
	KeepCommit(ctx context.Context, t sia.Task, sha string, pack []byte) error
	LogDecision(ctx context.Context, d sia.Decision) error
	EndedTasks(ctx context.Context, installation int64, limit int) ([]store.EndedTask, error)
	PatternOutcomes(ctx context.Context, repo int64, p sia.Pattern) ([]store.Outcome, error)
	SaveFlips(ctx context.Context, repo int64, sha sia.SHA, flips ...store.Flip) error
	SaveSurface(ctx context.Context, id sia.TaskID, kind string, githubID int64, hash string) error
	SaveText(ctx context.Context, id sia.TaskID, attempt int, kind, text string) error
	SettleDecision(ctx context.Context, id, outcome string, credit float64) error
	Surface(ctx context.Context, id sia.TaskID, kind string) (githubID int64, hash string, err error)
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	Text(ctx context.Context, id sia.TaskID, attempt int, kind string) (string, error)
	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	TurnsOf(ctx context.Context, id sia.TaskID, attempt, run int) ([]json.RawMessage, error)
}
