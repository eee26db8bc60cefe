package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/ghsim"
)

// The demo's third issue passes at once because of a lesson, and of nothing else:
// where nothing was learned before, its first attempt really fails its check.
func TestDemoNeedsItsLesson(t *testing.T) {
	c := &demoCmd{}
	e := &commandEnv{ctx: t.Context(), out: io.Discard, err: io.Discard}
	spec, name, err := c.repository(e.ctx)
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.open(e, spec, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.shut(); err != nil {
			t.Error(err)
		}
	}()
	n := &demoNarrator{commandEnv: e, demoStage: s, timeout: time.Minute, repo: demoUser + "/" + demoRepo}
	body, err := demoFiles.ReadFile("demo/issue-3.md")
	if err != nil {
		t.Fatal(err)
	}
	issue, err := n.open(reminderTitle, string(body))
	if err != nil {
		t.Fatal(err)
	}
	end, err := n.await("the check `test` ends", func(e ghsim.Entry) bool {
		return e.Kind == "check_run.completed" && e.Ref == "test"
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.failure(end.SHA); end.Detail != "failure" || !strings.Contains(got, "SMS_API_KEY is not set") {
		t.Errorf("the check ended as %s: %s; want a failure for want of SMS_API_KEY", end.Detail, got)
	}
	if task, err := n.task(issue); err != nil || len(task.Attempts[0].LessonsShown) > 0 {
		t.Errorf("attempt 1 was told %v (%v), want nothing", task.Attempts, err)
	}
}
