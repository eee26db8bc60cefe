package store

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/riverqueue/river/riverdriver"

	"github.com/sia-bot/sia/sia"
)

// crowd simulates a queue of effects: a busy installation always has 1,000 waiting, and a quiet one starts one now and
// then. It returns the average latency of the quiet one's effects, from their due time, in units of their own duration.
func crowd(noisy int, seed int64) (took float64) {
	const workers = 8
	random := rand.New(rand.NewPCG(uint64(seed), 0))
	sh := newShares(workers)
	type run struct{ end float64 }
	running := map[int64]run{}
	quietDue := map[int64]float64{} // by job
	var waiting []float64           // when the quiet ones were due
	var next int64
	var all []float64
	arrival := 0.0
	for at := 0.0; len(all) < 500; {
		lanes := []lane{}
		for i := range noisy {
			lanes = append(lanes, lane{queue: laneName(queueEffects, int64(i+10), int64(i+10), false),
				installation: int64(i + 10), repo: int64(i + 10)})
		}
		if len(waiting) > 0 {
			lanes = append(lanes, lane{queue: "quiet", installation: 1, repo: 1})
		}
		free := workers + extraEffectWorkers - len(running)
		got := sh.assign(lanes, free)
		for _, l := range lanes {
			for range got[l.queue] {
				if l.installation == 1 && len(waiting) == 0 {
					continue
				}
				next++
				sh.begin(next, l)
				running[next] = run{at + 0.5 + random.Float64()}
				if l.installation == 1 {
					quietDue[next], waiting = waiting[0], waiting[1:]
				}
			}
		}
		soonest, job := arrival, int64(0)
		for id, r := range running {
			if r.end < soonest {
				soonest, job = r.end, id
			}
		}
		at = soonest
		if job == 0 {
			waiting = append(waiting, at)
			arrival = at + random.ExpFloat64()*2
			continue
		}
		if due, ok := quietDue[job]; ok {
			all = append(all, at-due)
			delete(quietDue, job)
		}
		delete(running, job)
		sh.end(job)
	}
	sum := 0.0
	for _, d := range all {
		sum += d
	}
	return sum / float64(len(all))
}

// A busy installation delays another's effects by less than a tenth. Several busy ones share the workers.
func TestNoisyInstallationSlowsNobody(t *testing.T) {
	alone, beside, besideFive := crowd(0, 1), crowd(1, 1), crowd(5, 1)
	t.Logf("alone %.3f, beside one %.3f, beside five %.3f", alone, beside, besideFive)
	if beside > alone*1.1 {
		t.Errorf("a quiet installation's effect takes %.3f beside a noisy one, and %.3f alone", beside, alone)
	}
	if besideFive > alone*1.3 {
		t.Errorf("beside five noisy ones it takes %.3f, and %.3f alone", besideFive, alone)
	}
}

// Free workers are divided evenly among installations, and those of an installation among its repositories.
func TestDivide(t *testing.T) {
	sh := newShares(8)
	of := func(installation, repo int64) lane {
		return lane{queue: laneName(queueEffects, installation, repo, false), installation: installation, repo: repo}
	}
	lanes := []lane{of(1, 1), of(1, 2), of(1, 3), of(2, 4)}
	got := sh.assign(lanes, 6)
	if got[lanes[3].queue] != 3 || math.Abs(float64(got[lanes[0].queue]-got[lanes[2].queue])) > 0 {
		t.Errorf("got %v", got)
	}
	if got := sh.assign(lanes[:3], 20); got[lanes[0].queue]+got[lanes[1].queue]+got[lanes[2].queue] != 8 {
		t.Errorf("one installation has %v", got)
	}
	for _, l := range []lane{{queue: "attempts_3_7-srv", installation: 3, repo: 7}, {queue: "effects"},
		{queue: "effects_3_7_w", installation: 3, repo: 7}} {
		if laneOf(l.queue) != l {
			t.Errorf("%s is %+v", l.queue, laneOf(l.queue))
		}
	}
}

// TestBusyInstallationContinues: when a delivery of an installation with the maximum of running ones ends, the next one
// begins. It does not wait until River polls.
func TestBusyInstallationContinues(t *testing.T) {
	s := openedAt(t, Config{URL: filepath.Join(t.TempDir(), "sia.db")})
	s.fetchPoll = time.Hour
	saved, processed := make(chan struct{}), make(chan string)
	e, err := s.Start(t.Context(), Handlers{
		Delivery: func(ctx context.Context, d Delivery) error {
			<-saved
			processed <- d.GUID
			return nil
		},
		Effect: func(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return nil, nil },
	}, EngineConfig{Deliveries: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	const n = 10
	for i := range n {
		if _, err := s.SaveDelivery(t.Context(), Delivery{GUID: fmt.Sprint("d", i), Event: "push", Installation: 3,
			Received: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	close(saved)
	late := time.After(time.Minute)
	for i := range n {
		select {
		case <-processed:
		case <-late:
			t.Fatalf("%d of %d deliveries were processed", i, n)
		}
	}
}

// TestFetchThatIsRefused: River logs the error of a failed fetch, so the error includes advice.
func TestFetchThatIsRefused(t *testing.T) {
	s := openedAt(t, Config{URL: filepath.Join(t.TempDir(), "sia.db")})
	e := &Engine{s: s, shares: map[string]*shares{queueDeliveries: newShares(1), queueEffects: newShares(1)}}
	if _, err := s.w.ExecContext(t.Context(), `ALTER TABLE river_job RENAME TO away`); err != nil {
		t.Fatal(err)
	}
	for _, queue := range []string{queueDeliveries, queueEffects} {
		_, err := fairDriver{s.driver(), e}.GetExecutor().JobGetAvailable(t.Context(),
			&riverdriver.JobGetAvailableParams{ClientID: "c", MaxAttemptedBy: 1, MaxToLock: 1, Queue: queue})
		if err == nil || !strings.Contains(err.Error(), olderSchema) {
			t.Errorf("%s: %v", queue, err)
		}
	}
}

// TestRiverWarnsOnceAMinute: a repeated message is dropped for a minute, with any attributes.
func TestRiverWarnsOnceAMinute(t *testing.T) {
	var log strings.Builder
	h := warningsOnly(slog.New(slog.NewTextHandler(&log, nil)), &outage{}).Handler()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	say := func(h slog.Handler, after time.Duration, message, queue string) {
		r := slog.NewRecord(start.Add(after), slog.LevelError, message, 0)
		r.Add("queue", queue)
		if err := h.Handle(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	say(h, 0, "no jobs", "1")
	say(h, time.Second, "no jobs", "2")
	say(h.WithAttrs([]slog.Attr{slog.Int("a", 1)}), 2*time.Second, "no jobs", "3")
	say(h, 3*time.Second, "no leader", "4")
	say(h, time.Minute, "no jobs", "5")
	var got []string
	for line := range strings.Lines(log.String()) {
		_, queue, _ := strings.Cut(strings.TrimSpace(line), "queue=")
		got = append(got, queue)
	}
	if want := []string{"1", "4", "5"}; !slices.Equal(got, want) {
		t.Errorf("said %q, want %q:\n%s", got, want, &log)
	}
}
