package work

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/testrun/evidence"
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

// Settings gives the settings in force in a repository.
type Settings interface {
	// At gives those of a commit of a task's base branch, read anew.
	At(ctx context.Context, installation int64, repo sia.Repo, branch, sha string) (sia.InForce, error)
	// Techniques gives those that a task can use; the warning, for people, names what can't be read.
	Techniques(ctx context.Context, t sia.Task) (_ *technique.Library, warning string, err error)
	// ReadPolicies takes up the policies of a commit of a task's base branch where that is the default branch, and the
	// owner's; the warning, for people, names what can't be read.
	ReadPolicies(ctx context.Context, installation int64, repo sia.Repo, branch, sha string) (warning string, err error)
	// Policies gives those that may hold in a repository, as last read.
	Policies(ctx context.Context, installation int64, repo sia.Repo) (*policies.Set, error)
}

// Decider puts the questions of tasks to the policies in force.
type Decider interface {
	// InForce is the policy that decides about a task within another effect than that of deciding.
	InForce(ctx context.Context, set *policies.Set, t sia.Task, typ policies.Type, language string, coders int) (
		policies.Policy, error)
	// Decide answers the question of an effect; the answer is to be logged before it takes effect.
	Decide(ctx context.Context, set *policies.Set, t sia.Task, f sia.Effect, language string,
		coders []coder.Candidate) (sia.Decision, policies.Policy, error)
	// Observe records the result of the task's attempts, as far as it is known.
	Observe(ctx context.Context, t sia.Task) error
}

// Looker looks at GitHub for what a lost delivery would have said.
type Looker interface {
	// Issue looks at a task's issue and at the comments on it and on its pull request.
	Issue(ctx context.Context, t sia.Task) (github.Issue, error)
}

// Chooser decides which technique the next attempt uses, and learns its result.
type Chooser interface {
	// Choose decides by a policy; language is that of the task's repository.
	Choose(
		t sia.Task, language string, f sia.Effect, q diagnose.Choice, by bandit.Policy, trials technique.Trials,
	) (diagnose.Chosen, error)
	// Candidates are the techniques that could be tried on a pattern, the best first.
	Candidates(trials technique.Trials, t sia.Task, language string, p sia.Pattern, by bandit.Policy) []sia.Candidate
	// Trials says what of a library a task's next choice may use.
	Trials(ctx context.Context, t sia.Task, library *technique.Library) (technique.Trials, error)
	// Observe records the result of the task's interventions, as far as it is known.
	Observe(ctx context.Context, t sia.Task) error
}

// Lessons are what was learned in all repositories, in words.
type Lessons interface {
	// FromTask keeps what a task taught so far. said gives what people said about it.
	FromTask(ctx context.Context, t sia.Task, tools []string, said func(context.Context) ([]string, error)) error
	// ForAttempt chooses what the next attempt is told, and what is withheld from it.
	ForAttempt(ctx context.Context, t sia.Task, set sia.Settings) (told, withheld []lesson.Lesson, err error)
	// ForTools chooses what it meets when it first calls a tool, beside what was chosen.
	ForTools(ctx context.Context, t sia.Task, set sia.Settings, chosen ...lesson.Lesson) ([]sia.ToolLesson, error)
	// ForDiagnosis gives the lessons that fit a failed attempt.
	ForDiagnosis(ctx context.Context, t sia.Task) ([]string, error)
	// TakeShared gives a repository what is shared with it and what it does not have.
	TakeShared(ctx context.Context, repo int64) error
}

// Memory is the memory branch of each repository.
type Memory interface {
	// Commit commits what is known about a task.
	Commit(ctx context.Context, t sia.Task) (sia.MemoryCommitted, error)
	// Read takes up what people changed on a branch; by is who did, where that is known.
	Read(ctx context.Context, installation int64, repo sia.Repo, branch string, by sia.Actor) (warning string, err error)
}

// Canceller stops a running effect.
type Canceller interface {
	CancelEffect(ctx context.Context, key string) error
}

// Elsewhere makes agents that have an attempt made on another machine.
type Elsewhere interface {
	// Agent makes the attempt of an effect, which begins on a commit, as a coder would. byModel has the coder's model
	// itself make it, also where its repository names a command.
	Agent(t sia.Task, f sia.Effect, start, coder string, byModel bool) agent.Agent
}

