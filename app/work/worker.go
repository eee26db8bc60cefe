package work

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/policies/coder"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/technique"
)

// Settings reads the settings in force in a repository.
type Settings interface {
	// At reads the settings at a commit of a task's base branch.
	At(ctx context.Context, installation int64, repo sia.Repo, branch, sha string) (sia.InForce, error)
	// Techniques returns the techniques that a task can use. The warning, for users, names what can't be read.
	Techniques(ctx context.Context, t sia.Task) (_ *technique.Library, warning string, err error)
	// ReadPolicies stores the policies of the owner and, if the task's base branch is the default branch, those at a
	// commit of it. The warning, for users, names what can't be read.
	ReadPolicies(ctx context.Context, installation int64, repo sia.Repo, branch, sha string) (warning string, err error)
	// Policies returns the policies that may be in force in a repository, as last read.
	Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error)
}

// Decider answers decisions about tasks by the policies in force.
type Decider interface {
	// InForce returns the policy for a decision that is made within an effect other than [sia.DoDecide], and the context
	// of the decision.
	InForce(ctx context.Context, set *policies.Set, t sia.Task, typ policies.Type, language string, coders int) (
		policies.Policy, policies.Context, error)
	// Decide answers the decision of an effect. The caller logs the answer before it takes effect.
	Decide(ctx context.Context, set *policies.Set, t sia.Task, f sia.Effect, language string,
		coders []coder.Candidate) (sia.Decision, policies.Policy, error)
	// Observe records the result of the task's attempts so far.
	Observe(ctx context.Context, t sia.Task) error
}

// Looker reads from GitHub what a lost delivery would have reported.
type Looker interface {
	// Issue reads a task's issue and the comments on it and on its pull request.
	Issue(ctx context.Context, t sia.Task) (github.Issue, error)
}

// Chooser decides which technique the next attempt uses, and learns from its result.
type Chooser interface {
	// Choose decides by a policy; language is the language of the task's repository.
	Choose(
		t sia.Task, language string, f sia.Effect, q diagnose.Choice, by bandit.Policy, trials technique.Trials,
	) (diagnose.Chosen, error)
	// Candidates returns the techniques that could be tried on a pattern, best first.
	Candidates(trials technique.Trials, t sia.Task, language string, p sia.Pattern, by bandit.Policy) []sia.Candidate
	// Trials returns the part of a library that a task's next choice may use.
	Trials(ctx context.Context, t sia.Task, library *technique.Library) (technique.Trials, error)
	// Observe records the result of the task's interventions so far.
	Observe(ctx context.Context, t sia.Task) error
}

// Lessons are texts learned in all repositories.
type Lessons interface {
	// FromTask stores what a task has taught so far. said returns the comments of users on it.
	FromTask(ctx context.Context, t sia.Task, tools []string, said func(context.Context) ([]string, error)) error
	// ForAttempt chooses the lessons for the next attempt, and those withheld from it.
	ForAttempt(ctx context.Context, t sia.Task, set sia.Settings) (told, withheld []lesson.Lesson, err error)
	// ForTools chooses the lessons shown at the first call of a tool, in addition to chosen.
	ForTools(ctx context.Context, t sia.Task, set sia.Settings, chosen ...lesson.Lesson) ([]sia.ToolLesson, error)
	// ForDiagnosis returns the lessons that fit a failed attempt.
	ForDiagnosis(ctx context.Context, t sia.Task) ([]string, error)
	// TakeShared adds to a repository the lessons that are shared with it and that it lacks.
	TakeShared(ctx context.Context, repo int64) error
}

// Memory is the memory branch of each repository.
type Memory interface {
	// Commit commits the memory of a task.
	Commit(ctx context.Context, t sia.Task) (sia.MemoryCommitted, error)
	// Read imports the changes that users made on a branch; by is their author, if known.
	Read(ctx context.Context, installation int64, repo sia.Repo, branch string, by sia.Actor) (warning string, err error)
}

// Canceller stops a running effect.
type Canceller interface {
	CancelEffect(ctx context.Context, key string) error
}

