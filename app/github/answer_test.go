package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/view"
)

// TestEveryAnswerIsWaitedForOrExplained covers the responses of GitHub and of the proxies in front of it: each leads
// to a retry, a wait or a message for people.
func TestEveryAnswerIsWaitedForOrExplained(t *testing.T) {
	reason := func(s string) string {
		return fmt.Sprintf(`{"message":%q,"documentation_url":"https://docs.github.com"}`, s)
	}
	invalid := func(resource, field, code string) string {
		return fmt.Sprintf(`{"message":"Validation Failed","errors":[{"resource":%q,"field":%q,"code":%q}],"status":"422"}`,
			resource, field, code)
	}
	const ago = "Fri, 31 Dec 2010 23:59:59 GMT"
	for _, c := range []struct {
		name      string
		code      int
		header    string // "Name: value", separated by |
		body      string
		want      string
		permanent bool
		after     time.Duration // minimum wait
	}{
		{"primary", 403, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: 1577937845", reason("API rate limit exceeded"),
			"rate limit", false, 30 * time.Minute},
		{"primary without a reset", 403, "X-RateLimit-Remaining: 0", reason("API rate limit exceeded for installation"),
			"rate limit", false, time.Minute},
		{"primary with a reset that is no number", 403, "X-RateLimit-Remaining: 0|X-RateLimit-Reset: soon",
			reason("API rate limit exceeded"), "rate limit", false, time.Minute},
		{"primary without headers", 403, "", reason("API rate limit exceeded for installation ID 1."),
			"rate limit", false, time.Minute},
		{"secondary with a date", 403, "Retry-After: Thu, 02 Jan 2020 03:05:35 GMT",
			reason("You have exceeded a secondary rate limit"), "rate limit", false, 30 * time.Second},
		{"secondary with a date that is past", 429, "Retry-After: " + ago, reason("slow"), "rate limit", false, time.Second},
		{"secondary in words", 403, "", reason("You have exceeded a secondary rate limit. Please wait a few minutes."),
			"rate limit", false, time.Minute},
		{"too many, in HTML", 429, "Content-Type: text/html", "<html>Whoa there!</html>", "rate limit", false, time.Minute},
		{"abuse", 403, "", reason("You have triggered an abuse detection mechanism. Please wait a few minutes."),
			"rate limit", false, time.Minute},
		{"abuse, as not valid", 422, "", invalid("PullRequestReview", "base", "abuse"), "rate limit", false, time.Minute},
		{"too quickly", 422, "", `{"message":"Validation Failed","errors":[{"resource":"Issue","code":"custom",` +
			`"message":"was submitted too quickly"}]}`, "rate limit", false, time.Minute},
		{"a wait of a year", 403, "Retry-After: 31536000", reason("secondary rate limit"), "rate limit", false, time.Minute},
		{"SAML", 403, "X-GitHub-SSO: required; url=https://github.com/orgs/acme/sso", reason("Resource protected by " +
			"organization SAML enforcement. You must grant your OAuth token access to this organization."),
			"single sign-on", true, 0},
		{"missing permission", 403, "", reason("Resource not accessible by integration"), `"issues: read"`, true, 0},
		{"archived", 403, "", reason("Repository was archived so is read-only."), "unarchive it", true, 0},
		{"suspended", 403, "", reason("This installation has been suspended"), "unsuspend it", false, suspendedRetryAfter},
		{"allow list", 403, "", reason("Although you appear to have the correct authorization credentials, the `acme` " +
			"organization has an IP allow list enabled, and 192.0.2.1 is not permitted to access this resource."),
			"allow list", true, 0},
		{"blocked", 403, "", reason("Repository access blocked"), "blocked", true, 0},
		{"disabled", 403, "", reason("Repository has been disabled"), "disabled", true, 0},
		{"forbidden without a reason", 403, "Content-Type: text/html", "<html>proxy</html>", "without a reason", true, 0},
		{"no access", 404, "", reason("Not Found"), "not installed", true, 0},
		{"issues off", 410, "", reason("Issues are disabled for this repo"), "turned off", true, 0},
		{"issue deleted", 410, "", reason("This issue was deleted"), "was deleted", true, 0},
		{"legal", 451, "", `{"message":"Repository access blocked","block":{"reason":"dmca"}}`, "legal", true, 0},
		{"request timeout", 408, "", "", "did not take the request in (408)", false, 0},
		{"unavailable, for a while", 503, "Retry-After: 120", "<html>", "failing (503)", false, 2 * time.Minute},
		{"unicorn", 502, "Content-Type: text/html", "<html>Unicorn!</html>", "failing (502)", false, 0},
		{"bandwidth", 509, "", "", "failing (509)", false, 0},
		{"HTML for an answer", 200, "Content-Type: text/html", "<!DOCTYPE html>", "can't be read", false, 0},
		{"half an answer", 200, "", `{"number":12,"title":"Conf`, "can't be read", false, 0},
		{"nothing", 200, "", "", "holds nothing", false, 0},
		{"no content", 204, "", "", "holds nothing", false, 0},
		{"null", 200, "", " null\n", "holds nothing", false, 0},
		{"an object without a number", 200, "", `{}`, "holds nothing", false, 0},
		{"number 0", 200, "", `{"number":0,"id":9,"state":"open"}`, "holds nothing", false, 0},
		{"head not known yet", 422, "", invalid("PullRequest", "head", "invalid"), "head invalid", false, time.Second},
		{"head in words", 422, "", `{"message":"Validation Failed: PullRequest head invalid"}`, "moments after a push", false,
			time.Second},
		{"commit not known yet", 422, "", reason("No commit found for SHA: 7638417db6d59f3c431d3e1f261cc637155684cd"),
			"moments after a push", false, time.Second},
		{"head blank", 422, "", `{"message":"Validation Failed","errors":[{"resource":"PullRequest","code":"custom",` +
			`"message":"Head sha can't be blank"},"Base sha can't be blank"]}`, "moments after a push", false, time.Second},
		{"check's head", 422, "", invalid("CheckRun", "head_sha", "invalid"), "moments after a push", false, time.Second},
		{"no commits between", 422, "", `{"message":"Validation Failed","errors":[{"resource":"PullRequest",` +
			`"code":"custom","message":"No commits between main and sia/issue-1"}]}`, "moments after a push", false,
			time.Second},
		{"commit not found", 404, "", reason("No commit found for the ref sia/issue-1"), "moments after a push", false,
			time.Second},
		{"a reference", 422, "", reason("Reference does not exist"), "moments after a push", false, time.Second},
		{"another field", 422, "", invalid("Issue", "title", "missing_field"), "title missing_field", true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/")
			var n atomic.Int32
			w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, _ *http.Request) {
				n.Add(1)
				rw.Header().Set("Content-Type", "application/json; charset=utf-8")
				for line := range strings.SplitSeq(c.header, "|") {
					if name, value, ok := strings.Cut(line, ": "); ok {
						rw.Header().Set(name, value)
					}
				}
				rw.WriteHeader(c.code)
				if c.code != http.StatusNoContent {
					_, _ = rw.Write([]byte(c.body))
				}
			})
			_, err := w.repo().Issue(context.Background(), 12)
			var e *sia.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, c.want) || e.Permanent != c.permanent {
				t.Fatalf("got %#v", err)
			}
			if strings.Contains(e.Message, " again") { // the message may become the reason of a pause, and then nothing retries
				t.Errorf("it promises what nobody may do: %s", e.Message)
			}
			if e.RetryAfter < c.after-time.Second || e.RetryAfter > 2*time.Hour {
				t.Errorf("after %s", e.RetryAfter)
			}
			if n.Load() > maxTries {
				t.Errorf("asked %d times", n.Load())
			}
		})
	}
}

