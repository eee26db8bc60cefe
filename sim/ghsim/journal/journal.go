// Package journal is the list of everything that happened on a simulated GitHub, in order, so that tests can check the
// order and wait for entries.
package journal

import (
	"context"
	"slices"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/monitor"
)

// Journal keeps the entries under the monitor's lock.
type Journal struct {
	mon     *monitor.Monitor
	clock   func() time.Time
	entries []Entry
}

// New is an empty journal.
func New(mon *monitor.Monitor, clock func() time.Time) *Journal {
	return &Journal{mon: mon, clock: clock}
}

// Entry is one event, in order. The kinds are those of webhooks where there is one ("issues.opened", "issues.labeled",
// "issue_comment.created", "issue_comment.edited", "pull_request.opened", "pull_request.synchronize",
// "pull_request.ready_for_review", "pull_request_review.submitted", "pull_request_review_comment.created",
// "check_run.created", "check_run.completed", "check_suite.completed", "workflow_run.completed",
// "installation.created", "status", …), and in addition: "repository.created", "repository.deleted", "push",
// "push.created", "push.deleted", "push.forced", "pull_request.merged", "reaction.created", "label.created",
// "label.edited", "merge_group.checks_requested", "workflow_run.job_broken", "check_run.in_progress",
// "check_run.rerequested", "check_run.requested_action", "check_suite.rerequested", "workflow_run.rerequested" and
// "app.created".
type Entry struct {
	Seq    int       // 1, 2, 3, …
	At     time.Time // by the simulator's clock
	Kind   string    // event and action: "issue_comment.created", "push", "check_run.completed"
	Actor  string    // login; a bot's ends in [bot]
	Repo   string    // owner/name
	Number int       // issue or pull request; 0 when it is about neither
	Ref    string    // branch, check or label name, or comment id, by kind
	SHA    string    // commit, where there is one
	Detail string    // title, body, conclusion or state, by kind
}

// Note appends an entry; the lock is held.
func (j *Journal) Note(e Entry) {
	e.Seq, e.At = len(j.entries)+1, j.clock()
	j.entries = append(j.entries, e)
	j.mon.Signal()
}

// Entries are all entries; the lock is held.
func (j *Journal) Entries() []Entry { return j.entries }

// Timeline is everything that happened so far. With kinds, only entries of
// these kinds.
func (j *Journal) Timeline(kinds ...string) []Entry {
	j.mon.Lock()
	defer j.mon.Unlock()
	var es []Entry
	for _, e := range j.entries {
		if len(kinds) == 0 || slices.Contains(kinds, e.Kind) {
			es = append(es, e)
		}
	}
	return es
}

// WaitEntry returns the first entry after sequence number after that match accepts, waiting for it if needed, or the
// context's error. match is called with the lock held, so it must not call the simulator.
func (j *Journal) WaitEntry(ctx context.Context, after int, match func(Entry) bool) (Entry, error) {
	var found Entry
	next := max(after, 0)
	err := j.mon.Await(ctx, func() bool {
		for ; next < len(j.entries); next++ {
			if match(j.entries[next]) {
				found = j.entries[next]
				return true
			}
		}
		return false
	})
	return found, err
}