// Remote runs attempts and tests on other machines.
type Remote interface {
	// Agent returns an agent for the attempt of an effect. The attempt begins at commit start and uses the named coder.
	// byModel makes the coder's model itself do it, even if the repository names a command.
	Agent(t sia.Task, f sia.Effect, start, coder string, byModel bool) agent.Agent
	// RunsTests reports whether tests can be run. The methods below run them for an effect of a task; see
	// [evidence.Looker.Look], [evidence.Looker.Affected] and [agent.Commands.Check]. Tests that no machine could run are
	// reported like those that can't be run here, by Affected as an error.
	RunsTests(ctx context.Context) bool
	Look(ctx context.Context, t sia.Task, f sia.Effect, head string) (sia.TestEvidence, error)
	Affected(ctx context.Context, t sia.Task, f sia.Effect, commit string, within time.Duration) (agent.TestsRun, error)
	Check(ctx context.Context, t sia.Task, f sia.Effect, commit string, commands []string, baseline *sia.CheckRun) (
		[]sia.CheckRun, error)
}

// Coders are the coders that may work on tasks.
type Coders struct {
	All   []Coder  // at least one; the first is the default
	Tools []string // names of the builtin agent's tools
}

// Coder is a model and the agent that runs it: the builtin agent, the command that a repository names, or a command of
// its own.
type Coder struct {
	Name     string  // as configured on the server
	Cost     float64 // expected credits of an attempt before any has been observed; 0: unknown
	Prior    float64 // expected share of tasks resolved, from the shipped table; 0: unknown
	Known    string  // the model's name in that table; empty: not listed
	Builtin  agent.Agent
	Commands *agent.CommandAgents // command agents with this model
	Command  string               // the coder's own command; empty: as the repository's settings say
}

// Agent returns the coder's agent under a repository's settings.
func (c Coder) Agent(s sia.AgentSettings) agent.Agent {
	if c.Command != "" {
		s.Kind, s.Command, s.Env = "command", c.Command, nil
	}
	if a, ok := c.Commands.Agent(s); ok {
		return a
	}
	return c.Builtin
}

// Deps are the dependencies of a [Worker]. All are required except Remote and the bool fields.
type Deps struct {
	Store       Store
	GitHub      *github.App
	Git         *gitops.Cache
	Coders      Coders
	Diagnoser   *diagnose.Diagnoser
	Reviewer    *diagnose.Reviewer
	Checker     *agent.Commands
	Evidence    *evidence.Looker
	Settings    Settings
	Looker      Looker
	Chooser     Chooser
	Decider     Decider
	Lessons     Lessons
	Memory      Memory
	Canceller   Canceller
	Remote      Remote // runs attempts and tests on other machines; nil: they run here
	Links       render.Links
	Secrets     *secret.Masker // masks the output of every effect
	Logger      *slog.Logger
	Now         func() time.Time
	Shared      bool              // other processes execute effects too: one new here may have run there
	Anonymous   bool              // a local run without GitHub: commits contain neither accounts nor addresses
	BeforeTests func(step string) // called before running tests that a change can affect, with a description for users

	// Findings returns sentences about what a head changes of tests, in addition to what the text and the tests show. An
	// issue can ask for them.
	Findings func(head string) []string
}

// complete returns an error that names a missing dependency.
func (d Deps) complete() error {
	for name, missing := range map[string]bool{
		"Store": d.Store == nil, "GitHub": d.GitHub == nil, "Git": d.Git == nil, "Coders.All": len(d.Coders.All) == 0,
		"Coders.Tools": len(d.Coders.Tools) == 0,
		"Diagnoser":    d.Diagnoser == nil, "Reviewer": d.Reviewer == nil, "Checker": d.Checker == nil,
		"Evidence": d.Evidence == nil, "BeforeTests": d.BeforeTests == nil, "Findings": d.Findings == nil,
		"Settings": d.Settings == nil, "Looker": d.Looker == nil, "Chooser": d.Chooser == nil, "Decider": d.Decider == nil,
		"Lessons": d.Lessons == nil, "Memory": d.Memory == nil, "Canceller": d.Canceller == nil, "Links": d.Links.Host == "",
		"Secrets": d.Secrets == nil, "Logger": d.Logger == nil, "Now": d.Now == nil,
	} {
		if missing {
			return fmt.Errorf("make a worker: %s is missing", name)
		}
	}
	return nil
}

