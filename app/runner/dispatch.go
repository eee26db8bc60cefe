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

// Upstream is a model with its address and key, for the server's requests.
type Upstream struct {
	Model
	URL, Key string
	Client   *llm.Client                                 // the server's client, for its learned properties
	Observe  func(context.Context, sia.TaskID, llm.Call) // as in [llm.Config], with the attempt's task; it may be nil
}

// toRunner returns the model without the data that runners must not have.
func (u Upstream) toRunner() Model {
	m := u.Model
	if u.Client != nil {
		m.Learned = u.Client.Learned()
		m.Learned.Protocol = u.Client.Protocol() // a runner can't derive it from the address
	}
	return m
}

// Agent is an agent that may run attempts.
type Agent struct {
	Name    string     // in the server's configuration
	Models  []Upstream // at least one
	Edit    agent.EditFormat
	Command string // that it always uses; empty: the repository's settings decide
}

// Config configures a [Dispatcher] and a [Handler].
type Config struct {
	Store  *store.Store
	Mirror func(t sia.Task) *gitops.Repo
	Key    func(t sia.Task) string // identifies a task's repository
	Agents []Agent                 // by their names
	Hosts  []string                // hosts that setup commands may access
	Logger *slog.Logger
	Now    func() time.Time
	Ending <-chan struct{} // closed at shutdown: pending polls of runners are answered
	Poll   time.Duration   // interval for polling changes of other servers; 0: half a second
	Lease  time.Duration   // 0: [Lease]
}

// Dispatcher dispatches attempts to runners. It is safe for concurrent use.
type Dispatcher struct {
	Config
	changes *notifier

	mu    sync.Mutex
	calls map[string]int // number of running model calls through this process, by attempt
}

// NewDispatcher returns a dispatcher.
func NewDispatcher(c Config) *Dispatcher {
	if c.Poll == 0 {
		c.Poll = time.Second / 2
	}
	if c.Lease == 0 {
		c.Lease = Lease
	}
	return &Dispatcher{Config: c, changes: newNotifier(), calls: map[string]int{}}
}

// beginCall records that a model call of an attempt begins. The caller must call end after its cost is booked.
func (d *Dispatcher) beginCall(key string) (end func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls[key]++
	return func() {
		d.mu.Lock()
		if d.calls[key]--; d.calls[key] == 0 {
			delete(d.calls, key)
		}
		d.mu.Unlock()
		d.changes.notify()
	}
}

// hasCalls reports whether model calls of an attempt are running through this process.
func (d *Dispatcher) hasCalls(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[key] > 0
}

// await calls check, and again after each change, until it is done or returns an error. It returns false if that takes
// longer than within, if the server ends, or if ctx does.
func (d *Dispatcher) await(
	ctx context.Context, within time.Duration, check func() (done bool, err error),
) (bool, error) {
	late, tick := time.NewTimer(within), time.NewTicker(d.Poll)
	defer late.Stop()
	defer tick.Stop()
	for {
		changes := d.changes.changed()
		if done, err := check(); done || err != nil {
			return done, err
		}
		select {
		case <-changes:
		case <-tick.C:
		case <-late.C:
			return false, nil
		case <-d.Ending:
			return false, nil
		case <-ctx.Done():
			return false, nil
		}
	}
}

// agentNamed returns the agent with a name, or else the first, because the configuration may have changed.
func (c Config) agentNamed(name string) Agent {
	named := slices.IndexFunc(c.Agents, func(a Agent) bool { return a.Name == name })
	return c.Agents[max(0, named)]
}

// Agent returns an agent that runs the attempt of an effect on a runner, from the commit start. With byModel the
// coder's model runs it, even if its repository configures a command.
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
	if f.Run == 0 && t.TestsBeforePush() { // parts and racers are checked separately
		w.Tests = &Tests{Base: string(t.BaseSHA), Services: t.Settings.Agent.Services,
			Within: t.Settings.Checks.Evidence.D()}
	}
	return &remoteAgent{Dispatcher: d, task: t, effect: f, coder: one.Name, work: w}
}

// notifier notifies goroutines of this process that wait for a change of the database. Other processes poll.
type notifier struct {
	mu sync.Mutex
	ch chan struct{}
}

func newNotifier() *notifier { return &notifier{ch: make(chan struct{})} }

// changed returns a channel that is closed by the next call of notify. Get it before reading the database.
func (n *notifier) changed() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ch
}

func (n *notifier) notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.ch)
	n.ch = make(chan struct{})
}
