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

// The server that has a repository's mirror is preferred for long jobs: such a job waits in a lane (fair.go) of that
// server. After preferFor, any server may take it. See docs/adr/0030-replicas.md.

// preferFor is how long a job waits for its server.
const preferFor = 5 * time.Second

// serverSeparator separates the name of a queue from the name of a server.
const serverSeparator = "-"

// commonQueue returns River's queue for a lane.
func commonQueue(queue string) string {
	if end := strings.IndexAny(queue, laneSeparator+serverSeparator); end >= 0 {
		return queue[:end]
	}
	return queue
}

// prefersServer reports whether jobs of a queue prefer the server that has the repository's mirror.
func prefersServer(queue string) bool { return queue == queueAttempts || queue == queueTests }

// usesLanes reports whether jobs of a queue wait in lanes.
func usesLanes(queue string) bool {
	return queue == queueDeliveries || queue == queueEffects || prefersServer(queue)
}

// laneFor returns the lane for the job of an effect: that of its repository and, if jobs of the queue prefer it, of the
// server that has the repository's mirror.
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
	if err == nil && server != "" && s.shared() && prefersServer(commonQueue(queue)) {
		queue += serverSeparator + server
	}
	return queue, err
}

// recordMirror records that this engine's server has the mirror of the effect's repository.
func (h *heldLease) recordMirror(ctx context.Context) error {
	if h.e.c.Server == "" || !prefersServer(queueOf(h.f.Effect)) {
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

// fairExecutor fetches jobs from the lanes of a queue.
type fairExecutor struct {
	riverdriver.Executor
	e *Engine
}

// JobGetAvailable implements riverdriver.Executor. River logs its error, so the error includes advice for the operator.
func (x fairExecutor) JobGetAvailable(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	got, err := x.fetch(ctx, p)
	return got, x.e.s.explain("look for jobs", err)
}

// fetch takes jobs that are due. In the result they have the queue that River asked for; their rows keep the lane.
func (x fairExecutor) fetch(
	ctx context.Context, p *riverdriver.JobGetAvailableParams,
) (*riverdriver.JobGetAvailableResult, error) {
	if !usesLanes(p.Queue) {
		return x.Executor.JobGetAvailable(ctx, p)
	}
	got := &riverdriver.JobGetAvailableResult{DecodeErrors: map[int64]error{}}
	lanes, err := x.lanes(ctx, p.Queue)
	if err != nil {
		return nil, err
	}
	sh := x.e.shares[p.Queue]
	for left := p.MaxToLock; left > 0 && len(lanes) > 0; left = p.MaxToLock - len(got.Jobs) {
		workers := sh.assign(lanes, left)
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
				return got, nil //nolint:nilerr // the fetched jobs are running; the others are fetched the next time
			}
			for _, job := range more.Jobs {
				job.Queue = p.Queue
				if more.DecodeErrors[job.ID] == nil { // else River fails it without running the middleware
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

// maxLanes is the maximum number of lanes in one fetch; the next fetch continues after them.
const maxLanes = 1000

// lanes returns the lanes of a queue with due jobs that this server may take.
func (x fairExecutor) lanes(ctx context.Context, queue string) ([]lane, error) {
	s, sh := x.e.s, x.e.shares[queue]
	after, end, now := sh.cursor(), prefixEnd(queue), s.now()
	names, err := collect(ctx, s.r, scanValue[string],
		`WITH RECURSIVE lanes (queue) AS (
			SELECT min(queue) FROM river_job WHERE state = 'available' AND queue >= ? AND queue > ? AND queue < ?
			UNION ALL SELECT (SELECT min(j.queue) FROM river_job j
				WHERE j.state = 'available' AND j.queue > lanes.queue AND j.queue < ?) FROM lanes WHERE queue IS NOT NULL)
		SELECT queue FROM lanes WHERE queue IS NOT NULL AND EXISTS (SELECT 1 FROM river_job d WHERE d.state = 'available'
			AND d.queue = lanes.queue AND d.scheduled_at <= ?
			AND (d.scheduled_at <= ? OR d.queue NOT LIKE ? OR d.queue LIKE ?)) LIMIT ?`,
		queue, after, end, end, s.stamp(now), s.stamp(now.Add(-preferFor)), "%"+serverSeparator+"%",
		"%"+serverSeparator+x.e.c.Server, maxLanes)
	if err != nil {
		return nil, err
	}
	sh.setCursor(names)
	var all []lane
	for _, name := range names {
		all = append(all, laneOf(name))
	}
	return all, nil
}

// prefixEnd returns the smallest text that is greater than all texts with the prefix s.
func prefixEnd(s string) string { return s[:len(s)-1] + string(s[len(s)-1]+1) }

// notificationQueue matches the queue in a notification of River's drivers. PostgreSQL writes blanks around the colon,
// SQLite does not.
var notificationQueue = lazyregexp.New(`("queue" ?: ?")([a-z]+)[^"]*"`)

// withCommonQueue replaces the lane in a notification by its common queue, which is the one that River uses.
func withCommonQueue(n *riverdriver.Notification) *riverdriver.Notification {
	return &riverdriver.Notification{Topic: n.Topic, Payload: notificationQueue.ReplaceAllString(n.Payload, `$1$2"`)}
}
