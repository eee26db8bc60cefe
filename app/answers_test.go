package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

// answers returns the number of SIA's comments on an issue that contain a text.
func answers(t *testing.T, s *apptest.Stage, issue int, words string) (n int) {
	t.Helper()
	on, err := s.Sim.Issue(apptest.Repo, issue)
	check(t, err)
	for _, c := range on.Comments {
		if c.Author == apptest.Bot && strings.Contains(c.Body, words) {
			n++
		}
	}
	return n
}

// refused returns the number of users' comments on an issue with SIA's 😕.
func refused(t *testing.T, s *apptest.Stage, issue int) (n int) {
	t.Helper()
	on, err := s.Sim.Issue(apptest.Repo, issue)
	check(t, err)
	for _, c := range on.Comments {
		for _, r := range c.Reactions {
			if r.User == apptest.Bot && r.Content == "confused" {
				n++
			}
		}
	}
	return n
}

// A user without permission for commands is informed once per thread, with or without a task, and gets a reaction each
// time after that. A label that starts nothing is answered too.
func TestRefusalIsSaidOnce(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.CreateUser("eve")
	check(t, s.Sim.SetPermission(apptest.Repo, "eve", "triage"))
	plain, err := s.Sim.OpenIssue(apptest.Repo, "eve", "Anything", "")
	check(t, err)
	task := openLabelled(t, s, apptest.Owner)
	s.Settle()
	for _, n := range []int{plain, task} {
		for range 3 {
			_, err := s.Sim.Comment(apptest.Repo, n, "eve", "/sia start")
			check(t, err)
			s.Quiet()
		}
		if said, heard := answers(t, s, n, "only from people with write access"), refused(t, s, n); said != 1 || heard != 2 {
			t.Errorf("#%d: refused in words %d times and by a reaction %d times, want 1 and 2", n, said, heard)
		}
	}
	for range 2 {
		check(t, s.Sim.Label(apptest.Repo, plain, "eve", "sia"))
		s.Quiet()
		check(t, s.Sim.Unlabel(apptest.Repo, plain, "eve", "sia"))
		s.Quiet()
	}
	if n := answers(t, s, plain, "The label `sia` starts SIA when somebody with write access puts it on"); n != 1 {
		t.Errorf("the label was answered %d times, want 1", n)
	}
}

// A command on a line of a pull request without a task is also answered in its thread.
func TestRefusalOnALineWithoutTask(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	_, err := s.Sim.PushFiles(apptest.Repo, "topic", apptest.Owner, "Mine", map[string]string{"mine.txt": "mine\n"})
	check(t, err)
	pull, err := s.Sim.OpenPull(apptest.Repo, apptest.Owner, "topic", "main", "Mine", "", false)
	check(t, err)
	s.Sim.CreateUser("eve")
	check(t, s.Sim.SetPermission(apptest.Repo, "eve", "triage"))
	var last int64
	for range 2 {
		last, err = s.Sim.ReviewComment(apptest.Repo, pull, "eve", "mine.txt", 1, "/sia pause")
		check(t, err)
		s.Quiet()
	}
	var reacted []string
	for _, c := range s.Sim.Calls() {
		if c.Method == http.MethodPost && strings.HasSuffix(c.Path, "/reactions") {
			reacted = append(reacted, c.Path)
		}
	}
	want := []string{fmt.Sprintf("/api/v3/repos/%s/pulls/comments/%d/reactions", apptest.Repo, last)}
	if d := cmp.Diff(want, reacted); d != "" {
		t.Errorf("SIA reacted elsewhere (-want +got):\n%s", d)
	}
}

