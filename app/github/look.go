package github

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// judgesFragment is everything that judges a commit. In REST that takes three requests or
// more.
// https://docs.github.com/en/graphql/reference/objects#checksuite
const judgesFragment = `fragment judges on Commit {
	checkSuites(first: 60) {
		pageInfo { hasNextPage }
		nodes {
			databaseId status conclusion
			app { databaseId slug }
			workflowRun { databaseId event createdAt url file { path } workflow { name resourcePath } }
			checkRuns(first: 100, filterBy: {checkType: ALL}) {
				pageInfo { hasNextPage }
				nodes {
					databaseId name status conclusion startedAt completedAt detailsUrl url externalId
					title summary text annotations { totalCount }
				}
			}
		}
	}
	status { contexts { context state description targetUrl createdAt avatarUrl } }
}`

// The parts of the query for a look that are not always wanted: how a pull request can be
// merged, and what judges the commit that it stands on.
// https://docs.github.com/en/graphql/reference/objects#pullrequest
const (
	pullSelection = ` pullRequest(number: $number) {
		isDraft mergeable mergeStateStatus headRefOid baseRef { target { oid } }
		potentialMergeCommit { status { contexts { context state description targetUrl createdAt avatarUrl } } }
	}`
	baseSelection = ` base: object(expression: $base) { ...judges }`
)

// noLookFor is how long GitHub is not asked again for everything at once after it refused.
const noLookFor = 10 * time.Minute

// Mergeability is how a pull request can be merged into its base branch.
type Mergeability struct {
	Base      string // the base branch's head; empty: it is not known
	Conflicts bool   // they can't be merged; false where GitHub is still working it out
	Behind    bool   // a rule wants the branch up to date with its base, and it is not
}

// Look is what a look at a commit shows.
type Look struct {
	Checks         CheckSet
	Workflows      []Workflow // runs of workflows on the commit, where WorkflowsKnown; their newest attempt is 0
	WorkflowsKnown bool
	Merge          Mergeability // zero: without a pull request
	Base           *Look        // of the commit that LookAt.Base names; nil: it was not read
}

// LookAt says what to look at.
type LookAt struct {
	SHA  string
	Pull int    // number of the pull request whose head that is; 0: none
	Base string // the commit that it stands on, where that is wanted as well
}

// Look reads what judges a commit, how its pull request can be merged, and what judges the
// commit that it stands on. It is one request where GitHub answers GraphQL; where it does
// not, or has more than one page to tell, checks and pull request are read over REST, and
// the base is not.
func (r *Repo) Look(ctx context.Context, at LookAt) (Look, error) {
	look, whole, err := r.lookAtOnce(ctx, at)
	if err != nil || whole {
		return look, err
	}
	if look.Checks, err = r.Checks(ctx, at.SHA); err != nil || at.Pull == 0 {
		return Look{Checks: look.Checks}, err
	}
	merge, merged, err := r.mergeability(ctx, at.SHA, at.Pull)
	look.Checks.overrule(merged)
	return Look{Checks: look.Checks, Merge: merge}, err
}

// graphqlConnection is a page of nodes.
type graphqlConnection[T any] struct {
	PageInfo struct {
		HasNextPage bool `json:"hasNextPage"`
	} `json:"pageInfo"`
	Nodes []T `json:"nodes"`
}

type suiteNode struct {
	DatabaseID int64   `json:"databaseId"`
	Status     string  `json:"status"`
	Conclusion *string `json:"conclusion"`
	App        *struct {
		DatabaseID int64  `json:"databaseId"`
		Slug       string `json:"slug"`
	} `json:"app"`
	WorkflowRun *struct {
		DatabaseID int64     `json:"databaseId"`
		Event      string    `json:"event"`
		CreatedAt  time.Time `json:"createdAt"`
		URL        string    `json:"url"`
		File       *struct {
			Path string `json:"path"`
		} `json:"file"`
		Workflow struct {
			Name         string `json:"name"`
			ResourcePath string `json:"resourcePath"`
		} `json:"workflow"`
	} `json:"workflowRun"`
	CheckRuns graphqlConnection[runNode] `json:"checkRuns"`
}

