package github_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sim/ghsim"
)

// openPrivate returns a site with a private repository, and a folder for its mirrors.
func openPrivate(t *testing.T) (*site, *gitops.Cache) {
	t.Helper()
	s := open(t, ghsim.Config{NoWorkflows: true})
	cache, err := gitops.OpenCache(t.TempDir(), gitops.CacheOptions{})
	check(t, err)
	return s, cache
}

// minted counts the requests for tokens.
func minted(s *site) int { return countCalls(s, "/access_tokens") }

// TestGitTakesNoNarrowedToken: if git does not find a private repository with a narrowed token in the form of 2026,
// the old form is requested, once for the installation.
func TestGitTakesNoNarrowedToken(t *testing.T) {
	s, cache := openPrivate(t)
	ctx := context.Background()
	s.sim.RefuseRestrictedGit(true)
	head, err := cache.Repo(s.repo.Remote()).Head(ctx, "main")
	check(t, err)
	if head != s.head {
		t.Errorf("head %s, want %s", head, s.head)
	}
	if n := minted(s); n != 2 {
		t.Errorf("%d tokens, want the one that git refused and one of the old form", n)
	}
	_, err = cache.Repo(s.repo.Remote()).Head(ctx, "main")
	check(t, err)
	_, err = cache.Repo(s.repo.WorkflowRemote()).Head(ctx, "main")
	check(t, err)
	if n := minted(s); n != 3 { // the last is for another repository
		t.Errorf("%d tokens, want the form to be remembered", n)
	}
	s.sim.RefuseRestrictedGit(false)
	s.ahead += 25 * time.Hour
	_, err = cache.Repo(s.repo.Remote()).Head(ctx, "main")
	check(t, err)
}

// TestGitTakesNoNarrowedPermissions: if the old form is unavailable too, a token for the repository with all
// permissions is used.
func TestGitTakesNoNarrowedPermissions(t *testing.T) {
	s, cache := openPrivate(t)
	ctx := context.Background()
	var refused []string
	var asked string // request body of the last token
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/access_tokens") {
			body, err := io.ReadAll(r.Body)
			check(t, err)
			asked, r.Body = string(body), io.NopCloser(bytes.NewReader(body))
		}
		_, token, ok := r.BasicAuth()
		if !ok || !strings.Contains(r.URL.Path, ".git/") {
			return nil
		}
		if !slices.Contains(refused, token) && len(refused) < 2 {
			refused = append(refused, token)
		}
		if slices.Contains(refused, token) {
			return &ghsim.Fault{Status: http.StatusNotFound}
		}
		return nil
	})
	for range 2 {
		head, err := cache.Repo(s.repo.Remote()).Head(ctx, "main")
		check(t, err)
		if head != s.head {
			t.Errorf("head %s, want %s", head, s.head)
		}
	}
	if len(refused) != 2 || strings.Count(refused[0], ".") != 2 || strings.Contains(refused[1], ".") {
		t.Errorf("git refused tokens of lengths %d", len(refused))
	}
	if n := minted(s); n != 3 {
		t.Errorf("%d tokens, want one of each form", n)
	}
	if !strings.Contains(asked, `"repositor`) || strings.Contains(asked, "permissions") {
		t.Errorf("the last was asked for with %s, want the one repository and all permissions", asked)
	}
}

// TestRepositoryThatIsGone: if no token works, the repository does not exist, and no form is remembered.
func TestRepositoryThatIsGone(t *testing.T) {
	s, cache := openPrivate(t)
	s.sim.FailRequests(func(r *http.Request) *ghsim.Fault {
		if strings.Contains(r.URL.Path, ".git/") {
			return &ghsim.Fault{Status: http.StatusNotFound}
		}
		return nil
	})
	if _, err := cache.Repo(s.repo.Remote()).Head(context.Background(), "main"); err == nil {
		t.Error("a repository that is gone has a head")
	}
	if n := minted(s); n != 3 {
		t.Errorf("%d tokens, want one of each form", n)
	}
	s.sim.ClearFaults()
	_, err := cache.Repo(s.repo.Remote()).Head(context.Background(), "main")
	check(t, err)
	if n := minted(s); n != 3 {
		t.Errorf("%d tokens, want the first of them to be used", n)
	}
}
