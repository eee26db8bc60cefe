package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/view"
)

func TestChecksReadsEveryPage(t *testing.T) {
	w := start(t, "/")
	var runs, statuses []any
	for i := range 230 {
		runs = append(runs, map[string]any{"id": i + 1, "name": fmt.Sprint("check ", i), "status": "completed",
			"conclusion": "success"})
	}
	runs[229] = map[string]any{
		"id": 77, "name": "test", "status": "completed", "conclusion": "failure", "external_id": "e", "head_sha": "abc",
		"html_url": "http://x/77", "details_url": "https://github.com/acme/shop/actions/runs/9/job/77",
		"started_at": "2026-01-02T03:04:05Z", "completed_at": "2026-01-02T03:05:05Z",
		"app": map[string]any{"id": 15368, "slug": "github-actions"}, "check_suite": map[string]any{"id": 4},
		"output": map[string]any{"title": "t", "summary": "s", "text": "x", "annotations_count": 2},
	}
	for i := range 101 {
		statuses = append(statuses, map[string]any{"context": fmt.Sprint("ci/", i), "state": "success",
			"target_url": "http://ci", "updated_at": "2026-01-02T03:04:05Z"})
	}
	w.HandleFunc("GET /repos/acme/shop/commits/abc/check-runs", func(rw http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("filter") != "all" {
			t.Errorf("query %s", req.URL.RawQuery)
		}
		servePages(rw, req, runs, "check_runs")
	})
	w.HandleFunc("GET /repos/acme/shop/commits/abc/status",
		func(rw http.ResponseWriter, req *http.Request) { servePages(rw, req, statuses, "statuses") })
	set := must[CheckSet](t)(w.repo().Checks.Of(context.Background(), "abc"))
	if len(set.Runs) != 230 || len(set.Statuses) != 101 {
		t.Fatalf("%d runs, %d statuses", len(set.Runs), len(set.Statuses))
	}
	want := CheckRun{
		ID: 77, Name: "test", AppID: 15368, AppSlug: "github-actions", Status: "completed",
		Conclusion: "failure",
		URL:        "http://x/77", DetailsURL: "https://github.com/acme/shop/actions/runs/9/job/77",
		StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), CompletedAt: time.Date(2026, 1, 2, 3, 5, 5, 0, time.UTC),
		SuiteID: 4, OutputTitle: "t", OutputSummary: "s", AnnotationsCount: 2, RunID: 9, JobID: 77,
	}
	if d := cmp.Diff(want, set.Runs[229]); d != "" {
		t.Error(d)
	}
	if s := set.Statuses[100]; s.Context != "ci/100" || s.URL != "http://ci" || s.State != "success" {
		t.Errorf("got %+v", s)
	}
}

