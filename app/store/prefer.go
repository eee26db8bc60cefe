package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
)

// A server that has a repository's mirror is preferred for what takes long there: the job waits in a queue of that
// server, which is read beside the common one and with the same workers. After preferFor any server may take it. See
// docs/adr/0030-replicas.md.

// preferFor is how long a job waits for its server.
const preferFor = 5 * time.Second

// serverMark comes between a queue's name and a server's.
const serverMark = "-"

// commonQueue is the queue of which one is a server's.
func commonQueue(queue string) string {
	common, _, _ := strings.Cut(queue, serverMark)
	return common
}

// preferred reports whether jobs of a queue are better done where the repository's mirror is.
func preferred(queue string) bool { return queue == queueAttempts || queue == queueTests }

// preferredQueue is the queue for the job of an effect: its server's, where one has the repository's mirror.
func (s *DB) preferredQueue(ctx context.Context, tx *sql.Tx, key, queue string) (string, error) {
	if !s.shared() || !preferred(queue) {
		return queue, nil
	}
	var server string
	err := tx.QueryRowContext(ctx, `SELECT r.server FROM effects e JOIN tasks t ON t.id = e.task_id
		JOIN repositories r ON r.id = t.repo_id WHERE e.key = ?`, key).Scan(&server)
	if errors.Is(err, sql.ErrNoRows) || err == nil && server == "" {
		return queue, nil
	}
	return queue + serverMark + server, err
}

// hasMirror notes that this engine's server has the mirror of an effect's repository from now on.
func (h *heldLease) hasMirror(ctx context.Context) error {
	if h.e.c.Server == "" || !preferred(queueOf(h.f.Effect)) {
		return nil
	}
	return h.e.s.exec(ctx, "note the server of "+h.key, `UPDATE repositories SET server = ?
		WHERE id = (SELECT repo_id FROM tasks WHERE id = ?) AND server <> ?`, h.e.c.Server, h.f.Task, h.e.c.Server)
}

// preferringDriver is River's driver for an engine whose server has a name.
type preferringDriver struct {
	riverdriver.Driver[*sql.Tx]
	e *Engine
}

// GetExecutor implements riverdriver.Driver.
func (d preferringDriver) GetExecutor() riverdriver.Executor {
	return preferringExecutor{d.Driver.GetExecutor(), d.e}
}

// preferringExecutor reads a server's own queue beside the common one.
type preferringExecutor struct {
	riverdriver.Executor
	e *Engine
}

// JobGetAvailable implements riverdriver.Executor. The common queue comes first, with what has waited for its server
// for long enough: so nothing waits behind what came later.
func (x preferringExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	if !preferred(p.Queue) {
		return x.Executor.JobGetAvailable(ctx, p)
	}
	s := x.e.s
	if _, err := s.river.ExecContext(ctx, `UPDATE river_job SET queue = ? WHERE id IN (SELECT id FROM river_job
		WHERE state = 'available' AND queue LIKE ? AND scheduled_at < ? FOR UPDATE SKIP LOCKED)`,
		p.Queue, p.Queue+serverMark+"%", s.stamp(s.now().Add(-preferFor))); err != nil {
		return nil, err
	}
	got, err := x.Executor.JobGetAvailable(ctx, p)
	if err != nil || len(got.Jobs) >= p.MaxToLock {
		return got, err
	}
	own := *p
	own.Queue, own.MaxToLock = p.Queue+serverMark+x.e.c.Server, p.MaxToLock-len(got.Jobs)
	more, err := x.Executor.JobGetAvailable(ctx, &own)
	if err != nil || len(more.Jobs) == 0 {
		return got, nil //nolint:nilerr // what was got is running: the other queue is read the next time
	}
	var ids []int64
	for _, job := range more.Jobs {
		ids = append(ids, job.ID)
		job.Queue = p.Queue
	}
	list, err := json.Marshal(ids)
	if err == nil { // River cancels a job by the queue that it is in
		_, err = s.river.ExecContext(ctx, `UPDATE river_job SET queue = ? WHERE id IN `+s.listed(numbers), p.Queue,
			string(list))
	}
	if err != nil {
		s.log.WarnContext(ctx, "jobs stay in this server's queue: they hear of a cancellation later", "jobs", ids, "err", err)
	}
	got.Jobs = append(got.Jobs, more.Jobs...)
	for id, err := range more.DecodeErrors {
		if got.DecodeErrors == nil {
			got.DecodeErrors = map[int64]error{}
		}
		got.DecodeErrors[id] = err
	}
	return got, nil
}

// inCommon is what River is told of a job that was written: that its queue's workers should look, also those of the
// common queue.
func inCommon(n *riverdriver.Notification) *riverdriver.Notification {
	var about struct {
		Queue string `json:"queue"`
	}
	if n.Topic != insertTopic || json.Unmarshal([]byte(n.Payload), &about) != nil {
		return n
	}
	about.Queue = commonQueue(about.Queue)
	if b, err := json.Marshal(about); err == nil {
		n.Payload = string(b)
	}
	return n
}