// Without a task, a thread gets twenty answers an hour; then SIA announces once that it stops answering, and answers
// again when the hour has ended.
func TestAnswersWithoutTaskAreBounded(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Anything", "")
	check(t, err)
	s.Sim.CreateUser("bob")
	check(t, s.Sim.SetPermission(apptest.Repo, "bob", "write"))
	say := func(i int) {
		_, err := s.Sim.Comment(apptest.Repo, n, []string{apptest.Owner, "bob"}[i%2], fmt.Sprintf("/sia nonsense%d", i))
		check(t, err)
		s.Quiet()
	}
	for i := range 30 {
		say(i)
	}
	said, silent := answers(t, s, n, "There is no command"), answers(t, s, n, "stays silent")
	if said != 20 || silent != 1 {
		t.Errorf("%d answers and %d times that it falls silent, want 20 and 1", said, silent)
	}
	s.Wait(61 * 60e9)
	say(30)
	if said := answers(t, s, n, "There is no command"); said != 21 {
		t.Errorf("an hour later there are %d answers, want 21", said)
	}
}

// If a user closes a question's issue without an answer, and the webhook is lost, SIA finds it closed and comments once
// that it is still waiting.
func TestQuestionClosedUnheard(t *testing.T) {
	t.Parallel()
	s := shop(t, "escalate-tick")
	openLabelled(t, s, apptest.Owner)
	s.Settle()
	question := s.Task(1).Escalation.Issue
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issues" })
	check(t, s.Sim.CloseIssue(apptest.Repo, question, apptest.Owner))
	for range 2 {
		s.Periodic("look")
		s.Quiet()
	}
	n, state := answers(t, s, question, "Closing this answers nothing"), s.Task(1).State
	if n != 1 || state != "escalated" {
		t.Errorf("told %d times, the task is %s", n, state)
	}
}

// A pause of everything is answered without a task, also if the first answer failed, and is not executed again:
// somebody may have lifted it since.
func TestPauseIsAnsweredLater(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Talk", "of something else")
	check(t, err)
	repo := repoID(t, s)
	var failed atomic.Bool
	s.Sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/comments") || failed.Swap(true) {
			return nil
		}
		_, _, err := s.App.Store.Lift(r.Context(), sia.RepositoryHalt(repo), "", s.Clock.Now())
		if err != nil {
			t.Error(err)
		}
		return &ghsim.Fault{Status: http.StatusBadGateway}
	})
	_, err = s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia pause all")
	check(t, err)
	s.Settle()
	if text := said(t, s, n); !failed.Load() || strings.Count(text, "paused") == 0 {
		t.Errorf("failed: %t; SIA said %q", failed.Load(), text)
	}
	if _, halted, err := s.App.Store.HaltOver(t.Context(), 0, repo); err != nil || halted {
		t.Errorf("it is paused again: %t, %v", halted, err)
	}
}

// A stranger's comments above the hourly limit cost nothing of what GitHub lets an installation write, on an issue with
// a task or without.
func TestCommentsAboveTheLimitAreNotAnswered(t *testing.T) {
	t.Parallel()
	s := shop(t, "escalate-tick")
	task := openLabelled(t, s, apptest.Owner)
	s.Settle()
	s.Sim.CreateUser("mallory")
	check(t, s.Sim.SetPermission(apptest.Repo, "mallory", "read"))
	plain, err := s.Sim.OpenIssue(apptest.Repo, "mallory", "Anything", "")
	check(t, err)
	for _, n := range []int{task, plain} {
		before := len(s.Sim.Calls())
		for i := range 50 {
			_, err := s.Sim.Comment(apptest.Repo, n, "mallory", fmt.Sprintf("/sia retry %d", i))
			check(t, err)
			if i%5 == 0 {
				s.Quiet()
			}
		}
		s.Quiet()
		posts := 0
		for _, c := range s.Sim.Calls()[before:] {
			if c.Method == http.MethodPost && strings.Contains(c.Path, fmt.Sprintf("/repos/%s/issues/", apptest.Repo)) {
				posts++
			}
		}
		if posts > 25 {
			t.Errorf("#%d: %d writes for 50 comments", n, posts)
		}
	}
}

