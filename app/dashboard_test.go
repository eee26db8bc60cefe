package app_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// board returns a repository with a dashboard and a task that a story's coder has worked on; number is the dashboard's.
func board(t *testing.T, story string) (s *apptest.Stage, task, number int) {
	t.Helper()
	s = shop(t, story)
	push(t, s, "main", map[string]string{".sia/config.yml": "dashboard: true\nchecks: {settle: 10s}\n" +
		"access: {command_permission: maintain}\n"})
	task = openLabelled(t, s, apptest.Owner)
	s.Settle()
	s.Periodic("dashboard")
	s.Quiet()
	for n := 1; n < 20; n++ {
		if i, err := s.Sim.Issue(apptest.Repo, n); err == nil && i.Title == render.BoardTitle {
			return s, task, n
		}
	}
	t.Fatal("there is no dashboard")
	return nil, 0, 0
}

// tickBoxes ticks boxes of the dashboard in one edit, by command.
func tickBoxes(t *testing.T, s *apptest.Stage, number int, who string, commands ...string) {
	t.Helper()
	body := boardText(t, s, number)
	for _, c := range commands {
		box := "- [ ] <!-- sia:do " + c + " -->"
		if !strings.Contains(body, box) {
			t.Fatalf("no box stands for %s:\n%s", c, body)
		}
		body = strings.Replace(body, box, strings.Replace(box, "[ ]", "[x]", 1), 1)
	}
	check(t, s.Sim.EditIssueBody(apptest.Repo, number, who, body))
	s.Settle()
}

func boardText(t *testing.T, s *apptest.Stage, number int) string {
	t.Helper()
	i, err := s.Sim.Issue(apptest.Repo, number)
	check(t, err)
	return i.Body
}

// A ticked box is a command by the user who ticked it: it is cleared, and obeyed or refused like the command in a
// comment. Two boxes in one edit are two commands.
func TestDashboard(t *testing.T) {
	t.Parallel()
	s, task, number := board(t, "escalate-tick")
	if body := boardText(t, s, number); !strings.Contains(body, "In which language do you greet your customers?") ||
		!strings.Contains(body, "credits spent this month") {
		t.Errorf("it lacks what waits, or what was spent:\n%s", body)
	}
	s.Sim.CreateUser("mallory")
	check(t, s.Sim.SetPermission(apptest.Repo, "mallory", "write")) // may edit, but not command
	tickBoxes(t, s, number, "mallory", fmt.Sprintf("stop %d", task))
	if state := s.Task(task).State; state != sia.Escalated {
		t.Errorf("a stranger's tick was obeyed: %s", state)
	}
	if body := boardText(t, s, number); strings.Contains(body, "[x]") {
		t.Errorf("a stranger's tick stays:\n%s", body)
	}
	check(t, s.Sim.EditIssueBody(apptest.Repo, number, "mallory", boardText(t, s, number)+"\nBuy now."))
	s.Settle()
	if body := boardText(t, s, number); strings.Contains(body, "Buy now") {
		t.Errorf("an edit by hand stays:\n%s", body)
	}
	before := boardText(t, s, number)
	check(t, s.Sim.EditIssueBody(apptest.Repo, number, "mallory", "Buy now."))
	s.Settle()
	if body := boardText(t, s, number); body != before {
		t.Errorf("its whole text was replaced, and it reads:\n%s", body)
	}
	tickBoxes(t, s, number, apptest.Owner, fmt.Sprintf("stop %d", task), "pause all")
	if state := s.Task(task).State; state != sia.Stopped {
		t.Errorf("two boxes were ticked, and the task is %s", state)
	}
	body := boardText(t, s, number)
	if strings.Contains(body, "[x]") || !strings.Contains(body, "sia:do resume all") {
		t.Errorf("two boxes were ticked, and it reads:\n%s", body)
	}
	if said := said(t, s, number); !strings.Contains(said, "paused") {
		t.Errorf("it answered:\n%s", said)
	}
	// It never becomes a task.
	check(t, s.Sim.Label(apptest.Repo, number, apptest.Owner, "sia"))
	_, err := s.Sim.Comment(apptest.Repo, number, apptest.Owner, "/sia start")
	check(t, err)
	s.Settle()
	if id, err := s.App.Store.TaskByRef(t.Context(), repoID(t, s), sia.IssueRef(number)); err != nil || len(id) > 0 {
		t.Errorf("the dashboard is a task: %v, %v", id, err)
	}
}

