package app_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// TestCrashOnPostgres runs a part of TestCrash on PostgreSQL, where a process may not continue another's work until its
// leases have expired.
func TestCrashOnPostgres(t *testing.T) {
	t.Parallel()
	sim, err := ghsim.New(ghsim.Config{})
	check(t, err)
	registered, err := sim.CreateApp("key")
	check(t, err)
	check(t, sim.Close())
	for i, c := range crashStories() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want, _, _ := c.run(t, registered.PrivateKeyPEM, storetest.Postgres(t), 0, 0)
			for _, must := range c.must {
				if !strings.Contains(want, must) {
					t.Fatalf("the undisturbed run lacks %q:\n%s", must, want)
				}
			}
			got, crossed, died := c.run(t, registered.PrivateKeyPEM, storetest.Postgres(t), killEvery, 2+i)
			if died < c.least/killEvery/2 {
				t.Errorf("%d processes died at %d boundaries", died, len(crossed))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-undisturbed +killed\n%s", diff)
			}
		})
	}
}

// TestAnotherServerGoesOn: of two servers on one database, one is killed during an attempt, and the other continues it.
func TestAnotherServerGoesOn(t *testing.T) {
	t.Parallel()
	c := crashStories()[0]
	sim, _, one := crashWorld(t, nil, c.model, c.files)
	one.Config.DB, one.Lease = storetest.Postgres(t), shortLease
	other := one
	other.Config.Listen = apptest.FreeAddress(t)
	other.Kills.Seen += "-of-the-other"
	one.Kills.At = "after 1005-1/1/attempt"
	killed := begin(t, sim, one)
	if !killed.wait(t) {
		t.Fatal("no attempt began")
	}
	check(t, sim.SetWebhook(one.Config.GitHub.AppID, "http://"+other.Config.Listen+"/webhook", apptest.Secret))
	if launch(t, other).wait(t) {
		t.Fatal("the other died, too")
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, sim.WaitIdle(ctx))
	world := describe(t, sim, other)
	for _, must := range c.must {
		if !strings.Contains(world, must) {
			t.Errorf("it lacks %q:\n%s", must, world)
		}
	}
}

// A server is not ready while its database rejects writes, like a standby, even if it responds.
func TestNotReadyWithoutWrites(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t)
	s := storetest.Open(t, store.Config{URL: url})
	_, err := storetest.Raw(t, url).Exec(`DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on', current_database());
		PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid();
		END $$`)
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	for s.Refused() == "" { // the first tries find that connections were closed
		if _, err := s.Halt(ctx, store.Halt{Scope: sia.ServerHalt}); err == nil || ctx.Err() != nil {
			t.Fatalf("no write was refused: %v", err)
		}
	}
	w := httptest.NewRecorder()
	app.ReadyOf(s, app.MinFree).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "does not take what is written") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