func TestAnnotations(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/check-runs/7/annotations", 200,
		`[{"path":"a.go","start_line":3,"end_line":4,"annotation_level":"failure","message":"m","title":"t"}]`)
	got := must[[]view.Annotation](t)(w.repo().Checks.Annotations(context.Background(), 7))
	want := []view.Annotation{{Path: "a.go", Line: 3, Level: "failure", Title: "t", Message: "m"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestRequired(t *testing.T) {
	const (
		rules = `[{"type":"copilot_code_review"},{"type":"pull_request","parameters":{"required_approving_review_count":1}},
		  {"type":"required_status_checks","parameters":{"required_status_checks":[{"context":"test","integration_id":1},
		  {"context":"lint"}]}},
		  {"type":"workflows","parameters":{"workflows":[{"path":".github/workflows/scan.yml","repository_id":3}]}}]`
		scan   = ".github/workflows/scan.yml"
		none   = `{"message":"Not Found"}`
		denied = `{"message":"Resource not accessible by integration"}`
		plan   = `{"message":"Upgrade to GitHub Pro or make this repository public to enable this feature."}`
	)
	for _, c := range []struct {
		name, rules, branch, protection string // a body, or "404 body"
		want                            []gate.Required
		known                           bool
	}{
		{"rules and protection", rules,
			`{"protected":true,"protection":{"enabled":true,"required_status_checks":{"contexts":["test","build"],
				"checks":[{"context":"build","app_id":-1},{"context":"e2e","app_id":7}]}}}`, "",
			[]gate.Required{{Workflow: scan, Repository: "acme/ci"}, {Name: "build"}, {Name: "e2e", App: 7},
				{Name: "lint"}, {Name: "test"},
				{Name: "test", App: 1}}, true},
		{"rules that no check fulfils", `[{"type":"license_compliance_scanning"},{"type":"code_quality"}]`,
			`{"protected":false}`, "", nil, true},
		{"nothing", `[]`, `{"protected":false}`, "", nil, true},
		{"protected by rules alone", rules, `{"protected":true,"protection":{"enabled":false}}`, "",
			[]gate.Required{{Workflow: scan, Repository: "acme/ci"}, {Name: "lint"}, {Name: "test", App: 1}}, true},
		{"protection asked for", `[]`, `{"protected":true}`, `{"contexts":["test"]}`, []gate.Required{{Name: "test"}}, true},
		{"protected, but not by checks", `[]`, `{"protected":true}`, `404 {"message":"Required status checks not enabled"}`,
			nil, true},
		{"protection hidden", rules, `{"protected":true}`, "403 " + denied,
			[]gate.Required{{Workflow: scan, Repository: "acme/ci"}, {Name: "lint"}, {Name: "test", App: 1}}, false},
		{"rules hidden", "404 " + none, `{"protected":false}`, "", nil, false},
		{"the plan has no rules", "403 " + plan, `{"protected":false}`, "", nil, true},
		{"the plan has neither rules nor protection", "403 " + plan, `{"protected":true}`, "403 " + plan, nil, true},
		{"the plan does not show the branch", "403 " + plan, "403 " + plan, "404 " + none, nil, true},
		{"the plan has no rules, and protection is hidden", "403 " + plan, `{"protected":true}`, "403 " + denied, nil,
			false},
		{"all hidden", "403 " + denied, "404 " + none, "404 " + none, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/")
			mount := func(pattern, a string) {
				code := 200
				if _, err := fmt.Sscanf(a, "%d {", &code); err == nil {
					a = a[4:]
				}
				w.json(pattern, code, a)
			}
			w.json("GET /repositories/3", 200, `{"id":3,"full_name":"acme/ci"}`)
			mount("GET /repos/acme/shop/rules/branches/release%2F1", c.rules)
			mount("GET /repos/acme/shop/branches/release%2F1", c.branch)
			mount("GET /repos/acme/shop/branches/release%2F1/protection/required_status_checks", c.protection)
			asked := 0 // more than once while its token is new
			for try := range 2 {
				got, err := w.repo().Rules.Required(context.Background(), "release/1")
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got.All, c.want) || got.Known != c.known {
					t.Errorf("got %+v", got)
				}
				if strings.Contains(c.rules, "_scanning") &&
					!slices.Equal(got.Others, []string{"code_quality", "license_compliance_scanning"}) {
					t.Errorf("before a merge, also %q", got.Others)
				}
				if n := len(w.got("GET /repos/acme/shop/rules")); try == 0 {
					asked = n
				} else if n != asked {
					t.Errorf("asked %d times, and then %d", asked, n-asked)
				}
			}
		})
	}
	w := start(t, "/")
	w.json("GET /repos/acme/shop/rules/branches/main", 503, `{}`)
	if _, err := w.repo().Rules.Required(context.Background(), "main"); err == nil || sia.IsPermanent(err) {
		t.Errorf("GitHub failing is not nothing required: %v", err)
	}
}

func TestRerunChecks(t *testing.T) {
	w := start(t, "/")
	w.json("POST /repos/acme/shop/actions/runs/9/rerun-failed-jobs", 201, `{}`)
	w.json("POST /repos/acme/shop/actions/runs/10/rerun-failed-jobs", 403,
		`{"message":"This workflow is already running"}`)
	w.json("POST /repos/acme/shop/actions/runs/11/rerun-failed-jobs", 404, `{"message":"Not Found"}`)
	ctx := context.Background()
	w.json("POST /repos/acme/shop/actions/runs/12/rerun-failed-jobs", 403,
		`{"message":"This workflow run cannot be retried"}`)
	_, err := w.repo().Actions.RerunChecks(ctx, []CheckRun{
		{ID: 1, Name: "a", RunID: 9, JobID: 1}, {ID: 2, Name: "b", RunID: 9, JobID: 2},
		{ID: 6, Name: "of another app, which GitHub forbids"},
	})
	if n := len(w.got("POST /repos")); err != nil || n != 1 {
		t.Errorf("%d requests, %v", n, err)
	}
	_, err = w.repo().Actions.RerunChecks(ctx,
		[]CheckRun{{ID: 7, Name: "gone", RunID: 11}, {ID: 8, Name: "busy", RunID: 10}, {ID: 1, Name: "a", RunID: 9}})
	if sia.IsPermanent(err) || sia.RetryAfter(err) != rerunRetryAfter ||
		!strings.Contains(err.Error(), "run gone again") ||
		!strings.Contains(err.Error(), "run busy again") {
		t.Errorf("got %v", err)
	}
	if n := len(w.got("POST /repos")); n != 4 {
		t.Errorf("%d requests, want it to go on after a failure", n)
	}
	got, err := w.repo().Actions.RerunChecks(ctx,
		[]CheckRun{{ID: 9, Name: "made by GitHub", RunID: 12}, {ID: 1, Name: "a", RunID: 9}})
	if err != nil || got.Accepted != 1 || !slices.Equal(got.Refused, []int64{12}) ||
		!strings.Contains(got.Why.Error(), "This workflow run cannot be retried") {
		t.Errorf("refused %+v, %v", got, err)
	}
	if _, err := w.repo().Actions.RerunChecks(ctx, nil); err != nil {
		t.Error(err)
	}
}

