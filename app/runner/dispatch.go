package runner

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Upstream is a model with its address and key, as the server asks it.
type Upstream struct {
	Model
	URL, Key string
	Client   *llm.Client // that the server asks it by, for what was learned
	Observe  func(context.Context, llm.Call)
}

// toRunner is the model without what a runner is not to know.
func (u Upstream) toRunner() Model {
	m := u.Model
	if u.Client != nil {
		m.Learned = u.Client.Learned()
		m.Learned.Protocol = u.Client.Protocol() // what the address suggests, a runner can't see
	}
	return m
}

// Agent is one of those that may make attempts.
type Agent struct {
	Name    string     // in the server's configuration
	Models  []Upstream // at least one
	Edit    agent.EditFormat
	Command string // that it always works by; empty: as the repository's settings say
}

// Config is what a [Dispatcher] and a [Door] work with.
type Config struct {
	Store  *store.Store
	Mirror func(t sia.Task) *gitops.Repo
	Key    func(t sia.Task) string // names a task's repository
	Agents []Agent                 // by their names
	Hosts  []string                // that setup commands may fetch from
	Logger *slog.Logger
	Now    func() time.Time
	Ending <-chan struct{} // closed when the server ends: runners that wait are answered
	Poll   time.Duration   // how late what another server did is seen; 0: half a second
	Lease  time.Duration   // 0: [Lease]
}

// Dispatcher has attempts made by runners. It is safe for concurrent use.
type Dispatcher struct {
	Config
	news *news
}

// NewDispatcher returns one.
func NewDispatcher(c Config) *Dispatcher {
	if c.Poll == 0 {
		c.Poll = time.Second / 2
	}
	if c.Lease == 0 {
		c.Lease = Lease
	}
	return &Dispatcher{Config: c, news: newNews()}
}

// agentNamed is the one of a name, or the first: a coder that is no longer configured makes no attempt.
func (c Config) agentNamed(name string) Agent {
	named := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.Name == name })
	return c.Agents[max(0, named)]
}

// Agent makes an attempt on a runner: the one of an effect, which begins on a commit. byModel has the coder's model
// itself make it, also where its repository names a command.
func (d *Dispatcher) Agent(t sia.Task, f sia.Effect, start, coder string, byModel bool) agent.Agent {
	one := d.agentNamed(coder)
	settings := t.Settings.Agent
	switch {
	case byModel:
		settings.Kind = ""
	case one.Command != "":
		settings.Kind, settings.Command, settings.Env = "command", one.Command, nil
	}
	c := Coder{Edit: one.Edit, Agent: settings}
	for _, m := range one.Models {
		c.Models = append(c.Models, m.toRunner())
	}
	w := Work{Key: f.Key, Repository: d.Key(t), Start: start, Coder: c, Hosts: d.Hosts}
	if f.Run == 0 && t.TestsBeforePush() { // parts and racers have a check of their own
		w.Tests = &Tests{Base: string(t.BaseSHA), Services: t.Settings.Agent.Services,
			Within: t.Settings.Checks.Evidence.D()}
	}
	return &remote{Dispatcher: d, task: t, effect: f, coder: one.Name, work: w}
}

// news wakes those in this process who wait for something in the database. Others see it when they look next.
type news struct {
	mu    sync.Mutex
	there chan struct{}
}

func newNews() *news { return &news{there: make(chan struct{})} }

// next is closed with the next news. Ask for it before you look.
func (n *news) next() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.there
}

func (n *news) tell() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.there)
	n.there = make(chan struct{})
}
