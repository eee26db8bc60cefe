package app

import (
	"slices"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// For a repository with the app installed, the mirrors of attempts and of the history are kept.
func TestReadableKeys(t *testing.T) {
	s := storetest.Open(t, store.Config{URL: storetest.SQLite(t)})
	if err := s.UpsertInstallation(t.Context(), store.Installation{ID: 3, Account: "ada"}); err != nil {
		t.Fatal(err)
	}
	if err := s.UpsertRepository(t.Context(), store.Repository{Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"},
		Installation: 3, DefaultBranch: "main"}); err != nil {
		t.Fatal(err)
	}
	keys, err := (&deps{store: s}).readableKeys(t.Context())
	if want := []string{"3/7", "3/7/history"}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("%q, %v, want %q", keys, err, want)
	}
}