// Coders are those that may work on tasks.
type Coders struct {
	All   []Coder  // the first is asked where nothing else decides; at least one
	Tools []string // names of the builtin agent's tools
}

// Coder is a model, and how it is put to work: by the builtin agent, by the command that a
// repository names, or by one of its own.
type Coder struct {
	Name     string  // in the server's configuration
	Cost     float64 // credits that an attempt is expected to cost before any was seen; 0: unknown
	Prior    float64 // share of tasks that it is expected to resolve, by the shipped table; 0: unknown
	Known    string  // name by which that table knows its model; empty: it does not
	Builtin  agent.Agent
	Commands *agent.CommandAgents // agents that are commands, with this model
	Command  string               // that it always works by; empty: as the repository's settings say
}

// Agent is the agent that the coder works by under a repository's settings.
func (c Coder) Agent(s sia.AgentSettings) agent.Agent {
	if c.Command != "" {
		s.Kind, s.Command, s.Env = "command", c.Command, nil
	}
	if a, ok := c.Commands.Agent(s); ok {
		return a
	}
	return c.Builtin
}

// Deps is what a [Worker] works with. Everything is needed but what is false.
type Deps struct {
	Store     Store
	GitHub    *github.App
	Git       *gitops.Cache
	Coders    Coders
	Diagnoser *diagnose.Diagnoser
	Reviewer  *diagnose.Reviewer
	Checker   *agent.Commands
	Evidence  *evidence.Looker
	Settings  Settings
	Looker    Looker
	Chooser   Chooser
	Decider   Decider
	Lessons   Lessons
	Memory    Memory
	Canceller Canceller
	Elsewhere Elsewhere // has attempts made on other machines; nil: they are made here
	Links     render.Links
	Secrets   *secret.Masker // what leaves an effect is masked with it
	Logger    *slog.Logger
	Now       func() time.Time
	Shared    bool              // other processes carry out effects as well: what this one never began, another may have
	Alone     bool              // one person's machine, without GitHub: commits name neither accounts nor addresses
	Begins    func(step string) // is called before tests are run that a change can reach, with words for people
}

