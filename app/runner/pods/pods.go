// Package pods is a runner that has each attempt made in a Pod of Kubernetes.
//
// Concepts:
//
//   - The runner takes attempts with its token, as every runner does ([runner.Client]). For each it makes a Pod, and a
//     Secret with the attempt's pass. In the Pod, `sia runner attempt` asks the server for the rest and makes the
//     attempt, as app/runner/worker does on any machine.
//   - A Pod holds the pass and nothing more: neither the runner's token nor one of the cluster.
//   - Until a Pod's container runs, the runner sends the attempt's heartbeats. From then on the Pod does.
//   - Pods are looked at by a list every two seconds, and not by a watch. That is one small request however many there
//     are, and there is no state that has to be caught up with after an interruption.
//   - Later: a cluster that has no room now (a quota, a busy or absent API server) is asked again after a pause. The
//     attempt is given back at once, and another runner may have it.
//   - A runner that starts again finds its Pods by their labels. It can't speak for their attempts any more, which the
//     Pods do themselves; it removes those that have ended.
//
// The package may import app/runner and Kubernetes' client-go, api and apimachinery, and nothing else of ours. Nothing
// that a server is made of imports it. Start reading at [Run], then look.go; docs/adr/0036-pods.md has the reasons.
package pods

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sia-bot/sia/app/runner"
)

// Bounds of how a Pod begins and ends.
const (
	makeWithin  = 40 * time.Second // to make a Pod and its Secret; less than a lease
	leaveWithin = 10 * time.Second // to give back what does not run yet, when the runner ends
	morePauses  = 30               // the longest pause in first ones
)

// Config is what the runner works with.
type Config struct {
	Client   *runner.Client
	Token    string // the runner's
	Cluster  *Cluster
	Spec     Spec
	Attempts int           // Pods at the same time
	Pending  time.Duration // a Pod may take so long until it runs
	About    string        // what the server shows of the runner
	Logger   *slog.Logger
	Poll     time.Duration // between two looks at the Pods; 0: two seconds
	Beat     time.Duration // how often the server hears of a Pod that does not run yet; 0: [runner.Beat]
	Pause    time.Duration // the first, when the cluster has no room; 0: ten seconds
}

// pods is the runner at work.
type pods struct {
	Config
	id   string        // of the runner, on its Pods
	news chan struct{} // something changed that an attempt may wait for

	blind bool // the last look failed; only [pods.look] touches it

	mu      sync.Mutex
	known   map[string]*entry // by the Pod's name
	worked  bool              // the cluster has taken a Pod, or would
	pause   time.Duration
	until   time.Time // no attempt is taken before
	trouble string    // why; empty: all is well
}

// entry is a Pod that there is, may be, or is about to be. Before it is made only [pods.start] touches it, afterwards
// only [pods.look].
type entry struct {
	key, pass string    // of the attempt; no pass: there is nothing to be said about it (any more)
	seen      time.Time // first
	beat      time.Time // the last
	made      bool
	ran       bool
	doomed    bool // it is to be deleted
}

// Run takes attempts and has them made until ctx ends. Then those are given back that do not run yet; the others go on.
// It ends with [runner.ErrToken] when the token is not valid, or no longer, and with an error when the cluster refuses
// Pods for a reason that only a person can remove, and has never taken one.
func Run(ctx context.Context, c Config) error {
	if c.Poll == 0 {
		c.Poll = 2 * time.Second
	}
	if c.Pause == 0 {
		c.Pause = 10 * time.Second
	}
	if c.Beat == 0 {
		c.Beat = runner.Beat
	}
	p := &pods{Config: c, id: "runner-" + runner.Hash(c.Token)[:16], known: map[string]*entry{},
		news: make(chan struct{}, 1)}
	if err := p.check(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	looking, stop := context.WithCancel(ctx)
	var looks sync.WaitGroup
	looks.Go(func() { p.watch(looking) })
	err := p.serve(ctx)
	stop()
	looks.Wait()
	p.leave(ctx)
	return err
}

// check finds the Pods of this runner, and asks the cluster whether it would take another one, so that a wrong
// configuration is an error before an attempt is taken. It waits for a cluster that does not answer.
func (p *pods) check(ctx context.Context) error {
	for {
		found, err := p.Cluster.list(ctx, p.id)
		if err == nil {
			p.adopt(found)
			err = p.Cluster.tryMaking(ctx, p.Spec.pod(p.id, p.Cluster.namespace, &runner.Offer{Work: runner.Work{Key: "check"}}))
		}
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case err == nil:
			p.Logger.InfoContext(ctx, "waiting for attempts", "namespace", p.Cluster.namespace, "attempts", p.Attempts,
				"pods", len(found))
			p.works()
			return nil
		case isFull(err), isUntried(err):
			p.Logger.WarnContext(ctx, "waiting for attempts; the cluster may refuse their Pods", "error", err)
			p.note("the cluster may refuse Pods", err)
			return nil
		case !isLater(err):
			return configuration(err)
		}
		p.later(ctx, "the cluster does not answer", err)
		if !runner.Sleep(ctx, time.Until(p.until)) {
			return nil
		}
	}
}