// Worker executes effects. Create one with [New]. It is safe for concurrent use.
type Worker struct {
	*common
	start     *startWorker
	attempts  *attemptWorker
	branch    *branchWorker
	checks    *checkWorker
	decisions *decisionWorker
	learning  *learnWorker
	surfaces  *surfaceWorker
}

// common holds what all effects need.
type common struct {
	Deps
	own *ownEffects
}

// startWorker starts work on an issue, or reports why there is nothing to do.
type startWorker struct {
	*common
	branch *branchWorker
}

// attemptWorker runs coders and merges their results into a commit.
type attemptWorker struct {
	*common
	decisions *decisionWorker
	branch    *branchWorker
}

// branchWorker updates a task's branch.
type branchWorker struct{ *common }

// checkWorker reads the results of a head's checks.
type checkWorker struct {
	*common
	decisions *decisionWorker
	branch    *branchWorker
}

// decisionWorker makes decisions by the policies in force.
type decisionWorker struct {
	*common
	languages *expiring.Map[sia.SHA, string] // main language by commit
}

func newDecisionWorker(c *common) *decisionWorker {
	return &decisionWorker{c, expiring.New[sia.SHA, string](c.Now, languagesTTL, maxLanguages)}
}

// learnWorker diagnoses failed attempts, requests reviews of changes, and stores what was learned.
type learnWorker struct {
	*common
	decisions *decisionWorker
}

// surfaceWorker writes to GitHub: comments, labels, checks, pull requests.
type surfaceWorker struct{ *common }

// New returns a worker. It fails if a required dependency of d is missing.
func New(d Deps) (*Worker, error) {
	if err := d.complete(); err != nil {
		return nil, err
	}
	c := &common{d, newOwnEffects(d.Now())}
	decisions, branch := newDecisionWorker(c), &branchWorker{c}
	return &Worker{
		common: c, decisions: decisions, branch: branch, surfaces: &surfaceWorker{c}, start: &startWorker{c, branch},
		attempts: &attemptWorker{c, decisions, branch}, checks: &checkWorker{c, decisions, branch},
		learning: &learnWorker{c, decisions},
	}, nil
}

// Effect executes one effect and returns its outcome. The engine retries after an error unless it is permanent.
func (w *Worker) Effect(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if _, waited := t.Pending[f.Key]; !waited && !f.Aside {
		return sia.Done{}, nil // superseded: nothing waits for it any more
	}
	do := w.handlers()[f.Kind]
	if do == nil {
		return nil, &sia.Error{Op: "effect " + f.Key,
			Message: fmt.Sprintf("this version of SIA does not know the effect %q; update it", f.Kind), Permanent: true}
	}
	fact, err := do(ctx, t, f)
	if err != nil {
		if isDiskFull(err) {
			w.Logger.ErrorContext(ctx, "the disk of the server's folder is full: work waits until some space is free",
				"task", t.ID, "effect", f.Key, "err", err)
		}
		return nil, userError(f, err)
	}
	// A fact becomes part of the task and is copied to everything derived from it, so it is masked here.
	return sia.Masked(fact, w.Secrets.Mask), nil
}

// Spent returns the turns, tokens and cost in the saved part of an attempt.
func (w *Worker) Spent(ctx context.Context, f sia.Effect) (sia.AttemptEnded, error) {
	return w.attempts.spent(ctx, f)
}

// Repair rewrites the status comment and the labels if they differ from the task's state.
func (w *Worker) Repair(ctx context.Context, t sia.Task) error { return w.surfaces.repair(ctx, t) }

// Standing returns the current checks of a passed pull request. It runs nothing again and reads no log: the pass
// remains valid for its commit, and users are informed of what has changed.
func (w *Worker) Standing(ctx context.Context, t sia.Task) (sia.Watched, error) {
	return w.checks.checkPassed(ctx, t)
}

