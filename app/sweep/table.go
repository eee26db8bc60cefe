package sweep

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Schedule says when the periodic work runs, as robfig/cron/v3 reads it.
type Schedule struct {
	Look      string // at the tasks of which it is the turn, in case a delivery was lost
	Redeliver string // what GitHub could not deliver
	Repair    string // what people see of the tasks of which it is the turn, against what it should be
	Feedback  string // 👍 and 👎 on SIA's comments, of which GitHub sends no webhook
	Approvals string // 👍 on plans that wait for one
	Prune     string // stored deliveries, transcripts and tasks
	Heartbeat string // installations and repositories, and the lessons of repositories that are not at work
	Trials    string // the results of changed policies that are tried
	Evolve    string // the same, and whether there is room for another change
	Dashboard string // the dashboard issues of repositories that have one
	Watch     string // at the passed pull requests of which it is the turn
}

// DefaultSchedule suits GitHub's limits: a look costs two to five conditional
// requests for each task that is due.
func DefaultSchedule() Schedule {
	return Schedule{Look: "@every 1m", Redeliver: "@every 1m", Repair: "@every 1m", Feedback: "@every 15m",
		Approvals: "@every 1m", Prune: "@daily", Heartbeat: "@hourly", Trials: "@hourly", Evolve: "@daily",
		Watch: "@every 5m", Dashboard: "@every 5m"}
}

// Retention is how long what is not needed to work is kept; zero: for ever.
type Retention struct {
	Deliveries  time.Duration // since they were received, once they were worked on
	Transcripts time.Duration // and texts of attempts: since their task, which has ended, last changed
	Tasks       time.Duration // with all that is theirs: since they, who have ended, last changed
}

// flipsFor is for how long it counts how a check went on a commit: a check that flickered then may be mended since.
const flipsFor = 90 * 24 * time.Hour

// DefaultRetention keeps deliveries for longer than the three or seven days for which GitHub offers to send them again.
func DefaultRetention() Retention { return Retention{Deliveries: 8 * 24 * time.Hour} }

// Shown is what people see of tasks on GitHub.
type Shown interface {
	// Repair writes what people or chance changed as it should be; what is right already is left alone.
	Repair(ctx context.Context, t sia.Task) error
}

// Lessons are what was learned in all repositories.
type Lessons interface {
	// Tidy puts the lessons in order of every repository that is not at work and is due.
	Tidy(ctx context.Context) error
}

// Evolver tries changes of policies.
type Evolver interface {
	// Watch moves every change on, as far as the results of tasks allow.
	Watch(ctx context.Context) error
	// Evolve does so, and proposes changes where there is room for one.
	Evolve(ctx context.Context) error
}

// Dashboards are the dashboard issues of all repositories.
type Dashboards interface {
	// All brings every one up to date.
	All(ctx context.Context) error
}

// Sweeper does the periodic work. It looks with the looker, and hands what it finds beside that to the looker's intake.
// Safe for concurrent use.
type Sweeper struct {
	*Looker
	shown      Shown
	watcher    Watcher
	lessons    Lessons
	evolver    Evolver
	dashboards Dashboards
	log        *slog.Logger

	looked   turns // at tasks that have not ended
	repaired turns
	watched  turns // of tasks that have passed
	approved turns // of tasks that wait for a person, perhaps for a 👍 on a plan
	rated    turns // of tasks with comments that people may rate

	redeliveries redeliveries
}

// New returns what does the periodic work.
func New(l *Looker, shown Shown, watcher Watcher, lessons Lessons, evolver Evolver, boards Dashboards,
	log *slog.Logger,
) *Sweeper {
	return &Sweeper{
		Looker: l, shown: shown, watcher: watcher, lessons: lessons, evolver: evolver, dashboards: boards, log: log,
		looked:   turns{every: looksEvery, most: mostTurns},
		repaired: turns{every: repairsEvery, most: mostTurns, changed: true},
		watched:  turns{every: looksEvery, most: mostTurns, changed: true},
		approved: turns{most: mostReactions},
		rated:    turns{most: mostReactions},
	}
}

// Table is the cron table.
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

// heartbeat brings installations and their repositories up to date with GitHub, and tidies lessons.
func (s *Sweeper) heartbeat(ctx context.Context) error {
	return errors.Join(s.intake.Compare(ctx), s.lessons.Tidy(ctx))
}

// prune deletes what was kept for long enough.
func (s *Sweeper) prune(ctx context.Context, keep Retention) error {
	// A push may still be under way when a task is stopped.
	all := []error{s.store.PruneCommits(ctx, s.now().Add(-24*time.Hour)), s.store.PruneRunnerAttempts(ctx),
		s.store.PruneFlips(ctx, s.now().Add(-flipsFor))}
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
