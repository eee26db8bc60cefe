package github_test

import (
	"context"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

// A task continues under the name that it knows after its repository or its owner was renamed. GitHub redirects
// requests for the former name, but does not correct names within a request, such as the owner of a branch.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
// https://docs.github.com/en/account-and-profile/concepts/username-changes
func TestRenamedOnTheSimulator(t *testing.T) {
	t.Parallel()
	for name, rename := range map[string]func(*ghsim.Server) error{
		"the repository": func(s *ghsim.Server) error { return s.RenameRepo(full, "store") },
		"the owner":      func(s *ghsim.Server) error { return s.RenameUser("acme", "acme-works") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, ghsim.Config{NoWorkflows: true})
			ctx := context.Background()
			n, err := s.sim.OpenIssue(full, "ann", "Confirm bookings", "please", "sia")
			check(t, err)
			head, err := s.sim.PushFiles(full, "sia/issue-1", "ann", "work", map[string]string{"a.txt": "a"})
			check(t, err)
			want := github.NewPull{Head: "sia/issue-1", Base: "main", Title: "Confirm bookings", Body: "b", Draft: true}
			made, err := s.repo.EnsurePull(ctx, want)
			check(t, err)
			check(t, rename(s.sim))

			if issue, gone, err := s.repo.IssueOrGone(ctx, n); err != nil || gone || issue.Title != "Confirm bookings" {
				t.Errorf("the issue %+v is gone %v, %v", issue, gone, err)
			}
			if again, err := s.repo.EnsurePull(ctx, want); err != nil || again.Number != made.Number {
				t.Errorf("pull request %+v, %v", again, err)
			}
			if ever, found, err := s.repo.AnyPull(ctx, want.Head); err != nil || !found || ever.Number != made.Number {
				t.Errorf("ever %+v, %v, %v", ever, found, err)
			}
			const marker = "<!-- sia:v1 task=1-1 kind=status key=1 -->"
			if _, err := s.repo.UpsertComment(ctx, n, marker, "words", 0); err != nil {
				t.Error(err)
			}
			if all, err := s.repo.CommentsSince(ctx, n, time.Time{}); err != nil || len(all) != 1 {
				t.Errorf("comments %v, %v", all, err)
			}
			if err := s.repo.React(ctx, sia.Origin{OnIssue: n}, "eyes"); err != nil {
				t.Error(err)
			}
			if err := s.repo.MarkReady(ctx, made.NodeID); err != nil {
				t.Error(err)
			}
			look, err := s.repo.Checks.Look(ctx, github.LookAt{SHA: head, Pull: made.Number, Branch: "main"})
			if err != nil || look.Pull.Head != head {
				t.Errorf("look %+v, %v", look.Pull, err)
			}
			if set, err := s.repo.Checks.Of(ctx, head); err != nil || len(set.Runs) > 0 {
				t.Errorf("checks %+v, %v", set, err)
			}
			if _, err := s.repo.Rules.FetchRequired(ctx, "main"); err != nil {
				t.Error(err)
			}
		})
	}
}
