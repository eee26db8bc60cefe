package github

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
)

// GitHub's limits are reported by installation. Values that are no numbers are ignored, and so are more resources
// than GitHub has.
func TestRateLimitsAreTold(t *testing.T) {
	w := start(t, "/")
	n := 0
	said := func(limit, left, reset, resource string) {
		n++
		path := fmt.Sprintf("/repos/acme/shop/issues/%d/reactions", n)
		w.HandleFunc("POST "+path, func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("X-Ratelimit-Limit", limit)
			rw.Header().Set("X-Ratelimit-Remaining", left)
			rw.Header().Set("X-Ratelimit-Reset", reset)
			rw.Header().Set("X-Ratelimit-Resource", resource)
			answer(rw, 201, `{"id":1}`)
		})
		if err := w.repo().React(t.Context(), sia.Origin{OnIssue: n}, "eyes"); err != nil {
			t.Fatal(err)
		}
	}
	core := func(left int) []RateLimit {
		return []RateLimit{{Installation: 1, Resource: "core", Limit: 5000, Remaining: left,
			Resets: time.Unix(1767225600, 0)}}
	}
	if got := w.app.RateLimits(); len(got) != 0 {
		t.Errorf("before anything was asked: %v", got)
	}
	said("5000", "4321", "1767225600", "core")
	said("many", "few", "soon", "core")
	said("5000", "-7", "1767225600", "core")
	said("5000", "", "", "core")
	if diff := cmp.Diff(core(4321), w.app.RateLimits()); diff != "" {
		t.Error(diff)
	}
	said("5000", "4320", "1767225600", "core")
	if diff := cmp.Diff(core(4320), w.app.RateLimits()); diff != "" {
		t.Error(diff)
	}
	w.json("POST /repos/other/place/issues/1/reactions", 201, `{"id":1}`)
	if err := w.app.Repo(2, sia.Repo{ID: 9, Owner: "other", Name: "place"}).
		React(t.Context(), sia.Origin{OnIssue: 1}, "eyes"); err != nil {
		t.Fatal(err)
	}
	if got := w.app.RateLimits(); len(got) != 1 {
		t.Errorf("an installation of which nothing was said: %v", got)
	}
	for i := range 10 * maxResources {
		said("5000", "1", "1767225600", fmt.Sprint("resource", i))
	}
	if got := w.app.RateLimits(); len(got) != maxResources {
		t.Errorf("%d resources are kept, want %d", len(got), maxResources)
	}
}
