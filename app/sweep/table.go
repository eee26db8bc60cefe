package sweep

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Schedule has the times of the periodic work, in the syntax of robfig/cron/v3.
type Schedule struct {
	Look      string // look at due tasks, in case a delivery was lost
	Redeliver string // request redelivery of failed deliveries
	Repair    string // repair SIA's output on GitHub for due tasks
	Feedback  string // poll 👍 and 👎 on SIA's comments, for which GitHub sends no webhook
	Approvals string // poll 👍 on plans that wait for approval
	Prune     string // delete old deliveries, transcripts and tasks
	Heartbeat string // apply halts, sync installations and repositories, and tidy the lessons of idle repositories
	Trials    string // evaluate the trials of changed policies
	Evolve    string // the same, and propose changes
	Dashboard string // update the dashboard issues
	Watch     string // look at due pull requests that have passed
}

// DefaultSchedule suits GitHub's limits: a look costs two to five conditional
// requests for each task that is due.
func DefaultSchedule() Schedule {
	return Schedule{Look: "@every 1m", Redeliver: "@every 1m", Repair: "@every 1m", Feedback: "@every 15m",
		Approvals: "@every 1m", Prune: "@daily", Heartbeat: "@hourly", Trials: "@hourly", Evolve: "@daily",
		Watch: "@every 5m", Dashboard: "@every 5m"}
}

// Retention has the retention periods of data that is not needed any more; zero: forever.
type Retention struct {
	Deliveries  time.Duration // of finished deliveries, since they were received
	Transcripts time.Duration // of transcripts and texts of ended tasks, since the task's last change
	Tasks       time.Duration // of ended tasks with all of their data, since the last change
}

// flipRetention is the retention period of flips: a check that was flaky before may have been fixed since.
const flipRetention = 90 * 24 * time.Hour

// DefaultRetention keeps deliveries for longer than the three or seven days in which GitHub can redeliver them.
func DefaultRetention() Retention { return Retention{Deliveries: 8 * 24 * time.Hour} }

// Repairer repairs SIA's output for tasks on GitHub.
type Repairer interface {
	// Repair restores the parts that were changed by users or errors.
	Repair(ctx context.Context, t sia.Task) error
}

// Lessons manages the lessons of all repositories.
type Lessons interface {
	// Tidy tidies the lessons of every idle repository that is due.
	Tidy(ctx context.Context) error
}

// Evolver tries changes of policies.
type Evolver interface {
	// Watch advances every change, if the results of tasks allow it.
	Watch(ctx context.Context) error
	// Evolve does the same, and proposes changes if the limits allow it.
	Evolve(ctx context.Context) error
}

// Dashboards manages the dashboard issues of all repositories.
type Dashboards interface {
	// All updates all of them.
	All(ctx context.Context) error
}

// Sweeper does the periodic work. It is safe for concurrent use.
type Sweeper struct {
	*Looker
	repairer   Repairer
	watcher    Watcher
	lessons    Lessons
	evolver    Evolver
	dashboards Dashboards
	log        *slog.Logger

	looked   schedule // of tasks that have not ended
	repaired schedule
	watched  schedule // of tasks that have passed
	approved schedule // of tasks that wait for a user, perhaps for a 👍 on a plan
	rated    schedule // of tasks with comments that users may rate

	taken        takenReactions
	redeliveries redeliveries
}

// New returns a sweeper.
func New(l *Looker, repairer Repairer, watcher Watcher, lessons Lessons, evolver Evolver, boards Dashboards,
	log *slog.Logger,
) *Sweeper {
	return &Sweeper{
		Looker: l, repairer: repairer, watcher: watcher, lessons: lessons, evolver: evolver, dashboards: boards, log: log,
		looked:   schedule{every: lookIntervals, max: maxPerRound},
		repaired: schedule{every: repairIntervals, max: maxPerRound, fromLastChange: true},
		watched:  schedule{every: lookIntervals, max: maxPerRound, fromLastChange: true},
		approved: schedule{max: maxReactionTasks},
		rated:    schedule{max: maxReactionTasks},
	}
}

// Table returns the periodic jobs.
func (s *Sweeper) Table(c Schedule, keep Retention) []store.Periodic {
	return []store.Periodic{
		{Name: "look", Spec: c.Look, Run: s.looks},
		{Name: "redeliver", Spec: c.Redeliver, Run: s.redeliver},
		{Name: "repair", Spec: c.Repair, Run: s.repair},
		{Name: "feedback", Spec: c.Feedback, Run: s.feedback},
		{Name: "approvals", Spec: c.Approvals, Run: s.approvals},
		{Name: "prune", Spec: c.Prune, Run: func(ctx context.Context) error { return s.prune(ctx, keep) }},
		{Name: "heartbeat", Spec: c.Heartbeat, Run: s.heartbeat},
		{Name: "trials", Spec: c.Trials, Run: s.evolver.Watch},
		{Name: "evolve", Spec: c.Evolve, Run: s.evolver.Evolve},
		{Name: "watch", Spec: c.Watch, Run: s.watch},
		{Name: "dashboard", Spec: c.Dashboard, Run: s.dashboards.All},
	}
}

// heartbeat makes the tasks agree with the halts, syncs installations and their repositories with GitHub, and tidies
// lessons.
func (s *Sweeper) heartbeat(ctx context.Context) error {
	return errors.Join(s.store.ApplyHalts(ctx, s.now()), s.intake.Compare(ctx), s.lessons.Tidy(ctx))
}

// prune deletes data after its retention period.
func (s *Sweeper) prune(ctx context.Context, keep Retention) error {
	// A push may still be running when a task is stopped.
	all := []error{s.store.PruneCommits(ctx, s.now().Add(-24*time.Hour)), s.store.PruneRunnerAttempts(ctx),
		s.store.PruneFlips(ctx, s.now().Add(-flipRetention))}
	if keep.Deliveries > 0 {
		_, err := s.store.PruneDeliveries(ctx, s.now().Add(-keep.Deliveries))
		all = append(all, err)
	}
	if keep.Transcripts > 0 {
		n, err := s.store.PruneTranscripts(ctx, s.now().Add(-keep.Transcripts))
		if n > 0 {
			s.log.InfoContext(ctx, "transcripts of ended tasks were deleted", "rows", n)
		}
		all = append(all, err)
	}
	if keep.Tasks > 0 {
		n, err := s.store.PruneTasks(ctx, s.now().Add(-keep.Tasks))
		if n > 0 {
			s.log.InfoContext(ctx, "ended tasks were deleted", "tasks", n)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}
