package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// Doctor counts the repositories by state of their set-up, and names each that failed.
func TestCheckSetups(t *testing.T) {
	repo := func(name string, state store.SetupState, err string) store.Setup {
		return store.Setup{Repository: store.Repository{Repo: sia.Repo{Owner: "acme", Name: name}, Installation: 3},
			State: state, Error: err}
	}
	if got := checkSetups(nil); got != nil {
		t.Errorf("of no repositories: %+v", got)
	}
	silent := repo("a", store.SetupDone, "")
	silent.Checks = new(int)
	got := checkSetups([]store.Setup{silent, repo("b", store.SetupFailed, "no luck"),
		repo("c", store.SetupArchived, ""), repo("d", store.SetupPending, "")})
	want := []doctorFinding{
		{What: "repositories", OK: true, Weaker: true,
			Detail: "1 are set up, 1 wait for their turn, 1 are archived, 1 failed; in 1, the pull request that " +
				"proposed settings started no check"},
		{What: "repository", Detail: "acme/b: it could not be set up: no luck",
			Fix: "mend that, then press “Try again” on SIA's page /installations/3"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
