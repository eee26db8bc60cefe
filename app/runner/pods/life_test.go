package pods_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/runner/pods"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/kubesim"
)

// A Pod that does not start is removed after a timeout, or immediately if the error is permanent, and its attempt is
// released and run later. Until then the runner keeps the attempt.
func TestPodsThatDoNotRun(t *testing.T) {
	t.Parallel()
	for says, spoil := range map[string]func(*kubesim.Circumstances){
		"Unschedulable: 0/3 nodes are available": func(c *kubesim.Circumstances) { c.NoNode = true },
		"ImagePullBackOff: Back-off pulling":     func(c *kubesim.Circumstances) { c.Image = "ImagePullBackOff" },
		"InvalidImageName":                       func(c *kubesim.Circumstances) { c.Image = "InvalidImageName" },
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			if says != "InvalidImageName" {
				w.config.Pending = 50 * time.Millisecond
			}
			w.cluster.Change(spoil)
			w.pods()
			done := w.run(t.Context())
			w.until("six Pods were given up", func() bool { return w.count(runner.ReleasePath) >= 6 || len(done) > 0 })
			w.until("the server says why", func() bool { return strings.Contains(w.about(), says) })
			w.cluster.Change(func(c *kubesim.Circumstances) { c.NoNode, c.Image = false, "" })
			finished(t, done)
			w.empty()
		})
	}
}

// Until a Pod runs, the runner sends the attempt's heartbeats; then the Pod has to. When a user stops an attempt that
// waits for its Pod, the Pod is removed.
func TestHeartbeatsForAPod(t *testing.T) {
	var w *world
	runs := make(chan struct{})
	w = newWorld(t, func(ctx context.Context, pass string, _ kubesim.Container) (int32, string) {
		<-runs
		return w.makes(ctx, pass)
	})
	noNode := func(is bool) { w.cluster.Change(func(c *kubesim.Circumstances) { c.NoNode = is }) }
	noNode(true)
	w.pods()
	done := w.run(t.Context())
	w.until("three heartbeats were sent", func() bool { return w.count(runner.HeartbeatPath) >= 3 })
	noNode(false)
	w.until("the Pod runs", func() bool {
		all := w.cluster.Pods()
		return len(all) == 1 && all[0].Status.Phase == "Running"
	})
	w.looks(3) // one may be in progress
	before := w.count(runner.HeartbeatPath)
	w.looks(5)
	if after := w.count(runner.HeartbeatPath); after != before {
		t.Errorf("%d heartbeats for a Pod that runs", after-before)
	}
	close(runs)
	finished(t, done)
	w.empty()

	noNode(true)
	ctx, cancel := context.WithCancelCause(t.Context())
	done = w.run(ctx)
	w.until("there is a Pod", func() bool { return len(w.cluster.Pods()) == 1 })
	cancel(store.ErrCancelled)
	if got := <-done; got.err != nil || got.res.End != sia.EndCancelled {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	w.empty()
}

// A container that ends without a result counts as one of five lost runners; the server is notified immediately.
func TestPodThatFails(t *testing.T) {
	var w *world
	var begun atomic.Int32
	w = newWorld(t, func(ctx context.Context, pass string, _ kubesim.Container) (int32, string) {
		begun.Add(1)
		return 137, "killed"
	})
	w.pods()
	got := <-w.run(t.Context())
	if got.err != nil || got.res.End != sia.EndError || !strings.Contains(got.res.Reason, "5 runners") ||
		begun.Load() != 5 {
		t.Errorf("after %d Pods: %+v, %v", begun.Load(), got.res, got.err)
	}
	w.empty()
	w.until("the server says why", func() bool { return strings.Contains(w.about(), "exit code 137, Error: killed") })
}

// A Pod that is terminated releases its attempt, and another runs it. A deleted Pod is noticed, too.
func TestPodThatIsEvicted(t *testing.T) {
	t.Parallel()
	for name, gives := range map[string]bool{"and gives back": true, "and says nothing": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			var begun atomic.Int32
			w = newWorld(t, func(ctx context.Context, pass string, _ kubesim.Container) (int32, string) {
				if begun.Add(1) > 1 {
					return w.makes(ctx, pass)
				}
				<-ctx.Done()
				if gives {
					_ = w.client.Release(context.WithoutCancel(ctx), pass, false)
				}
				return 0, ""
			})
			w.pods()
			done := w.run(t.Context())
			w.until("the Pod runs", func() bool { return begun.Load() == 1 })
			w.cluster.Evict(w.cluster.Pods()[0].Name)
			finished(t, done)
			w.empty()
		})
	}
}

// When the runner stops, running Pods continue, and waiting ones are released. Its successor adopts the running Pods,
// and removes them when they have ended.
func TestRunnerOfPodsStartsAgain(t *testing.T) {
	var w *world
	runs := make(chan struct{})
	w = newWorld(t, func(ctx context.Context, pass string, _ kubesim.Container) (int32, string) {
		<-runs
		return w.makes(ctx, pass)
	})
	running := func() bool {
		all := w.cluster.Pods()
		return len(all) == 1 && all[0].Status.Phase == "Running"
	}
	w.cluster.Change(func(c *kubesim.Circumstances) { c.NoNode = true })
	stop := w.pods()
	done := w.run(t.Context())
	w.until("there is a Pod", func() bool { return len(w.cluster.Secrets()) == 1 })
	must(t, stop())
	w.empty()
	w.cluster.Change(func(c *kubesim.Circumstances) { c.NoNode = false })
	stop = w.pods()
	w.until("the Pod runs", running)
	must(t, stop())
	if !running() {
		t.Fatal("the Pod is gone with the runner")
	}
	asked := w.count(runner.NextPath)
	w.pods()
	w.looks(3)
	if n := w.count(runner.NextPath); n != asked {
		t.Error("an attempt was asked for while the one Pod that there may be runs")
	}
	close(runs)
	finished(t, done)
	w.empty()
	w.until("the next attempt is asked for", func() bool { return w.count(runner.NextPath) > asked })
}

// looks waits until the runner has looked at its Pods some times.
func (w *world) looks(n int) {
	w.t.Helper()
	before := w.count(http.MethodGet)
	w.until("the runner looked", func() bool { return w.count(http.MethodGet) >= before+n })
}

// A runner with an invalid token stops.
func TestTokenOfPods(t *testing.T) {
	w := newWorld(t, nil)
	must(t, w.db.RemoveRunner(t.Context(), "mill"))
	if err := pods.Run(t.Context(), w.config); !errors.Is(err, runner.ErrToken) {
		t.Error(err)
	}
}
