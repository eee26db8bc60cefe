package github

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// A download of a log ends when nothing arrives for a while, but not while nobody reads it, however long it takes.
func TestStallingReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		stall := time.AfterFunc(time.Hour, func() { out.CloseWithError(context.Canceled) })
		stall.Stop()
		r := &stallingReader{in: in, stall: stall}
		go func() {
			for range 20 {
				time.Sleep(logStall - time.Second)
				_, _ = out.Write([]byte("x"))
			}
		}()
		for range 20 {
			if n, err := r.Read(make([]byte, 1)); n != 1 || err != nil {
				t.Fatalf("%d bytes, %v", n, err)
			}
			time.Sleep(2 * logStall)
		}
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a stalled download: %v", err)
		}
	})
}