func TestEmptyAnswersToWritesAreErrors(t *testing.T) {
	const marker = "<!-- sia:v1 task=1-1 kind=status key=1 -->"
	spec := CheckRunSpec{Name: "SIA", HeadSHA: "abc", ExternalID: "1",
		CheckRun: view.CheckRun{Status: "in_progress", Title: "t"}}
	for _, body := range []string{"", "null", "{}", `{"id":0,"number":0}`} {
		t.Run(body, func(t *testing.T) {
			w := start(t, "/")
			for _, path := range []string{"POST /repos/acme/shop/issues", "POST /repos/acme/shop/issues/1/comments",
				"PATCH /repos/acme/shop/issues/comments/5", "POST /repos/acme/shop/pulls", "POST /repos/acme/shop/check-runs",
				"GET /repos/acme/shop/pulls/3", "GET /repos/acme/shop", "GET /repos/acme/shop/git/ref/heads/x",
				"GET /repos/acme/shop/collaborators/ann/permission", "GET /repos/acme/shop/compare/main...c0ffee"} {
				w.json(path, 200, body)
			}
			for _, path := range []string{"GET /repos/acme/shop/issues", "GET /repos/acme/shop/issues/1/comments",
				"GET /repos/acme/shop/pulls"} {
				w.json(path, 200, "[]")
			}
			w.json("GET /repos/acme/shop/commits/abc/check-runs", 200, `{"total_count":0,"check_runs":[]}`)
			ctx, r := context.Background(), w.repo()
			for name, call := range map[string]func() error{
				"open issue": func() error { _, err := r.CreateIssue(ctx, NewIssue{Marker: marker, Title: "t"}); return err },
				"comment":    func() error { _, err := r.UpsertComment(ctx, 1, marker, "b", 0); return err },
				"edit":       func() error { _, _, err := r.EditComment(ctx, 5, marker, "b"); return err },
				"open pull": func() error {
					_, err := r.EnsurePull(ctx, NewPull{Head: "h", Base: "main", Title: "t"})
					return err
				},
				"check run":  func() error { _, err := r.CheckRuns.Upsert(ctx, spec, 0); return err },
				"pull":       func() error { _, err := r.Pull(ctx, 3); return err },
				"repository": func() error { _, err := r.Repository(ctx); return err },
				"head":       func() error { _, _, err := r.Head(ctx, "x"); return err },
				"merge base": func() error { _, err := r.MergeBase(ctx, "main", "c0ffee"); return err },
				"permission": func() error { _, err := r.Permission(ctx, "ann"); return err },
			} {
				if err := call(); err == nil || sia.IsPermanent(err) || !strings.Contains(err.Error(), "holds nothing") {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	}
}

func TestEmptyListsAreErrors(t *testing.T) {
	for _, body := range []string{"", "null", "[null]", "[{}]"} {
		t.Run(body, func(t *testing.T) {
			w := start(t, "/")
			w.json("GET /repos/acme/shop/issues/1/comments", 200, body)
			if got, err := w.repo().CommentsSince(context.Background(), 1, time.Time{}); err == nil || sia.IsPermanent(err) {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// TestRenamesKeepTheMethod: GitHub redirects from a repository's old name, and expects the same method there.
func TestRenamesKeepTheMethod(t *testing.T) {
	const marker = "<!-- m -->"
	for _, code := range []int{301, 302, 307, 308} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			w := start(t, "/")
			for _, method := range []string{"GET", "POST", "PATCH", "PUT", "DELETE"} {
				w.HandleFunc(method+" /repos/acme/shop/", func(rw http.ResponseWriter, req *http.Request) {
					rw.Header().Set("Location", w.base+"repositories/42"+strings.TrimPrefix(req.URL.Path, "/repos/acme/shop"))
					answer(rw, code, `{"message":"Moved Permanently"}`)
				})
			}
			w.json("PATCH /repositories/42/issues/comments/5", 200, `{"id":5,"body":"x"}`)
			w.json("POST /repositories/42/issues/1/reactions", 201, `{"id":1}`)
			w.json("GET /repositories/42/issues/12", 200, issue12)
			ctx, r := context.Background(), w.repo()
			if c, ok, err := r.EditComment(ctx, 5, marker, "body"); err != nil || !ok || c.ID != 5 {
				t.Errorf("edit: %v %v", ok, err)
			}
			if err := r.React(ctx, sia.Origin{OnIssue: 1}, "eyes"); err != nil {
				t.Error(err)
			}
			if _, err := r.Issue(ctx, 12); err != nil {
				t.Error(err)
			}
			got := w.got("PATCH /repositories")
			if len(got) != 1 || !strings.Contains(got[0].body, "body") || got[0].auth == "" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRedirectsEndSomewhere(t *testing.T) {
	w := start(t, "/")
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		t.Errorf("%s went to another host with %q", req.Method, req.Header.Get("Authorization"))
	}))
	defer other.Close()
	w.HandleFunc("POST /repos/acme/shop/issues/1/reactions", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, "/repos/acme/shop/issues/1/reactions", http.StatusPermanentRedirect)
	})
	w.HandleFunc("POST /repos/acme/shop/issues/2/reactions", func(rw http.ResponseWriter, req *http.Request) {
		http.Redirect(rw, req, other.URL, http.StatusPermanentRedirect)
	})
	w.HandleFunc("POST /repos/acme/shop/issues/3/reactions", func(rw http.ResponseWriter, _ *http.Request) {
		rw.WriteHeader(http.StatusMovedPermanently) // without an address
	})
	ctx := context.Background()
	for n := 1; n <= 3; n++ {
		if err := w.repo().React(ctx, sia.Origin{OnIssue: n}, "eyes"); err == nil {
			t.Errorf("%d: no error", n)
		}
	}
	if n := len(w.got("POST /repos/acme/shop/issues/1")); n > 10 {
		t.Errorf("went round %d times", n)
	}
}

// TestWhatWasJustMadeIsNotGone: one of GitHub's replicas may not have a new object yet.
func TestWhatWasJustMadeIsNotGone(t *testing.T) {
	const marker = "<!-- m -->"
	w := start(t, "/")
	w.json("GET /repos/acme/shop/issues/1/comments", 200, "[]")
	w.json("POST /repos/acme/shop/issues/1/comments", 201,
		fmt.Sprintf(`{"id":5,"url":"%srepos/acme/shop/issues/comments/5","user":{"login":"sia[bot]"}}`, w.base))
	w.json("GET /repos/acme/shop/pulls", 200, "[]")
	w.json("POST /repos/acme/shop/pulls", 201, fmt.Sprintf(`{"id":8,"number":3,"url":"%[1]srepos/acme/shop/pulls/3",`+
		`"issue_url":"%[1]srepos/acme/shop/issues/3"}`, w.base))
	for _, path := range []string{"PATCH /repos/acme/shop/issues/comments/5", "GET /repos/acme/shop/pulls/3",
		"GET /repos/acme/shop/git/ref/heads/sia/issue-1", "POST /repos/acme/shop/issues/3/comments",
		"GET /repos/acme/shop/issues/3/comments", "GET /repos/acme/shop/pulls/4"} {
		w.json(path, 404, `{"message":"Not Found"}`)
	}
	ctx, r := context.Background(), w.repo()
	must[Pull](t)(r.EnsurePull(ctx, NewPull{Head: "sia/issue-1", Base: "main", Title: "t"}))
	if _, err := r.UpsertComment(ctx, 1, marker, "a", 0); err != nil {
		t.Fatal(err)
	}
	r.Pushed("sia/issue-1", "abc")
	calls := map[string]func() error{
		"comment": func() error { _, _, err := r.EditComment(ctx, 5, marker, "b"); return err },
		"pull":    func() error { _, err := r.Pull(ctx, 3); return err },
		"on pull": func() error { _, err := r.CommentsSince(ctx, 3, time.Time{}); return err },
		"branch":  func() error { _, _, err := r.Head(ctx, "sia/issue-1"); return err },
	}
	for name, call := range calls {
		if err := call(); err == nil || sia.IsPermanent(err) || sia.RetryAfter(err) == 0 {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := r.Pull(ctx, 4); !sia.IsPermanent(err) {
		t.Errorf("another pull request: got %v", err)
	}
	if err := w.clock.sleep(ctx, freshPeriod); err != nil { // after that it is gone
		t.Fatal(err)
	}
	if _, err := r.Pull(ctx, 3); !sia.IsPermanent(err) {
		t.Errorf("later: got %v", err)
	}
	if _, ok, err := r.Head(ctx, "sia/issue-1"); ok || err != nil {
		t.Errorf("later: got %v, %v", ok, err)
	}
}

// TestBrokenAnswersAreNotKept: a broken response in the cache would be confirmed by its entity tag, and never be
// replaced.
func TestBrokenAnswersAreNotKept(t *testing.T) {
	for _, broken := range []string{"", "null", `{"number":12,"title":"Conf`, "<html>"} {
		t.Run(broken, func(t *testing.T) {
			w := start(t, "/")
			var n atomic.Int32
			w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, req *http.Request) {
				rw.Header().Set("ETag", `"1"`)
				switch {
				case n.Add(1) == 1:
					answer(rw, 200, broken)
				case req.Header.Get("If-None-Match") == `"1"`:
					rw.WriteHeader(http.StatusNotModified)
				default:
					answer(rw, 200, issue12)
				}
			})
			if _, err := w.repo().Issue(context.Background(), 12); err == nil || sia.IsPermanent(err) {
				t.Errorf("got %v", err)
			}
			if _, err := w.repo().Issue(context.Background(), 12); err != nil {
				t.Errorf("for ever: %v", err)
			}
		})
	}
}
