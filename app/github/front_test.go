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
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// What is written to GitHub has no secret in it, is JSON still, and can be sent
// again.
func TestWritesHaveNoSecrets(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", `a "quoted" key`)
	token := "ghp_" + strings.Repeat("aB3d", 9)
	in := map[string]any{
		"body": "see " + token + "\nand <b> & a \"quoted\" key", "output": map[string]any{"annotations": []any{map[string]any{"message": token, "start_line": json.Number("12345678901234567")}}},
	}
	want := map[string]any{
		"body": "see [secret: github-pat]\nand <b> & [secret: model-key]", "output": map[string]any{"annotations": []any{map[string]any{"message": "[secret: github-pat]", "start_line": json.Number("12345678901234567")}}},
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
	f := &front{secrets: m, timeout: time.Minute, next: transport(func(r *http.Request) (*http.Response, error) {
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
	})}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.github.com/x", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if sent != 2 {
		t.Errorf("%d bodies were seen", sent)
	}
}
