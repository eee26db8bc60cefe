package store_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// planned starts an engine with the setup of a repository planned. The handler is given the number of the visit.
func planned(
	t *testing.T, s *fixture, visit func(n int, v store.Setup) (store.SetupResult, error),
) (e *store.Engine, visits *int) {
	t.Helper()
	must(t, s.UpsertInstallation(patient(t), store.Installation{ID: 3, Account: "octo"}))
	must(t, s.UpsertRepository(patient(t), store.Repository{Repo: demo, Installation: 3}))
	must(t, s.PlanSetups(patient(t), 3, []sia.Repo{demo}, 1, false))
	h, visits := newScript(t, s).handlers(), new(int)
	h.Setup = func(_ context.Context, v store.Setup) (store.SetupResult, error) {
		*visits++
		return visit(*visits, v)
	}
	return engine(t, s, h, quick()), visits
}

// setupOf returns the setup of the only repository.
func setupOf(t *testing.T, s *fixture) store.Setup {
	t.Helper()
	all, err := s.Setups(patient(t), 3)
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	return all[0]
}

// Only the visit planned for it counts the checks. There is one, even after two setups.
func testSetupDue(t *testing.T, s *fixture) {
	var due []bool
	e, _ := planned(t, s, func(n int, v store.Setup) (store.SetupResult, error) {
		due = append(due, v.Due)
		out := store.SetupResult{State: store.SetupDone, Welcome: "opened", Checks: v.Checks}
		switch {
		case v.Checks != nil:
		case v.Due:
			out.Checks = &n
		default:
			out.Again = 15 * time.Minute
		}
		return out, nil
	})
	must(t, e.Idle(patient(t)))
	must(t, s.PlanSetups(patient(t), 3, []sia.Repo{demo}, 1, true))
	must(t, e.Idle(patient(t)))
	if v := setupOf(t, s); v.State != store.SetupDone || v.Checks != nil || !slices.Equal(due, []bool{false, false}) {
		t.Errorf("at once: %v, %+v", due, v)
	}
	exhaust(t, s, e)
	if v := setupOf(t, s); v.Checks == nil || *v.Checks != 3 || !slices.Equal(due, []bool{false, false, true}) {
		t.Errorf("later: %v, %+v", due, v)
	}
}

// A repository that is set up stays so when its checks can't be counted, which is given up like a setup.
func testSetupStaysDone(t *testing.T, s *fixture) { countingFails(t, s, errors.New("read: 500"), 4) }

func testRefusedSetupStaysDone(t *testing.T, s *fixture) {
	countingFails(t, s, &sia.Error{Op: "read", Message: "forbidden", Permanent: true}, 1)
}

// countingFails sets up a repository after an outage. Then counting its checks fails for a reason, and is tried some
// times.
func countingFails(t *testing.T, s *fixture, why error, tries int) {
	t.Helper()
	const first = 5
	e, visits := planned(t, s, func(n int, v store.Setup) (store.SetupResult, error) {
		switch {
		case n < first:
			return store.SetupResult{}, &sia.Error{Op: "read", Message: "GitHub is failing (503)", Outage: true}
		case n == first:
			return store.SetupResult{State: store.SetupDone, Welcome: "opened", Again: 15 * time.Minute}, nil
		}
		if !v.Due || v.State != store.SetupDone {
			t.Errorf("visit %d: %+v", n, v)
		}
		return store.SetupResult{}, why
	})
	exhaust(t, s, e)
	v := setupOf(t, s)
	if *visits != first+tries || v.State != store.SetupDone || v.Tries != 0 || v.Error != "" || v.Welcome != "opened" ||
		v.Checks != nil {
		t.Errorf("%d visits: %+v", *visits, v)
	}
}