// Speak reports whether the checks of the task's head now decide by themselves how to continue, although a user was
// asked about them.
func (w *Worker) Speak(ctx context.Context, t sia.Task) (bool, error) {
	return w.checks.canProceed(ctx, t)
}

// handler executes effects of one kind.
type handler func(context.Context, sia.Task, sia.Effect) (sia.Fact, error)

// handlers returns a handler for every kind of effect.
func (w *Worker) handlers() map[sia.EffectKind]handler {
	return map[sia.EffectKind]handler{
		sia.DoBegin: w.start.begin,

		sia.DoDecide: w.decisions.decide,

		sia.DoAttempt:   w.attempts.attempt,
		sia.DoAggregate: w.attempts.aggregate,
		sia.DoCancel:    w.attempts.cancel,
		sia.DoEvidence:  w.attempts.evidence,

		sia.DoPush:     w.branch.push,
		sia.DoUpdate:   w.branch.update,
		sia.DoTakeBack: w.branch.takeBack,

		sia.DoGate:  w.checks.gate,
		sia.DoRerun: w.checks.rerun,
		sia.DoWatch: w.checks.watch,

		sia.DoDiagnose:    w.learning.diagnose,
		sia.DoReview:      w.learning.review,
		sia.DoWeigh:       w.learning.weigh,
		sia.DoMemory:      w.learning.memory,
		sia.DoFinalReview: w.learning.finalReview,
		sia.DoStudy:       w.learning.study,

		sia.DoPull:     w.surfaces.pull,
		sia.DoAnnounce: w.surfaces.announce,
		sia.DoEscalate: w.surfaces.escalate,
		sia.DoClose:    w.surfaces.close,
		sia.DoReady:    w.surfaces.ready,
		sia.DoDraft:    w.surfaces.draft,
		sia.DoSync:     w.surfaces.sync,
		sia.DoReact:    w.surfaces.react,
		sia.DoReply:    w.surfaces.reply,
		sia.DoRespond:  w.surfaces.respond,
	}
}

// Allowed returns the coders allowed by a repository's settings. It is never empty.
func (cs Coders) Allowed(set sia.Settings) []Coder {
	if set.Agent.Kind != "command" {
		return cs.All
	}
	own := slices.DeleteFunc(slices.Clone(cs.All), func(c Coder) bool { return c.Command != "" })
	if len(own) == 0 {
		return cs.All
	}
	return own
}

// candidates converts coders to the candidates of a policy for a task.
func candidates(t sia.Task, coders []Coder) []coder.Candidate {
	out := make([]coder.Candidate, len(coders))
	for i, c := range coders {
		out[i] = coder.Candidate{Coder: c.Name, Cost: c.Cost, Prior: c.Prior, Known: c.Known,
			Agent: c.Agent(t.Settings.Agent).Name()}
	}
	return out
}

// repo returns the task's repository on GitHub.
func (w *common) repo(t sia.Task) *github.Repo { return w.GitHub.Repo(t.Installation, t.Repo) }

// mirror returns the git mirror of the task's repository.
func (w *common) mirror(t sia.Task) *gitops.Repo { return w.Git.Repo(w.repo(t).Remote()) }

// known returns [github.Unwritten] if nothing can have written the effect's output yet, or 0 if GitHub has to be
// searched for it. The task must have been created in this process: a database restored from a backup is behind GitHub,
// and its tasks lead to the same effects again.
func (w *common) known(t sia.Task, f sia.Effect) int64 {
	if f.Key != f.First() {
		return 0
	}
	return w.knownSince(f.Key, t.CreatedAt)
}

// knownSince is like known for something with its own key that was created at time created.
func (w *common) knownSince(key string, created time.Time) int64 {
	if !w.Shared && w.own.begin(key, created, w.Now()) {
		return github.Unwritten
	}
	return 0
}

// markerLine returns the first line of everything that SIA will search for later.
func markerLine(f sia.Effect) string {
	return render.Marker{Task: f.Task, Kind: string(f.Kind), Key: f.First()}.String()
}
