package webhook

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Store is what the intake needs of the database. [store.Store] implements it.
type Store interface {
	AddRepositories(ctx context.Context, installation int64, repos []sia.Repo) error
	Applied(ctx context.Context, id sia.TaskID, event string) (applied bool, err error)
	Apply(ctx context.Context, id sia.TaskID, e sia.Event) (sia.Result, error)
	Events(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	Halt(ctx context.Context, h store.Halt) (tasks int, err error)
	Halts(ctx context.Context) ([]store.Halt, error)
	HaltOver(ctx context.Context, installation, repo int64) (store.Halt, bool, error)
	Heard(ctx context.Context, repo int64, event string) (h store.Heard, err error)
	HeardSince(ctx context.Context, repo int64, issue int, login string, since time.Time) ([]store.Heard, error)
	Installations(ctx context.Context) ([]store.Installation, error)
	LastStarts(ctx context.Context, sender sia.Actor, since time.Time, n int) ([]time.Time, error)
	Lift(ctx context.Context, scope sia.HaltScope, by string, at time.Time) (tasks int, known bool, err error)
	LogAct(ctx context.Context, a store.Act) error
	PlanSetups(ctx context.Context, installation int64, repos []sia.Repo, together int, again bool) error
	ProposeSettings(ctx context.Context, installation, repo int64) error
	RemoveInstallation(ctx context.Context, id int64) error
	RemoveRepository(ctx context.Context, installation, id int64) error
	Repositories(ctx context.Context, installation int64) ([]store.Repository, error)
	Repository(ctx context.Context, id int64) (store.Repository, error)
	SaveHeard(ctx context.Context, h store.Heard) error
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	TaskByRef(ctx context.Context, repo int64, ref string) ([]sia.TaskID, error)
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
	UpsertInstallation(ctx context.Context, v store.Installation) error
	UpsertRepository(ctx context.Context, v store.Repository) error
}

// DeliverySaver is what the handler needs of the database. [store.Store] implements it.
type DeliverySaver interface {
	SaveDelivery(ctx context.Context, d store.Delivery) (fresh bool, err error)
}
