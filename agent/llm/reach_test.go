package llm_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

func TestReach(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   llm.ErrorKind // "": reachable
	}{
		{"there", 200, `{"data": []}`, ""},
		{"no list of models", 404, "no such page", ""},
		{"not that way", 405, "", ""},
		{"wrong key", 401, `{"error": {"message": "no such key secret", "code": "invalid_api_key"}}`, llm.KindAuth},
		{"forbidden", 403, `{"error": {"message": "not yours", "code": 7}}`, llm.KindAuth},
		{"out of money", 402, "", llm.KindQuota},
		{"failing", 503, "<html>", llm.KindOverloaded},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/models" || r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("asked for %s with %q", r.URL.Path, r.Header.Get("Authorization"))
				}
				http.Error(w, c.body, c.status)
			}))
			defer srv.Close()
			client, err := llm.New(llm.Config{BaseURL: srv.URL + "/v1", APIKey: "secret", Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			err = client.Reach(t.Context())
			var e *llm.Error
			switch {
			case c.want == "" && err != nil, c.want != "" && !errors.As(err, &e), e != nil && e.Kind != c.want:
				t.Errorf("%v, want %q", err, c.want)
			}
			srv.Close()
			if err := client.Reach(t.Context()); !errors.As(err, &e) || e.Kind != llm.KindNetwork {
				t.Errorf("after it has gone: %v", err)
			}
		})
	}
}
