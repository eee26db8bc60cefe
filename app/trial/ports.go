package trial

import (
	"context"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Store is the part of the database that trials need. [store.Store] implements it.
type Store interface {
	Enrol(ctx context.Context, experiment string, t store.ExperimentTask) (stands store.ExperimentTask, err error)
	Enrolled(
		ctx context.Context, experiment string, task sia.TaskID,
	) (t store.ExperimentTask, since int, known bool, err error)
	ExperimentTasks(ctx context.Context, experiment string) ([]store.ExperimentTask, error)
	Experiments(ctx context.Context, installation int64, open bool) ([]store.Experiment, error)
	HoldPolicy(ctx context.Context, h store.PolicyHold) error
	Installations(ctx context.Context) ([]store.Installation, error)
	KeepPolicyVersion(ctx context.Context, id, decision, source string) error
	OpenExperiments(ctx context.Context, installation int64, decision string) ([]store.Experiment, error)
	PolicyHolds(ctx context.Context, installation int64) ([]store.PolicyHold, error)
	PolicyVersion(ctx context.Context, id string) (source string, err error)
	Repositories(ctx context.Context, installation int64) ([]store.Repository, error)
	Repository(ctx context.Context, id int64) (store.Repository, error)
	RepositoryNamed(ctx context.Context, installation int64, name string) (store.Repository, error)
	SaveExperiment(ctx context.Context, was store.ExperimentPhase, x store.Experiment, what string) error
	SettleExperimentTasks(ctx context.Context, experiment string, ts []store.ExperimentTask) error
}
