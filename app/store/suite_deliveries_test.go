package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

func testMigrate(t *testing.T, s *fixture) {
	v, err := s.Version(patient(t))
	must(t, err)
	from, to, err := s.Migrate(patient(t))
	must(t, err)
	if v == 0 || from != v || to != v {
		t.Errorf("migrating again went from %d to %d, the version is %d", from, to, v)
	}
}

func delivery(guid string, body []byte) store.Delivery {
	return store.Delivery{GUID: guid, Event: "issues", Action: "labeled", Installation: 3, Repo: "octo/demo", Body: body,
		Received: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func save(t *testing.T, s *fixture, d store.Delivery) (fresh bool) {
	t.Helper()
	fresh, err := s.SaveDelivery(patient(t), d)
	must(t, err)
	return fresh
}

func testLatestDelivery(t *testing.T, s *fixture) {
	if _, err := s.LatestDelivery(patient(t)); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of none: %v", err)
	}
	save(t, s, delivery("a", []byte("{}")))
	want := delivery("b", []byte("{}"))
	save(t, s, want)
	got, err := s.LatestDelivery(patient(t))
	must(t, err)
	if got.GUID != "b" || got.Event != want.Event || !got.Received.Equal(want.Received) || len(got.Body) > 0 {
		t.Errorf("%+v, want %+v without its body", got, want)
	}
}

func testArrived(t *testing.T, s *fixture) {
	save(t, s, delivery("a", []byte("{}")))
	save(t, s, delivery("z", []byte("{}")))
	asked := []string{"a"}
	for n := range 1000 {
		asked = append(asked, fmt.Sprint("lost", n))
	}
	got, err := s.Arrived(patient(t), append(asked, "z"))
	must(t, err)
	if diff := cmp.Diff(map[string]bool{"a": true, "z": true}, got); diff != "" {
		t.Error(diff)
	}
}

func testAnswered(t *testing.T, s *fixture) {
	at, err := s.Answered(patient(t))
	must(t, err)
	if !at.IsZero() {
		t.Errorf("a new database has all that was answered until %s", at)
	}
	for n := range 2 {
		want := time.Date(2026, 1, 2, 3, n, 0, 0, time.UTC)
		must(t, s.SaveAnswered(patient(t), want))
		if at, err = s.Answered(patient(t)); err != nil || !at.Equal(want) {
			t.Errorf("got %s, want %s; %v", at, want, err)
		}
	}
}

func testDeliverySavedOnce(t *testing.T, s *fixture) {
	if !save(t, s, delivery("a", []byte("{}"))) {
		t.Error("the first delivery is not fresh")
	}
	if save(t, s, delivery("a", []byte("{}"))) {
		t.Error("the second delivery of one GUID is fresh")
	}
	if _, err := s.SaveDelivery(patient(t), delivery("", nil)); err == nil {
		t.Error("a delivery without GUID was saved")
	}
}

func testDeliveriesAtOnce(t *testing.T, s *fixture) {
	const senders, each = 16, 40
	var fresh atomic.Int64
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for i := range each {
				ok, err := s.SaveDelivery(patient(t), delivery(fmt.Sprint("guid-", i), bytes.Repeat([]byte("x"), i*100)))
				if err != nil {
					t.Error(err)
				}
				if ok {
					fresh.Add(1)
				}
			}
		})
	}
	all.Wait()
	if fresh.Load() != each {
		t.Errorf("%d deliveries were fresh, want %d", fresh.Load(), each)
	}
	var seen sync.Map
	var n atomic.Int64
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		if _, again := seen.LoadOrStore(d.GUID, true); again {
			t.Errorf("delivery %s was worked on twice", d.GUID)
		}
		n.Add(1)
		return nil
	}
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	if n.Load() != each {
		t.Errorf("%d deliveries were worked on, want %d", n.Load(), each)
	}
}