// A look obeys a command that its author wrote into a comment by an edit of which no delivery arrived, once: neither a
// later look nor late deliveries repeat it. It asks GitHub once who edited a comment.
func TestLookObeysOwnEdit(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Sim.CreateUser("kim")
	check(t, s.Sim.SetPermission(apptest.Repo, "kim", "write"))
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	n := openLabelled(t, s, apptest.Owner)
	s.Until()
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issue_comment" })
	for _, c := range []struct{ text, editor, now string }{
		{"Wait.", apptest.Owner, "Wait!"}, {"Go on.", "kim", "/sia stop"}, {"/sia paus", apptest.Owner, "/sia pause"},
	} {
		id, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, c.text)
		check(t, err)
		s.Wait(time.Minute)
		check(t, s.Sim.EditComment(apptest.Repo, id, c.editor, c.now))
	}
	look := func(want sia.State) {
		t.Helper()
		for range 3 {
			s.Wait(20 * time.Minute)
			s.Periodic("look")
			s.Quiet()
		}
		if task := s.Task(n); task.State != want {
			t.Errorf("it is %s, want %s", task.State, want)
		}
	}
	before := len(s.Sim.Calls())
	look(sia.OnHold)
	asked := 0
	for _, c := range s.Sim.Calls()[before:] {
		if strings.HasSuffix(c.Path, "/graphql") {
			asked++
		}
	}
	if asked != 2 {
		t.Errorf("it asked %d times who edited a comment, want 2", asked)
	}
	s.Sim.DropDeliveries(nil)
	for range 2 {
		s.Wait(2 * time.Hour)
		s.Periodic("redeliver")
		s.Quiet()
	}
	look(sia.OnHold)
	if text := said(t, s, n); strings.Contains(text, "paused already") || strings.Contains(text, "paus`") {
		t.Errorf("it was heard again: %s", text)
	}
}

// A look obeys no command in a comment from before the task that was edited since: it may have been dealt with.
func TestLookIgnoresOldEdits(t *testing.T) {
	t.Parallel()
	s := shop(t, "pass")
	s.Hold(apptest.Point{When: "before", Kind: sia.DoGate, Attempt: 1})
	s.Sim.DropDeliveries(func(d ghsim.Delivery) bool { return d.Event == "issue_comment" })
	n, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "Put a greeting into `hello.txt`.")
	check(t, err)
	id, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "/sia stop")
	check(t, err)
	s.Wait(time.Hour)
	check(t, s.Sim.Label(apptest.Repo, n, apptest.Owner, "sia"))
	s.Until()
	check(t, s.Sim.EditComment(apptest.Repo, id, apptest.Owner, "/sia stop\n\nThank you."))
	s.Wait(20 * time.Minute)
	s.Periodic("look")
	s.Quiet()
	if task := s.Task(n); task.State != sia.Checking {
		t.Errorf("it is %s", task.State)
	}
}

// A look obeys nothing of which it can't know who did it: a command that somebody wrote into another person's comment,
// and a ticked box where commands need more permission than editing SIA's text does.
func TestLookObeysNobodyElse(t *testing.T) {
	t.Parallel()
	s := shop(t, "escalate-tick")
	_, err := s.Sim.PushFiles(apptest.Repo, "main", apptest.Owner, "Settings", map[string]string{
		".sia/config.yml": "access: {command_permission: admin}\n"})
	check(t, err)
	s.Quiet()
	s.Sim.CreateUser("kim")
	check(t, s.Sim.SetPermission(apptest.Repo, "kim", "write"))
	n := openLabelled(t, s, apptest.Owner)
	s.Settle()
	question := s.Task(1).Escalation.Issue
	said, err := s.Sim.Comment(apptest.Repo, n, apptest.Owner, "What a question.")
	check(t, err)
	s.Wait(60e9)
	check(t, s.Sim.TickBox(apptest.Repo, question, "kim", "B"))
	check(t, s.Sim.EditComment(apptest.Repo, said, "kim", "/sia answer B"))
	for range 4 {
		s.Wait(20 * 60e9)
		s.Periodic("look")
		s.Quiet()
	}
	if task := s.Task(1); task.Escalation.Issue != question || task.Escalation.Answered {
		t.Fatalf("somebody answered question %d: %+v", question, task.Answers)
	}
	_, err = s.Sim.Comment(apptest.Repo, question, apptest.Owner, "/sia answer A")
	check(t, err)
	s.Settle()
	if task := s.Task(1); task.State != sia.Passed {
		t.Errorf("the task is %s", task.State)
	}
}
