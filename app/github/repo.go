package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Repo is a handle on one repository of one installation. It is cheap: handles share tokens, connections and limits.
// Get one from [App.Repo].
type Repo struct {
	app  *App
	repo sia.Repo
	*repoConn
}

// repoConn is an authenticated connection to one repository.
type repoConn struct {
	installation int64
	gh           *gh.Client
	git          *gitTokens
	workflows    *gitTokens // like git, with write access to workflow files
	err          error      // the repository's name is invalid: nothing is sent
	used         time.Time  // guarded by installation.mu

	permissions    *expiring.Map[string, string] // by login
	required       *expiring.Map[string, Requirements]
	commits        *expiring.Map[string, sia.CommitRules] // by branch
	graphqlRefused *expiring.Map[string, bool]            // GitHub refused the query for a look
	graphqlFailed  *expiring.Map[string, bool]            // GitHub failed to answer it
	histories      *expiring.Map[string, History]         // by branch
	names          *expiring.Map[int64, string]           // of other repositories, by id
	bodies         *expiring.Map[int, string]             // of pull requests that were just read
	fresh          *freshTransport
}

const (
	maxConns = 512       // per installation; above it, idle ones are closed
	idleConn = time.Hour // the lifetime of a token
)

// repoName matches the names of owners and repositories.
var repoName = lazyregexp.New(`^[A-Za-z0-9._-]{1,100}$`)

func validName(s string) bool { return repoName.MatchString(s) && s != "." && s != ".." }

// Repo returns a handle on a repository. It makes no request and can't fail. The first call reports a repository that
// does not exist or is inaccessible.
func (a *App) Repo(installation int64, repo sia.Repo) *Repo {
	return &Repo{app: a, repo: repo, repoConn: a.installation(installation).conn(a, repo)}
}

// conn returns the connection to a repository, and creates it if there is none.
func (in *installation) conn(a *App, repo sia.Repo) *repoConn {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := a.cfg.Now()
	c := in.conns[repo]
	if c == nil {
		if len(in.conns) >= maxConns {
			for k, old := range in.conns {
				if now.Sub(old.used) > idleConn {
					delete(in.conns, k)
				}
			}
		}
		c = in.connect(a, repo)
		in.conns[repo] = c
	}
	c.used = now
	return c
}

func (in *installation) connect(a *App, repo sia.Repo) *repoConn {
	c := &repoConn{
		installation:   in.id,
		permissions:    expiring.New[string, string](a.cfg.Now, permissionTTL, 1000),
		graphqlRefused: expiring.New[string, bool](a.cfg.Now, graphqlRefusedTTL, 1),
		graphqlFailed:  expiring.New[string, bool](a.cfg.Now, graphqlFailedTTL, 1),
		histories:      expiring.New[string, History](a.cfg.Now, historyTTL, 100),
		names:          expiring.New[int64, string](a.cfg.Now, historyTTL, 100),
		required:       expiring.New[string, Requirements](a.cfg.Now, requiredTTL, 100),
		commits:        expiring.New[string, sia.CommitRules](a.cfg.Now, commitRulesTTL, 100),
		bodies:         expiring.New[int, string](a.cfg.Now, bodyTTL, 100),
	}
	if !validName(repo.Owner) || !validName(repo.Name) {
		c.err = &sia.Error{Op: "reach repository", Message: fmt.Sprintf("%q is not the name of a repository", repo.String()),
			Permanent: true}
		c.gh = a.client(refusingTransport{c.err})
		return c
	}
	base := a.baseTransport(in.id, in.limits, newWritePacer(a.cfg))
	scope := onlyRepository(repo)
	c.fresh = &freshTransport{created: expiring.New[string, bool](a.cfg.Now, freshPeriod, 1000)}
	c.fresh.next = in.withCache(&installationAuth{
		next: base, host: a.api.Host, tokens: newTokenSource(a, in, scope, apiPermissions(), base),
	})
	c.gh = a.client(c.fresh)
	c.git = newGitTokens(a, in, scope, gitPermissions(), base)
	c.workflows = newGitTokens(a, in, scope, workflowPermissions(), base)
	return c
}

// refusingTransport refuses all requests.
type refusingTransport struct{ err error }

func (r refusingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	closeBody(req)
	return nil, r.err
}

// Name returns the repository of the handle.
func (r *Repo) Name() sia.Repo { return r.repo }

// CloneURL returns the repository's URL for git over HTTP, without credentials.
func (r *Repo) CloneURL() string {
	return r.app.web.String() + url.PathEscape(r.repo.Owner) + "/" + url.PathEscape(r.repo.Name) + ".git"
}

// Remote returns the repository as a git remote. Its key has the repository's id, which stays when the repository is
// renamed or moved. Its tokens grant access to the contents of this repository, and expire after a minute to an hour.
// They must not get into logs, git's configuration, environments or the agent.
func (r *Repo) Remote() gitops.Remote { return r.remote(r.git) }

// WorkflowRemote returns the remote for a push that changes workflow files.
func (r *Repo) WorkflowRemote() gitops.Remote { return r.remote(r.workflows) }

