package github

import (
	"context"
	"slices"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

// historyTTL is how long to cache the history near a branch: a repository's checks change seldom. The final check
// before a task passes does not use the cache.
const historyTTL = time.Hour

// How much history to read: enough to tell regular checks from those that reported once.
const (
	historyCommits = 3
	historyMerged  = 5
)

// History lists the checks that reported on commits near a branch, without skipped ones. It includes SIA's own check
// runs.
type History struct {
	Known  bool
	Base   [][]sia.Reported // of the branch's last commits, newest first
	Merged [][]sia.Reported // of the heads of the pull requests that were last merged into it, newest first
}

// The parts of the query for the history near a branch.
// https://docs.github.com/en/graphql/reference/objects#statuscheckrollup
const (
	branchSelection = ` branch: ref(qualifiedName: $branch) {
		target { ... on Commit { history(first: 3) { nodes { ...reports } } } }
	}`
	mergedSelection = ` merged: pullRequests(
		states: MERGED, baseRefName: $base_name, first: 5, orderBy: {field: UPDATED_AT, direction: DESC}
	) { nodes { number commits(last: 1) { nodes { commit { ...reports } } } } }`
	rollupFragment = `fragment reports on Commit { id statusCheckRollup { contexts(first: 100) ` + contextNodes + ` } }`
	contextNodes   = `{
		totalCount pageInfo { hasNextPage endCursor }
		nodes {
			__typename
			... on CheckRun {
				databaseId name conclusion detailsUrl checkSuite { app { slug } workflowRun { event file { path } } }
			}
			... on StatusContext { context }
		}
	}`
	contextsPage = "... on Commit { statusCheckRollup { page: contexts(first: 100, after: $after%[1]d) " + contextNodes +
		" } }"
)

// namedCommit is a commit with its author and its checks, if they were selected.
type namedCommit struct {
	ID                string      `json:"id"`
	OID               string      `json:"oid"`
	Author            *authorNode `json:"author"`
	StatusCheckRollup *struct {
		Contexts graphqlConnection[rollupNode] `json:"contexts"`
	} `json:"statusCheckRollup"`
}

// rollupNode is a check run or a status.
type rollupNode struct {
	DatabaseID int64  `json:"databaseId"`
	Name       string `json:"name"`
	Conclusion string `json:"conclusion"`
	DetailsURL string `json:"detailsUrl"`
	Context    string `json:"context"` // of a status
	CheckSuite *struct {
		App *struct {
			Slug string `json:"slug"`
		} `json:"app"`
		WorkflowRun *struct {
			Event string `json:"event"`
			File  *struct {
				Path string `json:"path"`
			} `json:"file"`
		} `json:"workflowRun"`
	} `json:"checkSuite"`
}

type branchNode struct {
	Target *struct {
		History struct {
			Nodes []namedCommit `json:"nodes"`
		} `json:"history"`
	} `json:"target"`
}

type mergedNode struct {
	Nodes []struct {
		Commits lastCommits `json:"commits"`
	} `json:"nodes"`
}

// nearBranch is the response to the selections of [graphqlQuery.addHistory].
type nearBranch struct {
	Branch *branchNode `json:"branch"`
	Merged *mergedNode `json:"merged"`
}

// commits returns the commits on the branch and those of pull requests.
func (n nearBranch) commits() (base, merged []namedCommit) {
	if n.Branch != nil && n.Branch.Target != nil {
		base = n.Branch.Target.History.Nodes
	}
	if n.Merged != nil {
		for _, p := range n.Merged.Nodes {
			for _, c := range p.Commits.Nodes {
				merged = append(merged, c.Commit)
			}
		}
	}
	return base, merged
}

// next returns the next pages of what reported on each commit.
func (n nearBranch) next() (pages []pageAfter) {
	for _, c := range slices.Concat(n.commits()) {
		if c.StatusCheckRollup != nil {
			pages = append(pages, c.StatusCheckRollup.Contexts.next(c.ID, contextsPage, 100)...)
		}
	}
	return pages
}

// addHistory selects the checks on commits near a branch.
func (q *graphqlQuery) addHistory(branch string) {
	q.add("$branch: String!", branchSelection, "branch", "refs/heads/"+branch)
	q.add("$base_name: String!", mergedSelection, "base_name", branch)
	q.fragments = append(q.fragments, rollupFragment)
}

// historyOf converts the response, which has pull requests at least, even if none is merged, and caches the result.
func (s *Checks) historyOf(branch string, n nearBranch) (h History, err error) {
	if n.Merged == nil {
		return h, errIncomplete
	}
	base, merged := n.commits()
	if h.Base, err = s.reportedOnEach(base); err == nil {
		h.Merged, err = s.reportedOnEach(merged)
	}
	if h.Known = err == nil; h.Known {
		s.histories.Put(branch, h)
	}
	return h, err
}

func (s *Checks) reportedOnEach(commits []namedCommit) (all [][]sia.Reported, err error) {
	for _, c := range commits {
		if rollup := c.StatusCheckRollup; rollup != nil && !rollup.Contexts.isWhole() {
			return nil, errIncomplete
		}
		all = append(all, s.reportedBy(c))
	}
	return all, nil
}

// reportedBy returns the checks of a commit, without those of apps that are hidden and that no look has named.
func (s *Checks) reportedBy(c namedCommit) []sia.Reported {
	if c.StatusCheckRollup == nil {
		return nil
	}
	var all []sia.Reported
	for _, n := range c.StatusCheckRollup.Contexts.Nodes {
		if n.Conclusion == "SKIPPED" {
			continue
		}
		r := sia.Reported{Name: n.Context}
		if suite := n.CheckSuite; suite != nil {
			r.Name = n.Name
			if suite.App != nil {
				r.App = suite.App.Slug
			} else if app, known := s.apps.Get(n.Name); known {
				r.App = app.slug
			} else {
				continue
			}
			run := CheckRun{ID: n.DatabaseID, AppSlug: r.App, DetailsURL: n.DetailsURL}
			if run.setJob(); run.RunID != 0 && suite.WorkflowRun != nil {
				r.Event = suite.WorkflowRun.Event
				if suite.WorkflowRun.File != nil {
					r.Workflow = suite.WorkflowRun.File.Path
				}
			}
		}
		all = append(all, r)
	}
	return all
}

// fetchHistory reads the history near a branch, without the cache.
func (s *Checks) fetchHistory(ctx context.Context, branch string) (History, error) {
	if s.graphql.available() {
		q := s.graphql.query()
		q.addHistory(branch)
		if got, err := graphqlWhole[nearBranch](ctx, s.graphql, q); err == nil {
			if h, err := s.historyOf(branch, *got); err == nil {
				return h, nil
			}
		}
	}
	return s.historyOverREST(ctx, branch)
}

// history returns the cached history near a branch, or reads it over REST.
func (s *Checks) history(ctx context.Context, branch string) (h History, err error) {
	if branch == "" {
		return h, nil
	}
	if known, ok := s.histories.Get(branch); ok {
		return known, nil
	}
	return s.historyOverREST(ctx, branch)
}

// historyOverREST reads the history near a branch, commit by commit.
// https://docs.github.com/en/rest/commits/commits#list-commits
// https://docs.github.com/en/rest/pulls/pulls#list-pull-requests
func (s *Checks) historyOverREST(ctx context.Context, branch string) (h History, err error) {
	commits, _, err := s.gh.Repositories.ListCommits(ctx, s.repo.Owner, s.repo.Name,
		&gh.CommitsListOptions{SHA: branch, ListOptions: gh.ListOptions{PerPage: historyCommits}})
	if err != nil {
		return h, s.app.failure(err, "read the last commits of %s in %s", branch, s.repo)
	}
	for _, c := range commits[:min(len(commits), historyCommits)] {
		got, err := s.reportedOn(ctx, c.GetSHA())
		if err != nil {
			return h, err
		}
		h.Base = append(h.Base, got)
	}
	pulls, _, err := s.gh.PullRequests.List(ctx, s.repo.Owner, s.repo.Name, &gh.PullRequestListOptions{State: "closed",
		Base: branch, Sort: "updated", Direction: "desc", ListOptions: gh.ListOptions{PerPage: 2 * historyMerged}})
	if err != nil {
		return h, s.app.failure(err, "read the last merged pull requests of %s", s.repo)
	}
	for _, p := range pulls {
		if p.MergedAt == nil || len(h.Merged) == historyMerged {
			continue
		}
		got, err := s.reportedOn(ctx, p.GetHead().GetSHA())
		if err != nil {
			return h, err
		}
		h.Merged = append(h.Merged, got)
	}
	h.Known = true
	s.histories.Put(branch, h)
	return h, nil
}

// reportedOn returns the checks that reported on a commit. It omits jobs of GitHub Actions if the app can't see their
// workflow runs, since their events are unknown then.
func (s *Checks) reportedOn(ctx context.Context, sha string) ([]sia.Reported, error) {
	set, err := s.Of(ctx, sha)
	if err != nil {
		return nil, err
	}
	workflows, _, err := s.actions.Workflows(ctx, sha)
	if err != nil {
		return nil, err
	}
	var all []sia.Reported
	for _, c := range set.Runs {
		is := sia.Reported{Name: c.Name, App: c.AppSlug}
		of := slices.IndexFunc(workflows, func(w gate.Workflow) bool { return w.ID == c.RunID })
		if of >= 0 {
			is.Workflow, is.Event = workflows[of].Path, workflows[of].Event
		}
		if c.Conclusion != "skipped" && (c.RunID == 0 || of >= 0) {
			all = append(all, is)
		}
	}
	for _, status := range set.Statuses {
		all = append(all, sia.Reported{Name: status.Context})
	}
	return all, nil
}
