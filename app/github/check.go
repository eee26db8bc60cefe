package github

import (
	"context"
	"iter"
	"net/url"
	"strconv"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/expiring"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/view"
)

// CheckRun is one run of a check on a commit.
type CheckRun struct {
	ID      int64
	Name    string
	AppID   int64
	AppSlug string // github-actions for GitHub Actions
	Status  string // queued, in_progress, completed, waiting, requested or pending
	// when completed: success, failure, neutral, cancelled, skipped, timed_out, action_required,
	// stale, startup_failure
	Conclusion       string
	URL              string // for people, on GitHub
	DetailsURL       string // for people, where the check ran
	StartedAt        time.Time
	CompletedAt      time.Time
	SuiteID          int64
	OutputTitle      string
	OutputSummary    string
	AnnotationsCount int
	RunID            int64 // id of the workflow run that it is a job of; 0: it is no job of GitHub Actions
	JobID            int64 // id of that job; 0: none
}

// CheckSet holds the check runs and statuses of a commit.
type CheckSet struct {
	Runs     []CheckRun    // all runs of all checks, re-runs included
	Statuses []gate.Status // latest of each context
}

// ActionsApp is the slug of the app of GitHub Actions.
const ActionsApp = "github-actions"

// actionsJob matches the details URL of a GitHub Actions job.
var actionsJob = lazyregexp.New(`/actions/runs/([0-9]{1,18})(?:/jobs?/([0-9]{1,18}))?`)

func checkRunFrom(c *gh.CheckRun) CheckRun {
	out := CheckRun{
		ID: c.GetID(), Name: c.GetName(), AppID: c.GetApp().GetID(), AppSlug: c.GetApp().GetSlug(),
		Status: c.GetStatus(), Conclusion: c.GetConclusion(),
		URL: c.GetHTMLURL(), DetailsURL: c.GetDetailsURL(),
		StartedAt: c.GetStartedAt().Time, CompletedAt: c.GetCompletedAt().Time, SuiteID: c.GetCheckSuite().GetID(),
		OutputTitle: c.GetOutput().GetTitle(), OutputSummary: c.GetOutput().GetSummary(),
		AnnotationsCount: c.GetOutput().GetAnnotationsCount(),
	}
	out.setJob()
	return out
}

// setJob sets the workflow run and job of a check run. A job's check run has the job's id. Check runs that a workflow
// creates through the API also belong to the app of GitHub Actions, and are no jobs: GitHub adds them to the first
// suite of that app on the commit, and the workflow chooses their details URL.
// https://github.com/bencherdev/bencher/issues/536
func (c *CheckRun) setJob() {
	if c.AppSlug != ActionsApp {
		return
	}
	if run, job := actionsIDs(c.DetailsURL); job == c.ID {
		c.RunID, c.JobID = run, job
	}
}

// actionsIDs returns the workflow run and the job in a details URL, each 0 if it is missing.
func actionsIDs(details string) (run, job int64) {
	m := actionsJob.FindStringSubmatch(details)
	if m == nil {
		return 0, 0
	}
	run, _ = strconv.ParseInt(m[1], 10, 64) // at most 18 digits
	job, _ = strconv.ParseInt(m[2], 10, 64) // "" is 0
	return run, job
}

// Checks reads what judges commits: the check runs and statuses on them, the pull request that they are in, and what
// usually reports near its base branch.
type Checks struct {
	*conn
	actions   *Actions
	rules     *Rules
	histories *expiring.Map[string, History]   // by branch
	apps      *expiring.Map[string, hiddenApp] // of checks whose suites GraphQL shows without one, by name
	bodies    *expiring.Map[int, string]       // of pull requests that were just read
}

// Of reads all check runs and commit statuses of a commit.
// https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference
// https://docs.github.com/en/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
func (s *Checks) Of(ctx context.Context, sha string) (CheckSet, error) {
	var set CheckSet
	for c, err := range s.list(ctx, sha, gh.ListCheckRunsOptions{Filter: gh.String("all")}) {
		if err != nil {
			return CheckSet{}, s.app.failure(err, "read the checks of %s in %s", shortSHA(sha), s.repo)
		}
		set.Runs = append(set.Runs, checkRunFrom(c))
	}
	var err error
	set.Statuses, err = s.statuses(ctx, sha)
	return set, err
}

// list iterates over the check runs of a commit.
func (s *Checks) list(ctx context.Context, sha string, opts gh.ListCheckRunsOptions) iter.Seq2[*gh.CheckRun, error] {
	return eachPage(func(o gh.ListOptions) ([]*gh.CheckRun, *gh.Response, error) {
		opts.ListOptions = o
		got, resp, err := s.gh.Checks.ListCheckRunsForRef(ctx, s.repo.Owner, s.repo.Name, sha, &opts)
		if err != nil {
			return nil, resp, err
		}
		return got.CheckRuns, resp, nil
	})
}

// statuses reads the latest status of each context of a commit.
func (s *Checks) statuses(ctx context.Context, sha string) (all []gate.Status, err error) {
	for status, err := range eachPage(func(o gh.ListOptions) ([]*gh.RepoStatus, *gh.Response, error) {
		got, resp, err := s.gh.Repositories.GetCombinedStatus(ctx, s.repo.Owner, s.repo.Name, url.PathEscape(sha), &o)
		if err != nil {
			return nil, resp, err
		}
		return got.Statuses, resp, nil
	}) {
		if err != nil {
			return nil, s.app.failure(err, "read the statuses of %s in %s", shortSHA(sha), s.repo)
		}
		all = append(all, gate.Status{
			Context: status.GetContext(), AppID: statusApp(status.GetAvatarURL()), State: status.GetState(),
			Description: status.GetDescription(), URL: status.GetTargetURL(), UpdatedAt: status.GetUpdatedAt().Time,
		})
	}
	return all, nil
}

// appAvatar matches the avatar URL of an app. A combined status has nothing else about its creator.
var appAvatar = lazyregexp.New(`/in/([0-9]{1,18})(?:\?|$)`)

// statusApp returns an app's id from its avatar URL, or 0 for a user's.
func statusApp(avatar string) int64 {
	m := appAvatar.FindStringSubmatch(avatar)
	if m == nil {
		return 0
	}
	id, _ := strconv.ParseInt(m[1], 10, 64) // at most 18 digits
	return id
}

// Annotations reads the annotations of a check run.
// https://docs.github.com/en/rest/checks/runs#list-check-run-annotations
func (s *Checks) Annotations(ctx context.Context, run int64) ([]view.Annotation, error) {
	var out []view.Annotation
	for a, err := range eachPage(func(o gh.ListOptions) ([]*gh.CheckRunAnnotation, *gh.Response, error) {
		return s.gh.Checks.ListCheckRunAnnotations(ctx, s.repo.Owner, s.repo.Name, run, &o)
	}) {
		if err != nil {
			return nil, s.app.failure(err, "read annotations of check run %d in %s", run, s.repo)
		}
		out = append(out, view.Annotation{Path: a.GetPath(), Line: a.GetStartLine(), Level: a.GetAnnotationLevel(),
			Title: a.GetTitle(), Message: a.GetMessage()})
	}
	return out, nil
}

// shortSHA returns the first 8 digits of a commit's hash, for people.
func shortSHA(sha string) string { return sha[:min(len(sha), 8)] }
