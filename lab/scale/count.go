package scale

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// noteAges adds a trigger that records the age of each delivery when it is no longer pending.
const noteAges = `
CREATE TABLE scale_ages (guid text, received bigint, age bigint);
CREATE FUNCTION scale_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	INSERT INTO scale_ages VALUES (NEW.guid, NEW.received_at,
		(extract(epoch FROM clock_timestamp()) * 1000000)::bigint - NEW.received_at);
	RETURN NULL;
END $$;
CREATE TRIGGER scale_note AFTER UPDATE OF state ON deliveries FOR EACH ROW
	WHEN (OLD.state = 'pending' AND NEW.state <> 'pending') EXECUTE FUNCTION scale_note();`

const (
	patience = 15 * time.Minute // for unfinished work after the last delivery
	look     = time.Second      // between two polls
	soon     = time.Minute      // jobs due later only poll passed tasks
	logEvery = 30               // polls
)

// settle waits until all tasks have passed and nothing waits.
func (s *stage) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("not all had ended %s after all was sent", patience))
	defer cancel()
	for n := 0; ; n++ {
		waits, err := s.waits(ctx)
		if err == nil && waits == "" {
			return s.sim.WaitIdle(ctx)
		}
		if n%logEvery == 0 {
			s.Log.InfoContext(ctx, "waiting", "for", waits, "error", err)
		}
		if wait(ctx, look) != nil {
			return errors.Join(context.Cause(ctx), fmt.Errorf("there are %s", waits), err)
		}
	}
}

// waits describes unfinished work; empty: none.
func (s *stage) waits(ctx context.Context) (string, error) {
	var deliveries, effects, tasks, passed int
	var open string
	err := s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM deliveries WHERE state = 'pending'),
		(SELECT count(*) FROM effects WHERE state = 'pending' AND due_at < $1), count(*),
		count(*) FILTER (WHERE state = 'passed'),
		coalesce(string_agg(id || ' ' || state, ', ') FILTER (WHERE state <> 'passed'), '') FROM tasks`,
		time.Now().Add(soon).UnixMicro()).Scan(&deliveries, &effects, &tasks, &passed, &open)
	all := s.Tasks + s.Loud
	if err != nil || deliveries+effects == 0 && passed == all {
		return "", err
	}
	return fmt.Sprintf("%d deliveries; %d effects; %d tasks that have not begun; tasks %s", deliveries, effects,
		all-tasks, open), nil
}

// count sets the figures at the end.
func (s *stage) count(ctx context.Context, r *Result) error {
	var done int
	if err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM deliveries WHERE state = 'done' AND guid LIKE $1`,
		noiseID+"%").Scan(&done); err != nil {
		return err
	}
	r.Lost = r.Accepted - done
	if err := s.db.QueryRowContext(ctx, `SELECT count(*), coalesce(min(event || ': ' || error), '') FROM deliveries
		WHERE state = 'failed'`).Scan(&r.Failed, &r.Failure); err != nil {
		return err
	}
	if err := s.ages(ctx, r); err != nil {
		return err
	}
	for _, one := range s.issues {
		took, wrong, err := s.ended(ctx, one)
		switch {
		case err != nil:
			return err
		case wrong != "":
			r.Wrong = append(r.Wrong, fmt.Sprintf("%s#%d: %s", one.repo, one.number, wrong))
		case one.loud:
			r.Passed++
			r.LoudTimes = append(r.LoudTimes, took)
		default:
			r.Passed++
			r.TaskTimes = append(r.TaskTimes, took)
		}
	}
	r.PerMinute, r.PerHour = s.requests.most(time.Minute), s.requests.most(time.Hour)
	r.Requests, r.RateLimited, r.Routes = s.requests.all, s.requests.limited, s.requests.routes
	for _, p := range s.servers {
		r.Memory = max(r.Memory, p.most())
	}
	for _, p := range s.processes() {
		r.Ended = append(r.Ended, p.ownEnds()...)
	}
	return nil
}