// runs stores check runs as GitHub does: annotations add up, buttons are not returned, and a status does not reopen a
// completed run.
type runs struct {
	mu  sync.Mutex
	all []map[string]any
}

func mountRuns(w *wire) *runs {
	rs := &runs{}
	merge := func(m map[string]any, req *http.Request) map[string]any {
		b, _ := io.ReadAll(req.Body)
		in := decode[map[string]any](w.t, string(b))
		if m["status"] == "completed" && in["conclusion"] == nil {
			delete(in, "status")
		}
		for k, v := range in {
			switch k {
			case "actions":
			case "output":
				out := v.(map[string]any)
				old, _ := m["output"].(map[string]any)
				n := 0
				if old != nil {
					n = old["annotations_count"].(int)
				}
				added, _ := out["annotations"].([]any)
				out["annotations_count"] = n + len(added)
				if len(added) > 50 {
					w.t.Errorf("%d annotations in a request", len(added))
				}
				m[k] = out
			default:
				m[k] = v
			}
		}
		return m
	}
	const at = "/repos/acme/shop/check-runs"
	w.HandleFunc("POST "+at, func(rw http.ResponseWriter, req *http.Request) {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		m := merge(map[string]any{"id": len(rs.all) + 1, "conclusion": nil,
			"html_url": "http://x/run", "app": map[string]any{"id": 7}}, req)
		rs.all = append(rs.all, m)
		answerJSON(rw, 201, m)
	})
	one := func(rw http.ResponseWriter, req *http.Request, patch bool) {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		for _, m := range rs.all {
			if fmt.Sprint(m["id"]) == req.PathValue("id") {
				if patch {
					merge(m, req)
				}
				answerJSON(rw, 200, m)
				return
			}
		}
		answer(rw, 404, `{"message":"Not Found"}`)
	}
	w.HandleFunc("GET "+at+"/{id}", func(rw http.ResponseWriter, req *http.Request) { one(rw, req, false) })
	w.HandleFunc("PATCH "+at+"/{id}", func(rw http.ResponseWriter, req *http.Request) { one(rw, req, true) })
	w.HandleFunc("GET /repos/acme/shop/commits/{sha}/check-runs", func(rw http.ResponseWriter, req *http.Request) {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		var items []any
		for _, m := range rs.all {
			items = append(items, m)
		}
		servePages(rw, req, items, "check_runs")
	})
	return rs
}

