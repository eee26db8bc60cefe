package web

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Reader is where pages come from. [store.Store] is one.
type Reader interface {
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	FindTasks(ctx context.Context, v store.Visibility, f store.Find) ([]sia.Task, error)
	CountStates(ctx context.Context, v store.Visibility) (map[sia.State]int, error)
	CountOpen(ctx context.Context, v store.Visibility) (waiting, going int, err error)
	Weeks(ctx context.Context, v store.Visibility, until time.Time, n int) ([]store.Week, error)
	Costs(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.Cost, error)
	TeamCosts(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.TeamCost, error)
	Pulse(ctx context.Context, v store.Visibility, id sia.TaskID) (string, error)

	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	Events(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	Retries(ctx context.Context, id sia.TaskID) ([]store.Retry, error)

	TechniqueTallies(ctx context.Context, v store.Visibility, repo int64) ([]store.Tally, error)
	CoderTallies(ctx context.Context, v store.Visibility, repo int64) ([]store.Tally, error)
	PatternTallies(ctx context.Context, v store.Visibility, repo int64, lately time.Time) ([]store.PatternTally, error)
	LastDecisions(
		ctx context.Context, v store.Visibility, repo int64, typ sia.DecisionType, limit int,
	) ([]sia.Decision, error)

	Experiments(ctx context.Context, installation int64, open bool) ([]store.Experiment, error)
	ExperimentTasks(ctx context.Context, experiment string) ([]store.ExperimentTask, error)
	ExperimentEvents(ctx context.Context, experiment string) ([]store.ExperimentEvent, error)

	Lessons(ctx context.Context, repo int64) ([]lesson.Lesson, error)
	Lesson(ctx context.Context, repo int64, id lesson.ID) (lesson.Lesson, error)
	LessonEvidence(ctx context.Context, repo int64, id lesson.ID) ([]lesson.Evidence, error)

	Installations(ctx context.Context) ([]store.Installation, error)
	Repository(ctx context.Context, id int64) (store.Repository, error)
	SeenRepositories(ctx context.Context, v store.Visibility) ([]store.Repository, error)
	Setups(ctx context.Context, installation int64) ([]store.Setup, error)
	SetupPulse(ctx context.Context, installation int64) (string, error)
	Halts(ctx context.Context) ([]store.Halt, error)

	Runners(ctx context.Context) ([]store.Runner, error)
	RunnerStandings(ctx context.Context) ([]store.RunnerStanding, error)
}

// Doer does what people ask for on pages, as a comment of theirs would have it done: under the
// same permission, which is GitHub's answer; who runs the server ([sia.Actor].Operator) needs
// none. The answer is for people: what happened, or why nothing did.
type Doer interface {
	// Say has a task hear a command as it would stand in a comment, such as "/sia answer B".
	Say(ctx context.Context, by sia.Actor, task sia.TaskID, line string) (answer string, err error)
	// Teach has something remembered or forgotten in a repository.
	Teach(ctx context.Context, by sia.Actor, repo store.Repository, teach sia.Teach) (answer string, err error)
	// EditLesson makes a lesson what a draft says, and returns the one that then stands for it. The error is
	// [lesson.Refused] or a *[lesson.StaleError] where the draft is not taken.
	EditLesson(
		ctx context.Context, by sia.Actor, repo store.Repository, id lesson.ID, d lesson.Draft,
	) (lesson.Lesson, error)
	// Halt pauses all of an installation, and Lift ends that. Who may is for the caller to know.
	Halt(ctx context.Context, by sia.Actor, installation int64) (answer string, err error)
	Lift(ctx context.Context, by sia.Actor, installation int64) (answer string, err error)
}

// Sharer approves that all repositories of an owner are told a lesson that two of them learned.
type Sharer interface {
	Share(ctx context.Context, id lesson.ID, by string) (shared store.SharedLesson, isNew bool, err error)
}

// Settings says what is in force in a repository, and from where.
type Settings interface {
	Kept(ctx context.Context, installation int64, repo sia.Repo) (set sia.InForce, read bool, err error)
}

// Differ shows what lies between two commits of a repository, by what the server has of it: nothing
// is fetched, and what it has not is [gitops.ErrNotHere]. more is how many changed files are left
// out.
type Differ interface {
	Diff(ctx context.Context, installation int64, repo sia.Repo, from, to sia.SHA) (d gitops.Diff, more int, err error)
}

// Models says what a short conversation with each configured model showed.
type Models interface {
	Probed() []llm.Probed
}

// Adviser ranks techniques for a pattern of failure in a repository as they would be chosen now, the
// best first, and says why.
type Adviser interface {
	Advise(ctx context.Context, repo store.Repository, p sia.Pattern) (ranked []sia.Candidate, why string, err error)
	// Assign ranks the coders that may work there for a new task of a kind.
	Assign(ctx context.Context, repo store.Repository, kind policies.Kind) (ranked []coder.Option, why string, err error)
	// InForce is the policies that may hold in a repository, the shipped ones among them.
	InForce(ctx context.Context, repo store.Repository) (*policies.Set, error)
	// Mined are the decisions with a known outcome.
	Mined(ds []sia.Decision) []mine.Decision
}
