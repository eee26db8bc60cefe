// Package pods is a runner that runs each attempt, and each run of tests, in a Kubernetes Pod.
//
// Concepts:
//
//   - The runner takes attempts with its token, like every runner ([runner.Client]). For each it creates a Pod, and a
//     Secret with the attempt's pass. In the Pod, `sia runner attempt` gets the input from the server and runs the
//     attempt, with app/runner/worker.
//   - A Pod has only the pass: neither the runner's token nor a service account token.
//   - Until a Pod's container runs, the runner sends the attempt's heartbeats. From then on the Pod does.
//   - Pods are observed by a list every two seconds, rather than by a watch. That is one small request for any number
//     of Pods, and no state has to be synchronized after an interruption.
//   - Later: when the cluster has no capacity (a quota, a busy or unreachable API server), the runner pauses. The
//     attempt is released immediately, and another runner may take it.
//   - A restarted runner finds its Pods by their labels. It no longer has their passes, which the Pods have themselves;
//     it removes those that have ended.
//
// The package may import app/runner and Kubernetes' client-go, api and apimachinery, and no other package of SIA. The
// server does not import it. Start reading at [Run], then look.go; docs/adr/0036-pods.md has the reasons.
package pods

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/sia-bot/sia/app/runner"
)

// Timeouts and limits.
const (
	createTimeout  = 40 * time.Second // to create a Pod and its Secret; less than a lease
	releaseTimeout = 10 * time.Second // to release the attempts that do not run yet, at shutdown
	maxPauseFactor = 30               // maximum pause, as a multiple of Config.Pause
)

// Config configures a runner.
type Config struct {
	Client    *runner.Client
	Token     string // of the runner
	Cluster   *Cluster
	Spec      Spec
	Attempts  int           // maximum number of Pods; one with tests may be beside them
	Pending   time.Duration // timeout for a Pod to start running
	About     string        // description of the runner, shown by the server
	Logger    *slog.Logger
	Poll      time.Duration // interval of looks at the Pods; 0: two seconds
	Heartbeat time.Duration // interval of heartbeats for a Pod that does not run yet; 0: [runner.HeartbeatInterval]
	Pause     time.Duration // first pause when the cluster has no capacity; 0: ten seconds
}

// pods is a running runner.
type pods struct {
	Config
	id         string // of the runner, a label of its Pods
	listFailed bool   // the last look failed; only used by [pods.look]

	mu      sync.Mutex
	changed chan struct{}     // closed by the next change, for awaitCapacity
	known   map[string]*entry // by the Pod's name
	worked  bool              // the cluster has accepted a Pod, at least in a dry run
	pause   time.Duration
	until   time.Time // end of the pause
	problem string    // the current problem; empty: none
}

// entry is a Pod that exists, may exist, or will be created. Until created is set only [pods.start] uses it, afterwards
// only [pods.look].
type entry struct {
	key, pass string    // of the attempt; empty pass: unknown or no longer valid
	seen      time.Time // when the entry was added
	beat      time.Time // last heartbeat
	created   bool
	ran       bool
	deleting  bool // has to be deleted
	tests     bool // the slot for tests took it
}

// Run takes attempts and runs them in Pods until ctx ends. Then it releases those that do not run yet; the others
// continue. It returns [runner.ErrToken] when the token is not valid, and an error when the cluster rejects Pods
// permanently and has never accepted one.
func Run(ctx context.Context, c Config) error {
	if c.Poll == 0 {
		c.Poll = 2 * time.Second
	}
	if c.Pause == 0 {
		c.Pause = 10 * time.Second
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = runner.HeartbeatInterval
	}
	p := &pods{Config: c, id: "runner-" + runner.Hash(c.Token)[:16], known: map[string]*entry{},
		changed: make(chan struct{})}
	if err := p.check(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	looking, stop := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() { p.watch(looking) })
	slots, serving := errgroup.WithContext(ctx)
	takes := runner.TakesAttempts
	if p.Spec.runsTests() {
		takes = runner.TakesBoth
		slots.Go(func() error { return p.serve(serving, runner.TakesTests) })
	}
	slots.Go(func() error { return p.serve(serving, takes) })
	err := slots.Wait()
	stop()
	looks.Wait()
	p.shutdown(ctx)
	return err
}

// check finds the existing Pods of this runner, and validates a Pod with a dry run, so that a wrong configuration is
// reported before an attempt is taken. It waits while the cluster is unavailable.
func (p *pods) check(ctx context.Context) error {
	for {
		found, err := p.Cluster.list(ctx, p.id)
		if err == nil {
			p.adopt(found)
			err = p.Cluster.dryRun(ctx, p.Spec.pod(p.id, p.Cluster.namespace, &runner.Offer{Work: runner.Work{Key: "check"}}))
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // canceled by the caller
		case err == nil:
			p.Logger.InfoContext(ctx, "waiting for attempts", "namespace", p.Cluster.namespace, "attempts", p.Attempts,
				"pods", len(found))
			p.recovered()
			return nil
		case isQuotaExceeded(err), isDryRunUnsupported(err):
			p.Logger.WarnContext(ctx, "waiting for attempts; the cluster may refuse their Pods", "error", err)
			p.setProblem("the cluster may refuse Pods", err)
			return nil
		case !isTemporary(err):
			return configurationError(err)
		}
		p.backOff(ctx, "the cluster does not answer", err)
		if !runner.Sleep(ctx, time.Until(p.until)) {
			return nil
		}
	}
}