func TestUpsertCheckRun(t *testing.T) {
	w := start(t, "/")
	rs := mountRuns(w)
	// of another app
	rs.all = append(rs.all, map[string]any{"id": 1, "name": "SIA", "head_sha": "abc", "external_id": "42-12",
		"status": "queued", "conclusion": nil, "app": map[string]any{"id": 8}})
	ctx, r := context.Background(), w.repo()
	spec := CheckRunSpec{Name: "SIA", HeadSHA: "abc", ExternalID: "42-12", CheckRun: view.CheckRun{
		Status: "in_progress", Title: "Attempt 1", Summary: "s",
		Actions: []view.Action{{Label: "Pause this whole task now",
			Description: "Stops it and keeps what was done until resumed", Identifier: "pause"}},
	}}
	for i := range 50 {
		spec.Annotations = append(spec.Annotations, view.Annotation{Path: "a.go", Line: i + 1, Message: "m"})
	}
	do := func(known, wantID int64) {
		t.Helper()
		if id, err := r.CheckRuns.Upsert(ctx, spec, known); err != nil || id != wantID {
			t.Errorf("id %d, %v", id, err)
		}
	}
	do(0, 2)
	if n := rs.all[1]["output"].(map[string]any)["annotations_count"]; n != 50 {
		t.Errorf("%v annotations", n)
	}
	body := w.got("POST /repos")[0].body
	if !strings.Contains(body, `"label":"Pause this whole ta…"`) || !strings.Contains(body, `"identifier":"pause"`) {
		t.Errorf("sent %s", body)
	}
	do(0, 2)
	do(2, 2)
	spec.Status, spec.Conclusion = "completed", "success"
	do(99, 2) // 99 does not exist
	if m := rs.all[1]; m["conclusion"] != "success" || m["completed_at"] == nil ||
		m["output"].(map[string]any)["annotations_count"] != 50 {
		t.Errorf("got %v", m)
	}
	if got := w.got("PATCH"); !strings.Contains(got[len(got)-1].body, `"actions":[{`) {
		t.Errorf("sent %s", got[len(got)-1].body)
	}
	spec.Actions = nil // the buttons are removed
	do(2, 2)
	if got := w.got("PATCH"); !strings.Contains(got[len(got)-1].body, `"actions":[]`) {
		t.Errorf("sent %s", got[len(got)-1].body)
	}

	// A check that continues gets another run: a completed one stays completed.
	spec.Status, spec.Conclusion = "in_progress", ""
	if ok, err := r.CheckRuns.Edit(ctx, CheckRunSpec{Name: "SIA", HeadSHA: "abc", ExternalID: "42-12",
		CheckRun: view.CheckRun{Status: "queued", Title: "Again"}}, 2); ok || err != nil {
		t.Errorf("opened a completed run: %v, %v", ok, err)
	}
	do(2, 3)
	if n := rs.all[2]["output"].(map[string]any)["annotations_count"]; rs.all[2]["status"] != "in_progress" || n != 50 {
		t.Errorf("%v annotations on %v", n, rs.all[2])
	}
	do(2, 3) // its id was not kept
	spec.Status, spec.Conclusion = "completed", "success"
	do(0, 3)

	// One that is found and says the same already, as of settings that stay broken, is not written again.
	written := len(w.got("PATCH"))
	do(0, 3)
	if n := len(w.got("PATCH")); n != written {
		t.Errorf("written %d times", n-written)
	}
	spec.Summary = "another"
	do(0, 3)
	if n := len(w.got("PATCH")); n != written+1 {
		t.Errorf("written %d times", n-written)
	}
}

// TestAnnotationsAreNotSentTwice: GitHub appends what it receives, also if its response is lost; the number of
// annotations is read back.
func TestAnnotationsAreNotSentTwice(t *testing.T) {
	for lost := 1; lost <= 2; lost++ { // which write's response is lost
		t.Run(fmt.Sprint("write ", lost), func(t *testing.T) {
			w := start(t, "/")
			rs := mountRuns(w)
			writes := 0
			inner := w.srv.Config.Handler
			w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
				if req.Method == http.MethodGet || !strings.Contains(req.URL.Path, "check-runs") {
					inner.ServeHTTP(rw, req)
					return
				}
				if writes++; writes != lost {
					inner.ServeHTTP(rw, req)
					return
				}
				inner.ServeHTTP(httptest.NewRecorder(), req)
				answer(rw, 502, "<html>")
			})
			spec := CheckRunSpec{Name: "SIA", HeadSHA: "abc", ExternalID: "42-12",
				CheckRun: view.CheckRun{Status: "in_progress", Title: "Attempt 1"}}
			ctx, r := context.Background(), w.repo()
			show := func() (id int64) {
				t.Helper()
				for try := 1; ; try++ {
					id, err := r.CheckRuns.Upsert(ctx, spec, 0)
					if err == nil {
						return id
					}
					if sia.IsPermanent(err) || try == 5 {
						t.Fatal(err)
					}
				}
			}
			show()
			spec.Status, spec.Conclusion = "completed", "failure"
			for i := range 50 {
				spec.Annotations = append(spec.Annotations, view.Annotation{Path: "a.go", Line: i + 1, Message: "m"})
			}
			show()
			show()
			if n := rs.all[0]["output"].(map[string]any)["annotations_count"]; n != 50 || len(rs.all) != 1 {
				t.Errorf("%v annotations on %d check runs", n, len(rs.all))
			}
		})
	}
}