type runNode struct {
	DatabaseID  int64     `json:"databaseId"`
	Name        string    `json:"name"`
	Status      string    `json:"status"`
	Conclusion  *string   `json:"conclusion"`
	StartedAt   time.Time `json:"startedAt"`
	CompletedAt time.Time `json:"completedAt"`
	DetailsURL  string    `json:"detailsUrl"`
	URL         string    `json:"url"`
	ExternalID  string    `json:"externalId"`
	Title       string    `json:"title"`
	Summary     string    `json:"summary"`
	Text        string    `json:"text"`
	Annotations struct {
		TotalCount int `json:"totalCount"`
	} `json:"annotations"`
}

type statusNode struct {
	Contexts []struct {
		Context     string    `json:"context"`
		State       string    `json:"state"`
		Description string    `json:"description"`
		TargetURL   string    `json:"targetUrl"`
		CreatedAt   time.Time `json:"createdAt"`
		AvatarURL   string    `json:"avatarUrl"`
	} `json:"contexts"`
}

type commitNode struct {
	CheckSuites *graphqlConnection[suiteNode] `json:"checkSuites"`
	Status      *statusNode                   `json:"status"`
}

type lookAnswer struct {
	Repository struct {
		Object      *commitNode `json:"object"`
		Base        *commitNode `json:"base"`
		PullRequest *struct {
			IsDraft          bool   `json:"isDraft"`
			Mergeable        string `json:"mergeable"`
			MergeStateStatus string `json:"mergeStateStatus"`
			HeadRefOID       string `json:"headRefOid"`
			BaseRef          *struct {
				Target struct {
					OID string `json:"oid"`
				} `json:"target"`
			} `json:"baseRef"`
			PotentialMergeCommit *struct {
				Status *statusNode `json:"status"`
			} `json:"potentialMergeCommit"`
		} `json:"pullRequest"`
	} `json:"repository"`
}

// lookAtOnce is Look in one request. whole is false where the answer is not all of it.
func (r *Repo) lookAtOnce(ctx context.Context, at LookAt) (look Look, whole bool, err error) {
	if _, refused := r.noLook.get(""); refused {
		return Look{}, false, nil
	}
	variables, selection := "$owner: String!, $name: String!, $commit: String!",
		"object(expression: $commit) { ...judges }"
	vars := map[string]any{"owner": r.repo.Owner, "name": r.repo.Name, "commit": at.SHA}
	if at.Pull != 0 {
		variables, selection, vars["number"] = variables+", $number: Int!", selection+pullSelection, at.Pull
	}
	if at.Base != "" {
		variables, selection, vars["base"] = variables+", $base: String!", selection+baseSelection, at.Base
	}
	query := "query(" + variables + ") { repository(owner: $owner, name: $name) { " + selection + " } } " + judgesFragment
	var got lookAnswer
	err = r.graphql(reading(ctx), query, vars, &got)
	var refusal *graphqlError
	if status := statusOf(err); errors.As(err, &refusal) || status >= 400 && status < 500 {
		r.app.log.DebugContext(ctx, "what judges a commit is read over REST", "error", err)
		r.noLook.put("", true)
		return Look{}, false, nil
	}
	if err != nil {
		return Look{}, false, r.fail(err, "read what judges %s in %s", shortSHA(at.SHA), r.repo)
	}
	if look, whole = got.Repository.Object.look(at.SHA); !whole {
		return Look{}, false, nil
	}
	if base, whole := got.Repository.Base.look(at.Base); whole {
		look.Base = &base
	}
	if p := got.Repository.PullRequest; p != nil && p.HeadRefOID == at.SHA { // else it has not heard of the commit yet
		look.Merge = Mergeability{Conflicts: p.Mergeable == "CONFLICTING",
			Behind: p.MergeStateStatus == "BEHIND"}
		if p.PotentialMergeCommit != nil {
			look.Checks.overrule(p.PotentialMergeCommit.Status.statuses())
		}
		if p.BaseRef != nil {
			look.Merge.Base = p.BaseRef.Target.OID
		}
	}
	return look, true, nil
}

func (n *statusNode) statuses() []Status {
	if n == nil {
		return nil
	}
	var out []Status
	for _, s := range n.Contexts {
		out = append(out, Status{Context: s.Context, AppID: statusApp(s.AvatarURL), State: statusState(s.State),
			Description: s.Description, URL: s.TargetURL, UpdatedAt: s.CreatedAt})
	}
	return out
}

