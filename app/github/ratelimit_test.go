package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

func readCloser(s string) io.ReadCloser { return io.NopCloser(strings.NewReader(s)) }

func TestRateLimits(t *testing.T) {
	const path = "POST /repos/acme/shop/issues/12/reactions"
	reset := func(c *clock, d time.Duration) string { return fmt.Sprint(c.now().Add(d).Unix()) }
	for _, c := range []struct {
		name   string
		refuse func(http.ResponseWriter, *clock)
		slept  time.Duration // 0: an error instead
		after  time.Duration
	}{
		{"secondary, short", func(rw http.ResponseWriter, _ *clock) {
			rw.Header().Set("Retry-After", "7")
			answer(rw, 403, `{"message":"You have exceeded a secondary rate limit."}`)
		}, 7 * time.Second, 0},
		{"secondary, long", func(rw http.ResponseWriter, _ *clock) {
			rw.Header().Set("Retry-After", "90")
			answer(rw, 429, `{"message":"slow down"}`)
		}, 0, 90 * time.Second},
		{"secondary that does not say", func(rw http.ResponseWriter, _ *clock) {
			answer(rw, 403, `{"message":"You have exceeded a secondary rate limit. Please wait."}`)
		}, 0, time.Minute},
		{"primary, short", func(rw http.ResponseWriter, c *clock) {
			rw.Header().Set("X-Ratelimit-Remaining", "0")
			rw.Header().Set("X-Ratelimit-Reset", reset(c, 5*time.Second))
			answer(rw, 403, `{"message":"API rate limit exceeded for installation ID 1."}`)
		}, 5 * time.Second, 0},
		{"primary, long", func(rw http.ResponseWriter, c *clock) {
			rw.Header().Set("X-Ratelimit-Remaining", "0")
			rw.Header().Set("X-Ratelimit-Resource", "core")
			rw.Header().Set("X-Ratelimit-Reset", reset(c, 1800*time.Second))
			answer(rw, 403, `{"message":"API rate limit exceeded for installation ID 1."}`)
		}, 0, 30 * time.Minute},
		{"primary whose reset is past by our clock", func(rw http.ResponseWriter, c *clock) {
			rw.Header().Set("X-Ratelimit-Remaining", "0")
			rw.Header().Set("X-Ratelimit-Reset", reset(c, -5*time.Second))
			answer(rw, 429, `{"message":"API rate limit exceeded"}`)
		}, time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/")
			var n atomic.Int32
			w.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
				if n.Add(1) == 1 {
					c.refuse(rw, w.clock)
					return
				}
				answer(rw, 201, `{"id":1}`)
			})
			w.json("POST /repos/other/place/issues/12/reactions", 201, `{"id":1}`)
			ctx := context.Background()
			err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes")
			if c.slept > 0 {
				if err != nil || !cmp.Equal(w.clock.naps(), []time.Duration{c.slept}) {
					t.Fatalf("err %v, slept %v", err, w.clock.naps())
				}
				if got := w.got(path); len(got) != 2 || got[0].body != got[1].body {
					t.Errorf("want the request sent again whole: %v", got)
				}
				return
			}
			if sia.IsPermanent(err) || sia.RetryAfter(err) != c.after || !strings.Contains(err.Error(), "goes on by itself") {
				t.Fatalf("got %v, retry after %v", err, sia.RetryAfter(err))
			}
			// No other request of this installation is sent, through any handle …
			err = w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes")
			if sia.RetryAfter(err) != c.after || n.Load() != 1 {
				t.Errorf("second call: %v after %d requests", err, n.Load())
			}
			// … but another installation is not affected …
			if err := w.app.Repo(2, sia.Repo{ID: 9, Owner: "other", Name: "place"}).
				React(ctx, sia.Origin{OnIssue: 12}, "eyes"); err != nil {
				t.Error(err)
			}
			// … and after the wait it continues.
			if err := w.clock.sleep(ctx, c.after); err != nil {
				t.Fatal(err)
			}
			if err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestLastCallOfTheHourHoldsTheNext(t *testing.T) {
	w := start(t, "/")
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("X-Ratelimit-Remaining", "0")
		rw.Header().Set("X-Ratelimit-Resource", "core")
		rw.Header().Set("X-Ratelimit-Reset", fmt.Sprint(w.clock.now().Add(time.Minute).Unix()))
		answer(rw, 200, issue12)
	})
	w.json("POST /graphql", 200, `{"data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`)
	ctx := context.Background()
	if _, err := w.repo().Issue(ctx, 12); err != nil {
		t.Fatal(err)
	}
	if _, err := w.repo().Issue(ctx, 12); sia.RetryAfter(err) != time.Minute {
		t.Errorf("got %v", err)
	}
	if err := w.repo().MarkReady(ctx, "PR_1"); err != nil {
		t.Errorf("GraphQL has a limit of its own: %v", err)
	}
	if n := len(w.got("GET /repos")); n != 1 {
		t.Errorf("%d requests", n)
	}
}

