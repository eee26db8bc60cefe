package github_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
)

func TestClosing(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	s := open(t, ghsim.Config{NoWorkflows: true, Clock: func() time.Time { return now }})
	ctx := context.Background()
	push := func(branch, message string) (sha string) {
		t.Helper()
		now = now.Add(2 * time.Second)
		sha, err := s.sim.PushFiles(full, branch, "ann", message, map[string]string{branch + ".txt": message + "\n"})
		check(t, err)
		return sha
	}
	pull := func(branch, body string) int {
		t.Helper()
		push(branch, "work")
		n, err := s.sim.OpenPull(full, "ann", branch, "main", "Confirm them", body, false)
		check(t, err)
		return n
	}
	push("main", "before it was opened, fixes #1")
	now = now.Add(2 * time.Second)
	n, err := s.sim.OpenIssue(full, "ann", "Confirm bookings", "please")
	check(t, err)
	opened := now
	first := push("main", "Confirm them\n\nFixes #1")
	other := pull("other", "Closes #9")
	closing := pull("closing", "Closes #1")
	closed := pull("closed", "fixes #1")
	check(t, s.sim.ClosePull(full, closed, "ann"))
	look := func() (github.Closing, string) {
		t.Helper()
		head, _, err := s.repo.Head(ctx, "main")
		check(t, err)
		got, err := s.repo.Closing(ctx, github.ClosingAt{Issue: n, Commit: head, Since: opened, Branch: "main"})
		check(t, err)
		return got, head
	}

	got, _ := look()
	want := github.Closing{
		Body: "please",
		Pulls: []github.ClosingPull{{Number: closing, URL: fmt.Sprintf("%s/%s/pull/%d", s.sim.URL(), full, closing),
			Branch: "closing", Repo: full}},
		Commits: []sia.Commit{{SHA: sia.SHA(first), Message: "Confirm them\n\nFixes #1",
			URL: s.sim.URL() + "/" + full + "/commit/" + first}},
	}
	trim := cmp.Transformer("message", func(c sia.Commit) string {
		return fmt.Sprintf("%s %s %.23s", c.SHA, c.URL, c.Message)
	})
	if d := cmp.Diff(want, got, trim); d != "" {
		t.Errorf("pull request %d is about another issue: -want +got\n%s", other, d)
	}

	now = now.Add(2 * time.Second)
	check(t, s.sim.CloseIssue(full, n, "ann"))
	now = now.Add(2 * time.Second)
	check(t, s.sim.ReopenIssue(full, n, "ann"))
	if got, _ := look(); len(got.Commits) != 0 {
		t.Errorf("it was reopened since, and these close it: %+v", got.Commits)
	}
	check(t, s.sim.EditIssueBody(full, n, "ann", "thank you"))
	if got, _ := look(); got.Body != "thank you" || got.Editor.Login != "ann" || got.Editor.ID == 0 {
		t.Errorf("ann edited the issue, got %q by %+v", got.Body, got.Editor)
	}
	again := push("main", "Confirm them again\n\nFixes #1")
	if got, _ := look(); len(got.Commits) != 1 || got.Commits[0].SHA != sia.SHA(again) {
		t.Errorf("commits since it was reopened: %+v, want %s", got.Commits, again)
	}
}

// TestClosingIsNotKnown: a task continues without the data that GitHub hides from the app.
func TestClosingIsNotKnown(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	n, err := s.sim.OpenIssue(full, "ann", "Confirm bookings", "please")
	check(t, err)
	_, err = s.sim.PushFiles(full, "main", "ann", "Confirm them, fixes #1", map[string]string{"a.txt": "a\n"})
	check(t, err)
	granted := ghsim.DefaultPermissions()
	delete(granted, "pull_requests")
	check(t, s.sim.SetAppPermissions(s.simID, granted))
	got, err := s.repo.Closing(context.Background(),
		github.ClosingAt{Issue: n, Commit: "main", Since: time.Now().Add(-time.Hour), Branch: "main"})
	if err != nil || len(got.Pulls)+len(got.Commits) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// The text of a comment is its author's unless somebody else edited it, or it is another by now.
func TestIsAuthors(t *testing.T) {
	s := open(t, ghsim.Config{NoWorkflows: true})
	ctx := context.Background()
	s.sim.CreateUser("kim")
	check(t, s.sim.SetPermission(full, "kim", "write"))
	n, err := s.sim.OpenIssue(full, "ann", "Confirm bookings", "please")
	check(t, err)
	id, err := s.sim.Comment(full, n, "ann", "Wait.")
	check(t, err)
	var last github.Comment
	isAuthors := func(want bool) {
		t.Helper()
		if got, err := s.repo.IsAuthors(ctx, last); err != nil || got != want {
			t.Errorf("%q: %t, %v", last.Body, got, err)
		}
	}
	edit := func(login, text string, want bool) {
		t.Helper()
		if text != "" {
			check(t, s.sim.EditComment(full, id, login, text))
		}
		all, err := s.repo.CommentsSince(ctx, n, time.Time{})
		check(t, err)
		last = all[0]
		isAuthors(want)
	}
	edit("", "", true)
	edit("ann", "/sia pause", true)
	edit("kim", "/sia stop", false)
	edit("ann", "/sia pause, please", true)
	last.Body = "/sia stop"
	isAuthors(false)
	last.NodeID = "IC_none"
	isAuthors(false)
}
