package pods

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/sia-bot/sia/app/runner"
)

// idleLookInterval is the interval, in ticks, of looks while no Pod is known: one may exist although its creation timed
// out.
const idleLookInterval = 15

var (
	errEnds    = errors.New("this runner ends")
	errDeleted = errors.New("its Pod was deleted")
	errStopped = errors.New("a person stopped it")
)

// watch looks at the Pods periodically until ctx ends.
func (p *pods) watch(ctx context.Context) {
	tick := time.NewTicker(p.Poll)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		some := len(p.known) > 0
		p.mu.Unlock()
		if some || n%idleLookInterval == 0 {
			p.look(ctx)
		}
	}
}

// adopt adds Pods that an earlier process of this runner created.
func (p *pods) adopt(found map[string]*corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, pod := range found {
		if p.known[name] == nil {
			_, tests := pod.Annotations[testsAnnotation]
			p.known[name] = &entry{key: pod.Annotations[attemptAnnotation], seen: time.Now(), created: true, tests: tests}
		}
	}
}

// look lists the Pods and handles the state of each.
func (p *pods) look(ctx context.Context) {
	p.mu.Lock()
	entries := maps.Clone(p.known)
	maps.DeleteFunc(entries, func(_ string, e *entry) bool { return !e.created })
	p.mu.Unlock()
	found, err := p.Cluster.list(ctx, p.id)
	switch {
	case err == nil:
		p.adopt(found)
	case ctx.Err() == nil && !p.listFailed:
		p.Logger.WarnContext(ctx, "the Pods can't be looked at; trying again", "error", err)
	}
	p.listFailed = err != nil
	var all sync.WaitGroup
	for name, e := range entries {
		all.Go(func() {
			switch {
			case err != nil: // only renew the leases
				if !e.ran && !e.deleting && e.pass != "" {
					p.heartbeat(ctx, e)
				}
			case p.handle(ctx, name, e, found[name]):
				p.forget(name)
			}
		})
	}
	all.Wait()
}

// handle handles the state of a Pod; over reports whether the Pod no longer exists.
func (p *pods) handle(ctx context.Context, name string, e *entry, pod *corev1.Pod) (over bool) {
	if pod == nil {
		if !e.deleting {
			p.release(ctx, e, e.ran, errDeleted)
		}
		return true
	}
	switch s := podStatusOf(pod); {
	case e.deleting:
	case s.state == succeeded:
		p.Logger.InfoContext(ctx, "attempt's Pod has ended", "effect", e.key, "pod", name)
		p.recovered()
		e.deleting = true
	case s.state == failed:
		p.release(ctx, e, s.ran, s.why)
		e.deleting = true
		if s.ran {
			p.setProblem("the last Pod", s.why)
		} else {
			p.backOff(ctx, "a Pod did not run", s.why)
		}
	case s.state == running:
		if !e.ran {
			p.Logger.InfoContext(ctx, "attempt's Pod runs", "effect", e.key, "pod", name, "node", pod.Spec.NodeName)
			p.recovered()
			e.ran = true
		}
		return false
	case s.state == hopeless, time.Since(e.seen) > p.Pending:
		p.release(ctx, e, false, s.why)
		e.deleting = true
		p.backOff(ctx, "a Pod did not run", s.why)
	case e.pass != "" && !p.heartbeat(ctx, e):
		e.deleting = true
	default:
		return false
	}
	p.remove(ctx, name, e)
	return false // the next look finds it deleted
}

// heartbeat sends a heartbeat if one is due, for a Pod that does not run yet; false: the attempt must not run.
func (p *pods) heartbeat(ctx context.Context, e *entry) bool {
	if time.Since(e.beat) < p.Heartbeat {
		return true
	}
	e.beat = time.Now()
	switch stop, err := p.Client.Heartbeat(ctx, e.pass); {
	case errors.Is(err, runner.ErrGone):
		p.Logger.WarnContext(ctx, "attempt given up", "effect", e.key, "why", err)
		e.pass = ""
		return false
	case stop:
		p.release(ctx, e, false, errStopped)
		return false
	}
	return true // after an error the next look retries, until the lease expires
}

// remove deletes a Pod. If that fails, the next look retries.
func (p *pods) remove(ctx context.Context, name string, e *entry) {
	if err := p.Cluster.deletePod(ctx, name); err != nil && ctx.Err() == nil {
		p.Logger.WarnContext(ctx, "a Pod can't be deleted; trying again", "effect", e.key, "pod", name, "error", err)
	}
}
