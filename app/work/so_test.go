package work

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// A commit that can't be looked up, such as a merge, does not invalidate a claim with a passing test.
func TestDidIt(t *testing.T) {
	behind := []gitops.HistoryNames{{SHA: "1a2b3c4d5e", Paths: []string{"a.go"}}}
	for name, c := range map[string]struct {
		behind []gitops.HistoryNames
		claim  sia.Claim
		wrong  string
		is     sia.Claim
	}{
		"it did": {behind, sia.Claim{Commit: "1a2b3c4", Paths: []string{"a.go"}}, "",
			sia.Claim{Commit: "1a2b3c4d5e", Paths: []string{"a.go"}}},
		"another file": {behind, sia.Claim{Command: "test", Commit: "1a2b3c4", Paths: []string{"b.go"}},
			"commit 1a2b3c4 did not change b.go", sia.Claim{Command: "test", Commit: "1a2b3c4", Paths: []string{"b.go"}}},
		"a merge": {behind, sia.Claim{Command: "test", Commit: "beefbee", Paths: []string{"a.go"}}, "",
			sia.Claim{Command: "test"}},
		"no names": {nil, sia.Claim{Command: "test", Commit: "1a2b3c4", Paths: []string{"a.go"}}, "",
			sia.Claim{Command: "test"}},
		"no names, and no test": {nil, sia.Claim{Commit: "1a2b3c4"}, "commit 1a2b3c4 can't be looked up: the history of " +
			"`main` was not read", sia.Claim{Commit: "1a2b3c4"}},
		"a merge alone": {behind, sia.Claim{Commit: "beefbee"}, "commit beefbee was not found among the newest 1 commits " +
			"of `main` that are neither merges nor large", sia.Claim{Commit: "beefbee"}},
	} {
		if got := checkClaimedCommit(c.behind, &c.claim, "main"); got != c.wrong {
			t.Errorf("%s: %q, want %q", name, got, c.wrong)
		}
		if d := cmp.Diff(c.is, c.claim); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
