package app_test

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/scripted"
)

// TestServersWithFoldersOfTheirOwn: of two servers on one database, each with its own folder, one is killed permanently
// after it made something that is not on GitHub yet. The other continues, and nothing is repeated.
func TestServersWithFoldersOfTheirOwn(t *testing.T) {
	t.Parallel()
	stories := crashStories()
	for _, c := range []struct {
		story    crashStory
		at       string // where the first is killed
		attempts string // of the model
	}{
		{stories[0], "before 1005-1/1/push", "task passed, 2 attempts"},
		{stories[0], "after 1005-1/1/attempt", "task passed, 2 attempts"},
		{stories[0], "before 1005-1/2/push", "task passed, 2 attempts"},
		{stories[1], "before 1005-1/1/attempt-run-5", "task passed, 1 attempts"}, // it resolves the conflicts of the parts
		{stories[1], "before 1005-1/1/push", "task passed, 1 attempts"},
	} {
		t.Run(c.story.name+" "+strings.ReplaceAll(c.at, "/", " "), func(t *testing.T) {
			t.Parallel()
			sim, model, one := crashWorld(t, nil, c.story.model, c.story.files)
			one.Config.DB, one.Lease = storetest.Postgres(t), shortLease
			other := one
			other.Config.Dir = filepath.Join(t.TempDir(), "other")
			other.Config.Listen = apptest.FreeAddress(t)
			other.Kills.Seen += "-of-the-other"
			one.Kills.At = c.at
			if !begin(t, sim, one).wait(t) {
				t.Fatalf("it came to no %s", c.at)
			}
			check(t, sim.SetWebhook(one.Config.GitHub.AppID, "http://"+other.Config.Listen+"/webhook", apptest.Secret))
			if launch(t, other).wait(t) {
				t.Fatal("the other died, too")
			}
			ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
			defer cancel()
			check(t, sim.WaitIdle(ctx))
			world := describe(t, sim, other)
			for _, must := range append(c.story.must, c.attempts) {
				if !strings.Contains(world, must) {
					t.Errorf("it lacks %q:\n%s", must, world)
				}
			}
			times := map[string]int{} // number of requests for each of the coder's answers: two make a run
			for _, q := range model.Requests() {
				if times[q.Rule]++; q.Model == "coder" && times[q.Rule] > 2 {
					t.Errorf("%s was asked for %d times", q.Rule, times[q.Rule])
				}
			}
		})
	}
}

// withRole returns a server with a role on the same database, with its own folder.
func withRole(t *testing.T, v victim, roles ...app.Role) victim {
	t.Helper()
	v.Config.Roles = roles
	v.Config.Dir = filepath.Join(t.TempDir(), "sia")
	v.Config.Listen, v.Config.Private = apptest.FreeAddress(t), apptest.FreeAddress(t)
	v.Kills.Seen = filepath.Join(t.TempDir(), "boundaries")
	return v
}

// getPrivate returns a server's response at its private address.
func getPrivate(t *testing.T, v victim, path string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.Config.Private+path, http.NoBody)
	check(t, err)
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	check(t, err)
	return string(b)
}

// TestRoles: a server that receives webhooks has neither the app's key nor a model; another works, and a third serves
// the pages.
func TestRoles(t *testing.T) {
	t.Parallel()
	c := crashStories()[0]
	sim, _, v := crashWorld(t, nil, c.model, c.files)
	v.Config.DB = storetest.Postgres(t)
	intake := withRole(t, v, app.RoleIntake)
	intake.Config.GitHub.PrivateKey, intake.Config.Models = nil, app.ModelsConfig{}
	work, web := withRole(t, v, app.RoleWork), withRole(t, v, app.RoleWeb)
	work.Config.GitHub.WebhookSecret, web.Config.GitHub.WebhookSecret = "", ""
	begin(t, sim, intake)
	launch(t, web)
	worker := launch(t, work)
	for role, v := range map[string]victim{"intake": intake, "work": work, "web": web} {
		if got := getPrivate(t, v, "/healthz"); !strings.Contains(got, "role "+role) {
			t.Errorf("%s: /healthz says %q", role, got)
		}
		metrics := getPrivate(t, v, "/metrics")
		if !strings.Contains(metrics, `sia_role{role="`+role+`"} 1`) || strings.Count(metrics, "sia_role{") != 1 {
			t.Errorf("%s: /metrics has no such role", role)
		}
	}
	if worker.wait(t) {
		t.Fatal("it died")
	}
	if got := getPrivate(t, web, "/tasks"); !strings.Contains(got, "Greet the customers") {
		t.Errorf("the pages lack the task:\n%s", got)
	}
	world := describe(t, sim, web)
	for _, must := range c.must {
		if !strings.Contains(world, must) {
			t.Errorf("it lacks %q:\n%s", must, world)
		}
	}
}

// stalledServer returns a server with a running attempt: the model does not answer.
func stalledServer(t *testing.T) (one victim, running *process, db *store.Store, model *scripted.Server) {
	t.Helper()
	sim, model, v := crashWorld(t, nil, resumeModel(&scripted.Fault{Stall: true, After: 1}), nil)
	v.Config.DB, v.Lease = storetest.Postgres(t), time.Hour // nothing may wait for a lease to expire
	one = withRole(t, v)
	running = begin(t, sim, one)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	t.Cleanup(cancel)
	check(t, model.Wait(ctx, 3))
	return one, running, storetest.Open(t, store.Config{URL: v.Config.DB}), model
}

// TestStopReachesAnotherServer: a cancellation by one process ends the attempt in the process that runs it.
func TestStopReachesAnotherServer(t *testing.T) {
	t.Parallel()
	one, running, db, _ := stalledServer(t)
	check(t, db.CancelEffect(t.Context(), "1005-1/1/attempt"))
	for {
		f, err := db.Effect(t.Context(), "1005-1/1/attempt")
		check(t, err)
		if f.State == store.EffectDone {
			break
		}
	}
	task, err := db.Task(t.Context(), one.Task)
	check(t, err)
	if a := task.Attempts[0]; !strings.HasPrefix(a.Reason, "it was stopped") {
		t.Errorf("the attempt says: %q", a.Reason)
	}
	check(t, running.cmd.Process.Kill())
}

// TestDrain: a server that shuts down releases its running attempt at once, and another continues it where it was.
func TestDrain(t *testing.T) {
	t.Parallel()
	one, running, _, model := stalledServer(t)
	check(t, running.cmd.Process.Signal(syscall.SIGTERM))
	if running.wait(t) {
		t.Fatal("it did not end by itself")
	}
	check(t, model.SetScript(resumeModel(nil)))
	if launch(t, withRole(t, one)).wait(t) {
		t.Fatal("the other died")
	}
	asked := 0
	for _, q := range model.Requests() {
		if q.Rule == "coder" {
			asked++
		}
	}
	if asked != 4 { // the third answer was lost, and is requested again
		t.Errorf("the coder was asked %d times", asked)
	}
}
