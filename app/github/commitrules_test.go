package github_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/ghsim/model"
)

// TestCommitRules reads a branch's rules on commits in one request, and over REST if GraphQL fails.
func TestCommitRules(t *testing.T) {
	all := open(t, ghsim.Config{NoWorkflows: true})
	message := func(pattern string, negate bool) model.Rule {
		return model.Rule{Type: model.RuleMessage, Parameters: map[string]any{"operator": "contains", "pattern": pattern,
			"negate": negate}}
	}
	for name, c := range map[string]struct {
		set    func(s *site) error
		want   sia.CommitRules
		inREST sia.CommitRules
	}{
		"nothing": {set: func(*site) error { return nil }},
		"signatures": {set: func(s *site) error { return s.sim.RequireSignatures(s.full, "main", false) },
			want: sia.CommitRules{Signed: true}, inREST: sia.CommitRules{Signed: true}},
		"signatures by classic protection": {
			set:  func(s *site) error { return s.sim.RequireSignatures(s.full, "main", true) },
			want: sia.CommitRules{Signed: true}},
		"other rules of classic protection": {
			set: func(s *site) error {
				return s.sim.ProtectBranch(s.full, "main", ghsim.Classic{LinearHistory: true, Conversations: true})
			},
			want: sia.CommitRules{LinearHistory: true, Conversations: true}},
		"of another branch": {set: func(s *site) error { return s.sim.RequireSignatures(s.full, "next", false) }},
		"sign-off on the web": {set: func(s *site) error { return s.sim.RequireSignOff(s.full) },
			want: sia.CommitRules{SignOff: true}},
		"a pattern": {set: func(s *site) error { return s.sim.AddRule(s.full, "main", message("Signed-off-by: ", false)) },
			want: sia.CommitRules{SignOff: true}, inREST: sia.CommitRules{SignOff: true}},
		"a pattern that forbids it": {set: func(s *site) error {
			return s.sim.AddRule(s.full, "main", message("Signed-off-by: ", true))
		}},
		"another pattern": {set: func(s *site) error { return s.sim.AddRule(s.full, "main", message("JIRA-", false)) }},
		"a check": {set: func(s *site) error { return s.sim.SetRuleset(s.full, "main", "test", "DCO") },
			want: sia.CommitRules{SignOff: true}, inREST: sia.CommitRules{SignOff: true}},
		"a check of classic protection": {
			set:  func(s *site) error { return s.sim.SetBranchProtection(s.full, "main", "DCO") },
			want: sia.CommitRules{SignOff: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := all.beside(t, "org-"+strings.ReplaceAll(name, " ", "-"))
			before := countCalls(s, "/graphql")
			ctx := context.Background()
			check(t, c.set(s))
			for range 2 {
				if got, err := s.repo.Rules.OnCommits(ctx, "main"); err != nil || got != c.want {
					t.Errorf("got %+v, %v, want %+v", got, err, c.want)
				}
			}
			if n := countCalls(s, "/graphql") - before; n != 1 {
				t.Errorf("%d requests, want the answer to be remembered", n)
			}
			all.ahead = 2 * time.Hour
			defer func() { all.ahead = 0 }()
			defer s.sim.ClearFaults()
			s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
				if strings.HasSuffix(r.URL.Path, "/graphql") {
					return &ghsim.Fault{Status: http.StatusBadGateway}
				}
				return nil
			})
			if got, err := s.repo.Rules.OnCommits(ctx, "main"); err != nil || got != c.inREST {
				t.Errorf("over REST %+v, %v, want %+v", got, err, c.inREST)
			}
		})
	}
}

// countCalls counts the requests to a path.
func countCalls(s *site, suffix string) (n int) {
	for _, c := range s.sim.Calls() {
		if strings.HasSuffix(c.Path, suffix) {
			n++
		}
	}
	return n
}

// TestCommitRulesAlongTheWay: one request reads what closes an issue and the branch's rules on commits. Without
// access to the rules, it is sent without them.
func TestCommitRulesAlongTheWay(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	check(t, s.sim.RequireSignatures(full, "main", false))
	n, err := s.sim.OpenIssue(full, "ann", "Issue", "body")
	check(t, err)
	at := github.ClosingAt{Issue: n, Commit: s.head, Since: time.Now().Add(-time.Hour), Branch: "main"}
	_, err = s.repo.Closing(ctx, at)
	check(t, err)
	if got, err := s.repo.Rules.OnCommits(ctx, "main"); err != nil || !got.Signed {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := countCalls(s, "/graphql"); n != 1 {
		t.Errorf("%d requests, want one for both", n)
	}
	s.ahead += 2 * time.Hour
	check(t, s.sim.HideRules(full, http.StatusNotFound))
	got, err := s.repo.Closing(ctx, at)
	check(t, err)
	if len(got.Commits) != 1 {
		t.Errorf("what closes the issue is lost: %+v", got)
	}
	if got, err := s.repo.Rules.OnCommits(ctx, "main"); err != nil || got.Signed {
		t.Errorf("hidden rules: %+v, %v", got, err)
	}
}
