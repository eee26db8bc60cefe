package github

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
)

const pull5 = `{"number":5,"node_id":"PR_5","html_url":"http://x/5","title":"T","body":"B","draft":true,
"merged":false,"state":"open",
 "head":{"ref":"sia/issue-1","sha":"abc","repo":{"id":42}},"base":{"ref":"main","repo":{"id":42}},
 "user":{"login":"sia[bot]"}}`

func TestEnsurePull(t *testing.T) {
	w := start(t, "/")
	drafts, open, race := false, false, false
	w.HandleFunc("GET /repos/acme/shop/pulls", func(rw http.ResponseWriter, req *http.Request) {
		if q := req.URL.Query(); q.Get("head") != "acme:sia/issue-1" || q.Get("state") != "open" || q.Get("base") != "main" {
			t.Errorf("query %v", q)
		}
		if open {
			answer(rw, 200, "["+pull5+"]")
			return
		}
		answer(rw, 200, "[]")
	})
	w.HandleFunc("POST /repos/acme/shop/pulls", func(rw http.ResponseWriter, req *http.Request) {
		b, _ := io.ReadAll(req.Body)
		in := decode[map[string]any](t, string(b))
		switch {
		case race:
			open = true
			answer(rw, 422, `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom",
				"message":"A pull request already exists for acme:sia/issue-1."}]}`)
		case in["draft"] == true && !drafts:
			answer(rw, 422, `{"message":"Draft pull requests are not supported in this repository."}`)
		default:
			answer(rw, 201, strings.Replace(pull5, `"draft":true`, `"draft":false`, 1))
		}
	})
	ctx := context.Background()
	n := NewPull{Head: "sia/issue-1", Base: "main", Title: "T", Body: "B", Draft: true}
	p := must[Pull](t)(w.repo().EnsurePull(ctx, n))
	if p.Number != 5 || p.Draft || p.HeadSHA != "abc" || p.Fork {
		t.Errorf("without drafts: %+v", p)
	}
	race = true
	if p = must[Pull](t)(w.repo().EnsurePull(ctx, n)); p.Number != 5 || !p.Draft || p.NodeID != "PR_5" {
		t.Errorf("somebody was faster: %+v", p)
	}
	posts := len(w.got("POST /repos"))
	if p = must[Pull](t)(w.repo().EnsurePull(ctx, n)); p.Number != 5 || len(w.got("POST /repos")) != posts {
		t.Errorf("found: %+v", p)
	}
}

