package render_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// told is a notice in the format of its golden file.
func told(n render.Notice) string { return n.Title + "\n\n" + n.Text }

// waiting is a task that waits for a person; the kind of wait depends on the issue.
func waiting(issue int) sia.Task {
	repo := sia.Repo{ID: 7, Owner: "octo", Name: "demo"}
	return sia.Task{ID: sia.NewTaskID(repo.ID, issue), Repo: repo, Issue: issue, Title: "Confirm bookings by e-mail"}
}

func TestNotices(t *testing.T) {
	links := render.Links{Host: "https://github.com", Web: "https://sia.example.com"}
	asked := waiting(12)
	asked.State = sia.Escalated
	asked.Escalation = &sia.Escalation{Kind: sia.AskIssue, Question: "Which mail server\nshould be used?", Issue: 13}
	golden(t, "notice/asked.txt", told(render.NeedsPerson(asked, links)))
	plan := waiting(14)
	plan.State, plan.Escalation = sia.Escalated,
		&sia.Escalation{Kind: sia.AskPlan, Question: "Shall it be done like this?"}
	golden(t, "notice/plan.txt", told(render.NeedsPerson(plan, render.Links{Host: "https://github.com"})))
	broke := waiting(15)
	broke.State, broke.Pause = sia.OnHold, &sia.Pause{Kind: sia.PausedByCredits, Reason: "the credits are used up"}
	golden(t, "notice/credits.txt", told(render.NeedsPerson(broke, links)))
	tests := waiting(16)
	tests.State, tests.Gate.AwaitsPerson = sia.Checking, true
	golden(t, "notice/tests.txt", told(render.NeedsPerson(tests, links)))
	ready := passed()
	ready.Pull.Draft, ready.Pull.Refused = true, "the app may not"
	golden(t, "notice/draft.txt", told(render.NeedsPerson(ready, links)))
	change := policyChange("proposed")
	change.Pull = 21
	golden(t, "notice/policy.txt", told(render.NeedsApproval(change, links)))
	change.Phase, change.Why = "better", "it does better, and a person has to merge it: a rule forbids it."
	golden(t, "notice/policy-better.txt", told(render.NeedsApproval(change, links)))
	golden(t, "notice/several.txt", told(render.NeedsPeople([]string{render.TaskLine(asked, links),
		render.TaskLine(plan, links), render.PolicyLine(change, links)}, links)))
	golden(t, "notice/one-more.txt", told(render.NeedsPeople([]string{render.TaskLine(asked, links)}, links)))
	golden(t, "notice/test.txt", told(render.TestNotice(links)))

	until := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	shop := sia.Repo{ID: 8, Owner: "octo", Name: "shop"}
	golden(t, "notice/summary.txt", told(render.Summary(render.Digest{From: until.AddDate(0, 0, -7), Until: until,
		Repositories: []render.RepoDigest{
			{Repo: asked.Repo, Started: 4, Passed: 3, Stopped: 1, Asked: 1, Credits: 310 * sia.Credit},
			{Repo: shop, Started: 1, Credits: 12 * sia.Credit},
		}, Waiting: []string{render.TaskLine(broke, links), render.TaskLine(asked, links)}}, links)))
	golden(t, "notice/summary-nothing-ended.txt",
		told(render.Summary(render.Digest{From: until.AddDate(0, 0, -1), Until: until,
			Repositories: []render.RepoDigest{{Repo: shop, Started: 1}}}, render.Links{Host: "https://github.com"})))
}

// summons matches what would notify people in any chat that accepts such messages.
var summons = regexp.MustCompile(`@[A-Za-z0-9]|<[!A-Za-z/]`)

// However long or hostile its quotations, a notice fits every chat, notifies nobody, and has a title of one line.
func TestNoticesAreHarmless(t *testing.T) {
	links := render.Links{Host: "https://github.com", Web: "https://sia.example.com"}
	rapid.Check(t, func(t *rapid.T) {
		words := func(name string) string {
			return strings.Repeat(hostile().Draw(t, name)+"<!channel> @here <@U1> ",
				rapid.SampledFrom([]int{0, 1, 1000}).Draw(t, name+" times"))
		}
		var all []string
		var repos []render.RepoDigest
		for i := range 60 {
			repos = append(repos, render.RepoDigest{Repo: sia.Repo{Owner: "octo", Name: fmt.Sprint("demo-", i)}})
			one := waiting(i + 1)
			if one.Title = "Confirm"; i == 0 {
				one.Title = words("first title")
			}
			all = append(all, render.TaskLine(one, links))
		}
		one := waiting(1)
		one.Title, one.State = words("title"), sia.Escalated
		one.Escalation = &sia.Escalation{Kind: sia.AskIssue, Question: words("question")}
		held := one
		change := render.PolicyChange{Name: words("name"), Change: words("change"), Phase: "better", Why: words("why")}
		all = append(all, render.PolicyLine(change, links))
		held.State, held.Pause = sia.OnHold, &sia.Pause{Kind: sia.PausedByTrouble, Reason: words("reason")}
		now := time.Unix(1e9, 0)
		for _, n := range []render.Notice{
			render.NeedsApproval(change, links), render.NeedsPerson(one, links), render.NeedsPerson(held, links),
			render.NeedsPeople(all, links),
			render.Summary(render.Digest{From: now, Until: now, Repositories: repos, Waiting: all}, links),
		} {
			if s := summons.FindString(n.Text + n.Title); s != "" {
				t.Fatalf("%q calls people: %s", s, n.Text)
			}
			if size := utf8.RuneCountInString(told(n)); size > 2000 {
				t.Fatalf("%d characters: %s", size, n.Text)
			}
			if strings.ContainsAny(n.Title, "\r\n") || strings.Contains(n.Text, "\r") {
				t.Fatalf("lines in %q", told(n))
			}
		}
	})
}
