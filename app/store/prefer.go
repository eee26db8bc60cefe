package store

import (
	"context"
	"database/sql"
	"maps"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// A server that has a repository's mirror is preferred for what takes long there: the job waits in a lane (fair.go) of
// that server. Once one has waited for preferFor any server may take from that lane. See docs/adr/0030-replicas.md.

// preferFor is how long a job waits for its server.
const preferFor = 5 * time.Second

// serverMark comes between a queue's name and a server's.
const serverMark = "-"

// commonQueue is the queue that River knows, of a lane or a server's.
func commonQueue(queue string) string {
	if end := strings.IndexAny(queue, laneMark+serverMark); end >= 0 {
		return queue[:end]
	}
	return queue
}

// preferred reports whether jobs of a queue are better done where the repository's mirror is.
func preferred(queue string) bool { return queue == queueAttempts || queue == queueTests }

// fair reports whether jobs of a queue wait in lanes.
func fair(queue string) bool { return queue == queueEffects || preferred(queue) }

// laneFor is the queue for the job of an effect: its repository's lane, that of the server that has the repository's
// mirror where one does.
func (s *DB) laneFor(ctx context.Context, tx *sql.Tx, key, queue string) (string, error) {
	var (
		kind               sia.EffectKind
		installation, repo int64
		server             string
	)
	err := tx.QueryRowContext(ctx, `SELECT e.kind, t.installation_id, t.repo_id, coalesce(r.server, '') FROM effects e
		JOIN tasks t ON t.id = e.task_id LEFT JOIN repositories r ON r.id = t.repo_id WHERE e.key = ?`, key).
		Scan(&kind, &installation, &repo, &server)
	queue = laneName(queue, installation, repo, kind.Creates())
	if err == nil && server != "" && s.shared() && preferred(commonQueue(queue)) {
		queue += serverMark + server
	}
	return queue, err
}

// hasMirror notes that this engine's server has the mirror of an effect's repository from now on.
func (h *heldLease) hasMirror(ctx context.Context) error {
	if h.e.c.Server == "" || !preferred(queueOf(h.f.Effect)) {
		return nil
	}
	return h.e.s.exec(ctx, "note the server of "+h.key, `UPDATE repositories SET server = ?
		WHERE id = (SELECT repo_id FROM tasks WHERE id = ?) AND server <> ?`, h.e.c.Server, h.f.Task, h.e.c.Server)
}

// fairDriver is River's driver for an engine.
type fairDriver struct {
	riverdriver.Driver[*sql.Tx]
	e *Engine
}

// GetExecutor implements riverdriver.Driver.
func (d fairDriver) GetExecutor() riverdriver.Executor {
	return fairExecutor{d.Driver.GetExecutor(), d.e}
}

// fairExecutor fetches from the lanes of a queue, and from those that another server was preferred for and that waited
// for long enough.
type fairExecutor struct {
	riverdriver.Executor
	e *Engine
}

// JobGetAvailable implements riverdriver.Executor. River logs its error, so that says what a person can do.
func (x fairExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	got, err := x.fetch(ctx, p)
	return got, x.e.s.explain("look for jobs", err)
}

// fetch takes jobs that are due. One that was taken is of the common queue for River, which knows no other; its row
// stays where it is.
func (x fairExecutor) fetch(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	if !fair(p.Queue) {
		return x.Executor.JobGetAvailable(ctx, p)
	}
	got := &riverdriver.JobGetAvailableResult{DecodeErrors: map[int64]error{}}
	lanes, err := x.lanes(ctx, p.Queue)
	if err != nil {
		return nil, err
	}
	sh := x.e.shares[p.Queue]
	for left := p.MaxToLock; left > 0 && len(lanes) > 0; left = p.MaxToLock - len(got.Jobs) {
		workers := sh.divide(lanes, left)
		if len(workers) == 0 {
			break
		}
		var full []lane
		for _, l := range lanes {
			n := workers[l.queue]
			if n == 0 {
				full = append(full, l)
				continue
			}
			from := *p
			from.Queue, from.MaxToLock = l.queue, n
			more, err := x.Executor.JobGetAvailable(ctx, &from)
			if err != nil && len(got.Jobs) == 0 {
				return nil, err
			}
			if err != nil {
				return got, nil //nolint:nilerr // what was got is running: the others are fetched the next time
			}
			for _, job := range more.Jobs {
				job.Queue = p.Queue
				if more.DecodeErrors[job.ID] == nil { // else River fails it, and nobody hears of it
					sh.begin(job.ID, l)
				}
			}
			got.Jobs = append(got.Jobs, more.Jobs...)
			maps.Copy(got.DecodeErrors, more.DecodeErrors)
			if len(more.Jobs) == n {
				full = append(full, l)
			}
		}
		lanes = full
	}
	return got, nil
}

// mostLanes bounds how many lanes one fetch looks at; the next goes on after them.
const mostLanes = 1000

// lanes are those of a queue in which this server may take something that is due.
func (x fairExecutor) lanes(ctx context.Context, queue string) ([]lane, error) {
	s, sh := x.e.s, x.e.shares[queue]
	after, end, now := sh.after(), pastPrefix(queue), s.now()
	names, err := collect(ctx, s.r, scanValue[string],
		`WITH RECURSIVE lanes (queue) AS (
			SELECT min(queue) FROM river_job WHERE state = 'available' AND queue >= ? AND queue > ? AND queue < ?
			UNION ALL SELECT (SELECT min(j.queue) FROM river_job j
				WHERE j.state = 'available' AND j.queue > lanes.queue AND j.queue < ?) FROM lanes WHERE queue IS NOT NULL)
		SELECT queue FROM lanes WHERE queue IS NOT NULL AND EXISTS (SELECT 1 FROM river_job d WHERE d.state = 'available'
			AND d.queue = lanes.queue AND d.scheduled_at <= ?
			AND (d.scheduled_at <= ? OR d.queue NOT LIKE ? OR d.queue LIKE ?)) LIMIT ?`,
		queue, after, end, end, s.stamp(now), s.stamp(now.Add(-preferFor)), "%"+serverMark+"%",
		"%"+serverMark+x.e.c.Server, mostLanes)
	if err != nil {
		return nil, err
	}
	sh.goOn(names)
	var all []lane
	for _, name := range names {
		all = append(all, laneOf(name))
	}
	return all, nil
}

// pastPrefix is the first text after all that begin with another.
func pastPrefix(s string) string { return s[:len(s)-1] + string(s[len(s)-1]+1) }

// notedQueue is the queue of a notification that River's drivers write.
var notedQueue = lazyregexp.New(`("queue": ?")([a-z]+)[^"]*"`)

// inCommon is what River is told of a job's queue, by the name that it knows: that its workers should look, or end.
func inCommon(n *riverdriver.Notification) *riverdriver.Notification {
	return &riverdriver.Notification{Topic: n.Topic, Payload: notedQueue.ReplaceAllString(n.Payload, `$1$2"`)}
}
