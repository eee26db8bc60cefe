package store

import (
	"context"
	"database/sql"
	"sync"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"
)

// SQLite has one write lock and no queue for it: who finds it taken sleeps and
// looks again, and River, which completes up to a hundred jobs in one
// transaction, can hold it for 10 ms and take it again at once. So within this
// process the application and River's busiest operations take turns at a mutex,
// which hands over fairly, and River's long one is cut into short ones.

// chunk is how many jobs are completed in one turn; each takes about 0.1 ms.
const chunk = 8

// serialDriver is River's driver with executors that take turns, and a listener that hears of
// commits.
type serialDriver struct {
	riverdriver.Driver[*sql.Tx]
	turn    *sync.Mutex
	due     func(ctx context.Context, queue string) (bool, error)
	commits *commits
}

// GetListener implements riverdriver.Driver.
func (d serialDriver) GetListener(p *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &commitListener{Listener: d.Driver.GetListener(p), c: d.commits}
}

// UnwrapExecutor implements riverdriver.Driver.
func (d serialDriver) UnwrapExecutor(tx *sql.Tx) riverdriver.ExecutorTx {
	return silentTx{d.Driver.UnwrapExecutor(tx)}
}

// GetExecutor implements riverdriver.Driver.
func (d serialDriver) GetExecutor() riverdriver.Executor {
	return serialExecutor{d.Driver.GetExecutor(), d.turn, d.due}
}

type serialExecutor struct {
	riverdriver.Executor
	turn *sync.Mutex
	due  func(ctx context.Context, queue string) (bool, error)
}

// JobGetAvailable implements riverdriver.Executor: the workers' fetch. Each
// queue is asked for jobs again and again, mostly in vain; River's statement takes
// the write lock for that and is compiled anew each time, so whether there is
// one is read first.
func (x serialExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) ([]*rivertype.JobRow, error) {
	if due, err := x.due(ctx, p.Queue); err != nil || !due {
		return nil, err
	}
	x.turn.Lock()
	defer x.turn.Unlock()
	return x.Executor.JobGetAvailable(ctx, p)
}

// JobSetStateIfRunningMany implements riverdriver.Executor: the end of jobs. The
// jobs of a batch have nothing to do with one another, and an error has River
// try the whole batch again, which changes nothing for those that were set.
func (x serialExecutor) JobSetStateIfRunningMany(
	ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams,
) ([]*rivertype.JobRow, error) {
	all := make([]*rivertype.JobRow, 0, len(p.ID))
	for from := 0; from < len(p.ID); from += chunk {
		rows, err := x.setStates(ctx, cut(p, from, min(from+chunk, len(p.ID))))
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (x serialExecutor) setStates(
	ctx context.Context, p *riverdriver.JobSetStateIfRunningManyParams,
) ([]*rivertype.JobRow, error) {
	x.turn.Lock()
	defer x.turn.Unlock()
	return x.Executor.JobSetStateIfRunningMany(ctx, p)
}

// cut is the part of a batch between two indices.
func cut(p *riverdriver.JobSetStateIfRunningManyParams, from, to int) *riverdriver.JobSetStateIfRunningManyParams {
	c := *p
	c.ID, c.Attempt, c.ErrData, c.FinalizedAt = p.ID[from:to], p.Attempt[from:to], p.ErrData[from:to],
		p.FinalizedAt[from:to]
	c.MetadataDoMerge, c.MetadataUpdates = p.MetadataDoMerge[from:to], p.MetadataUpdates[from:to]
	c.ScheduledAt, c.State = p.ScheduledAt[from:to], p.State[from:to]
	return &c
}
