package main

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/ghsim"
)

// The demo's third issue passes at once only because of a lesson: without it, the first attempt really fails its check.
//
//test:thorough
func TestDemoNeedsItsLesson(t *testing.T) {
	t.Parallel()
	c := &demoCmd{}
	e := &cli.Env{Ctx: t.Context(), Out: io.Discard, Err: io.Discard}
	spec, err := bookings()
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.open(e, spec, demoRepo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := &demoNarrator{Env: e, Stage: s, timeout: 10 * time.Minute, repo: demoUser + "/" + demoRepo}
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

// For an issue outside of the script, SIA lists the known issues and explains how to use a model, on the issue and on
// the terminal.
func TestDemoOfAnotherIssue(t *testing.T) {
	c := &demoCmd{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &watched{until: "is paused: ", then: cancel}
	e := &cli.Env{Ctx: ctx, Out: out, Err: io.Discard}
	spec, err := bookings()
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.open(&cli.Env{Ctx: t.Context()}, spec, demoRepo)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := &demoNarrator{Env: e, Stage: s, timeout: 10 * time.Minute, repo: demoUser + "/" + demoRepo}
	issue, err := n.open("Print the bookings of a day", "The kitchen wants them on paper.")
	if err != nil {
		t.Fatal(err)
	}
	n.keep()
	n.Ctx = t.Context()
	status := ""
	if _, err := s.Sim.WaitEntry(t.Context(), 0, func(e ghsim.Entry) bool {
		m, ok := render.ParseMarker(e.Detail)
		if ok && m.Kind == "status" && e.Number == issue && strings.Contains(e.Detail, "Paused") {
			status = e.Detail
		}
		return status != ""
	}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{out.String(), status} {
		for _, want := range []string{"`sia demo --keep --model-url URL --model NAME`",
			"“Send a confirmation email when a booking", "“Let guests sign in with their social account”",
			"“Text guests a reminder the day before”"} {
			if !strings.Contains(text, want) {
				t.Errorf("lacks %q:\n%s", want, text)
			}
		}
		if strings.Contains(text, "Check the model's name") {
			t.Errorf("blames the model:\n%s", text)
		}
	}
}

// watched is a writer that calls a function when a text appears.
type watched struct {
	mu    sync.Mutex
	b     strings.Builder
	until string
	then  func()
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.b.Write(p)
	if strings.Contains(w.b.String(), w.until) {
		w.then()
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// Ctrl-C ends the demo without an error message.
func TestDemoStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &watched{until: "opens #", then: cancel}, &strings.Builder{}
	if code := runCommand(ctx, []string{"demo"}, out, errs); code != cli.ExitStopped || errs.String() != "Stopped.\n" ||
		strings.Contains(out.String(), "fail") || strings.Contains(out.String(), "Summary") {
		t.Errorf("exit %d, %q, and\n%s", code, errs, out)
	}
}
