package probe

import (
	"fmt"
	"net/http"
	"strings"
)

// deliveries are facts about webhooks.
func deliveries() []Fact {
	return []Fact{{
		ID:     "deliveries/pages",
		Text:   "The list of deliveries has pages by a cursor, which the header `Link` holds.",
		Source: "rest/apps/webhooks",
		Probe: func(t *Try) {
			a := t.AsApp(http.MethodGet, "app/hook/deliveries?per_page=1", nil)
			if a.Status == http.StatusNotFound {
				t.Skip("the app has no webhook")
			}
			t.Want(a, http.StatusOK)
			if all := t.AsApp(http.MethodGet, "app/hook/deliveries?per_page=2", nil); len(all.List("")) < 2 {
				t.Skip("needs two deliveries, and there are fewer")
			}
			link := a.Header.Get("Link")
			t.That(strings.Contains(link, "cursor=") && strings.Contains(link, `rel="next"`), "a next page by a cursor",
				"%q", link)
		},
	}, {
		ID: "deliveries/answered",
		Text: "The list of deliveries can be asked for those alone that were answered less than 400; these can be sent " +
			"again, too. A database that was restored lacks some: a server's first look reads the list since the " +
			"backup, a page in most cases, and asks for what is missing.",
		Source: "rest/apps/webhooks",
		Probe: func(t *Try) {
			a := t.AsApp(http.MethodGet, "app/hook/deliveries?status=success&per_page=100", nil)
			if a.Status == http.StatusNotFound {
				t.Skip("the app has no webhook")
			}
			t.Want(a, http.StatusOK)
			if len(a.List("")) == 0 {
				t.Skip("needs a delivery that was answered, and there is none")
			}
			for i := range a.List("") {
				code := a.Int(fmt.Sprint(i, ".status_code"))
				t.That(code >= 200 && code < 400, "deliveries that were answered alone", "%d", code)
			}
		},
	}, {
		ID: "deliveries/rerequested",
		Text: "“Re-run” and “Re-run all” of an app's checks leave its check suite queued until the app writes " +
			"to it. SIA shows its check run anew, and does what `/sia retry` does.",
		Source: "rest/checks/suites",
		Needs:  "checks:write contents:write",
		Probe: func(t *Try) {
			sha := t.commitFile(t.start())
			t.branch(sha)
			run := t.checkRun(sha, mark+"-again", "failure")
			suite := run.Int("check_suite.id")
			t.Equal("the conclusion of a suite of one red run", t.Get("/check-suites/%d", suite).Str("conclusion"), "failure")
			t.Want(t.Post(path("/check-suites/%d/rerequest", suite), nil), http.StatusCreated)
			t.Until("the suite is queued, without a conclusion", func() bool {
				a := t.Want(t.Get("/check-suites/%d", suite), http.StatusOK)
				return a.Str("status") == "queued" && a.Str("conclusion") == ""
			})
			again := t.Want(t.Get("/check-runs/%d", run.Int("id")), http.StatusOK)
			t.Equal("the conclusion of its check run", again.Str("conclusion"), "failure")
		},
	}}
}