// Text around the app's part of a pull request's body stays, and an unchanged body is not written.
func TestEditPull(t *testing.T) {
	const mine = ownBegin + "\nA\n" + ownEnd
	for _, c := range []struct{ name, now, want string }{
		{"as it was opened", mine, ownBegin + "\nC\n" + ownEnd},
		{"people wrote above and below", "Above.\r\n" + mine + "\r\nBelow.", "Above.\r\n" + ownBegin + "\nC\n" + ownEnd +
			"\r\nBelow."},
		{"people took a line out", ownBegin + "\nA\n\nBelow.", ownBegin + "\nC\n" + ownEnd + "\n\nA\n\nBelow."},
		{"people wrote all of it", "Theirs.", ownBegin + "\nC\n" + ownEnd + "\n\nTheirs."},
		{"people left nothing", "", ownBegin + "\nC\n" + ownEnd},
		{"it stands already", ownBegin + "\r\nC\r\n" + ownEnd, ""},
		{"people wrote a lot", mine + strings.Repeat("x", maxBody), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/")
			w.json("GET /repos/acme/shop/pulls/5", 200, strings.Replace(pull5, `"body":"B"`,
				`"body":`+string(must[[]byte](t)(json.Marshal(c.now))), 1))
			w.json("PATCH /repos/acme/shop/pulls/5", 200, pull5)
			if err := w.repo().EditPull(context.Background(), 5, "C"); err != nil {
				t.Error(err)
			}
			got := ""
			for _, q := range w.got("PATCH") {
				var sent struct{ Body string }
				if err := json.Unmarshal([]byte(q.body), &sent); err != nil {
					t.Fatal(err)
				}
				got = sent.Body
			}
			if got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// A refusal is a result with GitHub's reason, and a failure is an error.
func TestMerge(t *testing.T) {
	const route = "PUT /repos/acme/shop/pulls/5/merge"
	for _, tt := range []struct {
		code   int
		body   string
		merged bool
		why    string
		err    string
	}{
		{200, `{"sha":"abc","merged":true,"message":"Pull Request successfully merged"}`, true, "successfully", ""},
		{405, `{"message":"Required status check \"test\" is expected."}`, false,
			`Required status check "test" is expected.`, ""},
		{409, `{"message":"Head branch was modified. Review and try the merge again."}`, false, "was modified", ""},
		{403, `{"message":"Resource not accessible by integration"}`, false, "not accessible", ""},
		{404, `{"message":"Not Found"}`, false, "", "merge pull request acme/shop#5"},
	} {
		w := start(t, "/")
		w.json(route, tt.code, tt.body)
		merged, why, err := w.repo().Merge(context.Background(), 5, "c0ffee")
		if merged != tt.merged || !strings.Contains(why, tt.why) || (err == nil) != (tt.err == "") ||
			err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%d: %v %q %v", tt.code, merged, why, err)
		}
		want := 1
		if tt.code == http.StatusForbidden {
			want = 3 // retried, because the token is new
		}
		if got := w.got(route); len(got) != want || !strings.Contains(got[0].body, `"sha":"c0ffee"`) {
			t.Errorf("%d: asked %+v", tt.code, got)
		}
	}
}

// If merge commits are disabled, another method is used.
func TestMergeAnotherWay(t *testing.T) {
	w := start(t, "/")
	w.HandleFunc("PUT /repos/acme/shop/pulls/5/merge", func(rw http.ResponseWriter, req *http.Request) {
		if b, _ := io.ReadAll(req.Body); strings.Contains(string(b), `"squash"`) {
			answer(rw, 200, `{"sha":"abc","merged":true,"message":"done"}`)
			return
		}
		answer(rw, 405, `{"message":"Merge commits are not allowed on this repository."}`)
	})
	if merged, why, err := w.repo().Merge(context.Background(), 5, "c0ffee"); !merged || err != nil {
		t.Error(merged, why, err)
	}
}

func TestMarkReady(t *testing.T) {
	const ready = `{"data":{"markPullRequestReadyForReview":{"pullRequest":{"isDraft":false}}}}`
	for _, c := range []struct {
		name, mutation, query string
		want                  string // part of the error; empty: no error
		permanent             bool
	}{
		{"draft", ready, "", "", false},
		{"no draft any more", `{"data":{"markPullRequestReadyForReview":null},"errors":[{"type":"UNPROCESSABLE",
			"message":"Pull request is not a draft"}]}`,
			`{"data":{"node":{"isDraft":false}}}`, "", false},
		{"not allowed", `{"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`,
			`{"data":{"node":{"isDraft":true}}}`, `"pull_requests: write"`, true},
		{"trouble", `{"errors":[{"message":"Something went wrong"}]}`, `{"errors":[{"message":"Something went wrong"}]}`,
			"Ready for review", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/api/v3/") // GitHub Enterprise Server: GraphQL is not below the REST API
			w.HandleFunc("POST /api/graphql", func(rw http.ResponseWriter, req *http.Request) {
				b, _ := io.ReadAll(req.Body)
				in := decode[struct {
					Query     string
					Variables map[string]string
				}](t, string(b))
				if in.Variables["id"] != "PR_5" {
					t.Errorf("variables %v", in.Variables)
				}
				if strings.HasPrefix(in.Query, "mutation") {
					answer(rw, 200, c.mutation)
				} else {
					answer(rw, 200, c.query)
				}
			})
			err := w.repo().MarkReady(context.Background(), "PR_5")
			if (err == nil) != (c.want == "") || (err != nil && !strings.Contains(err.Error(), c.want)) ||
				sia.IsPermanent(err) != c.permanent {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEnterpriseServer(t *testing.T) {
	w := start(t, "/api/v3/")
	w.json("GET /api/v3/repos/acme/shop/pulls/5", 200, pull5)
	if p := must[Pull](t)(w.repo().Pull(context.Background(), 5)); p.HeadSHA != "abc" {
		t.Errorf("got %+v", p)
	}
	if got, want := w.repo().Remote().URL, w.srv.URL+"/acme/shop.git"; got != want {
		t.Errorf("clone from %s, want %s", got, want)
	}
	if n := len(w.got("GET /api/v3/repos/acme/shop/pulls/5")); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
