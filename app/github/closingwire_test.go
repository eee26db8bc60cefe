package github

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestClosingReads: the query is a POST that changes nothing. It is retried when GitHub fails, and does not count as
// a write.
func TestClosingReads(t *testing.T) {
	const found = `{"data":{"repository":{"issue":{"closedByPullRequestsReferences":{"nodes":[
		{"number":7,"url":"https://github.com/acme/shop/pull/7","state":"OPEN","headRefName":"main",
		 "isCrossRepository":true,"repository":{"nameWithOwner":"acme/shop"}},
		{"number":8,"url":"u","state":"MERGED","headRefName":"x","isCrossRepository":false,
		 "repository":{"nameWithOwner":"acme/shop"}}]},
		"timelineItems":{"nodes":[]}},"object":null}}}`
	for _, c := range []struct {
		name    string
		answers []int // before the result
		errors  string
		pulls   int
		fails   bool
	}{
		{"at once", nil, "", 1, false},
		{"after trouble", []int{502, 500}, "", 1, false},
		{"only trouble", []int{502, 502, 502}, "", 0, true},
		{"not there", []int{404}, "", 0, false},
		{"not allowed", []int{403}, "", 0, false},
		{"an old server", nil, `{"errors":[{"message":"Field 'closedByPullRequestsReferences' doesn't exist"}]}`, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			w := start(t, "/", func(cfg *Config) {
				cfg.WriteBurst, cfg.WriteSpacing = 1, time.Hour
				cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			})
			asked := 0
			w.HandleFunc("POST /graphql", func(rw http.ResponseWriter, _ *http.Request) {
				asked++
				switch {
				case asked <= len(c.answers):
					answer(rw, c.answers[asked-1], `{"message":"trouble"}`)
				case c.errors != "":
					answer(rw, 200, c.errors)
				default:
					answer(rw, 200, found)
				}
			})
			for range 2 {
				got, err := w.repo().Closing(context.Background(), ClosingAt{Issue: 12, Commit: "abc", Since: w.clock.now()})
				if (err != nil) != c.fails || len(got.Pulls) != c.pulls {
					t.Fatalf("%+v, %v", got, err)
				}
				if c.pulls > 0 && (got.Pulls[0].Number != 7 || got.Pulls[0].Branch != "") {
					t.Errorf("%+v", got.Pulls)
				}
				asked = 0
			}
			if old := strings.Contains(log.String(), "as an older GitHub Enterprise Server does that"); old != (c.errors != "") {
				t.Errorf("logged is:\n%s", log.String())
			}
			for _, d := range w.clock.naps() {
				if d > time.Minute {
					t.Errorf("it waited %s for the turn of a write", d)
				}
			}
		})
	}
}
