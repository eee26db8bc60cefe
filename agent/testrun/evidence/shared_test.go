package evidence_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// Servers that share a folder check the changes of a repository one after the other, and don't mix their trees.
func TestServersThatShareAFolder(t *testing.T) {
	r, box, dir := newClone(t), newBox(t), caches+"/shared"
	base := r.commit(txtar.Parse([]byte(hostileBase)), "base/")
	heads := map[bool]string{}
	for good, does := range map[bool]string{true: "a >> 1", false: "a >> 2"} {
		heads[good] = r.commit(txtar.Parse([]byte("-- head/calc.py --\ndef half(a):\n    return "+does+"\n")), "head/")
	}
	look := func(ctx context.Context, good bool, w evidence.Wanted) (sia.TestEvidence, error) {
		w.Repository, w.Base, w.Head = "3/7", base, heads[good]
		if w.Open == nil {
			w.Open = func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(r.dir) }
		}
		return evidence.NewLooker(box, dir, nil, time.Now).Look(ctx, w) // a server of its own
	}
	var once sync.Once
	began := errors.New("began while another server was at it")
	meanwhile := func(string) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			_, err := look(ctx, false, evidence.Wanted{Open: func(context.Context, ...string) (*gitops.History, error) {
				return nil, began
			}})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("another server: %v", err)
			}
		})
	}
	var wg sync.WaitGroup
	for _, good := range []bool{true, false, true, false} {
		wg.Go(func() {
			w := evidence.Wanted{}
			if good {
				w.Begins = meanwhile
			}
			e, err := look(t.Context(), good, w)
			if err != nil || e.NotRun != "" || (len(e.Red) == 0) != good {
				t.Errorf("good %t: %+v, %v", good, e, err)
			}
		})
	}
	wg.Wait()
	if err := sandbox.RemoveAll(dir); err != nil {
		t.Error(err)
	}
}
