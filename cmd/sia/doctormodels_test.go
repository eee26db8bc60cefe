package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/flavour"
)

// diagnosed returns doctor's output for the model of one server, and whether it succeeded.
func diagnosed(t *testing.T, c doctorModelsCmd) (said map[string]any, ok bool) {
	t.Helper()
	var out bytes.Buffer
	c.Output = "json"
	err := c.Run(&cli.Env{Ctx: t.Context(), Out: &out, Err: io.Discard, Logger: slog.New(slog.DiscardHandler)})
	if err != nil && !errors.Is(err, cli.ErrShown) {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(out.Bytes(), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v: %s", err, out.String())
	}
	return list[0], err == nil
}

// Doctor succeeds exactly if the model is usable, and reports for each what works and what to do.
func TestDoctorModelsOfEachFlavour(t *testing.T) {
	t.Parallel()
	for _, f := range flavour.All() {
		if f.Fails == "overloaded" || f.Fails == "malformed" {
			continue // these take real time; package llm tests them with a fake clock
		}
		t.Run(f.Name, func(t *testing.T) {
			f.Say = flavour.Probed
			s := flavour.Start(f)
			t.Cleanup(s.Close)
			said, ok := diagnosed(t, doctorModelsCmd{modelFlags: modelFlags{ModelURL: s.URL, Model: "gpt-5.4",
				ModelProtocol: f.Protocol, ModelReason: f.Reasoning, ModelTimeout: time.Minute}})
			if usable := f.Fails == ""; said["usable"] != usable || ok != usable || said["tools"] != usable {
				t.Errorf("all right: %v, said %v", ok, said)
			}
			for _, field := range []string{"name", "protocol", "reasoning_kept", "cached", "advice"} {
				if _, there := said[field]; !there {
					t.Errorf("%s is not said: %v", field, said)
				}
			}
			if f.Fails != "" && said["advice"] == "" {
				t.Errorf("no advice: %v", said)
			}
		})
	}
}

// Doctor reports a server that refuses the tools of attempts before the first attempt.
func TestDoctorModelsOffersTheToolsOfAttempts(t *testing.T) {
	t.Parallel()
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed, Refuse: func(_ *flavour.Server, a flavour.Ask) (int, string) {
		if tools, _ := a.Body["tools"].([]any); len(tools) > 10 {
			return http.StatusBadRequest, flavour.Words("array too long. Expected an array with maximum length 10")
		}
		return 0, ""
	}})
	t.Cleanup(s.Close)
	said, ok := diagnosed(t, doctorModelsCmd{modelFlags: modelFlags{ModelURL: s.URL, Model: "m"}})
	if ok || said["advice"] != "The endpoint says: array too long. Expected an array with maximum length 10." {
		t.Errorf("all right: %v, said %v", ok, said)
	}
}

// Doctor takes the flags of sia run for a model that costs nothing.
func TestDoctorModelsFree(t *testing.T) {
	t.Parallel()
	s := flavour.Start(flavour.Flavour{Say: flavour.Probed})
	t.Cleanup(s.Close)
	var out, errs strings.Builder
	args := []string{"doctor", "models", "--model-url", s.URL, "--model", "m", "--free"}
	code := runCommand(t.Context(), args, &out, &errs)
	if code != cli.ExitDone || !strings.Contains(out.String(), "; price: none, says --free") {
		t.Errorf("exit %d, %s:\n%s", code, &errs, &out)
	}
}

// unanswering lists models that never answer, with the expected message.
var unanswering = map[string]struct {
	reply func(http.ResponseWriter, *http.Request)
	want  string
}{
	"silent": {func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the server notices a closed connection
		<-r.Context().Done()
	}, "no answer within 2s"},
	"garbage": {func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			fmt.Fprintln(w, "lorem ipsum dolor")
		}
	}, "what comes is not the protocol's"},
	"slow": {func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for r.Context().Err() == nil {
			fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a "}}]}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
			}
		}
	}, "no complete answer within 2s"},
}