// serve takes attempts, or tests, one after the other, and creates their Pods.
func (p *pods) serve(ctx context.Context, takes runner.Takes) error {
	for p.awaitCapacity(ctx, takes == runner.TakesTests) {
		o, err := p.Client.Take(ctx, p.Token, p.about, takes, p.Logger)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // canceled by the caller
		case err != nil:
			return err
		}
		if err := p.start(ctx, o, takes == runner.TakesTests); err != nil {
			return err
		}
	}
	return nil
}

// awaitCapacity waits until another attempt may be taken, or more tests by their slot; false: ctx ended.
func (p *pods) awaitCapacity(ctx context.Context, tests bool) bool {
	for {
		p.mu.Lock()
		free := p.Attempts
		if tests {
			free = 1
		}
		for _, e := range p.known {
			if e.tests == tests {
				free--
			}
		}
		full, wait, changed := free <= 0, time.Until(p.until), p.changed
		p.mu.Unlock()
		if ctx.Err() != nil || !full && wait <= 0 {
			return ctx.Err() == nil
		}
		timer := time.NewTimer(wait)
		if full {
			timer.Stop()
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// forget removes an entry and wakes awaitCapacity.
func (p *pods) forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.known, name)
	close(p.changed)
	p.changed = make(chan struct{})
}

// about returns the runner's description with its current problem.
func (p *pods) about() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	about := p.About + ", Pods in " + p.Cluster.namespace
	if p.problem != "" {
		about += "; " + p.problem
	}
	return about
}

// backOff pauses the taking of attempts. The pause doubles until a Pod runs.
func (p *pods) backOff(ctx context.Context, what string, why error) {
	p.setProblem(what, why)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.until) {
		return // the same problem with another Pod
	}
	p.pause = min(max(2*p.pause, p.Pause), maxPauseFactor*p.Pause)
	wait := max(p.pause, retryAfter(why))
	p.until = now.Add(wait)
	p.Logger.WarnContext(ctx, "no attempt is taken for a while", "why", what, "error", why, "pause", wait)
}

// setProblem sets the problem that the server shows.
func (p *pods) setProblem(what string, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problem = what + ": " + why.Error()
}

// recovered records that the cluster accepts Pods.
func (p *pods) recovered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.worked, p.pause, p.until, p.problem = true, 0, time.Time{}, ""
}

// start creates the Pod of an attempt, or of what the slot for tests took, and then its Secret, which the Pod owns. If
// that fails it releases the attempt. It returns an error only if the cluster rejects Pods permanently, and has never
// accepted one.
func (p *pods) start(ctx context.Context, o *runner.Offer, tests bool) error {
	pod := p.Spec.pod(p.id, p.Cluster.namespace, o)
	if tests {
		pod.Annotations[testsAnnotation] = "true"
	}
	e := &entry{key: o.Work.Key, pass: o.Pass, seen: time.Now(), beat: time.Now(), tests: tests}
	p.mu.Lock()
	p.known[pod.Name] = e
	p.mu.Unlock()
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	err := p.create(making, pod, o.Pass)
	if err == nil {
		p.Logger.InfoContext(ctx, "attempt has a Pod", "effect", e.key, "pod", pod.Name)
	} else {
		p.release(ctx, e, false, err)
	}
	p.mu.Lock()
	e.created, e.deleting = true, err != nil // the Pod may exist nevertheless
	worked := p.worked
	p.worked = worked || err == nil
	p.mu.Unlock()
	switch {
	case err == nil:
	case isTemporary(err):
		p.backOff(ctx, "the cluster has no room", err)
	case !worked:
		return configurationError(err)
	default:
		p.backOff(ctx, "the cluster refuses Pods", configurationError(err))
	}
	return nil
}

// create creates a Pod with its Secret.
func (p *pods) create(ctx context.Context, pod *corev1.Pod, pass string) error {
	made, err := p.Cluster.createPod(ctx, pod)
	if err != nil {
		return err
	}
	return p.Cluster.createSecret(ctx, secretOf(made, pass))
}

// release releases an attempt for another runner. lost reports that it was started here, and could not be run.
func (p *pods) release(ctx context.Context, e *entry, lost bool, why error) {
	p.Logger.WarnContext(ctx, "attempt given back", "effect", e.key, "why", why, "lost", lost)
	if e.pass == "" {
		return
	}
	if err := p.Client.Release(context.WithoutCancel(ctx), e.pass, lost); err != nil {
		p.Logger.InfoContext(ctx, "attempt was given back before, or is in a minute", "effect", e.key, "error", err)
	}
	e.pass = ""
}

// shutdown releases the attempts that do not run yet, and removes their Pods.
func (p *pods) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	var all sync.WaitGroup
	for name, e := range p.known {
		if e.ran || e.pass == "" && !e.deleting {
			continue
		}
		all.Go(func() {
			if e.pass != "" {
				p.release(ctx, e, false, errEnds)
			}
			p.remove(ctx, name, e)
		})
	}
	all.Wait()
}
