package store_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// payload is 25 kB that resemble a webhook: much structure, many numbers.
func payload(seed int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	var b bytes.Buffer
	for b.Len() < 25_000 {
		fmt.Fprintf(&b, `{"id":%d,"node_id":"%x","url":"https://api.github.com/repos/octo/demo/issues/%d","created_at":`+
			`"2026-03-01T12:00:%02dZ"},`,
			r.Uint64(), r.Uint64(), r.IntN(10_000), r.IntN(60))
	}
	return b.Bytes()
}

func benchStore(b *testing.B, delivered func()) *store.Store {
	return benchEngine(b, "", store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { delivered(); return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, nil },
	})
}

// benchEngine starts an engine on the database at a URL; "" is a new SQLite database.
func benchEngine(b *testing.B, url string, h store.Handlers) *store.Store {
	s := storetest.Open(b, store.Config{URL: url})
	e, err := s.Start(context.Background(), h, store.EngineConfig{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	})
	return s
}

// BenchmarkSaveDelivery saves deliveries of 25 kB at 300 a second while the engine processes them; p50 and p99 are the
// latencies of SaveDelivery.
func BenchmarkSaveDelivery(b *testing.B) {
	s := benchStore(b, func() {})
	bodies := make([][]byte, 64)
	for i := range bodies {
		bodies[i] = payload(i)
	}
	took := make([]time.Duration, b.N)
	var all sync.WaitGroup
	tick := time.NewTicker(time.Second / 300)
	defer tick.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-tick.C
		all.Go(func() {
			began := time.Now()
			_, err := s.SaveDelivery(context.Background(),
				store.Delivery{GUID: fmt.Sprint(i), Event: "issues", Body: bodies[i%64], Received: began})
			took[i] = time.Since(began)
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(took[b.N/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[b.N-1].Microseconds())/1000, "max-ms")
}

// BenchmarkBurst saves all deliveries at once.
func BenchmarkBurst(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchBurst(b, storetest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { benchBurst(b, storetest.Postgres(b)) })
}

func benchBurst(b *testing.B, url string) {
	s := benchEngine(b, url, store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect:   func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, nil },
	})
	body := payload(1)
	var n atomic.Int64
	b.SetParallelism(64)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.SaveDelivery(context.Background(),
				store.Delivery{GUID: fmt.Sprint(n.Add(1)), Event: "issues", Body: body}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkApply applies one event to one task.
func BenchmarkApply(b *testing.B) {
	s := storetest.Open(b, store.Config{})
	id := sia.NewTaskID(7, 1)
	e := sia.Event{ID: "start", At: time.Now(),
		Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: 1, Title: "t", DefaultBranch: "main"}}
	for i := 0; b.Loop(); i++ {
		if _, err := s.Apply(context.Background(), id, e); err != nil {
			b.Fatal(err)
		}
		e = sia.Event{ID: fmt.Sprint(i), At: time.Now(), Fact: sia.Edited{Title: fmt.Sprint(i)}}
	}
}

// BenchmarkPickUp measures the time from SaveDelivery, fifty a second, to the handler.
func BenchmarkPickUp(b *testing.B) {
	begun := make(chan time.Time)
	s := benchStore(b, func() { begun <- time.Now() })
	took := make([]time.Duration, b.N)
	body := payload(1)
	tick := time.NewTicker(time.Second / 50)
	defer tick.Stop()
	for i := range b.N {
		<-tick.C
		began := time.Now()
		if _, err := s.SaveDelivery(context.Background(),
			store.Delivery{GUID: fmt.Sprint(i), Event: "issues", Body: body, Received: began}); err != nil {
			b.Fatal(err)
		}
		took[i] = (<-begun).Sub(began)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[b.N/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkTask runs a task from its start until it has passed, with handlers that succeed immediately: it measures the
// time that the store and River take for some fifteen effects, one after the other.
func BenchmarkTask(b *testing.B) {
	passed := make(chan sia.TaskID, 1000)
	s := benchEngine(b, "", store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect: func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
			if t.State == sia.Passed {
				passed <- t.ID
			}
			return allWell(ctx, t, f)
		},
	})
	for i := 1; b.Loop(); i++ {
		id := sia.NewTaskID(7, i)
		if _, err := s.Apply(context.Background(), id, sia.Event{ID: "start", At: time.Now(),
			Fact: sia.Start{Repo: sia.Repo{ID: 7}, Issue: i, Title: "t", DefaultBranch: "main"}}); err != nil {
			b.Fatal(err)
		}
		for got := sia.TaskID(""); got != id; got = <-passed {
		}
	}
}
