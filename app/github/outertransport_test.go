package github

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/view"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A body written to GitHub has no secrets, is still JSON, and can be sent again.
func TestWritesHaveNoSecrets(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", `a "quoted" key`)
	token := "ghp_" + strings.Repeat("aB3d", 9)
	in := map[string]any{
		"body": "see " + token + "\nand <b> & a \"quoted\" key",
		"output": map[string]any{"annotations": []any{map[string]any{"message": token,
			"start_line": json.Number("12345678901234567")}}},
	}
	want := map[string]any{
		"body": "see [secret: github-pat]\nand <b> & [secret: model-key]",
		"output": map[string]any{"annotations": []any{map[string]any{"message": "[secret: github-pat]",
			"start_line": json.Number("12345678901234567")}}},
	}
	decode := func(r io.Reader) (out map[string]any) {
		dec := json.NewDecoder(r)
		dec.UseNumber()
		if err := dec.Decode(&out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	sent := 0
	outer := newOuterTransport(transport(func(r *http.Request) (*http.Response, error) {
		b, err := io.ReadAll(r.Body)
		if err != nil || int64(len(b)) != r.ContentLength {
			t.Errorf("%d bytes, said to be %d: %v", len(b), r.ContentLength, err)
		}
		again, err := r.GetBody()
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range []io.Reader{bytes.NewReader(b), again} {
			sent++
			if d := cmp.Diff(want, decode(body)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		}
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}), m, time.Minute)
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.github.com/x", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := outer.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if sent != 2 {
		t.Errorf("%d bodies were seen", sent)
	}
}

// A secret without a recognizable form, which only the masker knows, is masked in every write of a repository.
func TestRepoWritesNoSecretThatIsKnownByValue(t *testing.T) {
	const key = "hunter two and some"
	m := &secret.Masker{}
	m.Know("model-key", key)
	w := start(t, "/", func(c *Config) { c.Secrets = m })
	answered := func(rw http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet {
			answer(rw, 200, "[]")
			return
		}
		answer(rw, 201, `{"id":1,"number":1,"name":"sia"}`)
	}
	w.HandleFunc("/repos/acme/shop/", answered)
	w.HandleFunc("POST /graphql", func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, 200, `{"data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`)
	})
	ctx, r := t.Context(), w.repo()
	const mark = "<!-- sia:v1 task=1-1 kind=status key=1 -->"
	for name, write := range map[string]func() error{
		"comment": func() error { _, err := r.UpsertComment(ctx, 1, mark, "the key is "+key, 0); return err },
		"edit":    func() error { _, _, err := r.EditComment(ctx, 1, mark, "the key is "+key); return err },
		"issue": func() error {
			_, err := r.CreateIssue(ctx, NewIssue{Marker: mark, Title: key, Body: key})
			return err
		},
		"pull": func() error {
			_, err := r.EnsurePull(ctx, NewPull{Head: "x", Base: "main", Title: key, Body: key})
			return err
		},
		"check run": func() error {
			w.HandleFunc("GET /repos/acme/shop/commits/c0ffee/check-runs",
				func(rw http.ResponseWriter, _ *http.Request) { answer(rw, 200, `{"check_runs":[]}`) })
			_, err := r.CheckRuns.Upsert(ctx, CheckRunSpec{Name: "SIA", HeadSHA: "c0ffee", ExternalID: "1",
				CheckRun: view.CheckRun{Status: "in_progress", Title: key, Summary: key, Text: key}}, 0)
			return err
		},
		"label": func() error {
			return r.EnsureLabels(ctx, []view.Label{{Name: "sia", Color: "0e8a16", Description: key}})
		},
		"ready": func() error { return r.MarkReady(ctx, key) },
	} {
		if err := write(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	written := 0
	for _, s := range w.got("") {
		if s.method == http.MethodGet || strings.HasSuffix(s.path, "/access_tokens") {
			continue
		}
		written++
		if strings.Contains(s.body, key) || !strings.Contains(s.body, "[secret: model-key]") {
			t.Errorf("%s %s was sent\n%s", s.method, s.path, s.body)
		}
	}
	if written != 7 {
		t.Errorf("%d writes arrived, want 7", written)
	}
}