// A reasoning model may have no room for text in a short answer. Doctor reports that it works, and that a model that
// refuses for another reason does not.
func TestDoctorOfModelsThatThink(t *testing.T) {
	t.Parallel()
	refuse := func(words string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, words)
		}
	}
	answer := func(content, finish string, out int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%q},"finish_reason":%q}],"usage":`+
				`{"prompt_tokens":20,"completion_tokens":%d}}`, content, finish, out)
		}
	}
	for name, c := range map[string]struct {
		short, long func(http.ResponseWriter) // answers to requests with few and many tokens
		ok          bool
		asked       int
	}{
		// https://github.com/spiceai/spiceai/issues/7126
		"refused": {refuse("Could not finish the message because max_tokens or model output limit was reached. " +
			"Please try again with higher max_tokens."), answer("ready", "stop", 300), true, 2},
		"thoughts not counted": {answer("", "length", 0), answer("ready", "stop", 1), true, 2},
		"thoughts alone":       {answer("", "length", 64), nil, true, 1},
		"no thoughts":          {answer("ready", "stop", 1), nil, true, 1},
		"unwell":               {refuse("This account is disabled."), refuse("This account is disabled."), false, 2},
	} {
		asked := 0
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var ask struct {
				Most int `json:"max_completion_tokens"`
				Old  int `json:"max_tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&ask); err != nil {
				t.Error(err)
			}
			asked++
			w.Header().Set("Content-Type", "application/json")
			if max(ask.Most, ask.Old) < 1000 {
				c.short(w)
			} else {
				c.long(w)
			}
		}))
		t.Cleanup(srv.Close)
		found := checkModels(t.Context(), app.Config{Models: app.ModelsConfig{Coder: app.ModelConfig{URL: srv.URL + "/v1",
			Model: "m", Protocol: "chat"}}}, &cli.Env{Logger: silentLogger()})
		if found[0].OK != c.ok || asked != c.asked {
			t.Errorf("%s: asked %d times, %+v", name, asked, found[0])
		}
	}
}

// testedClone makes a clone with tests that pass.
func testedClone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte("test:\n\ttrue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "."}, {"-c", "user.name=ada", "-c",
		"user.email=ada@example.com", "commit", "--quiet", "-m", "Begin"}} {
		if _, err := localgit.At(dir).Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Doctor and the demo report a model that does not answer, with the reason.
func TestModelsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range unanswering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(c.reply))
			t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
			model := modelFlags{ModelURL: srv.URL + "/v1", Model: "m", ModelTimeout: 2 * time.Second}
			said, ok := diagnosed(t, doctorModelsCmd{modelFlags: model})
			if ok || !strings.Contains(fmt.Sprint(said["advice"]), c.want) && said["advice"] != slowAdvice {
				t.Errorf("doctor: %v, want %q", said, c.want)
			}
			demo := &demoCmd{Repo: testedClone(t), Free: true, modelFlags: model}
			var out strings.Builder
			e := &cli.Env{Ctx: t.Context(), Out: &out, Err: io.Discard, Logger: silentLogger()}
			if err := demo.Run(e); err == nil || !strings.Contains(out.String()+err.Error(), c.want) {
				t.Errorf("demo: %v, want %q:\n%s", err, c.want, out.String())
			}
		})
	}
}

// A server probes its models in the background when it starts, and reports the result on its pages and in its log.
func TestServeTriesModelsOut(t *testing.T) {
	t.Parallel()
	shown := func(t *testing.T, model http.Handler, want ...string) {
		t.Helper()
		pages, _, log := startServe(t, model, "--model-timeout", "2s")
		ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
		defer cancel()
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for body := ""; ; <-tick.C {
			left := ""
			for _, w := range want {
				if !strings.Contains(html.UnescapeString(body), w) {
					left = w
				}
			}
			if left == "" && strings.Contains(log.String(), "a model was tried out") {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("/coders lacks %q:\n%s\nlog:\n%s", left, body, log)
			}
			_, body = get(t, pages+"/coders")
		}
	}
	for name, c := range unanswering {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown(t, http.HandlerFunc(c.reply), " no<br>", "Check that")
		})
	}
	t.Run("usable", func(t *testing.T) {
		f := flavour.Stateful()[0]
		f.Say = flavour.Probed
		s := flavour.Start(f)
		t.Cleanup(s.Close)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		u.Path = ""
		shown(t, httputil.NewSingleHostReverseProxy(u), " yes</td><td>responses</td>",
			`good">reasoning given back</span>`, `good">caching</span>`)
	})
}

// slowAdvice is the advice if the time for the whole conversation is used up.
const slowAdvice = "It did not answer in time. Check that the model's endpoint is up and fast enough, or raise the " +
	"model's timeout."