// overrule puts the statuses of a pull request's test merge in the place of those that the
// head has for the same contexts, as branch protection does.
// https://docs.github.com/en/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks
func (s *CheckSet) overrule(merged []Status) {
	s.Statuses = slices.DeleteFunc(s.Statuses, func(h Status) bool {
		return slices.ContainsFunc(merged, func(m Status) bool { return m.Context == h.Context })
	})
	s.Statuses = append(s.Statuses, merged...)
}

// look is what judges a commit; whole is false where that is not all.
func (n *commitNode) look(sha string) (look Look, whole bool) {
	if n == nil || n.CheckSuites == nil || n.CheckSuites.PageInfo.HasNextPage {
		return Look{}, false
	}
	look.WorkflowsKnown = true
	for _, s := range n.CheckSuites.Nodes {
		if s.CheckRuns.PageInfo.HasNextPage {
			return Look{}, false
		}
		look.addSuite(s, sha)
	}
	look.Checks.Statuses = n.Status.statuses()
	return look, true
}

// addSuite adds what a check suite holds. One of GitHub Actions is a run of a workflow,
// whose newest attempt GraphQL does not number.
func (l *Look) addSuite(s suiteNode, sha string) {
	var appID, runID int64
	slug := ""
	if s.App != nil {
		appID, slug = s.App.DatabaseID, s.App.Slug
	}
	if w := s.WorkflowRun; w != nil {
		runID = w.DatabaseID
		path := w.Workflow.ResourcePath // of one that is no file, it tells it from others
		if w.File != nil {
			path = cmp.Or(w.File.Path, path)
		}
		l.Workflows = append(l.Workflows, Workflow{ID: w.DatabaseID, SuiteID: s.DatabaseID, Path: path,
			Name: w.Workflow.Name, Event: w.Event, Status: plainEnum(s.Status), Conclusion: conclusion(s.Conclusion),
			URL: w.URL, CreatedAt: w.CreatedAt})
	} else if slug == ActionsApp && len(s.CheckRuns.Nodes) > 0 {
		l.WorkflowsKnown = false // it is hidden
	}
	for _, c := range s.CheckRuns.Nodes {
		out := CheckRun{ID: c.DatabaseID, Name: c.Name, AppID: appID, AppSlug: slug, HeadSHA: sha,
			ExternalID: c.ExternalID, Status: plainEnum(c.Status), Conclusion: conclusion(c.Conclusion), URL: c.URL,
			DetailsURL: c.DetailsURL, StartedAt: c.StartedAt, CompletedAt: c.CompletedAt, SuiteID: s.DatabaseID,
			OutputTitle: c.Title, OutputSummary: c.Summary, OutputText: c.Text, AnnotationsCount: c.Annotations.TotalCount}
		if slug == ActionsApp {
			out.RunID, out.JobID = actionsIDs(out.DetailsURL)
			out.RunID, out.JobID = cmp.Or(out.RunID, runID), cmp.Or(out.JobID, out.ID)
		}
		l.Checks.Runs = append(l.Checks.Runs, out)
	}
}

// plainEnum spells a value of GraphQL as REST does.
func plainEnum(s string) string { return strings.ToLower(s) }

func conclusion(s *string) string {
	if s == nil {
		return ""
	}
	return plainEnum(*s)
}

// statusState spells a commit status's state as REST does. One that is expected has not
// been set.
func statusState(s string) string {
	if s == "EXPECTED" {
		return "pending"
	}
	return plainEnum(s)
}

// mergeability reads how a pull request can be merged, and the statuses of its test merge.
// https://docs.github.com/en/rest/pulls/pulls#get-a-pull-request
func (r *Repo) mergeability(ctx context.Context, sha string, number int) (Mergeability, []Status, error) {
	got, _, err := r.gh.PullRequests.Get(ctx, r.repo.Owner, r.repo.Name, number)
	if err := whole(err, got.GetNumber()); err != nil {
		return Mergeability{}, nil, r.fail(err, "read pull request %s#%d", r.repo, number)
	}
	if got.GetHead().GetSHA() != sha {
		return Mergeability{}, nil, nil // it has not heard of the commit yet
	}
	m := Mergeability{Conflicts: got.Mergeable != nil && !*got.Mergeable, Behind: got.GetMergeableState() == "behind"}
	if got.GetMergeCommitSHA() == "" {
		return m, nil, nil
	}
	statuses, err := r.statuses(ctx, got.GetMergeCommitSHA())
	return m, statuses, err
}
