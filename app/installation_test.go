package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/apptest"
	"github.com/sia-bot/sia/app/ghsim"
	"github.com/sia-bot/sia/app/store"
)

// An installation on 300 repositories gets its labels within GitHub's limits, across a
// restart. One that is archived is left alone, and one at which GitHub fails holds up no
// other and is listed.
func TestInstallationOnManyRepositories(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("r%03d", i))
		_, err := s.Sim.CreateRepo(apptest.Owner, names[i], ghsim.RepoSpec{})
		check(t, err)
	}
	check(t, s.Sim.Archive(apptest.Owner+"/r007"))
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.Contains(r.URL.Path, "/repos/ada/r013/labels") {
			return &ghsim.Fault{Status: 422,
				Body: `{"message":"Validation Failed","documentation_url":"https://docs.github.com/rest"}`}
		}
		return nil
	})
	s.InstallOn(names...)
	states := func() map[store.SetupState]int {
		all, err := s.App.Store.Setups(context.Background())
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
	for part := range 36 { // a long wait in parts, each of which has the machine's time that a test's step may take
		if part == 12 {
			s.Restart()
		}
		s.Wait(10 * time.Minute)
	}
	n := states()
	if len(n) != 3 || n[store.SetupDone] != 299 || n[store.SetupArchived] != 1 || n[store.SetupFailed] != 1 {
		t.Errorf("six hours later: %v", n)
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
	if len(made) < 298*5 {
		t.Errorf("only %d labels were made", len(made))
	}
}