func testDeliveryWorkedOn(t *testing.T, s *fixture) {
	small := delivery("small", []byte(`{"a":1}`))
	large := delivery("large", bytes.Repeat([]byte(`{"action":"labeled"}`), 5000))
	for _, d := range []store.Delivery{small, large} {
		save(t, s, d)
	}
	got := make(chan store.Delivery, 2)
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error { got <- d; return nil }
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	for range 2 {
		d := <-got
		want := small
		if d.GUID == "large" {
			want = large
		}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Error(diff)
		}
	}
}

func testDeliveryOutage(t *testing.T, s *fixture) {
	save(t, s, delivery("late", nil))
	save(t, s, delivery("hopeless", nil))
	var late, hopeless atomic.Int64
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		if d.GUID == "hopeless" {
			hopeless.Add(1)
		} else if late.Add(1) > 10 {
			return nil
		}
		return &sia.Error{Op: "read the issue", Message: "GitHub is failing (503)", Outage: true}
	}
	c := quick()
	c.OutageTries = 20
	e := engine(t, s, h, c)
	must(t, e.Idle(patient(t)))
	if late.Load() != 11 || hopeless.Load() != 20 {
		t.Errorf("tried %d and %d times, want 11 and 20", late.Load(), hopeless.Load())
	}
}

func testDeliveryGivenUp(t *testing.T, s *fixture) {
	save(t, s, delivery("weak", nil))
	save(t, s, delivery("hopeless", nil))
	var weak, hopeless atomic.Int64
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		if d.GUID == "weak" {
			if weak.Add(1) < 3 {
				panic("not yet")
			}
			return nil
		}
		if hopeless.Add(1) <= 4 {
			return errors.New("GitHub is down")
		}
		return nil
	}
	e := engine(t, s, h, quick())
	must(t, e.Idle(patient(t)))
	if weak.Load() != 3 || hopeless.Load() != 4 {
		t.Errorf("tried %d and %d times, want 3 and 4", weak.Load(), hopeless.Load())
	}
	if save(t, s, delivery("weak", nil)) {
		t.Error("a delivery that was dealt with is fresh again")
	}
	if !save(t, s, delivery("hopeless", nil)) {
		t.Error("a delivery that was given up can't be sent again")
	}
	must(t, e.Idle(patient(t)))
	if hopeless.Load() != 5 {
		t.Errorf("tried %d times after it was sent again, want 5", hopeless.Load())
	}
}

// Deliveries that were saved together have one job, and are processed independently.
func testDeliveriesTogether(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, saveTogether(t, s, []string{"known"}, "known"))
	all := []store.Delivery{delivery("known", nil), delivery("twice", nil), delivery("twice", nil),
		delivery("weak", nil), delivery("hopeless", nil), delivery("panics", nil)}
	want := []string{"twice", "weak", "hopeless", "panics"}
	for n := range 70 {
		guid := fmt.Sprint("d", n)
		all, want = append(all, delivery(guid, []byte(guid))), append(want, guid)
	}
	fresh, err := s.SaveTogether(ctx, all...)
	must(t, err)
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Error(diff)
	}
	raw := storetest.Raw(t, s.url)
	if jobs := column(t, raw, `SELECT kind FROM river_job ORDER BY id`); !slices.Equal(jobs,
		[]string{"deliveries", "deliveries"}) {
		t.Errorf("the jobs are %v", jobs)
	}
	tried, atOnce := map[string]int{}, 0
	var mu sync.Mutex
	h := newScript(t, s).handlers()
	var under atomic.Int64
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		n := under.Add(1)
		defer under.Add(-1)
		mu.Lock()
		defer mu.Unlock()
		tried[d.GUID]++
		atOnce = max(atOnce, int(n))
		switch {
		case d.GUID == "weak" && tried[d.GUID] < 3:
			return errors.New("GitHub is down")
		case d.GUID == "hopeless":
			return &sia.Error{Permanent: true, Message: "no"}
		case d.GUID == "panics":
			panic("not yet")
		}
		return nil
	}
	c := quick()
	c.Deliveries = 3
	must(t, engine(t, s, h, c).Idle(ctx))
	counts := map[string]int{"known": 1, "weak": 3, "panics": 4}
	for _, guid := range fresh {
		if got := tried[guid]; got != max(1, counts[guid]) {
			t.Errorf("%s was tried %d times", guid, got)
		}
	}
	if atOnce > 3 {
		t.Errorf("%d were worked on at once, want at most 3", atOnce)
	}
	failed := column(t, raw, `SELECT guid FROM deliveries WHERE state = 'failed' ORDER BY guid`)
	pending := column(t, raw, `SELECT guid FROM deliveries WHERE state = 'pending'`)
	if !slices.Equal(failed, []string{"hopeless", "panics"}) || len(pending) > 0 {
		t.Errorf("failed: %v, pending: %v", failed, pending)
	}
}

