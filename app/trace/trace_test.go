package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/app/trace"
	"github.com/sia-bot/sia/sia"
)

// request is the part of an export that the receiver decodes.
type request struct {
	ResourceSpans []struct {
		Resource   attributes
		ScopeSpans []struct{ Spans []span }
	}
}

type attributes struct {
	Attributes []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

type span struct {
	attributes
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	Start                               string `json:"startTimeUnixNano"`
	End                                 string `json:"endTimeUnixNano"`
	Status                              struct {
		Code    int
		Message string
	}
}

func (a attributes) of(key string) string {
	for _, kv := range a.Attributes {
		if kv.Key == key {
			return kv.Value.StringValue + kv.Value.IntValue
		}
	}
	return ""
}

// receiver stores the received spans, and rejects a number of exports first.
type receiver struct {
	mu     sync.Mutex
	spans  []span
	asked  int
	refuse int
	header http.Header
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	r.header = req.Header
	if r.asked <= r.refuse {
		http.Error(w, "busy", http.StatusServiceUnavailable)
		return
	}
	var in request
	if err := json.NewDecoder(req.Body).Decode(&in); err != nil || req.URL.Path != "/v1/traces" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	for _, rs := range in.ResourceSpans {
		if rs.Resource.of("service.name") != "sia" || rs.Resource.of("service.instance.id") == "" {
			http.Error(w, "no name", http.StatusBadRequest)
			return
		}
		for _, s := range rs.ScopeSpans {
			r.spans = append(r.spans, s.Spans...)
		}
	}
}

var at = time.Date(2031, 2, 3, 12, 0, 0, 0, time.UTC)

func start(t *testing.T, r http.Handler, kept trace.Store) *trace.Tracer {
	t.Helper()
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	tracer, err := trace.New(trace.Config{Endpoint: server.URL + "/", Headers: map[string]string{"X-Key": "k"},
		Version: "1",
		Mask:    func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") },
		Logger:  slog.New(slog.DiscardHandler), Now: func() time.Time { return at }, Store: kept})
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}

// kept returns a database with a task.
func kept(t *testing.T, of sia.Task) *store.Store {
	t.Helper()
	s := storetest.Open(t, store.Config{})
	if _, err := s.Apply(t.Context(), of.ID, sia.Event{ID: "start", At: of.CreatedAt, By: sia.Actor{Login: "ada", ID: 1},
		Fact: sia.Start{Installation: 3, Repo: of.Repo, Issue: of.Issue, Title: "t", DefaultBranch: "main"}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func done(context.Context, sia.Task, sia.Effect) (sia.Fact, error) { return sia.Done{}, nil }

// A task is one trace across processes: its effects are children of its root, and model calls are children of the
// effects.
func TestATaskIsOneTrace(t *testing.T) {
	to := &receiver{refuse: 1}
	task := sia.Task{ID: "7-1", Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"}, Issue: 1, CreatedAt: at.Add(-time.Hour)}
	db := kept(t, task)
	for range 2 { // processes
		tracer := start(t, to, db)
		attempt := tracer.Effect(func(ctx context.Context, _ sia.Task, _ sia.Effect) (sia.Fact, error) {
			tracer.Call(ctx, llm.Call{Client: "coder", Model: "gpt-5", Provider: "openai", Host: "api.openai.com",
				Usage: llm.Usage{Input: 120, Output: 7}, Took: 2 * time.Second, Finish: "stop"})
			return nil, errors.New("the key hunter2 is refused")
		})
		if _, err := attempt(t.Context(), task, sia.Effect{Kind: sia.DoAttempt, Key: "7-1/attempt/1"}); err == nil {
			t.Fatal("the effect's error is lost")
		}
		ended := task
		ended.State, ended.Since = sia.Passed, at
		if _, err := tracer.Effect(done)(t.Context(), ended, sia.Effect{Kind: sia.DoSync}); err != nil {
			t.Fatal(err)
		}
		tracer.Call(t.Context(), llm.Call{Model: "outside of a task"})
		tracer.Call(trace.InTask(t.Context(), task.ID), llm.Call{Model: "by a runner"})
		if err := tracer.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if to.asked != 3 || to.header.Get("X-Key") != "k" {
		t.Errorf("asked %d times, with the headers %v", to.asked, to.header)
	}
	byName := map[string][]span{}
	for _, s := range to.spans {
		byName[s.Name] = append(byName[s.Name], s)
		if s.TraceID != to.spans[0].TraceID {
			t.Errorf("%s is of another trace", s.Name)
		}
	}
	if len(to.spans) != 9 || len(byName["task"]) != 1 || len(byName["attempt"]) != 2 || len(byName["chat gpt-5"]) != 2 {
		t.Fatalf("spans: %+v", to.spans)
	}
	root, tried, call := byName["task"][0], byName["attempt"][1], byName["chat gpt-5"][1]
	if root.ParentSpanID != "" || tried.ParentSpanID != root.SpanID || call.ParentSpanID != tried.SpanID {
		t.Errorf("the spans don't stand below one another: %+v, %+v, %+v", root, tried, call)
	}
	if by := byName["chat by a runner"]; len(by) != 2 || by[1].ParentSpanID != root.SpanID {
		t.Errorf("by a runner: %+v", by)
	}
	if root.of("sia.state") != "passed" {
		t.Errorf("root %+v", root)
	}
	if tried.Status.Code != 2 || tried.Status.Message != "the key *** is refused" || tried.of("sia.task") != "7-1" ||
		tried.of("gen_ai.operation.name") != "invoke_agent" {
		t.Errorf("attempt %+v", tried)
	}
	if call.Kind != 3 || call.of("gen_ai.usage.input_tokens") != "120" || call.of("gen_ai.provider.name") != "openai" ||
		call.of("gen_ai.request.model") != "gpt-5" || call.Start >= call.End {
		t.Errorf("call %+v", call)
	}
}

// Each end of a task exports its root once, however often its status is synced.
func TestARootForEachEnd(t *testing.T) {
	to := &receiver{}
	task := sia.Task{ID: "7-1", Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"}, Issue: 1, CreatedAt: at.Add(-time.Hour)}
	tracer := start(t, to, kept(t, task))
	for end, state := range []sia.State{sia.Stopped, sia.Passed} {
		task.State, task.Since = state, at.Add(time.Duration(end)*time.Hour)
		for range 3 { // synced again, after a command
			if _, err := tracer.Effect(done)(t.Context(), task, sia.Effect{Kind: sia.DoSync}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var roots []string
	for _, s := range to.spans {
		if s.Name == "task" {
			roots = append(roots, s.of("sia.state"))
		}
	}
	if strings.Join(roots, " ") != "stopped passed" {
		t.Errorf("roots: %v", roots)
	}
}

// Nothing waits for an unavailable receiver, and nothing is exported without an endpoint.
func TestNobodyReceives(t *testing.T) {
	tracer := start(t, http.NotFoundHandler(), nil)
	if _, err := tracer.Effect(done)(t.Context(), sia.Task{ID: "7-1"}, sia.Effect{Kind: sia.DoGate}); err != nil {
		t.Error(err)
	}
	if err := tracer.Close(t.Context()); err != nil { // export errors are logged
		t.Logf("closing: %v", err)
	}
	there := &receiver{}
	elsewhere := httptest.NewServer(there)
	defer elsewhere.Close()
	tracer = start(t, http.RedirectHandler(elsewhere.URL+"/v1/traces", http.StatusTemporaryRedirect), nil)
	if _, err := tracer.Effect(done)(t.Context(), sia.Task{ID: "7-1"}, sia.Effect{Kind: sia.DoGate}); err != nil {
		t.Error(err)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Logf("closing: %v", err)
	}
	if there.asked > 0 {
		t.Error("headers for one receiver went to another, to which it led")
	}
	none, err := trace.New(trace.Config{})
	if none != nil || err != nil {
		t.Errorf("without an endpoint: %v, %v", none, err)
	}
	none.Call(t.Context(), llm.Call{})
	if err := none.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := trace.New(trace.Config{Endpoint: "localhost:4318"}); err == nil ||
		!strings.Contains(err.Error(), "http://") {
		t.Errorf("an address without a scheme: %v", err)
	}
}