// A secondary limit in a response with status 200 to a GraphQL request blocks everything.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func TestSecondaryLimitOfGraphQL(t *testing.T) {
	for said, want := range map[string]time.Duration{"90": 90 * time.Second, "": time.Minute} {
		w := start(t, "/")
		w.HandleFunc("POST /graphql", func(rw http.ResponseWriter, _ *http.Request) {
			if said != "" {
				rw.Header().Set("Retry-After", said)
			}
			answer(rw, 200, `{"errors":[{"message":"You have exceeded a secondary rate limit. Please wait a few minutes."}]}`)
		})
		err := w.repo().MarkReady(t.Context(), "PR_1")
		if sia.IsPermanent(err) || sia.RetryAfter(err) != want || !strings.Contains(err.Error(), "goes on by itself") {
			t.Errorf("after %q: %v, to be tried again after %s", said, err, sia.RetryAfter(err))
		}
		if _, err := w.repo().Issue(t.Context(), 12); sia.RetryAfter(err) != want || len(w.got("GET /repos")) > 0 {
			t.Errorf("REST is asked all the same: %v", err)
		}
	}
}

func TestWritesAreSpacedAndOneAtATime(t *testing.T) {
	w := start(t, "/", func(c *Config) { c.WriteBurst = 2 })
	var under, most atomic.Int32
	w.HandleFunc("POST /repos/acme/shop/issues/{n}/reactions", func(rw http.ResponseWriter, _ *http.Request) {
		if now := under.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer under.Add(-1)
		answer(rw, 201, `{"id":1}`)
	})
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if err := w.repo().React(context.Background(), sia.Origin{OnIssue: i + 1}, "eyes"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d writes at once", most.Load())
	}
	want := []time.Duration{time.Second, time.Second, time.Second, time.Second}
	if d := cmp.Diff(want, w.clock.naps()); d != "" {
		t.Error(d)
	}
}

func TestBrokenAnswersAreRetriedWhenThatIsSafe(t *testing.T) {
	w := start(t, "/")
	var reads, writes atomic.Int32
	w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, _ *http.Request) {
		if reads.Add(1) < 3 {
			answer(rw, 502, "<html>")
			return
		}
		answer(rw, 200, issue12)
	})
	w.HandleFunc("POST /repos/acme/shop/issues/12/reactions", func(rw http.ResponseWriter, _ *http.Request) {
		writes.Add(1)
		answer(rw, 502, "<html>")
	})
	ctx := context.Background()
	if _, err := w.repo().Issue(ctx, 12); err != nil || reads.Load() != 3 {
		t.Errorf("read: %v after %d", err, reads.Load())
	}
	err := w.repo().React(ctx, sia.Origin{OnIssue: 12}, "eyes")
	if err == nil || sia.IsPermanent(err) || writes.Load() != 1 ||
		!strings.Contains(err.Error(), "GitHub is failing (502)") {
		t.Errorf("write: %v after %d", err, writes.Load())
	}
}

func TestUnreachableAndCancelled(t *testing.T) {
	w := start(t, "/")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := w.repo().Issue(ctx, 12)
	if err == nil || sia.IsPermanent(err) {
		t.Errorf("cancelled: %v", err)
	}
	w.srv.Close()
	_, err = w.repo().Issue(context.Background(), 12)
	if err == nil || sia.IsPermanent(err) || !strings.Contains(err.Error(), "can't be reached") {
		t.Errorf("unreachable: %v", err)
	}
}

func TestPacer(t *testing.T) {
	c := newClock()
	p := newWritePacer(Config{Now: c.now, Sleep: c.sleep, WriteSpacing: time.Second, WriteBurst: 5})
	ctx := context.Background()
	write := func() {
		done, err := p.enter(ctx)
		if err != nil {
			t.Fatal(err)
		}
		done()
	}
	for range 5 {
		write()
	}
	if len(c.naps()) != 0 {
		t.Fatalf("burst slept %v", c.naps())
	}
	write()
	if err := c.sleep(ctx, time.Hour); err != nil { // idle: the bucket fills up to the burst
		t.Fatal(err)
	}
	for range 6 {
		write()
	}
	if d := cmp.Diff([]time.Duration{time.Second, time.Hour, time.Second}, c.naps()); d != "" {
		t.Error(d)
	}
	done, _ := p.enter(ctx)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := p.enter(stopped); err == nil {
		t.Error("entered while another write was under way")
	}
	done()
}

func TestWritesThatDoNotGetTheirTurn(t *testing.T) {
	w := start(t, "/")
	ctx := context.Background()
	p := newWritePacer(w.app.cfg)
	done, err := p.enter(ctx) // a write that never ends
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	late, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	defer cancel()
	in := w.app.installation(1)
	req, _ := http.NewRequestWithContext(late, http.MethodPost, w.base+"repos/acme/shop/x", readCloser("{}"))
	_, err = w.app.baseTransport(1, in.limits, p).RoundTrip(req)
	err = w.app.failure(err, "comment")
	if sia.IsPermanent(err) || sia.RetryAfter(err) != queueRetryAfter ||
		!strings.Contains(err.Error(), "wait their turn") {
		t.Errorf("got %v", err)
	}
	if n := len(w.got("POST")); n != 0 {
		t.Errorf("%d requests went out", n)
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if err := Sleep(ctx, time.Nanosecond); err != nil {
		t.Error(err)
	}
	cancel()
	if err := Sleep(ctx, time.Hour); err == nil {
		t.Error("slept on")
	}
}
