package store

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/robfig/cron/v3"
)

// Periodic is a periodic job. It runs once per scheduled time across all
// processes, and not while its last run is in progress. Intervals count from the
// start of the engine, so "@every 24h" never occurs in a process that is
// restarted daily; "@daily" does.
type Periodic struct {
	Name string // unique
	Spec string // as robfig/cron/v3 reads it: "*/5 * * * *", "@daily", "@every 30s"
	// Run does the work. An error is logged; the next try is the next scheduled time.
	Run func(ctx context.Context) error
}

// periodicArgs has the arguments of a periodic job.
type periodicArgs struct {
	Name string `json:"name"`
}

// Kind names the job for River.
func (periodicArgs) Kind() string { return "periodic" }

// periodicTimeout is the timeout of one run.
const periodicTimeout = 10 * time.Minute

func periodicJobs(table []Periodic) ([]*river.PeriodicJob, error) {
	var jobs []*river.PeriodicJob
	seen := map[string]bool{}
	for _, p := range table {
		schedule, err := cron.ParseStandard(p.Spec)
		switch {
		case err != nil:
			return nil, fmt.Errorf("schedule %s: %w", p.Name, err)
		case p.Name == "" || p.Run == nil || seen[p.Name]:
			return nil, fmt.Errorf("schedule %q: it needs a name of its own and something to run", p.Name)
		}
		seen[p.Name] = true
		jobs = append(jobs, river.NewPeriodicJob(schedule, func() (river.JobArgs, *river.InsertOpts) {
			return periodicArgs{Name: p.Name}, &river.InsertOpts{
				Queue: queuePeriodic, MaxAttempts: jobAttempts,
				// Without "completed", which is one of the default states and would
				// allow a single run only.
				UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
					rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
					rivertype.JobStateRunning, rivertype.JobStateScheduled,
				}},
			}
		}, nil))
	}
	return jobs, nil
}

type periodicWorker struct {
	river.WorkerDefaults[periodicArgs]
	e *Engine
}

// Timeout implements river.Worker.
func (*periodicWorker) Timeout(*river.Job[periodicArgs]) time.Duration { return periodicTimeout }

// Work implements river.Worker.
func (w *periodicWorker) Work(ctx context.Context, job *river.Job[periodicArgs]) error {
	for _, p := range w.e.h.Periodic {
		if p.Name == job.Args.Name {
			if err := w.call(ctx, p); err != nil {
				w.e.s.log.ErrorContext(ctx, "periodic work ended in an error", "name", p.Name, "err", err)
			}
			return nil
		}
	}
	return river.JobSnooze(unknownKindDelay) // left to a newer version
}

func (w *periodicWorker) call(ctx context.Context, p Periodic) (err error) {
	defer w.e.s.recoverPanic(ctx, "run "+p.Name, &err)
	return p.Run(ctx)
}
