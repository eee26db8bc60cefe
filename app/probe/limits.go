package probe

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// addresses are facts about the addresses of a GitHub.
func addresses() []Fact {
	return []Fact{{
		ID:     "addresses/derived",
		Text:   "REST, GraphQL and git are where the table below says, and answers name the same addresses.",
		Source: "rest/using-the-rest-api/getting-started-with-the-rest-api",
		Probe: func(t *Try) {
			a := t.Want(t.Get(""), http.StatusOK)
			for what, want := range map[string]string{"url": t.raw.API, "html_url": t.raw.Web} {
				t.That(strings.HasPrefix(a.Str(what), want), what+" beneath "+want, "%s", a.Str(what))
			}
		},
	}}
}

// limits are facts about rate limits.
func limits() []Fact {
	return []Fact{{
		ID: "limits/told",
		Text: "Answers say in headers how much of the limit is used. On GitHub Enterprise Server it may be " +
			"off; then they say nothing.",
		Source: "rest/using-the-rest-api/rate-limits-for-the-rest-api",
		Probe: func(t *Try) {
			a := t.Want(t.Get(""), http.StatusOK)
			if !limited(a) {
				t.Skip("needs rate limits, which are off here")
				return
			}
			for _, name := range []string{"Limit", "Remaining", "Reset"} {
				v := a.Header.Get("X-RateLimit-" + name)
				_, err := strconv.ParseInt(v, 10, 64)
				t.That(err == nil, "a number in X-RateLimit-"+name, "%q", v)
			}
		},
	}, {
		ID:     "limits/unchanged-is-free",
		Text:   "What has not changed costs nothing.",
		Source: "rest/using-the-rest-api/best-practices-for-using-the-rest-api",
		Probe: func(t *Try) {
			tag := t.Want(t.Get(""), http.StatusOK).Header.Get("ETag")
			t.That(tag != "", "an ETag", "none")
			ask := func() Answer {
				return t.Want(t.GetWith(http.Header{"If-None-Match": {tag}}, ""), http.StatusNotModified)
			}
			before := ask()
			if !limited(before) {
				return
			}
			t.Until("304 leaves the rate limit as it was", func() bool { // unless another client uses it at the same time
				a := ask()
				free := a.Header.Get("X-RateLimit-Used") == before.Header.Get("X-RateLimit-Used")
				before = a
				return free
			})
		},
	}}
}

// limited reports whether a response has rate limit headers.
func limited(a Answer) bool { return a.Header.Get("X-RateLimit-Limit") != "" }

// sortedLines joins texts in sorted order, one per line.
func sortedLines(all []string) string {
	slices.Sort(all)
	return strings.Join(all, "\n")
}