// complete names what is missing.
func (d Deps) complete() error {
	for name, missing := range map[string]bool{
		"Store": d.Store == nil, "GitHub": d.GitHub == nil, "Git": d.Git == nil, "Coders.All": len(d.Coders.All) == 0,
		"Coders.Tools": len(d.Coders.Tools) == 0,
		"Diagnoser":    d.Diagnoser == nil, "Reviewer": d.Reviewer == nil, "Checker": d.Checker == nil,
		"Evidence": d.Evidence == nil, "Begins": d.Begins == nil,
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

// Worker carries out effects. Make one with [New]. It is safe for concurrent use.
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

// common is what all effects work with.
type common struct {
	Deps
	firsts *ownEffects
}

// startWorker takes up an issue, or says why there is nothing to do.
type startWorker struct {
	*common
	branch *branchWorker
}

// attemptWorker lets coders work, and joins what they made into a commit.
type attemptWorker struct {
	*common
	decisions *decisionWorker
	branch    *branchWorker
}

// branchWorker moves a task's branch.
type branchWorker struct{ *common }

// checkWorker finds out what the checks of a head say.
type checkWorker struct {
	*common
	decisions *decisionWorker
	branch    *branchWorker
}

// decisionWorker puts questions to the policies in force.
type decisionWorker struct {
	*common
	mu        sync.Mutex
	languages map[sia.SHA]string // that most files of a commit are written in; at most maxLanguages
}

// learnWorker finds out why an attempt failed, has changes read, and keeps what was learned.
type learnWorker struct {
	*common
	decisions *decisionWorker
}

// surfaceWorker writes what people see on GitHub: comments, labels, checks, pull requests.
type surfaceWorker struct{ *common }

// New returns a worker; it is an error when anything of d is missing.
func New(d Deps) (*Worker, error) {
	if err := d.complete(); err != nil {
		return nil, err
	}
	c := &common{d, newOwnEffects(d.Now())}
	decisions, branch := &decisionWorker{common: c}, &branchWorker{c}
	return &Worker{
		common: c, decisions: decisions, branch: branch, surfaces: &surfaceWorker{c}, start: &startWorker{c, branch},
		attempts: &attemptWorker{c, decisions, branch}, checks: &checkWorker{c, decisions, branch},
		learning: &learnWorker{c, decisions},
	}, nil
}

// Effect carries out one effect and returns its outcome. An error is retried by
// the engine unless it is permanent.
func (w *Worker) Effect(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if _, waited := t.Pending[f.Key]; !waited && !f.Aside {
		return sia.Done{}, nil // superseded: nobody waits for it any more
	}
	do := w.handlers()[f.Kind]
	if do == nil {
		return nil, &sia.Error{Op: "effect " + f.Key,
			Message: fmt.Sprintf("this version of SIA does not know the effect %q; update it", f.Kind), Permanent: true}
	}
	fact, err := do(ctx, t, f)
	if err != nil {
		return nil, forPeople(f, err)
	}
	// What is in a fact is in the task from then on, and goes wherever that goes.
	return sia.Masked(fact, w.Secrets.Mask), nil
}

// Spent is the turns, the tokens and the cost of what was saved of an attempt.
func (w *Worker) Spent(ctx context.Context, f sia.Effect) (sia.AttemptEnded, error) {
	return w.attempts.spent(ctx, f)
}

// Repair writes status comment and labels again where people or chance changed them; what is right
// already is left alone.
func (w *Worker) Repair(ctx context.Context, t sia.Task) error { return w.surfaces.repair(ctx, t) }

// Standing is what a passed pull request's checks show now. Nothing is run again and no log is read: the pass stays
// with the commit that it was given to, and people are told what has changed.
func (w *Worker) Standing(ctx context.Context, t sia.Task) (sia.Watched, error) {
	return w.checks.standing(ctx, t)
}

// Speak reports whether the checks of a task's head, about which a person is asked, say by themselves now how it goes
// on.
func (w *Worker) Speak(ctx context.Context, t sia.Task) (bool, error) { return w.checks.speak(ctx, t) }

// handler carries out effects of one kind.
type handler func(context.Context, sia.Task, sia.Effect) (sia.Fact, error)

// handlers has one for every kind of effect.
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

// MayWork are those that may work under a repository's settings. Never none.
func (cs Coders) MayWork(set sia.Settings) []Coder {
	if set.Agent.Kind != "command" {
		return cs.All
	}
	own := slices.DeleteFunc(slices.Clone(cs.All), func(c Coder) bool { return c.Command != "" })
	if len(own) == 0 {
		return cs.All
	}
	return own
}

// Candidates are coders as a policy chooses among them.
func Candidates(coders []Coder) []coder.Candidate {
	out := make([]coder.Candidate, len(coders))
	for i, c := range coders {
		out[i] = coder.Candidate{Coder: c.Name, Cost: c.Cost, Prior: c.Prior, Known: c.Known}
	}
	return out
}

// repo is the task's repository on GitHub.
func (w *common) repo(t sia.Task) *github.Repo { return w.GitHub.Repo(t.Installation, t.Repo) }

// mirror is the task's repository in git.
func (w *common) mirror(t sia.Task) *gitops.Repo { return w.Git.Repo(w.repo(t).Remote()) }

// known is in the place of the id of what an effect writes: that nobody can have written it yet, or that it is to be
// looked for. The task has to have begun in this process: a database that was restored from a backup knows less than
// GitHub, and leads to the same effects again.
func (w *common) known(t sia.Task, f sia.Effect) int64 {
	if f.Key != f.First() {
		return 0
	}
	return w.knownSince(f.Key, t.CreatedAt)
}

// knownSince is as known, of what has a key of its own and came up at a time.
func (w *common) knownSince(key string, came time.Time) int64 {
	if !w.Shared && w.firsts.first(key, came, w.Now()) {
		return github.Unwritten
	}
	return 0
}

// markerLine is the first line of everything SIA will look for again.
func markerLine(f sia.Effect) string {
	return render.Marker{Task: f.Task, Kind: string(f.Kind), Key: f.First()}.String()
}
