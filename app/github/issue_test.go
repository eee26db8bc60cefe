package github

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/view"
)

func TestCreateIssueOnce(t *testing.T) {
	w := start(t, "/")
	var made []any
	w.HandleFunc("GET /repos/acme/shop/issues",
		func(rw http.ResponseWriter, req *http.Request) { servePages(rw, req, made, "") })
	w.HandleFunc("POST /repos/acme/shop/issues", func(rw http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		in := decode[map[string]any](t, string(b))
		if in["assignees"] != nil {
			answer(rw, 422, `{"message":"Validation Failed","errors":[{"resource":"Issue","field":"assignees",
				"code":"invalid"}]}`)
			return
		}
		in["number"], in["state"], in["user"] = 90+len(made), "open", map[string]any{"login": "sia[bot]"}
		in["labels"] = []any{}
		made = append(made, in)
		answerJSON(rw, 201, in)
	})
	made = append(made, map[string]any{"number": 3, "state": "open", "labels": []any{},
		"body": mark + "\nforged", "user": map[string]any{"login": "mallory"}})
	n := NewIssue{Marker: mark, Title: "SIA needs an answer", Body: "question", Labels: []string{"sia:needs-human"},
		Assignees: []string{"gone"}}
	ctx := context.Background()
	first := must[Issue](t)(w.repo().CreateIssue(ctx, n))
	again := must[Issue](t)(w.repo().CreateIssue(ctx, n))
	if first.Number != 91 || again.Number != 91 || len(made) != 2 || first.Body != mark+"\nquestion" {
		t.Errorf("first %+v, again %+v", first, again)
	}
	if q := w.got("GET /repos/acme/shop/issues")[0].query; !strings.Contains(q, "state=all") ||
		!strings.Contains(q, "creator=sia%5Bbot%5D") {
		t.Errorf("query %s", q)
	}
}

func TestCloseIssue(t *testing.T) {
	w := start(t, "/")
	state := map[string]any{"number": 12, "labels": []any{}, "body": mark + "\nold", "state": "open",
		"pull_request": map[string]any{"url": "x"}}
	w.HandleFunc("GET /repositories/42/issues/12",
		func(rw http.ResponseWriter, _ *http.Request) { answerJSON(rw, 200, state) })
	w.HandleFunc("PATCH /repos/acme/shop/issues/12", func(rw http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		for k, v := range decode[map[string]any](t, string(b)) {
			state[k] = v
		}
		answerJSON(rw, 200, state)
	})
	ctx := context.Background()
	for range 2 {
		got := must[Issue](t)(w.repo().Issue(ctx, 12))
		if !got.IsPull {
			t.Errorf("got %+v", got)
		}
		if err := w.repo().CloseIssue(ctx, got, "completed"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.got("PATCH")); n != 1 || state["state_reason"] != "completed" || state["state"] != "closed" {
		t.Errorf("%d writes, %v", n, state)
	}
}

// A marker can be searched for in a repository with more of SIA's issues and pull requests than a list can have.
func TestCreateIssueBesideManyOthers(t *testing.T) {
	w := start(t, "/")
	all := make([]any, maxPages*perPage+1)
	for i := range all {
		all[i] = map[string]any{"number": i + 1, "state": "open", "labels": []any{}, "body": "",
			"user": map[string]any{"login": "sia[bot]"}}
	}
	w.HandleFunc("GET /repos/acme/shop/issues",
		func(rw http.ResponseWriter, req *http.Request) { servePages(rw, req, all, "") })
	w.json("POST /repos/acme/shop/issues", 201, `{"number":90,"state":"open","user":{"login":"sia[bot]"},"labels":[]}`)
	got := must[Issue](t)(w.repo().CreateIssue(context.Background(), NewIssue{Marker: mark, Title: "SIA needs an answer"}))
	if got.Number != 90 {
		t.Errorf("%+v", got)
	}
}

// A deleted issue is distinguished from one that can't be read now, or not by the app.
func TestIssueOrGone(t *testing.T) {
	in := func(repo string, n int) string {
		return fmt.Sprintf(`{"number":%d,"title":"T","state":"open","labels":[],"user":{"login":"ann"},
			"repository_url":"https://api.github.com/repos/%s"}`, n, repo)
	}
	there := func(n int) string { return in("acme/shop", n) }
	for name, c := range map[string]struct {
		code, list   int
		body         string
		gone, failed bool
	}{
		"it is there":              {code: 200, body: there(12)},
		"it was transferred":       {code: 200, body: there(3), gone: true},
		"and got the same number":  {code: 200, body: in("acme/other", 12), gone: true},
		"the repository's renamed": {code: 200, body: in("acme/store", 12)},
		"it was deleted":           {code: 410, body: `{"message":"This issue was deleted"}`, gone: true},
		"it was never there":       {code: 404, list: 200, body: `{"message":"Not Found"}`, gone: true},
		"the repository is gone":   {code: 404, list: 404, body: `{"message":"Not Found"}`, failed: true},
		"issues can't be seen":     {code: 404, list: 403, body: `{"message":"Not Found"}`, failed: true},
		"issues are disabled":      {code: 410, body: `{"message":"Issues has been disabled"}`, failed: true},
		"GitHub fails":             {code: 502, body: `{"message":"Bad gateway"}`, failed: true},
		"the app may not read it":  {code: 403, body: `{"message":"Resource not accessible"}`, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			w.json("GET /repositories/42/issues/12", c.code, c.body)
			w.json("GET /repositories/42/issues", c.list, `[]`)
			w.json("GET /repositories/42", 200,
				`{"id":42,"full_name":"acme/store","name":"store","default_branch":"main","owner":{"login":"acme"}}`)
			got, gone, err := w.repo().IssueOrGone(context.Background(), 12)
			if gone != c.gone || (err != nil) != c.failed || !gone && err == nil && got.Title != "T" {
				t.Errorf("%+v, gone %v, %v", got, gone, err)
			}
		})
	}
}

