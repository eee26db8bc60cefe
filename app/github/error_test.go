package github

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
)

func TestErrorsTellPeopleWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name      string
		code      int
		body      string
		header    string
		want      string
		permanent bool
	}{
		{"missing permission, named", 403, `{"message":"Resource not accessible by integration"}`, "checks=write",
			`the app lacks the permission "checks: write", which SIA needs to read checks and show its own progress ` +
				`as a check run; an owner can grant it`, true},
		{"missing permission, guessed", 403, `{"message":"Resource not accessible by integration"}`, "",
			`the app lacks the permission "issues: read", which SIA needs to read the task`, true},
		{"archived", 403, `{"message":"Repository was archived so is read-only."}`, "", "unarchive it", true},
		{"suspended", 403, `{"message":"This installation has been suspended"}`, "", "unsuspend it", false},
		{"locked", 403, `{"message":"Unable to create comment because issue is locked."}`, "",
			"the conversation is locked, and GitHub takes no comments of apps there; unlock it to go on", true},
		{"otherwise forbidden", 403, `{"message":"Not today"}`, "", "GitHub does not allow it: Not today", true},
		{"gone", 410, `{"message":"Issues are disabled for this repo"}`, "", "turned off in the repository's settings", true},
		{"gone for good", 410, `{"message":"Gone"}`, "", "gone for good", true},
		{"not found", 404, `{"message":"Not Found"}`, "", "deleted or moved", true},
		{"not valid", 422, `{"message":"Validation Failed","errors":[{"field":"title","code":"missing_field"}]}`, "",
			"Validation Failed: title missing_field", true},
		{"conflict", 409, `{"message":"x"}`, "", "at the same moment", false},
		{"failing", 500, `<html>`, "", "GitHub is failing (500)", false},
		{"teapot", 418, `{"message":"short"}`, "", "GitHub answered 418: short", true},
		{"not JSON", 200, `<html>`, "", "can't be read", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := start(t, "/")
			w.HandleFunc("GET /repositories/42/issues/12", func(rw http.ResponseWriter, _ *http.Request) {
				if c.header != "" {
					rw.Header().Set("X-Accepted-GitHub-Permissions", c.header)
				}
				answer(rw, c.code, c.body)
			})
			_, err := w.repo().Issue(context.Background(), 12)
			var e *sia.Error
			if !errors.As(err, &e) || e.Op != "read issue acme/shop#12" {
				t.Fatalf("got %v", err)
			}
			if !strings.Contains(e.Message, c.want) || e.Permanent != c.permanent {
				t.Errorf("got %q, permanent %v", e.Message, e.Permanent)
			}
		})
	}
}

// What only the operator can change is no fault of the request, and work waits for it: a key that was deleted on
// GitHub, a clock that is wrong, and an authority that this machine does not trust.
func TestOutageOfTheServerItself(t *testing.T) {
	w := start(t, "/")
	says := ""
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		answer(rw, http.StatusUnauthorized, `{"message":"`+says+`"}`)
	})
	asks := map[string]func(context.Context) error{
		"the app":         func(ctx context.Context) error { _, err := w.app.Hook(ctx); return err },
		"an installation": func(ctx context.Context) error { _, err := w.repo().Issue(ctx, 12); return err },
		"git":             func(ctx context.Context) error { _, err := w.repo().Remote().Token(ctx); return err },
	}
	for who, ask := range asks {
		for message, want := range map[string]string{
			"A JSON web token could not be decoded":                            "check the app id and private key",
			"'Expiration time' claim ('exp') must be a numeric value in range": "set this machine's clock",
		} {
			says = message
			if err := ask(t.Context()); !sia.IsOutage(err) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, %s: %v", who, message, err)
			}
		}
	}
	srv := httptest.NewUnstartedServer(http.NotFoundHandler())
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	app, err := New(Config{AppID: 7, PrivateKey: testPEM(), BaseURL: srv.URL + "/", Secrets: &secret.Masker{},
		Writes: Uncounted{}, Sleep: w.clock.sleep})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Hook(t.Context()); !sia.IsOutage(err) || !strings.Contains(err.Error(), "SSL_CERT_FILE") {
		t.Errorf("an untrusted certificate: %v", err)
	}
}

func TestUninstalled(t *testing.T) {
	w := start(t, "/")
	w.srv.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter,
		_ *http.Request) {
		answer(rw, 404, `{"message":"Not Found"}`)
	})
	_, err := w.repo().Issue(context.Background(), 12)
	if !sia.IsPermanent(err) || !strings.Contains(err.Error(), "not installed there any more (installation 1)") {
		t.Errorf("got %v", err)
	}
	if _, err = w.repo().Remote().Token(context.Background()); !sia.IsPermanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestScrub(t *testing.T) {
	for in, want := range map[string]string{
		"push with ghs_abcdEFGH1234 refused":                       "push with [redacted] refused",
		"Authorization: Bearer eyJhbGciOi.eyJpc3Mi.c2lnbmF0dXJl x": "Authorization: [redacted] x",
		"https://x/log?sv=1&sig=a%2Fb&x=2":                         "https://x/log?sv=1[redacted]&x=2",
		"github_pat_11ABCDEFG0 and gho_16C7e42F292c":               "[redacted] and [redacted]",
		"the token expired":                                        "the token expired",
	} {
		if got := scrub(in); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("before ", " after")
	f.Add("token=", "&x")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.HasSuffix(strings.ToLower(before), "github_pat_") {
			return
		}
		const token = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"
		if got := scrub(before + " " + token + " " + after); strings.Contains(got, token) {
			t.Errorf("got %q", got)
		}
	})
}

func FuzzStrangersText(f *testing.F) {
	f.Add("https://github.com/a/b/actions/runs/12/job/34", "Etag: x")
	f.Fuzz(func(t *testing.T, details, wire string) {
		if run, job := actionsIDs(details); run < 0 || job < 0 {
			t.Errorf("%q: %d, %d", details, run, job)
		}
		isCacheable([]byte(wire))
		if hasMarker(details, mark) != (strings.TrimSpace(strings.SplitN(details, "\n", 2)[0]) == mark) {
			t.Errorf("%q", details)
		}
		if got := truncateBody(wire); len(got) > maxBody {
			t.Errorf("%d bytes", len(got))
		}
	})
}

func TestEveryPermissionSaysWhatItIsFor(t *testing.T) {
	for permission := range apiPermissions() {
		if purposeOf(permission) == purposeOf("") {
			t.Errorf("%s is asked for without a reason", permission)
		}
	}
	for path, want := range map[string]string{
		"/repos/a/b/branches/main/protection/required_status_checks": "administration",
		"/repos/a/b/commits/x/check-runs":                            "checks",
		"/repos/a/b/commits/x/status":                                "statuses",
		"/repos/a/b/git/ref/heads/x":                                 "contents",
		"/graphql":                                                   "pull_requests",
		"/app":                                                       "",
	} {
		if got, _ := permissionFor(http.MethodGet, path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
