package work

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/diagnose"
	"github.com/sia-bot/sia/sia/secret"
)

// Intake takes what the worker finds when it looks at GitHub, as if a delivery
// had said so.
type Intake interface {
	// Comments takes new comments on an issue or pull request; what was taken
	// before counts no second time.
	Comments(ctx context.Context, t sia.Task, on github.Issue, comments []github.Comment) error
	// Take takes any other finding.
	Take(ctx context.Context, intent sia.Intent) error
}

// Canceller stops a running effect.
type Canceller interface {
	CancelEffect(ctx context.Context, key string) error
}

// Worker carries out effects. Its fields are set once, before it is used; it is
// safe for concurrent use.
type Worker struct {
	Store     *store.Store
	GitHub    *github.App
	Git       *gitops.Cache
	Agent     agent.Agent     // the builtin one
	Tools     []string        // names of its tools
	Commands  *agent.Commands // agents that are commands
	Diagnoser *diagnose.Diagnoser
	Reviewer  *diagnose.Reviewer
	Learner   Learner
	Setup     string // names the models and prompts in use, so that what was learned under others counts for less
	Intake    Intake
	Canceller Canceller
	Links     render.Links
	Secrets   *secret.Masker // what leaves an effect is masked with it; nil masks by shape alone
	Logger    *slog.Logger
	Now       func() time.Time

	required sync.Map // repo and branch → requiredAnswer
	replay   replay
}

// Effect carries out one effect and returns its outcome. An error is retried by
// the engine unless it is permanent.
func (w *Worker) Effect(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if _, waited := t.Pending[f.Key]; !waited {
		return sia.Done{}, nil // superseded: nobody waits for it any more
	}
	do := map[sia.EffectKind]func(context.Context, sia.Task, sia.Effect) (sia.Fact, error){
		sia.DoBegin: w.begin, sia.DoAttempt: w.attempt, sia.DoCancel: w.cancel, sia.DoPush: w.push, sia.DoPull: w.pull,
		sia.DoGate: w.gate, sia.DoRerun: w.rerun, sia.DoDiagnose: w.diagnose, sia.DoReview: w.review, sia.DoMemory: w.memory,
		sia.DoAnnounce: w.announce, sia.DoEscalate: w.escalate, sia.DoClose: w.close, sia.DoReady: w.ready, sia.DoSync: w.sync,
		sia.DoReact: w.react, sia.DoReply: w.reply, sia.DoStudy: w.study,
	}[f.Kind]
	if do == nil {
		return nil, &sia.Error{Op: "effect " + f.Key, Message: fmt.Sprintf("this version of SIA does not know the effect %q; update it", f.Kind), Permanent: true}
	}
	fact, err := do(ctx, t, f)
	// What is in a fact is in the task from then on, and goes wherever that goes.
	return secret.Within(w.Secrets, fact), forPeople(f, err)
}

// agent is the coding agent that a repository's settings name, and the names of its
// tools, as far as they are known.
func (w *Worker) agent(s sia.AgentSettings) (a agent.Agent, tools []string) {
	if a, ok := w.Commands.Agent(s); ok {
		return a, nil
	}
	return w.Agent, w.Tools
}

// repo is the task's repository on GitHub.
func (w *Worker) repo(t sia.Task) *github.Repo { return w.GitHub.Repo(t.Installation, t.Repo) }

// mirror is the task's repository in git.
func (w *Worker) mirror(t sia.Task) *gitops.Repo {
	return w.mirrorOf(t.Installation, t.Repo)
}

func (w *Worker) mirrorOf(installation int64, repo sia.Repo) *gitops.Repo {
	r := w.GitHub.Repo(installation, repo)
	return w.Git.Repo(gitops.Remote{Key: fmt.Sprintf("%d/%d", installation, repo.ID), URL: r.CloneURL(), Token: r.Token})
}

// bot is the app as the author of commits.
func (w *Worker) bot(ctx context.Context) (gitops.Signature, error) {
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return gitops.Signature{}, err
	}
	return gitops.Signature{Name: self.Login, Email: noreply(self.UserID, self.Login), When: w.Now()}, nil
}

// noreply is the address under which GitHub attributes commits to an account.
// https://docs.github.com/en/account-and-profile/reference/email-addresses-reference
func noreply(id int64, login string) string {
	if id == 0 {
		return login + "@users.noreply.github.com"
	}
	return strconv.FormatInt(id, 10) + "+" + login + "@users.noreply.github.com"
}

// credits converts what model calls cost; fractions count in full, but for what
// adding up floating-point numbers makes of whole ones.
func credits(u llm.Usage) sia.Credits {
	return sia.Credits(math.Ceil(u.USD*100*float64(sia.Credit) - 1e-6))
}

// markerLine is the first line of everything SIA will look for again.
func markerLine(f sia.Effect) string {
	return render.Marker{Task: f.Task, Kind: string(f.Kind), Key: f.Key}.String()
}