// A transferred issue is left alone, and so is another issue with its new number here.
func TestEnsureIssueThatWasTransferred(t *testing.T) {
	for name, c := range map[string]struct {
		repo   string
		number int
		marker string
		want   int
	}{
		"it is there":              {"acme/shop", 12, mark, 12},
		"its marker was removed":   {"acme/shop", 12, "Buy now.", 12},
		"it was transferred":       {"acme/other", 3, mark, 13},
		"and got the same number":  {"acme/other", 12, mark, 13},
		"the repository's renamed": {"acme/store", 12, mark, 12},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			issue := func(n int, repo, title string) string {
				return fmt.Sprintf(`{"number":%d,"title":%q,"state":"open","labels":[],"user":{"login":"sia[bot]"},
					"body":%q,"repository_url":"https://api.github.com/repos/%s"}`, n, title, c.marker+"\nboard", repo)
			}
			w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "/repositories/9/issues/1", http.StatusMovedPermanently)
			})
			w.json("GET /repositories/9/issues/1", 200, issue(c.number, c.repo, "Old"))
			w.json("GET /repositories/42", 200,
				`{"id":42,"full_name":"acme/store","name":"store","default_branch":"main","owner":{"login":"acme"}}`)
			w.json("GET /repos/acme/shop/issues", 200, `[]`)
			w.json("POST /repos/acme/shop/issues", 201, issue(13, "acme/shop", "Board"))
			w.json("GET /repositories/42/issues/13", 200, issue(13, "acme/shop", "Board"))
			w.json(fmt.Sprintf("PATCH /repos/acme/shop/issues/%d", c.number), 200, issue(c.number, "acme/shop", "Board"))
			got, err := w.repo().EnsureIssue(t.Context(), 12, NewIssue{Marker: mark, Title: "Board", Body: "board"})
			if edits := w.got("PATCH"); err != nil || got != c.want || (len(edits) == 1) != (c.want == 12) {
				t.Errorf("it is issue %d, edited %v, %v", got, edits, err)
			}
		})
	}
}

