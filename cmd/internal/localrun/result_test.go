package localrun

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/flavour"
)

// A run without a tool call reports that the model can't call tools, unless its calls were malformed or truncated, or
// the provider withheld its answers.
func TestReasonWithoutCalls(t *testing.T) {
	const unread, cut = agent.CallsUnread + "a string has no end, at byte 9", agent.AnswersCut + "8192 tokens"
	const withheld = "the model's provider withheld the answer (content filter)"
	for _, c := range []struct {
		attempt string
		outcome sia.AttemptOutcome
		cut     int
		want    string
	}{
		{"it gave up", sia.AttemptFail, 0, "the model called no tool in any of its 2 answers: take one that can call tools"},
		{unread, sia.AttemptError, 0, unread},
		{cut, sia.AttemptError, 2, cut},
		{withheld, sia.AttemptError, 0, withheld},
		{"3 of 4 credits are spent, and the rest does not cover another call", sia.AttemptCheckpoint, 2, "2 of the model's " +
			"2 answers were cut off at their length, before it called a tool: let it reason less, or set max_output of the " +
			"model higher in the file of --config"},
	} {
		task := sia.Task{Attempts: []sia.Attempt{{Reason: c.attempt, Outcome: c.outcome}}}
		if got := withoutCalls(2, c.cut, task); got != c.want {
			t.Errorf("%q is told as %q", c.attempt, got)
		}
	}
}

// The result lists the features that a model works without.
func TestResultHasWeakerModels(t *testing.T) {
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed, Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if a.Body["reasoning_effort"] == "high" {
			return 0, ""
		}
		return 400, flavour.Words("'reasoning_effort' does not support 'xhigh'. Supported values are: 'low' and 'high'.")
	}})
	t.Cleanup(s.Close)
	models := app.ModelsConfig{Coder: app.ModelConfig{Name: "big", URL: s.URL, Model: "m", Reasoning: "xhigh"}}
	memory := app.NewModelMemory(t.TempDir(), nil)
	models.Coder.Probe(t.Context(), slog.New(slog.DiscardHandler), memory)
	r := &run{job: job{opts: Options{Models: models}}}
	said := r.weaker(memory)
	if len(said) != 1 || said[0].Model != "big" ||
		!strings.Contains(said[0].Without[0], "xhigh is refused; high is asked for") {
		t.Errorf("%+v", said)
	}
}
