// Package world carries out changes on a simulated GitHub: each action changes the model, is recorded in the journal,
// is sent as a webhook to the installed apps, and has its consequences. A push, for instance, moves pull requests,
// requests check suites and starts workflows.
//
// It does not check permissions or parse requests: packages api, people and remote do. Methods require the simulator's
// lock, which [World.Lock] takes, unless they say otherwise.
//
// Start reading at [World], and for the consequences of a push, at push.go.
package world

import (
	"fmt"
	"log/slog"

	"github.com/sia-bot/sia/sim/ghsim/delivery"
	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/monitor"
	"github.com/sia-bot/sia/sim/ghsim/payload"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// object is one JSON object of a payload.
type object = map[string]any

// Config configures a world. Every field but NoWorkflows is required.
type Config struct {
	Hub         *model.Hub
	Monitor     *monitor.Monitor
	Git         *git.Store
	Shaper      *payload.Shaper
	Journal     *journal.Journal
	Queue       *delivery.Queue
	Runner      *runner.Runner
	Parallel    int  // workflow runs executed at a time
	NoWorkflows bool // workflows are not run
	ByHand      bool // tests start and end jobs
	Logger      *slog.Logger
}

// World is a hub with its changes.
type World struct {
	*model.Hub
	*announcer
	mon         *monitor.Monitor
	git         *git.Store
	runner      *runner.Runner
	slots       chan struct{} // one per workflow run that may execute
	noWorkflows bool
	byHand      bool
	hands       map[*model.Run]*execution // runs with jobs that tests start and end
	actions     *model.App                // github-actions, the owner of workflow check runs
}

// New is a world with only the app github-actions.
func New(cfg Config) *World {
	tell := &announcer{hub: cfg.Hub, shape: cfg.Shaper, journal: cfg.Journal, queue: cfg.Queue, log: cfg.Logger}
	w := &World{Hub: cfg.Hub, announcer: tell, mon: cfg.Monitor, git: cfg.Git, runner: cfg.Runner,
		slots: make(chan struct{}, cfg.Parallel), noWorkflows: cfg.NoWorkflows,
		byHand: cfg.ByHand, hands: map[*model.Run]*execution{}}
	w.actions = w.actionsApp()
	return w
}

// Lock takes the simulator's lock.
func (w *World) Lock() { w.mon.Lock() }

// Unlock releases it.
func (w *World) Unlock() { w.mon.Unlock() }

// EnsureUser returns the account of a login, and creates it if needed.
func (w *World) EnsureUser(login, kind string) *model.User {
	if u := w.User(login); u != nil {
		return u
	}
	u := &model.User{ID: w.NextID(), Login: login, Kind: kind, Made: w.Now()}
	w.AddUser(u)
	return u
}

// signature is an account as the author of its present commits.
func (w *World) signature(u *model.User) git.Signature {
	return git.Signature{Name: u.Login, Email: u.Email(), At: w.Now()}
}

// CreateRepository makes a repository; an unknown owner becomes a user. It has GitHub's default labels and no
// protection.
func (w *World) CreateRepository(owner, name string, private bool, spec git.Spec) (*model.Repository, error) {
	if w.Repository(owner+"/"+name) != nil {
		return nil, fmt.Errorf("creating repository %s/%s: it exists", owner, name)
	}
	if !validName(owner) || owner[0] == '.' || !validName(name) || name == "." || name == ".." {
		return nil, fmt.Errorf("creating repository %s/%s: names are made of letters, digits, '.', '-' and '_'",
			owner, name)
	}
	u := w.EnsureUser(owner, "User")
	r := &model.Repository{
		ID: w.NextID(), Owner: u, Name: name, Private: private, Made: w.Now(), Pushed: w.Now(),
		Refs: map[string]string{}, Perms: map[string]string{}, Workflows: map[string]int64{},
		Protection: map[string][]string{}, Rules: map[string][]model.Rule{}, Strict: map[string]bool{},
		TestMerges: map[string]string{}, Signed: map[string]bool{}, Classic: map[string]model.Classic{},
		Moved:     map[int]string{},
		Receiving: make(chan struct{}, 1),
	}
	branch, err := w.git.Create(r.ID, spec, w.signature(u))
	if err != nil {
		return nil, fmt.Errorf("creating repository %s/%s: %w", owner, name, err)
	}
	r.Dir, r.DefaultBranch = w.git.Path(r.ID), branch
	if r.Refs, err = w.git.Refs(r.Dir); err != nil {
		return nil, fmt.Errorf("creating repository %s/%s: %w", owner, name, err)
	}
	for _, l := range model.DefaultLabels() {
		l.ID = w.NextID()
		r.Labels = append(r.Labels, &l)
	}
	w.AddRepository(r)
	w.note(r, model.As(u), journal.Entry{Kind: "repository.created", Ref: branch, SHA: r.Head(branch)})
	return r, nil
}

func validName(s string) bool {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}
