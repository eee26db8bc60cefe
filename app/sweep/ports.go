package sweep

import (
	"context"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Store is the part of the database that the package uses. [store.Store] implements it.
type Store interface {
	Apply(ctx context.Context, id sia.TaskID, e sia.Event) (sia.Result, error)
	Answered(ctx context.Context) (at time.Time, err error)
	ApplyHalts(ctx context.Context, at time.Time) error
	Arrived(ctx context.Context, guids []string) (map[string]bool, error)
	Changed(ctx context.Context, since time.Time) ([]store.Look, error)
	LatestDelivery(ctx context.Context) (store.Delivery, error)
	Looks(ctx context.Context, of ...sia.Temperature) ([]store.Look, error)
	PruneCommits(ctx context.Context, before time.Time) error
	PruneFlips(ctx context.Context, before time.Time) error
	PruneRunnerAttempts(ctx context.Context) error
	PruneDeliveries(ctx context.Context, before time.Time) (n int64, err error)
	PruneTasks(ctx context.Context, before time.Time) (n int64, err error)
	PruneTranscripts(ctx context.Context, before time.Time) (n int64, err error)
	SaveAnswered(ctx context.Context, at time.Time) error
	Surface(ctx context.Context, id sia.TaskID, kind string) (githubID int64, hash string, err error)
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
}