func saveTogether(t *testing.T, s *fixture, want []string, guids ...string) error {
	t.Helper()
	var all []store.Delivery
	for _, guid := range guids {
		all = append(all, delivery(guid, nil))
	}
	fresh, err := s.SaveTogether(patient(t), all...)
	if err == nil && !slices.Equal(fresh, want) {
		err = fmt.Errorf("fresh are %v, want %v", fresh, want)
	}
	return err
}

// When an engine stops, deliveries of a job that it has not begun are left to the next engine.
func testDeliveriesTogetherStopped(t *testing.T, s *fixture) {
	must(t, saveTogether(t, s, []string{"a", "b", "c"}, "a", "b", "c"))
	seen := make(chan string, 4)
	h := newScript(t, s).handlers()
	h.Delivery = func(ctx context.Context, d store.Delivery) error {
		seen <- d.GUID
		<-ctx.Done() // the engine stops
		return nil
	}
	c := quick()
	c.Deliveries = 1
	e, err := s.Start(patient(t), h, c)
	must(t, err)
	first := <-seen
	now, cancel := context.WithCancel(patient(t))
	cancel()
	_ = e.Stop(now)
	if len(seen) > 0 {
		t.Errorf("%s was begun by an engine that stops", <-seen)
	}
	h.Delivery = func(_ context.Context, d store.Delivery) error { seen <- d.GUID; return nil }
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	close(seen)
	all := []string{first}
	for guid := range seen {
		all = append(all, guid)
	}
	slices.Sort(all)
	if !slices.Equal(all, []string{"a", "b", "c"}) {
		t.Errorf("worked on: %v", all)
	}
}

// After a crash, deliveries that were saved together continue in jobs of their own: the one that caused it is given up,
// and affects no other.
func testDeliveriesTogetherCrashed(t *testing.T, s *fixture) {
	must(t, saveTogether(t, s, []string{"a", "b", "c"}, "a", "b", "c"))
	raw := storetest.Raw(t, s.url)
	for _, change := range []string{`UPDATE river_job SET attempt = 1`,
		`UPDATE deliveries SET state = 'done' WHERE guid = 'a'`} {
		_, err := raw.ExecContext(patient(t), change)
		must(t, err)
	}
	var mu sync.Mutex
	var seen []string
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, d.GUID)
		return nil
	}
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	slices.Sort(seen)
	jobs := column(t, raw, `SELECT kind FROM river_job ORDER BY id`)
	if !slices.Equal(seen, []string{"b", "c"}) || !slices.Equal(jobs, []string{"deliveries", "deliveries", "deliveries"}) {
		t.Errorf("worked on: %v, in %v", seen, jobs)
	}
}

