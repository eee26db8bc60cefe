package probe

import (
	"fmt"
	"net/http"
	"strings"
)

// deliveries are facts about webhooks.
func deliveries() []Fact {
	return []Fact{{
		ID: "deliveries/no-second-try",
		Text: "GitHub does not send again by itself what failed. SIA asks six times at most for each " +
			"delivery, soon when another one has arrived and else within two days, and goes on past a refusal.",
		Source: "webhooks/using-webhooks/handling-failed-webhook-deliveries",
		NotFor: "needs a server that GitHub reaches and that fails, and hours",
	}, {
		ID: "deliveries/late",
		Text: "Deliveries overtake one another, and one that is sent again says what was. A stop, an edit, a draft, the " +
			"end of a pull request, a suspension, a repository that was taken out and settings that were pushed count as " +
			"GitHub shows them when the delivery is read.",
		Source: "webhooks/testing-and-troubleshooting-webhooks/troubleshooting-webhooks#webhooks-deliveries-are-out-of-order",
		NotFor: "needs a server that GitHub reaches and that fails",
	}, {
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
		ID: "deliveries/failed",
		Text: "The list of deliveries can be asked for those alone that were answered 400 or more. One that arrived at " +
			"a later try is among them: what arrived, SIA's database says. GitHub Enterprise Server before 3.17 lists all.",
		Source: "rest/apps/webhooks",
		NotFor: "needs a server that GitHub reaches and that fails",
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
		ID:     "deliveries/kept",
		Text:   "Deliveries are kept for three days; on GitHub Enterprise Server for seven.",
		Source: "webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks",
		NotFor: "needs days of waiting",
	}, {
		ID: "deliveries/size",
		Text: "A payload has up to 25 MB, and anybody can send as much. Headers are looked at first; 64 MiB of " +
			"bodies that have arrived are held at a time, then the address that takes most gives way, with `503` and " +
			"`Retry-After`.",
		Source: "webhooks/webhook-events-and-payloads",
		NotFor: "needs a server that GitHub reaches",
	}, {
		ID:     "deliveries/forms",
		Text:   "The webhook may be set to `application/x-www-form-urlencoded`; the signature is over the form.",
		Source: "webhooks/using-webhooks/creating-webhooks",
		NotFor: "needs another setting of the app's webhook",
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
