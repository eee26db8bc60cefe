package app_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// An installation with 300 repositories gets its labels within GitHub's limits, across a restart. Archived ones are
// skipped, one on which GitHub fails delays no other, and a page counts them, lists the failed one first, and has it
// tried again.
func TestInstallationOnManyRepositories(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("r%03d", i))
		_, err := s.Sim.CreateRepo(apptest.Owner, names[i], ghsim.RepoSpec{})
		check(t, err)
	}
	for _, old := range []string{"r007", "r222"} {
		check(t, s.Sim.Archive(apptest.Owner+"/"+old))
	}
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.Contains(r.URL.Path, "/repos/ada/r013/labels") {
			return &ghsim.Fault{Status: 422,
				Body: `{"message":"Validation Failed","documentation_url":"https://docs.github.com/rest"}`}
		}
		return nil
	})
	s.InstallOn(names...)
	states := func() map[store.SetupState]int {
		all, err := s.App.Store.Setups(context.Background(), 0)
		check(t, err)
		n := map[store.SetupState]int{}
		for _, v := range all {
			n[v.State]++
			if v.State == store.SetupFailed && (v.Name != "r013" || v.Error == "") {
				t.Errorf("%s failed: %s", v, v.Error)
			}
		}
		return n
	}
	if n := states(); n[store.SetupDone] == 0 || n[store.SetupPending] < 280 {
		t.Errorf("at once: %v", n)
	}
	for part := range 36 { // a long wait in parts, each within the time limit of a test step
		if part == 12 {
			s.Restart()
		}
		s.Wait(10 * time.Minute)
	}
	n := states()
	if len(n) != 3 || n[store.SetupDone] != 298 || n[store.SetupArchived] != 2 || n[store.SetupFailed] != 1 {
		t.Errorf("six hours later: %v", n)
	}
	page := onInstallation(s, http.MethodGet, "")
	sum, rows, _ := strings.Cut(page.Body.String(), "<tbody>")
	if !strings.Contains(sum, "298 of 301 repositories are set up, 1 failed, 2 are archived.") {
		t.Errorf("the page has no such sum: %s", sum)
	}
	if first, _, _ := strings.Cut(rows, "</tr>"); !strings.Contains(first, apptest.Owner+"/r013</a>") ||
		strings.Count(rows, "<tr>") != 50 {
		t.Errorf("the page begins with %s and has %d rows", first, strings.Count(rows, "<tr>"))
	}
	var made []time.Time
	for _, c := range s.Sim.Calls() {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/labels") && !c.Fault {
			made = append(made, c.At)
		}
	}
	for _, limit := range []struct {
		per  time.Duration
		most int
	}{{time.Minute, 80}, {time.Hour, 500}} {
		first := 0
		for i := range made {
			for made[i].Sub(made[first]) >= limit.per {
				first++
			}
			if n := i - first + 1; n > limit.most {
				t.Fatalf("%d labels made within %s", n, limit.per)
			}
		}
	}
	if len(made) < 297*5 {
		t.Errorf("only %d labels were made", len(made))
	}
	s.Sim.ClearFaults()
	if answer := onInstallation(s, http.MethodPost, "do=retry"); answer.Code != http.StatusSeeOther {
		t.Errorf("try again: %d %s", answer.Code, answer.Body)
	}
	s.Wait(time.Minute)
	if n := states(); n[store.SetupDone] != 299 || n[store.SetupFailed] != 0 {
		t.Errorf("after another try: %v", n)
	}
}

// onInstallation requests the page of the stage's installation, or sends its form, as the operator.
func onInstallation(s *apptest.Stage, method, form string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(viewer.With(context.Background(), viewer.Viewer{Operator: true, Token: "t"}),
		method, fmt.Sprintf("/installations/%d", s.Install), strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.App.Pages().ServeHTTP(w, r)
	return w
}

// TestOutageWhileSettingUp: a repository that is added while GitHub is down for hours is set up after that.
func TestOutageWhileSettingUp(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	_, err := s.Sim.CreateRepo(apptest.Owner, "added", ghsim.RepoSpec{})
	check(t, err)
	var up atomic.Bool
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if !up.Load() && strings.Contains(r.URL.Path, "/repos/ada/added/") {
			return &ghsim.Fault{Status: http.StatusBadGateway, Body: `<html>Unicorn!</html>`}
		}
		return nil
	})
	s.InstallOn("added")
	state := func() store.SetupState {
		all, err := s.App.Store.Setups(t.Context(), 0)
		check(t, err)
		for _, v := range all {
			if v.Name == "added" {
				return v.State
			}
		}
		return ""
	}
	for range 12 { // a long wait in parts, each within the time limit of a test step
		s.Wait(10 * time.Minute)
	}
	if got := state(); got != store.SetupPending {
		t.Errorf("after two hours of an outage it is %q", got)
	}
	up.Store(true)
	for range 3 {
		s.Wait(10 * time.Minute)
	}
	if got := state(); got != store.SetupDone {
		t.Errorf("half an hour after the outage it is %q", got)
	}
}

// After the app is uninstalled, no code of its repositories stays on the server's disk: the next daily cleanup, or
// start, removes the mirror.
func TestNoMirrorWithoutAnInstallation(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass-after-sia")
	resolve(t, s, "Greet the customers")
	mirrors := os.DirFS(filepath.Join(s.Folder(), "git", "mirrors"))
	restarted := func() (packs []string) {
		t.Helper()
		s.Stop()
		long := time.Now().Add(-2 * time.Hour)
		check(t, fs.WalkDir(mirrors, ".", func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chtimes(filepath.Join(s.Folder(), "git", "mirrors", name), long, long))
		}))
		s.Restart()
		packs, err := fs.Glob(mirrors, "*/g-*/objects/pack/*.pack")
		check(t, err)
		return packs
	}
	if len(restarted()) == 0 {
		t.Error("there is no mirror while the app is installed")
	}
	check(t, s.Sim.Uninstall(s.Install))
	s.Settle()
	if packs := restarted(); len(packs) > 0 {
		t.Errorf("left: %v", packs)
	}
}
