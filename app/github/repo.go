package github

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Repo is one repository of one installation. Get it from [App.Repo].
type Repo struct {
	*conn
	Actions   *Actions
	Checks    *Checks
	CheckRuns *CheckRuns
	Rules     *Rules

	installation int64
	fresh        *freshTransport // nil: the repository's name is invalid, and nothing is sent
	git          *gitTokens
	workflows    *gitTokens // like git, with write access to workflow files
	used         time.Time  // guarded by installation.mu

	permissions *expiring.Map[string, string] // by login
}

// conn is an authenticated connection to one repository, which all parts of a [Repo] share. It has no methods.
type conn struct {
	app     *App
	repo    sia.Repo
	gh      *gh.Client
	rest    *rest // for what gh has no suitable method for
	graphql *graphql
}

const (
	maxRepos = 512       // per installation; above it, idle ones are forgotten
	idleRepo = time.Hour // the lifetime of a token
)

// repoName matches the names of owners and repositories.
var repoName = lazyregexp.New(`^[A-Za-z0-9._-]{1,100}$`)

func validName(s string) bool { return repoName.MatchString(s) && s != "." && s != ".." }

// Repo returns a repository. It makes no request and can't fail. The first call reports a repository that does not
// exist or is inaccessible.
func (a *App) Repo(installation int64, repo sia.Repo) *Repo {
	return a.installation(installation).repository(a, repo)
}

func (in *installation) repository(a *App, repo sia.Repo) *Repo {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := a.cfg.Now()
	r := in.repos[repo]
	if r == nil {
		if len(in.repos) >= maxRepos {
			for k, old := range in.repos {
				if now.Sub(old.used) > idleRepo {
					delete(in.repos, k)
				}
			}
		}
		r = in.connect(a, repo)
		in.repos[repo] = r
	}
	r.used = now
	return r
}

func (in *installation) connect(a *App, repo sia.Repo) *Repo {
	r := &Repo{
		conn:         &conn{app: a, repo: repo},
		installation: in.id,
		permissions:  expiring.New[string, string](a.cfg.Now, permissionTTL, 1000),
	}
	if !validName(repo.Owner) || !validName(repo.Name) {
		err := &sia.Error{Op: "reach repository", Message: fmt.Sprintf("%q is not the name of a repository", repo.String()),
			Permanent: true}
		r.gh = a.client(refusingTransport{err})
		r.git = &gitTokens{app: a, in: in, repo: repo, err: err}
		r.workflows = r.git
	} else {
		base := a.baseTransport(in.id, in.limits, newWritePacer(a.cfg))
		r.fresh = &freshTransport{created: expiring.New[string, bool](a.cfg.Now, freshPeriod, 1000)}
		r.fresh.next = in.withCache(&installationAuth{
			next: base, host: a.api.Host, tokens: newTokenSource(a, in, onlyRepository(repo), apiPermissions(), base),
		})
		r.gh = a.client(r.fresh)
		r.git = newGitTokens(a, in, repo, gitPermissions(), base)
		r.workflows = newGitTokens(a, in, repo, workflowPermissions(), base)
	}
	r.rest = &rest{gh: r.gh, repo: repo}
	r.graphql = a.newGraphQL(r.gh, repo)
	r.Actions = &Actions{r.conn}
	r.Rules = &Rules{
		conn:     r.conn,
		required: expiring.New[string, Requirements](a.cfg.Now, requiredTTL, 100),
		commits:  expiring.New[string, sia.CommitRules](a.cfg.Now, commitRulesTTL, 100),
		names:    expiring.New[int64, string](a.cfg.Now, historyTTL, 100),
	}
	r.Checks = &Checks{
		conn: r.conn, actions: r.Actions, rules: r.Rules,
		histories: expiring.New[string, History](a.cfg.Now, historyTTL, 100),
		apps:      expiring.New[string, hiddenApp](a.cfg.Now, historyTTL, 1000),
		bodies:    expiring.New[int, string](a.cfg.Now, bodyTTL, 100),
	}
	r.CheckRuns = &CheckRuns{r.conn, r.Checks}
	return r
}

// refusingTransport refuses all requests.
type refusingTransport struct{ err error }

func (r refusingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	closeBody(req)
	return nil, r.err
}

// Name returns the repository that was asked for.
func (r *Repo) Name() sia.Repo { return r.repo }

// Remote returns the repository as a git remote. Its key has the repository's id, which stays when the repository is
// renamed or moved. Its tokens grant access to the contents of this repository, and expire after a minute to an hour.
// They must not get into logs, git's configuration, environments or the agent.
func (r *Repo) Remote() gitops.Remote { return r.git.remote() }

// WorkflowRemote returns the remote for a push that changes workflow files.
func (r *Repo) WorkflowRemote() gitops.Remote { return r.workflows.remote() }

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

// MayChangeWorkflows reports whether the installation has GitHub's separate permission to write workflow files.
// https://docs.github.com/en/rest/apps/apps#get-an-installation-for-the-authenticated-app
func (r *Repo) MayChangeWorkflows(ctx context.Context) (bool, error) {
	got, _, err := r.app.gh.Apps.GetInstallation(ctx, r.installation)
	if err := require(err, got.GetID()); err != nil {
		return false, r.app.failure(err, "read the permissions for %s", r.repo)
	}
	return permissionsFrom(got.GetPermissions())["workflows"] == "write", nil
}

// Repository reads the repository.
// https://docs.github.com/en/rest/repos/repos#get-a-repository
func (r *Repo) Repository(ctx context.Context) (Repository, error) {
	got, _, err := r.gh.Repositories.Get(ctx, r.repo.Owner, r.repo.Name)
	if err := require(err, got.GetID()); err != nil {
		return Repository{}, r.app.failure(err, "read repository %s", r.repo)
	}
	return repositoryFrom(got), nil
}

// ByID reads the repository by its id, since its name may have changed, or belong to another repository.
// GitHub documents this address only as the target of redirects from renamed repositories.
// https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects
func (r *Repo) ByID(ctx context.Context) (Repository, error) {
	got, _, err := r.gh.Repositories.GetByID(ctx, r.repo.ID)
	if err := require(err, got.GetID()); err != nil {
		return Repository{}, r.app.failure(err, "read repository %d", r.repo.ID)
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
		return "", false, r.app.failure(err, "read branch %s of %s", branch, r.repo)
	}
	return ref.GetObject().GetSHA(), true, nil
}

// IsAt reports whether a commit is the head of a branch.
func (r *Repo) IsAt(ctx context.Context, branch string, sha sia.SHA) (bool, error) {
	head, ok, err := r.Head(ctx, branch)
	return ok && sia.SHA(head) == sha, err
}

// MergeBase returns the merge base of a branch or commit and a commit, or "" if there is none, or one of the two does
// not exist.
// https://docs.github.com/en/rest/commits/commits#compare-two-commits
func (r *Repo) MergeBase(ctx context.Context, base, sha string) (string, error) {
	// The second page has no commits; the first would list up to 300 files as well.
	got, _, err := r.gh.Repositories.CompareCommits(ctx, r.repo.Owner, r.repo.Name, base, sha,
		&gh.ListOptions{Page: 2, PerPage: 1})
	if code := statusOf(err); code == http.StatusNotFound || code == http.StatusUnprocessableEntity {
		return "", nil
	}
	common := got.GetMergeBaseCommit().GetSHA()
	if err := require(err, common); err != nil {
		return "", r.app.failure(err, "compare %s with %s of %s", sha, base, r.repo)
	}
	return common, nil
}