// serve takes attempts one after the other, and makes their Pods.
func (p *pods) serve(ctx context.Context) error {
	for p.room(ctx) {
		o, err := p.Client.Take(ctx, p.Token, p.about, p.Logger)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case err != nil:
			return err
		}
		if err := p.start(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// room waits until another attempt may be taken; false: ctx ended.
func (p *pods) room(ctx context.Context) bool {
	for {
		p.mu.Lock()
		full, wait := len(p.known) >= p.Attempts, time.Until(p.until)
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
		case <-p.news:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// tell wakes whoever waits for room.
func (p *pods) tell() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// about is what the server shows of the runner.
func (p *pods) about() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	about := p.About + ", Pods in " + p.Cluster.namespace
	if p.trouble != "" {
		about += "; " + p.trouble
	}
	return about
}

// later has no attempt taken for a while: as long again as the time before, where there was no Pod that ran in between.
func (p *pods) later(ctx context.Context, what string, why error) {
	p.note(what, why)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Before(p.until) {
		return // it is the same trouble, with another Pod
	}
	p.pause = min(max(2*p.pause, p.Pause), morePauses*p.Pause)
	wait := max(p.pause, retryAfter(why))
	p.until = now.Add(wait)
	p.Logger.WarnContext(ctx, "no attempt is taken for a while", "why", what, "error", why, "pause", wait)
}

// note has the server show what is wrong.
func (p *pods) note(what string, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trouble = what + ": " + why.Error()
}

// works notes that the cluster runs Pods, or would.
func (p *pods) works() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.worked, p.pause, p.until, p.trouble = true, 0, time.Time{}, ""
}

// start makes the Pod of an attempt, and then its Secret, which goes with the Pod. Where that fails the attempt is
// given back. An error means that the cluster has taken none so far, and takes none.
func (p *pods) start(ctx context.Context, o *runner.Offer) error {
	pod := p.Spec.pod(p.id, p.Cluster.namespace, o)
	e := &entry{key: o.Work.Key, pass: o.Pass, seen: time.Now(), beat: time.Now()}
	p.mu.Lock()
	p.known[pod.Name] = e
	p.mu.Unlock()
	making, cancel := context.WithTimeout(context.WithoutCancel(ctx), makeWithin)
	defer cancel()
	err := p.make(making, pod, o.Pass)
	if err == nil {
		p.Logger.InfoContext(ctx, "attempt has a Pod", "key", e.key, "pod", pod.Name)
	} else {
		p.giveBack(ctx, e, false, err)
	}
	p.mu.Lock()
	e.made, e.doomed = true, err != nil // there may be a Pod all the same
	worked := p.worked
	p.worked = worked || err == nil
	p.mu.Unlock()
	switch {
	case err == nil:
	case isLater(err):
		p.later(ctx, "the cluster has no room", err)
	case !worked:
		return configuration(err)
	default:
		p.later(ctx, "the cluster refuses Pods", configuration(err))
	}
	return nil
}

// make makes a Pod with its Secret.
func (p *pods) make(ctx context.Context, pod *corev1.Pod, pass string) error {
	made, err := p.Cluster.createPod(ctx, pod)
	if err != nil {
		return err
	}
	return p.Cluster.createSecret(ctx, secretOf(made, pass))
}

// giveBack lets another runner have an attempt. lost says that it was begun here, and could not be made.
func (p *pods) giveBack(ctx context.Context, e *entry, lost bool, why error) {
	p.Logger.WarnContext(ctx, "attempt given back", "key", e.key, "why", why, "lost", lost)
	if e.pass == "" {
		return
	}
	if err := p.Client.Release(context.WithoutCancel(ctx), e.pass, lost); err != nil {
		p.Logger.InfoContext(ctx, "attempt was given back before, or is in a minute", "key", e.key, "error", err)
	}
	e.pass = ""
}

// leave gives back what does not run yet, and removes its Pods.
func (p *pods) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
	defer cancel()
	var all sync.WaitGroup
	for name, e := range p.known {
		if e.ran || e.pass == "" && !e.doomed {
			continue
		}
		all.Go(func() {
			if e.pass != "" {
				p.giveBack(ctx, e, false, errEnds)
			}
			p.remove(ctx, name, e)
		})
	}
	all.Wait()
}
