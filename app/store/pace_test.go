package store

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestPace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	synctest.Test(t, func(t *testing.T) {
		inbox := newGroupCommit(nil, func(context.Context, []*savedDelivery) error { return nil })
		p := newPace(inbox)
		begun := time.Now()
		turn := func() (done func(), at time.Duration) {
			t.Helper()
			done, err := p.turn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return done, time.Since(begun)
		}

		first, at := turn()
		if at != 0 {
			t.Errorf("the first had its turn after %s", at)
		}
		if _, at := turn(); at != maxTurn { // it waits for GitHub, and so takes longer
			t.Errorf("the second had its turn after %s, want %s", at, maxTurn)
		}
		first() // called again, after its turn expired

		time.Sleep(time.Second)
		begun = time.Now()
		inbox.waiting.Store(groupThreshold)
		time.AfterFunc(49*time.Millisecond, func() { inbox.waiting.Store(0) })
		done, at := turn()
		if at != 50*time.Millisecond {
			t.Errorf("beside several that were being saved for 49 ms it waited for %s", at)
		}
		time.Sleep(maxTurn / 2)
		done()

		inbox.last.Store(time.Now().UnixMicro())
		begun = time.Now()
		if _, at := turn(); at != maxTurn/2 {
			t.Errorf("beside one that arrived it waited for %s, want as long as the last one took", at)
		}

		time.Sleep(time.Second)
		begun = time.Now()
		inbox.waiting.Store(groupThreshold)
		if _, at := turn(); at != maxYield {
			t.Errorf("while there was no end to those being saved it waited for %s, want %s", at, maxYield)
		}
		if _, at := turn(); at > maxYield+2*maxTurn {
			t.Errorf("the next after that waited until %s", at)
		}
		time.Sleep(workInterval)
		begun = time.Now()
		if _, at := turn(); at != maxYield {
			t.Errorf("and later %s, want %s", at, maxYield)
		}

		over, cancel := context.WithCancelCause(t.Context())
		cancel(errClosed)
		if _, err := p.turn(over); !errors.Is(err, errClosed) {
			t.Errorf("after the end: %v", err)
		}
		synctest.Wait()
	})
}
