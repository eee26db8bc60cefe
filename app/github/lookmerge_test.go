package github

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// If a pull request conflicts with its base, GitHub returns the test merge of an earlier head or base: its checks
// replace nothing.
func TestAnOldTestMerge(t *testing.T) {
	const head = "abc"
	for merges, want := range map[bool]string{true: "success", false: "failure"} {
		p := decode[pullNode](t, `{"state":"OPEN","headRefOid":"abc","mergeable":"MERGEABLE","potentialMergeCommit":{
			"checkSuites":{"pageInfo":{},"nodes":[]},"status":{"contexts":[{"context":"ci","state":"SUCCESS"}]}}}`)
		if !merges {
			p.Mergeable = "CONFLICTING"
		}
		byGraphQL := Look{Checks: CheckSet{Statuses: []gate.Status{{Context: "ci", State: "failure"}}}}
		if complete := byGraphQL.setPull(&p, head); !complete || byGraphQL.Merge.Conflicts == merges {
			t.Errorf("%v, %+v", complete, byGraphQL.Merge)
		}

		w := start(t, "/")
		w.json("POST /graphql", 404, `{"message":"Not Found"}`)
		w.json("GET /repos/acme/shop/pulls/5", 200, fmt.Sprintf(`{"number":5,"state":"open","merged":false,"mergeable":%v,
			"merge_commit_sha":"old","head":{"ref":"work","sha":"abc"},"base":{"ref":"main"}}`, merges))
		for sha, state := range map[string]string{head: "failure", "old": "success"} {
			w.json("GET /repos/acme/shop/commits/"+sha+"/check-runs", 200, `{"total_count":0,"check_runs":[]}`)
			w.json("GET /repos/acme/shop/commits/"+sha+"/status", 200,
				fmt.Sprintf(`{"total_count":1,"statuses":[{"context":"ci","state":%q}]}`, state))
		}
		rest := must[Look](t)(w.repo().Checks.Look(context.Background(), LookAt{SHA: head, Pull: 5}))
		for way, look := range map[string]Look{"GraphQL": byGraphQL, "REST": rest} {
			if s := look.Checks.Statuses; len(s) != 1 || s[0].State != want {
				t.Errorf("%s, merges %v: %+v", way, merges, s)
			}
		}
	}
}

// Over REST, too, the look shows a new head although the base branch no longer exists.
func TestLookWithoutItsBranch(t *testing.T) {
	for name, c := range map[string]struct {
		code       int
		state, ref string
		want       PullState
	}{
		"it is retargeted": {200, "open", "next", PullState{Known: true, Head: "abc", Base: "next"}},
		"it was closed":    {200, "closed", "main", PullState{Known: true, Closed: true, Head: "abc", Base: "main"}},
		"it is gone":       {404, "open", "main", PullState{Known: true, Gone: true}},
	} {
		t.Run(name, func(t *testing.T) {
			w := start(t, "/")
			w.json("POST /graphql", 404, `{"message":"Not Found"}`)
			w.json("GET /repos/acme/shop/pulls/5", c.code, fmt.Sprintf(`{"number":5,"state":%q,"merged":false,
				"mergeable":null,"head":{"ref":"work","sha":"abc"},"base":{"ref":%q}}`, c.state, c.ref))
			w.json("GET /repos/acme/shop/commits/abc/check-runs", 200, `{"total_count":0,"check_runs":[]}`)
			w.json("GET /repos/acme/shop/commits/abc/status", 200, `{"total_count":0,"statuses":[]}`)
			w.json("GET /repos/acme/shop/commits", 404, `{"message":"Not Found"}`)
			got, err := w.repo().Checks.Look(t.Context(), LookAt{SHA: "abc", Pull: 5, Branch: "main"})
			got.Pull.HeadBy = sia.Actor{}
			if d := cmp.Diff(c.want, got.Pull); d != "" || err != nil {
				t.Errorf("%s, %v", d, err)
			}
		})
	}
}

// A pull request whose issue GitHub finds is not gone.
func TestPullIsNotGoneBesideItsIssue(t *testing.T) {
	w := start(t, "/")
	w.json("GET /repos/acme/shop/pulls/5", 404, `{"message":"Not Found"}`)
	w.json("GET /repos/acme/shop/issues/5", 200, `{"number":5}`)
	_, got, err := w.repo().Checks.fetchPull(t.Context(), 5)
	if got.Gone || err == nil || sia.IsPermanent(err) {
		t.Errorf("%+v, %v", got, err)
	}
}

// If GraphQL is slow, the look is read over REST: GitHub ends a query after ten seconds, or may not answer at all.
// https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#timeouts
func TestSlowGraphQL(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		code  int
		body  string
	}{
		"it is ended": {10 * time.Second, http.StatusBadGateway, "<html>"},
		"it hangs":    {time.Hour, http.StatusOK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var w *wire
			w = start(t, "/", func(cfg *Config) {
				cfg.Transport = transport(func(r *http.Request) (*http.Response, error) {
					answered, asked := httptest.NewRecorder(), r.Clone(r.Context())
					if r.Body == nil {
						asked.Body = http.NoBody
					}
					w.serve(answered, asked)
					return answered.Result(), r.Context().Err()
				})
			})
			w.HandleFunc("POST /graphql", func(rw http.ResponseWriter, r *http.Request) {
				select {
				case <-time.After(c.after):
				case <-r.Context().Done():
				}
				answer(rw, c.code, c.body)
			})
			w.json("GET /repos/acme/shop/commits/abc/check-runs", 200, `{"total_count":0,"check_runs":[]}`)
			w.json("GET /repos/acme/shop/commits/abc/status", 200,
				`{"total_count":1,"statuses":[{"context":"ci","state":"success"}]}`)
			w.json("GET /repos/acme/shop/rules/branches/main", 200, `[{"type":"required_signatures"}]`)
			synctest.Test(t, func(t *testing.T) {
				if l, err := w.repo().Checks.Look(t.Context(), LookAt{SHA: "abc"}); err != nil || len(l.Checks.Statuses) != 1 {
					t.Errorf("%+v, %v", l, err)
				}
				if got, err := w.repo().Rules.OnCommits(t.Context(), "main"); err != nil || !got.Signed {
					t.Errorf("%+v, %v", got, err)
				}
			})
		})
	}
}

// All pages of artifacts are read: a matrix uploads more than one page.
func TestArtifactsReadsEveryPage(t *testing.T) {
	w := start(t, "/")
	var all []any
	for i := range 130 {
		all = append(all, map[string]any{"id": i + 1, "name": fmt.Sprint("junit-", i), "size_in_bytes": 1,
			"expired": i%2 == 0})
	}
	w.HandleFunc("GET /repos/acme/shop/actions/runs/7/artifacts", func(rw http.ResponseWriter, req *http.Request) {
		servePages(rw, req, all, "artifacts")
	})
	if got := must[[]Artifact](t)(w.repo().Actions.Artifacts(context.Background(), 7)); len(got) != 65 {
		t.Errorf("%d artifacts that have not expired", len(got))
	}
}
