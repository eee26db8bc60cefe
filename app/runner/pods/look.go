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

// rarely is how often Pods are looked for when none is known: one may have been made after its request was given up.
const rarely = 15 // looks

var (
	errEnds    = errors.New("this runner ends")
	errDeleted = errors.New("its Pod was deleted")
	errStopped = errors.New("a person stopped it")
)

// watch looks at the Pods until ctx ends.
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
		if some || n%rarely == 0 {
			p.look(ctx)
		}
	}
}

// adopt notes Pods that another process of this runner made.
func (p *pods) adopt(found map[string]*corev1.Pod) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, pod := range found {
		if p.known[name] == nil {
			p.known[name] = &entry{key: pod.Annotations[attemptAnnotation], seen: time.Now(), made: true}
		}
	}
}

// look does for each Pod what there is to do.
func (p *pods) look(ctx context.Context) {
	p.mu.Lock()
	entries := maps.Clone(p.known)
	maps.DeleteFunc(entries, func(_ string, e *entry) bool { return !e.made })
	p.mu.Unlock()
	found, err := p.Cluster.list(ctx, p.id)
	switch {
	case err == nil:
		p.adopt(found)
	case ctx.Err() == nil && !p.blind:
		p.Logger.WarnContext(ctx, "the Pods can't be looked at; trying again", "error", err)
	}
	p.blind = err != nil
	var all sync.WaitGroup
	for name, e := range entries {
		all.Go(func() {
			switch {
			case err != nil: // the attempts are kept meanwhile
				if !e.ran && !e.doomed && e.pass != "" {
					p.beat(ctx, e)
				}
			case p.step(ctx, name, e, found[name]):
				p.mu.Lock()
				delete(p.known, name)
				p.mu.Unlock()
				p.tell()
			}
		})
	}
	all.Wait()
}

// step does what there is to do as a Pod stands; over says that there is no Pod any more.
func (p *pods) step(ctx context.Context, name string, e *entry, pod *corev1.Pod) (over bool) {
	if pod == nil {
		if !e.doomed {
			p.giveBack(ctx, e, e.ran, errDeleted)
		}
		return true
	}
	switch s := standing(pod); {
	case e.doomed:
	case s.state == succeeded:
		p.Logger.InfoContext(ctx, "attempt's Pod has ended", "key", e.key, "pod", name)
		p.works()
		e.doomed = true
	case s.state == failed:
		p.giveBack(ctx, e, s.ran, s.why)
		e.doomed = true
		if s.ran {
			p.note("the last Pod", s.why)
		} else {
			p.later(ctx, "a Pod did not run", s.why)
		}
	case s.state == running:
		if !e.ran {
			p.Logger.InfoContext(ctx, "attempt's Pod runs", "key", e.key, "pod", name, "node", pod.Spec.NodeName)
			p.works()
			e.ran = true
		}
		return false
	case s.state == hopeless, time.Since(e.seen) > p.Pending:
		p.giveBack(ctx, e, false, s.why)
		e.doomed = true
		p.later(ctx, "a Pod did not run", s.why)
	case e.pass != "" && !p.beat(ctx, e):
		e.doomed = true
	default:
		return false
	}
	p.remove(ctx, name, e)
	return false // the next look sees that it is gone
}

// beat keeps an attempt for a Pod that does not do so yet; false: it is not to be made.
func (p *pods) beat(ctx context.Context, e *entry) bool {
	if time.Since(e.beat) < p.Beat {
		return true
	}
	e.beat = time.Now()
	switch stop, err := p.Client.Beat(ctx, e.pass); {
	case errors.Is(err, runner.ErrGone):
		p.Logger.WarnContext(ctx, "attempt given up", "key", e.key, "why", err)
		e.pass = ""
		return false
	case stop:
		p.giveBack(ctx, e, false, errStopped)
		return false
	}
	return true // where the server did not answer it is asked again, until the lease ends
}

// remove deletes a Pod. Where that fails the next look does it again.
func (p *pods) remove(ctx context.Context, name string, e *entry) {
	if err := p.Cluster.deletePod(ctx, name); err != nil && ctx.Err() == nil {
		p.Logger.WarnContext(ctx, "a Pod can't be deleted; trying again", "key", e.key, "pod", name, "error", err)
	}
}
