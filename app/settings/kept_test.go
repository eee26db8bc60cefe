package settings_test

import (
	"context"
	"testing"

	"github.com/sia-bot/sia/app/settings"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
)

// A stored policy of another version of SIA that this version can't read is ignored.
func TestKeptPolicyOfAnotherVersion(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := storetest.Open(t, store.Config{})
	repo := sia.Repo{ID: 7, Owner: "acme", Name: "shop"}
	for _, err := range []error{
		s.UpsertInstallation(ctx, store.Installation{ID: 1, Account: "acme"}),
		s.UpsertRepository(ctx, store.Repository{Repo: repo, Installation: 1, DefaultBranch: "main"}),
		s.SavePolicies(ctx, repo.ID, store.PolicyRead{SHA: "abc"}, []store.PolicyFile{
			{Path: ".sia/policies/technique.yml", Version: "technique@1", Source: "of: another version"}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	set, err := settings.Kept(ctx, s, 1, repo)
	if err != nil {
		t.Fatal(err)
	}
	shipped := policies.ShippedSet()
	if got, want := len(set.All()), len(shipped.All()); got != want {
		t.Errorf("%d policies hold, want the %d that ship", got, want)
	}
}