func (r *Repo) remote(tokens *gitTokens) gitops.Remote {
	return gitops.Remote{
		Key: KeyOf(r.installation, r.repo.ID), URL: r.CloneURL(),
		Token: func(ctx context.Context) (string, error) { return r.tokenOf(ctx, tokens.token) },
		Other: func(ctx context.Context, refused string, expired bool) (string, error) {
			return r.tokenOf(ctx, func(ctx context.Context) (string, error) { return tokens.fallback(ctx, refused, expired) })
		},
		Took: tokens.accepted,
	}
}

// KeyOf returns the key of a [Repo.Remote].
func KeyOf(installation, repo int64) string { return fmt.Sprintf("%d/%d", installation, repo) }

// RepoOfKey returns the repository's id in the key of a [Repo.Remote].
func RepoOfKey(key string) (repo int64, err error) {
	_, id, _ := strings.Cut(key, "/")
	if repo, err = strconv.ParseInt(id, 10, 64); err != nil {
		return 0, fmt.Errorf("the key %q names no repository: %w", key, err)
	}
	return repo, nil
}

func (r *Repo) tokenOf(ctx context.Context, from func(context.Context) (string, error)) (string, error) {
	if r.err != nil {
		return "", r.err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	token, err := from(ctx)
	return token, r.fail(err, "get a token for %s", r.repo)
}

// MayChangeWorkflows reports whether the installation has GitHub's separate permission to write workflow files.
// https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app
func (r *Repo) MayChangeWorkflows(ctx context.Context) (bool, error) {
	got, _, err := r.app.gh.Apps.GetInstallation(ctx, r.installation)
	if err := require(err, got.GetID()); err != nil {
		return false, r.fail(err, "read the permissions for %s", r.repo)
	}
	return permissionsFrom(got.GetPermissions())["workflows"] == "write", nil
}

// Repository reads the repository.
// https://docs.github.com/en/rest/repos/repos#get-a-repository
func (r *Repo) Repository(ctx context.Context) (Repository, error) {
	got, _, err := r.gh.Repositories.Get(ctx, r.repo.Owner, r.repo.Name)
	if err := require(err, got.GetID()); err != nil {
		return Repository{}, r.fail(err, "read repository %s", r.repo)
	}
	return repositoryFrom(got), nil
}

// ByID reads the repository by the handle's id, since its name may have changed, or belong to another repository.
// GitHub documents this address only as the target of redirects from renamed repositories.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (r *Repo) ByID(ctx context.Context) (Repository, error) {
	got, _, err := r.gh.Repositories.GetByID(ctx, r.repo.ID)
	if err := require(err, got.GetID()); err != nil {
		return Repository{}, r.fail(err, "read repository %d", r.repo.ID)
	}
	return repositoryFrom(got), nil
}

// Head returns the head commit of a branch, or false if the branch does not exist.
// https://docs.github.com/en/rest/git/refs#get-a-reference
func (r *Repo) Head(ctx context.Context, branch string) (sha string, ok bool, err error) {
	ref, _, err := r.gh.Git.GetRef(ctx, r.repo.Owner, r.repo.Name, "heads/"+branch)
	if statusOf(err) == http.StatusNotFound || statusOf(err) == http.StatusConflict { // 409: the repository is empty
		return "", false, nil
	}
	if err := require(err, ref.GetObject().GetSHA()); err != nil {
		return "", false, r.fail(err, "read branch %s of %s", branch, r.repo)
	}
	return ref.GetObject().GetSHA(), true, nil
}

// MergeBase returns the merge base of a branch and a commit, or "" if there is none, or one of the two does not
// exist.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func (r *Repo) MergeBase(ctx context.Context, branch, sha string) (string, error) {
	// The second page has no commits; the first would list up to 300 files as well.
	got, _, err := r.gh.Repositories.CompareCommits(ctx, r.repo.Owner, r.repo.Name, branch, sha,
		&gh.ListOptions{Page: 2, PerPage: 1})
	if code := statusOf(err); code == http.StatusNotFound || code == http.StatusUnprocessableEntity {
		return "", nil
	}
	base := got.GetMergeBaseCommit().GetSHA()
	if err := require(err, base); err != nil {
		return "", r.fail(err, "compare %s with branch %s of %s", sha, branch, r.repo)
	}
	return base, nil
}

// fail is [App.failure] for the methods of a Repo.
func (r *Repo) fail(err error, format string, args ...any) error {
	return r.app.failure(err, format, args...)
}

// send makes a request below the repository that go-github has no suitable method for.
func (r *Repo) send(ctx context.Context, method, path string, in, out any) error {
	_, err := r.exchange(ctx, method, path, in, out)
	return err
}

// sendPage reads one page of a list below the repository.
func (r *Repo) sendPage(ctx context.Context, path string, out any) (*gh.Response, error) {
	return r.exchange(ctx, http.MethodGet, path, nil, out)
}

// readByID reads something below the repository by its id: another repository may have its name by now, and if that
// one is public, a token reads it as well.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (r *Repo) readByID(ctx context.Context, path string, out any) error {
	req, err := r.gh.NewRequest(http.MethodGet, fmt.Sprintf("repositories/%d/%s", r.repo.ID, path), nil)
	if err == nil {
		_, err = r.gh.Do(ctx, req, out)
	}
	return err
}

func (r *Repo) exchange(ctx context.Context, method, path string, in, out any) (*gh.Response, error) {
	req, err := r.gh.NewRequest(method, "repos/"+r.repo.String()+"/"+path, in)
	if err != nil {
		return nil, err
	}
	return r.gh.Do(ctx, req, out)
}