// A pull request that has passed is listed until it is merged.
func TestDashboardReview(t *testing.T) {
	t.Parallel()
	s, task, number := board(t, "pass")
	pull := s.Task(task).Pull.Number
	list := fmt.Sprintf("### Ready to review\n\n- **[#%d](", pull)
	if body := boardText(t, s, number); !strings.Contains(body, list) ||
		!strings.Contains(body, ") Greet the customers**, since ") {
		t.Errorf("%s is missing:\n%s", list, body)
	} else if strings.Contains(body, "Learned lately") {
		t.Errorf("how an agent does is no advice:\n%s", body)
	}
	_, err := s.Sim.MergePull(apptest.Repo, pull, apptest.Owner)
	check(t, err)
	s.Settle()
	s.Periodic("dashboard")
	s.Quiet()
	if body := boardText(t, s, number); strings.Contains(body, "Ready to review") {
		t.Errorf("it was merged:\n%s", body)
	}
}

// A bot's tick is not a command, regardless of its permissions, and gets no answer; a bot that access.bots names is
// obeyed, as in a comment.
func TestDashboardTickedByABot(t *testing.T) {
	t.Parallel()
	s, task, number := board(t, "escalate-tick")
	_, err := s.Sim.CreateApp("ticker")
	check(t, err)
	check(t, s.Sim.SetPermission(apptest.Repo, "ticker[bot]", "admin"))
	before := said(t, s, number)
	tickBoxes(t, s, number, "ticker[bot]", fmt.Sprintf("stop %d", task), "pause all")
	if state := s.Task(task).State; state != sia.Escalated {
		t.Errorf("a bot's tick was obeyed: the task is %s", state)
	}
	if halts, err := s.App.Store.Halts(t.Context()); err != nil || len(halts) > 0 {
		t.Errorf("a bot paused the repository: %+v, %v", halts, err)
	}
	if body := boardText(t, s, number); strings.Contains(body, "[x]") {
		t.Errorf("a bot's tick stays:\n%s", body)
	}
	if now := said(t, s, number); now != before {
		t.Errorf("a bot was answered:\n%s", now)
	}
	push(t, s, "main", map[string]string{".sia/config.yml": "dashboard: true\nchecks: {settle: 10s}\n" +
		"access: {command_permission: maintain, bots: [\"ticker[bot]\"]}\n"})
	s.Settle()
	tickBoxes(t, s, number, "ticker[bot]", fmt.Sprintf("stop %d", task))
	if state := s.Task(task).State; state != sia.Stopped {
		t.Errorf("a bot that the settings name was not heard: the task is %s", state)
	}
}

// A dashboard that a user closed is not changed until it is reopened; a deleted one is created again.
func TestDashboardClosed(t *testing.T) {
	t.Parallel()
	s, task, number := board(t, "escalate-tick")
	check(t, s.Sim.CloseIssue(apptest.Repo, number, apptest.Owner))
	s.Settle()
	if said := said(t, s, number); strings.Count(said, "leaves this issue alone") != 1 {
		t.Errorf("it does not say what closing does:\n%s", said)
	}
	was := boardText(t, s, number)
	check(t, s.Sim.CloseIssue(apptest.Repo, task, apptest.Owner)) // stops the task
	s.Settle()
	s.Periodic("dashboard")
	s.Quiet()
	if i, err := s.Sim.Issue(apptest.Repo, number); err != nil || i.State != "closed" || i.Body != was {
		t.Errorf("it was written while it was closed: %s, %v\n%s", i.State, err, i.Body)
	}
	check(t, s.Sim.ReopenIssue(apptest.Repo, number, apptest.Owner))
	s.Settle()
	if body := boardText(t, s, number); body == was {
		t.Error("it was not brought up to date when it was reopened")
	}
	before := len(s.Sim.Calls())
	s.Periodic("dashboard")
	s.Quiet()
	if calls := s.Sim.Calls()[before:]; len(calls) > 0 {
		t.Errorf("nothing changed, and GitHub was asked: %+v", calls)
	}
	check(t, s.Sim.DeleteIssue(apptest.Repo, number, apptest.Owner))
	s.Settle()
	found := 0
	for n := number + 1; n < number+5; n++ {
		if i, err := s.Sim.Issue(apptest.Repo, n); err == nil && i.Title == render.BoardTitle && i.State == "open" {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d dashboards after one was deleted", found)
	}
}