// ages reads the ages of deliveries when they had been processed.
func (s *stage) ages(ctx context.Context, r *Result) error {
	rows, err := s.db.QueryContext(ctx, `SELECT received, age FROM scale_ages`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var received, age int64
		if err := rows.Scan(&received, &age); err != nil {
			return err
		}
		took := time.Duration(age) * time.Microsecond
		r.Ages = append(r.Ages, took)
		if s.away.calm(time.UnixMicro(received)) {
			r.CalmAges = append(r.CalmAges, took)
		}
	}
	return rows.Err()
}

// ended returns the duration of a task, or what is wrong with it.
func (s *stage) ended(ctx context.Context, one issue) (took time.Duration, wrong string, err error) {
	view, err := s.sim.Issue(one.repo, one.number)
	if err != nil {
		return 0, "", err
	}
	if !slices.Contains(view.Labels, render.LabelPassed) {
		return 0, fmt.Sprintf("it has the labels %v", view.Labels), nil
	}
	issues, err := s.sim.Issues(one.repo)
	if err != nil {
		return 0, "", err
	}
	var pulls []ghsim.PullView
	for _, i := range issues {
		if !i.IsPull {
			continue
		}
		p, err := s.sim.Pull(one.repo, i.Number)
		if err != nil {
			return 0, "", err
		}
		if strings.HasPrefix(p.HeadRef, fmt.Sprintf("sia/issue-%d-", one.number)) {
			pulls = append(pulls, p)
		}
	}
	if len(pulls) != 1 {
		return 0, fmt.Sprintf("it has %d pull requests", len(pulls)), nil
	}
	made, err := s.sim.Repo(one.repo)
	if err != nil {
		return 0, "", err
	}
	var attempts int // a lesson of an earlier task can save one of two; a fresh start removes earlier ones
	var told string
	if err := s.db.QueryRowContext(ctx, `WITH made AS (SELECT number, attempt FROM attempts
			JOIN tasks ON tasks.id = task_id WHERE tasks.repo_id = $1 AND issue = $2),
		fresh AS (SELECT max(number) AS number FROM made WHERE attempt::jsonb ->> 'technique' = $3)
		SELECT count(*), coalesce(string_agg(attempt, ', ' ORDER BY made.number), '') FROM made, fresh
		WHERE fresh.number IS NULL OR made.number >= fresh.number`, made.ID, one.number, string(sia.FreshStart)).
		Scan(&attempts, &told); err != nil {
		return 0, "", err
	}
	if commits := pulls[0].Commits; len(commits) != attempts {
		return 0, fmt.Sprintf("%d attempts made the commits %v: %s", attempts, commits, told), nil
	}
	said := map[string]bool{}
	for _, c := range slices.Concat(view.Comments, pulls[0].Comments) {
		if said[c.Body] {
			return 0, "a comment was made twice: " + c.Body, nil
		}
		said[c.Body] = true
	}
	return s.passedAt(one).Sub(one.labelled), "", nil
}

// passedAt returns when the issue got the label.
func (s *stage) passedAt(one issue) time.Time {
	for _, e := range s.sim.Timeline("issues.labeled") {
		if e.Repo == one.repo && e.Number == one.number && e.Detail == render.LabelPassed {
			return e.At
		}
	}
	return one.labelled
}

// requests counts requests to GitHub's API. It is safe for concurrent use.
type requests struct {
	mu       sync.Mutex
	all      int
	routes   map[string]int // by method, route and status
	limited  int
	creating map[int64][]time.Time // when each installation created something
}

func newRequests() *requests {
	return &requests{routes: map[string]int{}, creating: map[int64][]time.Time{}}
}

func (q *requests) note(c ghsim.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all++
	q.routes[c.Method+" "+c.Pattern+" "+strconv.Itoa(c.Status)]++
	if c.Status == http.StatusForbidden || c.Status == http.StatusTooManyRequests {
		q.limited++
	}
	if ghsim.Count([]ghsim.Call{c}).Creating > 0 {
		q.creating[c.Installation] = append(q.creating[c.Installation], c.At)
	}
}

// most returns the maximum that one installation created within a duration.
func (q *requests) most(within time.Duration) (most int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, at := range q.creating {
		first := 0
		for i := range at {
			for at[i].Sub(at[first]) >= within {
				first++
			}
			most = max(most, i-first+1)
		}
	}
	return most
}
