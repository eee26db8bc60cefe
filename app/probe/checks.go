package probe

import (
	"net/http"
	"net/url"
	"strings"
)

// checks are facts about check runs, check suites and commit statuses.
func checks() []Fact {
	const needs = "checks:write contents:write"
	return []Fact{{
		ID: "checks/new-run",
		Text: "A check run made through the API has no attempts: a new one of the same name is another run, in " +
			"the same suite. An app has one suite a commit, but for Actions, which has one a workflow run.",
		Source: "rest/checks/runs",
		Needs:  needs,
		Probe: func(t *Try) {
			one, two := t.twoRuns()
			t.That(one.Int("id") != two.Int("id"), "two check runs", "one")
			t.Equal("the suite of the second", two.Int("check_suite.id"), one.Int("check_suite.id"))
		},
	}, {
		ID:     "checks/latest",
		Text:   "`filter=latest`, the default, lists the newest of one name and suite; `filter=all` lists all.",
		Source: "rest/checks/runs",
		Needs:  needs,
		Probe: func(t *Try) {
			one, two := t.twoRuns()
			query := url.Values{"check_name": {one.Str("name")}}
			t.Until("filter=latest lists the newer one alone", func() bool {
				latest := t.Want(t.Get("/commits/%s/check-runs?%s", t.sharedCommit(), query.Encode()), http.StatusOK)
				ids := latest.Each("check_runs", "id")
				return len(ids) == 1 && ids[0] == two.Str("id")
			})
			query.Set("filter", "all")
			t.Until("filter=all lists both", func() bool {
				ids := t.Get("/commits/%s/check-runs?%s", t.sharedCommit(), query.Encode()).Each("check_runs", "id")
				return len(ids) == 2 && contains(ids, one.Str("id")) && contains(ids, two.Str("id"))
			})
		},
	}, {
		ID: "checks/conclusion",
		Text: "A conclusion completes a check run, and another one replaces it. A status does not take it back: then " +
			"SIA shows what goes on in a new check run of that name.",
		Source: "https://github.com/orgs/community/discussions/24761#discussioncomment-3245360",
		Needs:  needs,
		Probe: func(t *Try) {
			run := t.checkRun(t.sharedCommit(), mark+"-concluded", "failure")
			t.Equal("the status of a run with a conclusion", run.Str("status"), "completed")
			a := t.Want(t.Send(http.MethodPatch, path("/check-runs/%d", run.Int("id")),
				map[string]any{"conclusion": "neutral"}), http.StatusOK)
			t.Equal("its conclusion after another", a.Str("conclusion"), "neutral")
		},
	}, {
		ID: "checks/annotations",
		Text: "A check run's annotations add up: after a lost answer, how many there are is read back. A " +
			"request has 50 at most.",
		Source: "rest/checks/runs",
		Needs:  needs,
		Probe: func(t *Try) {
			run := path("/check-runs/%d", t.checkRun(t.sharedCommit(), mark+"-annotated", "neutral").Int("id"))
			for range 2 {
				t.Want(t.Send(http.MethodPatch, run, annotated(1)), http.StatusOK)
			}
			t.Until("two annotations after one was sent twice", func() bool {
				return t.Want(t.Get("%s", run), http.StatusOK).Int("output.annotations_count") == 2
			})
			t.Want(t.Send(http.MethodPatch, run, annotated(51)), http.StatusUnprocessableEntity)
		},
	}, {
		ID:     "checks/output",
		Text:   "Summary and text of a check run have 65,535 characters at most.",
		Source: "rest/checks/runs",
		Needs:  needs,
		Probe: func(t *Try) {
			send := func(n int) Answer {
				return t.Post("/check-runs", map[string]any{"name": mark + "-long", "head_sha": t.sharedCommit(),
					"conclusion": "neutral", "output": map[string]any{"title": "Long", "summary": strings.Repeat("a", n)}})
			}
			t.Want(send(65535), http.StatusCreated)
			t.Want(send(65536), http.StatusUnprocessableEntity)
		},
	}, {
		ID: "checks/rerequested",
		Text: "A check run of an app that is requested again is not changed: its suite is queued, and the app " +
			"is told.",
		Source: "rest/checks/runs",
		Needs:  needs,
		Probe: func(t *Try) {
			sha := t.commitFile(t.start())
			t.branch(sha)
			run := t.checkRun(sha, mark+"-again", "failure")
			t.Want(t.Post(path("/check-runs/%d/rerequest", run.Int("id")), nil), http.StatusCreated)
			t.Until("its suite is queued", func() bool {
				return t.Want(t.Get("/check-suites/%d", run.Int("check_suite.id")), http.StatusOK).Str("status") == "queued"
			})
			a := t.Want(t.Get("/check-runs/%d", run.Int("id")), http.StatusOK)
			t.Equal("the conclusion of the run", a.Str("conclusion"), "failure")
		},
	}, {
		ID:     "checks/statuses",
		Text:   "Of the statuses of one context the newest counts.",
		Source: "rest/commits/statuses",
		Needs:  "statuses:write contents:write",
		Probe: func(t *Try) {
			sha := t.commitFile(t.start())
			t.branch(sha)
			t.status(sha, mark, "failure")
			t.status(sha, mark, "success")
			t.Until("one status of the context, the newer one", func() bool {
				a := t.Want(t.Get("/commits/%s/status", sha), http.StatusOK)
				return len(a.List("statuses")) == 1 && a.Str("state") == "success" && a.Str("statuses.0.state") == "success"
			})
		},
	}}
}

// twoRuns returns two check runs with the same name on one commit: the first has failed, the second succeeded.
func (t *Try) twoRuns() (one, two Answer) {
	runs := share(t, "runs", func(t *Try) [2]Answer {
		return [2]Answer{t.checkRun(t.sharedCommit(), mark+"-twice", "failure"),
			t.checkRun(t.sharedCommit(), mark+"-twice", "success")}
	})
	return runs[0], runs[1]
}

// annotated returns an update of a check run with annotations.
func annotated(n int) map[string]any {
	var all []map[string]any
	for range n {
		all = append(all, map[string]any{"path": mark + ".txt", "start_line": 1, "end_line": 1,
			"annotation_level": "notice", "message": "An annotation."})
	}
	return map[string]any{"output": map[string]any{"title": "Annotated", "summary": "With annotations.",
		"annotations": all}}
}
