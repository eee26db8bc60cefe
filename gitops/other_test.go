package gitops

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOtherToken: when a server does not find a repository with one token, others are tried, in reads and in pushes,
// and the accepted one is reported.
func TestOtherToken(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	next := map[string]string{"narrow": "old", "old": testToken, testToken: ""}
	var asked, took []string
	remote := f.remote("app.git")
	remote.Token = func(context.Context) (string, error) { return "narrow", nil }
	remote.Other = func(_ context.Context, refused string, _ bool) (string, error) {
		asked = append(asked, refused)
		return next[refused], nil
	}
	remote.Took = func(token string) { took = append(took, token) }
	f.before(func(w http.ResponseWriter, r *http.Request) bool {
		if _, password, _ := r.BasicAuth(); password == testToken {
			return false
		}
		http.Error(w, "Repository not found.", http.StatusNotFound)
		return true
	})
	repo := f.cache.Repo(remote)
	head, err := repo.Head(ctx, "main") // a handshake and a command, which has a body
	if err != nil || head != f.main {
		t.Fatalf("head %s, %v", head, err)
	}
	if d := cmp.Diff([]string{"narrow", "old", "narrow", "old"}, asked); d != "" {
		t.Error(d)
	}
	if !slices.Equal(took, []string{testToken, testToken}) {
		t.Errorf("took %v", took)
	}

	asked = nil
	next["old"] = ""
	var none *NotFoundError
	if _, err := repo.Head(ctx, "main"); !errors.As(err, &none) || len(asked) != 2 {
		t.Errorf("asked %v, got %v", asked, err)
	}
	sorry := errors.New("no token today")
	remote.Other = func(context.Context, string, bool) (string, error) { return "", sorry }
	if _, err := f.cache.Repo(remote).Head(ctx, "main"); !errors.Is(err, sorry) {
		t.Errorf("got %v", err)
	}
}

// TestExpiredToken: a token that the server no longer accepts is renewed once.
func TestExpiredToken(t *testing.T) {
	f := newFixture(t)
	renewed := testToken
	asked := 0
	remote := f.remote("app.git")
	remote.Token = func(context.Context) (string, error) { return "expired", nil }
	remote.Other = func(_ context.Context, refused string, expired bool) (string, error) {
		if asked++; refused != "expired" || !expired {
			t.Errorf("%q was refused, expired %v", refused, expired)
		}
		return renewed, nil
	}
	f.before(func(w http.ResponseWriter, r *http.Request) bool {
		if _, password, _ := r.BasicAuth(); password == testToken {
			return false
		}
		http.Error(w, "Bad credentials", http.StatusUnauthorized)
		return true
	})
	if head, err := f.cache.Repo(remote).Head(t.Context(), "main"); err != nil || head != f.main || asked != 2 {
		t.Errorf("head %s after %d tokens, %v", head, asked, err)
	}
	renewed, asked = "expired, too", 0
	if _, err := f.cache.Repo(remote).Head(t.Context(), "main"); err == nil || asked != 1 {
		t.Errorf("%d tokens were asked for, %v", asked, err)
	}
}
