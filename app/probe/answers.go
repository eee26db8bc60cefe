package probe

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// answers are facts about GitHub's responses in general.
func answers() []Fact {
	return []Fact{{
		ID: "answers/no-access",
		Text: "`404` on a private repository means no access; `410` that issues are off or one was deleted; " +
			"`451` that it is closed for legal reasons.",
		Source: "rest/using-the-rest-api/troubleshooting-the-rest-api",
		Probe: func(t *Try) {
			a := t.do(t.network, http.MethodGet, t.raw.API+"repos/"+t.raw.Repo.Owner+"/"+mark+"-"+t.options.Name, nil, nil)
			t.Want(a, http.StatusNotFound)
			t.Equal("what a repository out of reach is said to be", a.Str("message"), "Not Found")
		},
	}, {
		ID:     "answers/no-content",
		Text:   "What deletes answers `204`, with nothing.",
		Source: "rest/git/refs",
		Needs:  "contents:write",
		Probe: func(t *Try) {
			a := t.Want(t.Send(http.MethodDelete, "/git/refs/heads/"+t.branch(t.start()), nil), http.StatusNoContent)
			t.Equal("bytes of the answer to a deletion", len(a.Body), 0)
		},
	}, {
		ID: "answers/dates",
		Text: "Deliveries have dates in other forms than RFC 3339, such as `2018-04-25 20:42:10`. One does not lose the " +
			"delivery that it is in. REST's own are RFC 3339 in UTC.",
		Source: "rest/using-the-rest-api/timezones-and-the-rest-api",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			issue := t.Want(t.Get("/issues/%d", t.sharedIssue()), http.StatusOK)
			commit := t.Want(t.Get("/commits/%s", t.start()), http.StatusOK)
			dates := []string{issue.Str("created_at"), issue.Str("updated_at"), commit.Str("commit.committer.date")}
			for _, date := range dates {
				t.That(restDate.MatchString(date), "a date such as 2026-11-24T03:30:00Z", "%q", date)
			}
		},
	}, {
		ID: "answers/creator",
		Text: "The filter `creator` may find nothing of an app's. What SIA made is known by its marker. The " +
			"filter `creator=<app>[bot]` finds what the app opened.",
		Source: "rest/issues/issues",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			number := t.sharedIssue()
			query := url.Values{"creator": {t.raw.App.Login}, "state": {"all"}, "per_page": {"100"}}.Encode()
			t.Until("the filter creator finds the issue that the app opened", func() bool {
				a := t.Want(t.Get("/issues?%s", query), http.StatusOK)
				for _, by := range a.Each("", "user.login") {
					t.Equal("who opened what the filter finds", by, t.raw.App.Login)
				}
				return contains(a.Each("", "number"), number)
			})
		},
	}, {
		ID:     "answers/pages",
		Text:   "A list has pages: the header `Link` says where the next one is, and the last one has none.",
		Source: "rest/using-the-rest-api/using-pagination-in-the-rest-api",
		Needs:  "issues:write",
		Probe: func(t *Try) {
			on := path("/issues/%d/comments", t.issue())
			for range 2 {
				t.Want(t.Post(on, map[string]any{"body": t.unique("comment")}), http.StatusCreated)
			}
			t.Until("two comments have two pages of one", func() bool {
				first, last := t.Get("%s?per_page=1", on), t.Get("%s?per_page=1&page=2", on)
				t.Equal("comments on a page of one", len(first.List("")), 1)
				t.That(!strings.Contains(last.Header.Get("Link"), `rel="next"`), "no next page after the last", "%s",
					last.Header.Get("Link"))
				return strings.Contains(first.Header.Get("Link"), `rel="next"`)
			})
		},
	}, {
		ID: "answers/version",
		Text: "The version of REST that a request names in `X-GitHub-Api-Version` is the one that answers. " +
			"SIA's is `2022-11-28`, which is served at least until March 2028.",
		Source: "rest/about-the-rest-api/api-versions",
		Probe: func(t *Try) {
			a := t.Want(t.Get(""), http.StatusOK)
			t.Equal("the version that answers", a.Header.Get("X-GitHub-Api-Version-Selected"), apiVersion)
		},
	}}
}

var restDate = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
