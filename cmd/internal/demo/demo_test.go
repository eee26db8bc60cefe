//test:plain
package demo

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
)

func TestMain(m *testing.M) {
	apptest.ForwardIfAsked()
	os.Exit(m.Run())
}

// begin starts the story's stage, with the scripted model.
func begin(t *testing.T) *narrator {
	t.Helper()
	n, err := start(&cli.Env{Ctx: t.Context(), Out: io.Discard, Err: io.Discard},
		Options{Timeout: 10 * time.Minute, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// The demo's third issue passes at once only because of a lesson: without it, the first attempt really fails its check.
//
//test:thorough
func TestDemoNeedsItsLesson(t *testing.T) {
	t.Parallel()
	n := begin(t)
	issue, err := n.open(reminderTitle, reminderIssue)
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

// untilPaused keeps what is printed until a task is paused.
type untilPaused struct {
	strings.Builder
	stop func()
}

func (w *untilPaused) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "is paused: ") {
		w.stop()
	}
	return w.Builder.Write(p)
}

// For an issue outside of the script, SIA lists the known issues and explains how to use a model, on the issue and on
// the terminal.
func TestDemoOfAnotherIssue(t *testing.T) {
	n := begin(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &untilPaused{stop: cancel}
	n.Ctx, n.Out = ctx, out
	issue, err := n.open("Print the bookings of a day", "The kitchen wants them on paper.")
	if err != nil {
		t.Fatal(err)
	}
	n.keep()
	status := ""
	if _, err := n.Sim.WaitEntry(t.Context(), 0, func(e ghsim.Entry) bool {
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
