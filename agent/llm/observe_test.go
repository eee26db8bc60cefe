package llm_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sim/scripted"
)

// Observe is called once for each call, including its retries: for an answer, for an error with its kind, and for a
// canceled call.
func TestObserve(t *testing.T) {
	var calls []llm.Call
	observed := func(c *llm.Config) {
		c.Observe = func(_ context.Context, call llm.Call) { calls = append(calls, call) }
	}
	ask := llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "Hello"}}, MaxOutput: 16}

	answering, _, _ := serve(t, scripted.Script{Rules: []scripted.Rule{{Turns: []scripted.Answer{{Text: "Hello."}}}}},
		observed)
	if _, err := answering.Complete(t.Context(), ask); err != nil {
		t.Fatal(err)
	}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": {"message": "later"}}`, http.StatusServiceUnavailable)
	}))
	defer busy.Close()
	failing, _ := dial(t, busy.URL, observed)
	if _, err := failing.Complete(t.Context(), ask); err == nil {
		t.Fatal("an endpoint in trouble answered")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := failing.Complete(ended, ask); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if len(calls) != 3 {
		t.Fatalf("told of %d calls, want 3: %+v", len(calls), calls)
	}
	if c := calls[0]; c.Client != "coder" || c.Failed != "" || c.Ended || c.Usage.Output == 0 {
		t.Errorf("answered: %+v", c)
	}
	if c := calls[1]; c.Failed != llm.KindOverloaded || c.Ended || c.Took < time.Second { // with its waits
		t.Errorf("failed: %+v", c)
	}
	if c := calls[2]; c.Failed != "" || !c.Ended {
		t.Errorf("ended: %+v", c)
	}
}