// Slow deliveries of one installation, saved together or one by one, leave half of the slots to others.
func testDeliveriesOfOneInstallation(t *testing.T, s *fixture) {
	ctx := patient(t)
	must(t, saveTogether(t, s, []string{"a", "b", "c", "d", "e"}, "a", "b", "c", "d", "e"))
	for n := range 10 {
		save(t, s, delivery(fmt.Sprint("slow", n), nil))
	}
	slow, other := make(chan string, 20), make(chan string, 1)
	gate := make(chan struct{})
	h := newScript(t, s).handlers()
	h.Delivery = func(ctx context.Context, d store.Delivery) error {
		if d.Installation != 3 {
			other <- d.GUID
			return nil
		}
		slow <- d.GUID
		select {
		case <-gate:
		case <-ctx.Done():
		}
		return nil
	}
	c := quick()
	c.Deliveries = 4
	e := engine(t, s, h, c)
	for range 2 {
		<-slow
	}
	d := delivery("other", nil)
	d.Installation = 4
	save(t, s, d)
	select {
	case <-other:
	case <-ctx.Done():
		t.Error("the delivery of another installation waits for the slow ones")
	}
	if len(slow) > 0 {
		t.Errorf("one installation has %d of %d slots", 2+len(slow), c.Deliveries)
	}
	close(gate)
	must(t, e.Idle(ctx))
	if len(slow) != 13 {
		t.Errorf("%d more slow deliveries were processed, want 13", len(slow))
	}
}

// The job of an earlier version for a delivery is processed.
func testDeliveryOfAnEarlierVersion(t *testing.T, s *fixture) {
	save(t, s, delivery("old", nil))
	raw := storetest.Raw(t, s.url)
	_, err := raw.ExecContext(patient(t), `UPDATE river_job SET kind = 'delivery', args = '{"guid": "old"}'`)
	must(t, err)
	var seen []string
	h := newScript(t, s).handlers()
	h.Delivery = func(_ context.Context, d store.Delivery) error {
		seen = append(seen, d.GUID)
		return nil
	}
	must(t, engine(t, s, h, quick()).Idle(patient(t)))
	if !slices.Equal(seen, []string{"old"}) {
		t.Errorf("worked on: %v", seen)
	}
}

func testDeliveriesPruned(t *testing.T, s *fixture) {
	ctx := patient(t)
	save(t, s, delivery("old", nil))
	n, err := s.PruneDeliveries(ctx, at(60*24))
	must(t, err)
	if n != 0 {
		t.Error("a delivery that waits was deleted")
	}
	h := newScript(t, s).handlers()
	h.Delivery = func(context.Context, store.Delivery) error { return &sia.Error{Permanent: true, Message: "no"} }
	must(t, engine(t, s, h, quick()).Idle(ctx))
	if n, err = s.PruneDeliveries(ctx, at(60*24)); err != nil || n != 1 {
		t.Errorf("pruned %d, %v; want 1", n, err)
	}
}

// Deliveries are deleted in batches, so that other writers are not blocked for long: when a batch fails, the earlier
// ones remain deleted.
func testManyDeliveriesPruned(t *testing.T, s *fixture) {
	ctx := patient(t)
	raw := storetest.Raw(t, s.url)
	_, err := raw.ExecContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1199)
		INSERT INTO deliveries (guid, event, action, installation_id, repo, body, received_at, state)
		SELECT 'd' || i, 'push', '', 1, 'a/b', '', i + 1, 'done' FROM n`)
	must(t, err)
	// The last one can't be deleted, as with a full disk.
	_, err = raw.ExecContext(ctx, `CREATE TABLE keeps (guid text REFERENCES deliveries (guid))`)
	must(t, err)
	_, err = raw.ExecContext(ctx, `INSERT INTO keeps VALUES ('d1199')`)
	must(t, err)
	n, err := s.PruneDeliveries(ctx, at(60*24))
	var left int
	must(t, raw.QueryRowContext(ctx, `SELECT count(*) FROM deliveries`).Scan(&left))
	if err == nil || n != 1000 || left != 200 {
		t.Errorf("pruned %d, %d are left: %v", n, left, err)
	}
}