func TestEnsureLabels(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/labels", 200,
		`[{"name":"SIA","color":"0E8A16","description":"d"},{"name":"SIA:passed","color":"ffffff","description":""},
			{"name":"bug"}]`)
	w.json("PATCH /repos/acme/shop/labels/{name}", 200, `{"name":"SIA:passed"}`)
	w.HandleFunc("POST /repos/acme/shop/labels", func(rw http.ResponseWriter, _ *http.Request) {
		// another server was faster
		answer(rw, 422, `{"message":"Validation Failed","errors":[{"resource":"Label","code":"already_exists",
			"field":"name"}]}`)
	})
	err := w.repo().EnsureLabels(context.Background(), []view.Label{
		{Name: "sia", Color: "0e8a16", Description: "d"},
		{Name: "sia:passed", Color: "0e8a16", Description: "passed"},
		{Name: "sia:working", Color: "fbca04", Description: "at work"},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Names differ by more than case. An edit renames by new_name, and must not have a name.
	if got := w.got("PATCH"); len(got) != 1 || got[0].path != "/repos/acme/shop/labels/SIA:passed" ||
		strings.TrimSpace(got[0].body) != `{"color":"0e8a16","description":"passed"}` {
		t.Errorf("edited %v", got)
	}
	if got := w.got("POST /repos"); len(got) != 1 || !strings.Contains(got[0].body, `"sia:working"`) {
		t.Errorf("created %v", got)
	}
}

func TestSwapLabels(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/issues/12/labels", 200, `[{"name":"sia"},{"name":"SIA:paused"},{"name":"bug"}]`)
	w.json("POST /repos/acme/shop/issues/12/labels", 200, `[]`)
	w.json("DELETE /repos/acme/shop/issues/12/labels/{name}", 404, `{"message":"Label does not exist"}`)
	ctx := context.Background()
	err := w.repo().SwapLabels(ctx, 12, []string{"sia", "sia:working"},
		[]string{"sia:paused", "sia:passed", "sia:working"})
	if err != nil {
		t.Fatal(err)
	}
	posts, deletes := w.got("POST /repos"), w.got("DELETE")
	if len(posts) != 1 || strings.TrimSpace(posts[0].body) != `["sia:working"]` || len(deletes) != 1 ||
		deletes[0].path != "/repos/acme/shop/issues/12/labels/SIA:paused" {
		t.Errorf("posts %v, deletes %v", posts, deletes)
	}
	err = w.repo().SwapLabels(ctx, 12, []string{"sia"}, []string{"sia:passed"})
	if err != nil || len(w.got("POST /repos")) > 1 || len(w.got("DELETE")) > 1 {
		t.Errorf("nothing to do: %v", err)
	}
}

func TestPermission(t *testing.T) {
	w := start(t, "/")
	w.HandleFunc("GET /repos/acme/shop/collaborators/{login}/permission", func(rw http.ResponseWriter, req *http.Request) {
		known := map[string]string{
			"ann":      `{"permission":"write","role_name":"maintain"}`,
			"bob":      `{"permission":"read","role_name":"triage"}`,
			"cat":      `{"permission":"write","role_name":"release-captain"}`,
			"dan":      `{"permission":"admin"}`,
			"dep[bot]": `{"permission":"none","role_name":""}`,
		}
		if b, ok := known[req.PathValue("login")]; ok {
			answer(rw, 200, b)
			return
		}
		answer(rw, 404, `{"message":"eve is not a user"}`)
	})
	got := map[string]string{}
	for range 2 {
		for _, who := range []string{"ann", "bob", "cat", "dan", "dep[bot]", "eve", "../../x", ""} {
			got[who] = must[string](t)(w.repo().Permission(context.Background(), who))
		}
	}
	want := map[string]string{"ann": "maintain", "bob": "triage", "cat": "write", "dan": "admin", "dep[bot]": "none",
		"eve": "none", "../../x": "none", "": "none"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := len(w.got("GET /repos")); n != 6 {
		t.Errorf("%d requests, want each asked once", n)
	}
	_ = w.clock.sleep(context.Background(), permissionTTL)
	_ = must[string](t)(w.repo().Permission(context.Background(), "ann"))
	if n := len(w.got("GET /repos")); n != 7 {
		t.Errorf("%d requests, want asked again after a minute", n)
	}
}

// TestOurIssueIsFoundWithoutTheFilter: on a GitHub with its own domain the filter by creator may not find an app's
// issues.
func TestOurIssueIsFoundWithoutTheFilter(t *testing.T) {
	w := start(t, "/")
	var all []any
	for n := range 150 {
		all = append(all, map[string]any{"number": 500 - n, "state": "open", "labels": []any{},
			"body": "x", "user": map[string]any{"login": "ann"}})
	}
	all[120] = map[string]any{"number": 91, "state": "open", "labels": []any{},
		"body": mark + "\nquestion", "user": map[string]any{"login": "sia[bot]"}}
	filters := true
	w.HandleFunc("GET /repos/acme/shop/issues", func(rw http.ResponseWriter, req *http.Request) {
		if filters && req.URL.Query().Get("creator") != "" {
			answer(rw, 200, "[]")
			return
		}
		servePages(rw, req, all, "")
	})
	w.json("POST /repos/acme/shop/issues", 201, `{"number":600}`)
	n := NewIssue{Marker: mark, Title: "SIA needs an answer", Body: "question"}
	for _, filters = range []bool{true, false} {
		if got := must[Issue](t)(w.repo().CreateIssue(context.Background(), n)); got.Number != 91 {
			t.Errorf("made another: %+v", got)
		}
	}
	for range 500 { // in a large repository not everything is searched
		all = append([]any{map[string]any{"number": 501, "state": "open", "labels": []any{},
			"user": map[string]any{"login": "ann"}}}, all...)
	}
	filters = true
	before := len(w.got("GET /repos/acme/shop/issues"))
	must[Issue](t)(w.repo().CreateIssue(context.Background(), n))
	if pages := len(w.got("GET /repos/acme/shop/issues")) - before; pages > 1+maxUnfilteredPages {
		t.Errorf("%d pages were read", pages)
	}
}
