package web

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Reader supplies the data of pages. [store.Store] implements it.
type Reader interface {
	Task(ctx context.Context, id sia.TaskID) (sia.Task, error)
	FindTasks(ctx context.Context, v store.Visibility, f store.Find) ([]sia.Task, error)
	CountOpen(ctx context.Context, v store.Visibility) ([]store.OpenCount, error)
	Weeks(ctx context.Context, v store.Visibility, until time.Time, n int) ([]store.Week, error)
	Costs(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.Cost, error)
	TeamCosts(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.TeamCost, error)
	Pulse(ctx context.Context, v store.Visibility, id sia.TaskID) (string, error)

	Turns(ctx context.Context, id sia.TaskID, attempt int) ([]json.RawMessage, error)
	EventsInBrief(ctx context.Context, id sia.TaskID) ([]store.EventRecord, error)
	Decisions(ctx context.Context, id sia.TaskID) ([]sia.Decision, error)
	Retries(ctx context.Context, id sia.TaskID) ([]store.Retry, error)

	TechniqueTallies(ctx context.Context, v store.Visibility, repo int64) ([]store.Tally, error)
	CoderTallies(ctx context.Context, v store.Visibility, repo int64) ([]store.Tally, error)
	CoderKindTallies(ctx context.Context, v store.Visibility, repo int64) ([]store.Tally, error)
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
}

// Doer carries out what people request on pages, as a comment of theirs would: under the same permission, as reported
// by GitHub; the operator ([sia.Actor].Operator) needs none. The answer is for people: what happened, or why nothing
// did.
type Doer interface {
	// Say gives a task a command, as in a comment, such as "/sia answer B".
	Say(ctx context.Context, by sia.Actor, task sia.TaskID, line string) (answer string, err error)
	// Teach stores or forgets a lesson in a repository.
	Teach(ctx context.Context, by sia.Actor, repo store.Repository, teach sia.Teach) (answer string, err error)
	// EditLesson replaces a lesson with a draft and returns the resulting one. The error is [lesson.Refused] or a
	// *[lesson.StaleError] if the draft is refused.
	EditLesson(
		ctx context.Context, by sia.Actor, repo store.Repository, id lesson.ID, d lesson.Draft,
	) (lesson.Lesson, error)
	// Halt pauses an installation, and Lift ends that. The caller checks permission.
	Halt(ctx context.Context, by sia.Actor, installation int64) (answer string, err error)
	Lift(ctx context.Context, by sia.Actor, installation int64) (answer string, err error)
	// SetUpAgain tries again to set up repositories of an installation. The caller checks permission.
	SetUpAgain(ctx context.Context, by sia.Actor, installation int64, repos []sia.Repo) (answer string, err error)
	// ProposeSettings has settings proposed to a repository in a pull request. The caller checks permission.
	ProposeSettings(ctx context.Context, by sia.Actor, repo store.Repository) (answer string, err error)
}

// Sharer approves sharing a lesson, learned in two repositories of an owner, with all of them.
type Sharer interface {
	// Shareable returns a lesson of an installation as it would be shared, or already is. The error is [lesson.Refused]
	// if it can't be.
	Shareable(ctx context.Context, installation int64, id lesson.ID) (v store.SharedLesson, already bool, err error)
	Share(
		ctx context.Context, installation int64, id lesson.ID, by string,
	) (shared store.SharedLesson, isNew bool, err error)
	// Unshare takes back a shared lesson. The error is [lesson.Refused] if it is not shared.
	Unshare(
		ctx context.Context, installation int64, id lesson.ID, by string,
	) (was store.SharedLesson, out store.Unshared, err error)
}

// Settings returns the settings in force in a repository, with their source.
type Settings interface {
	Kept(ctx context.Context, installation int64, repo sia.Repo) (set sia.InForce, read bool, err error)
}

// Differ compares two commits of a repository without fetching: missing commits are [gitops.ErrNotHere]. more counts
// the changed files left out.
type Differ interface {
	Diff(ctx context.Context, installation int64, repo sia.Repo, from, to sia.SHA) (d gitops.Diff, more int, err error)
}

// Models returns the results of a short conversation with each configured model.
type Models interface {
	Probed() []llm.Probed
}

// Adviser supplies policies, and the decisions that they learn from.
type Adviser interface {
	// InForce returns the policies that may apply in a repository, including the shipped ones.
	InForce(ctx context.Context, repo store.Repository) (*policies.Set, error)
	// Mined returns the decisions with a known outcome.
	Mined(ds []sia.Decision) []mine.Decision
}
