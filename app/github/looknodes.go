package github

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
)

type suiteNode struct {
	ID         string  `json:"id"`
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
		UpdatedAt  time.Time `json:"updatedAt"`
		URL        string    `json:"url"`
		File       *struct {
			Path           string `json:"path"`
			RepositoryName string `json:"repositoryName"`
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
	Title       string    `json:"title"`
	Summary     string    `json:"summary"`
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
	ID          string                         `json:"id"`
	CheckSuites *graphqlConnection[*suiteNode] `json:"checkSuites"`
	Status      json.RawMessage                `json:"status"` // a [statusNode]; null: none was set
}

// next returns the next pages of the check suites and of the check runs of each.
func (n *commitNode) next() []pageAfter {
	if n == nil || n.CheckSuites == nil {
		return nil
	}
	pages := n.CheckSuites.next(n.ID, suitesPage, 60)
	for _, s := range n.CheckSuites.Nodes {
		if s != nil {
			pages = append(pages, s.CheckRuns.next(s.ID, runsPage, 100)...)
		}
	}
	return pages
}

// pullNode is a pull request.
type pullNode struct {
	State            string     `json:"state"`
	ClosedAt         *time.Time `json:"closedAt"`
	Mergeable        string     `json:"mergeable"`
	MergeStateStatus string     `json:"mergeStateStatus"`
	IsDraft          bool       `json:"isDraft"`
	ReviewDecision   string     `json:"reviewDecision"` // empty: none is wanted
	HeadRefOID       string     `json:"headRefOid"`
	BaseRefName      string     `json:"baseRefName"`
	Body             *string    `json:"body"`
	BaseRef          *struct {
		Target struct {
			OID string `json:"oid"`
		} `json:"target"`
	} `json:"baseRef"`
	Commits              lastCommits `json:"commits"`
	PotentialMergeCommit *commitNode `json:"potentialMergeCommit"`
}

// lastCommits holds the last commit of a pull request.
type lastCommits struct {
	Nodes []struct {
		Commit namedCommit `json:"commit"`
	} `json:"nodes"`
}

// authorNode is the author of a commit. GraphQL has no user for a bot, which is identified by its name.
// https://docs.github.com/en/graphql/reference/objects#gitactor
type authorNode struct {
	Name string `json:"name"`
	User *struct {
		Login      string `json:"login"`
		DatabaseID int64  `json:"databaseId"`
	} `json:"user"`
}

func (a *authorNode) actor() sia.Actor {
	switch {
	case a != nil && a.User != nil && a.User.Login != "":
		return sia.Actor{Login: a.User.Login, ID: a.User.DatabaseID}
	case a != nil && strings.HasSuffix(a.Name, "[bot]"):
		return sia.Actor{Login: a.Name}
	}
	return sia.Actor{Unknown: true}
}

// lookAnswer is the repository in the response to the query.
type lookAnswer struct {
	NameWithOwner string `json:"nameWithOwner"`

	Object      *commitNode `json:"object"`
	Base        *commitNode `json:"base"`
	Earlier0    *commitNode `json:"earlier0"`
	Earlier1    *commitNode `json:"earlier1"`
	Earlier2    *commitNode `json:"earlier2"`
	Earlier3    *commitNode `json:"earlier3"`
	Earlier4    *commitNode `json:"earlier4"`
	PullRequest *pullNode   `json:"pullRequest"`
	nearBranch
}

// next returns the next pages of all connections.
func (a *lookAnswer) next() []pageAfter {
	pages := append(a.nearBranch.next(), append(a.Object.next(), a.Base.next()...)...)
	for _, n := range a.earlierNodes() {
		pages = append(pages, n.next()...)
	}
	if a.PullRequest != nil {
		pages = append(pages, a.PullRequest.PotentialMergeCommit.next()...)
	}
	return pages
}

func (a *lookAnswer) earlierNodes() [MaxEarlier]*commitNode {
	return [...]*commitNode{a.Earlier0, a.Earlier1, a.Earlier2, a.Earlier3, a.Earlier4}
}

// earlier returns the looks at the first n earlier heads, or nil if one is incomplete.
func (a *lookAnswer) earlier(n int) []Look {
	all := a.earlierNodes()
	var out []Look
	for _, node := range all[:n] {
		look, complete := node.look()
		if !complete {
			return nil
		}
		out = append(out, look)
	}
	return out
}

// statuses returns the statuses of a commit. complete is false if the response lacks them.
func (n *commitNode) statuses() (out []gate.Status, complete bool) {
	var status *statusNode
	if err := json.Unmarshal(n.Status, &status); err != nil || status == nil {
		return nil, err == nil
	}
	for _, s := range status.Contexts {
		out = append(out, gate.Status{Context: s.Context, AppID: statusApp(s.AvatarURL), State: statusState(s.State),
			Description: s.Description, URL: s.TargetURL, UpdatedAt: s.CreatedAt})
	}
	return out, status.Contexts != nil
}

// look returns the checks of a commit. complete is false if the response lacks a part.
func (n *commitNode) look() (look Look, complete bool) {
	if n == nil || !n.CheckSuites.isWhole() {
		return Look{}, false
	}
	look.WorkflowsKnown = true
	for _, s := range n.CheckSuites.Nodes {
		if s == nil || !s.CheckRuns.isWhole() {
			return Look{}, false
		}
		look.addSuite(s)
	}
	look.Checks.Statuses, complete = n.statuses()
	return look, complete
}

// addSuite adds the check runs of a check suite. A suite of GitHub Actions is a workflow run; GraphQL does not have
// the number of its latest attempt.
func (l *Look) addSuite(s *suiteNode) {
	var appID int64
	slug := ""
	if s.App != nil {
		appID, slug = s.App.DatabaseID, s.App.Slug
	}
	if w := s.WorkflowRun; w != nil {
		path, repository := w.Workflow.ResourcePath, "" // identifies a workflow that is no file
		if _, generated, is := strings.Cut(path, "/actions/workflows/"); is && w.Event == "dynamic" {
			path = "dynamic/" + generated // as REST names it
		}
		if w.File != nil {
			path, repository = cmp.Or(w.File.Path, path), w.File.RepositoryName
		}
		l.Workflows = append(l.Workflows, gate.Workflow{ID: w.DatabaseID, SuiteID: s.DatabaseID, Path: path,
			Repository: repository, Name: w.Workflow.Name, Event: w.Event, Status: plainEnum(s.Status),
			Conclusion: conclusion(s.Conclusion), URL: w.URL, StartedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt})
	}
	for _, c := range s.CheckRuns.Nodes {
		out := CheckRun{ID: c.DatabaseID, Name: c.Name, AppID: appID, AppSlug: slug, Status: plainEnum(c.Status),
			Conclusion: conclusion(c.Conclusion), URL: c.URL,
			DetailsURL: c.DetailsURL, StartedAt: c.StartedAt, CompletedAt: c.CompletedAt, SuiteID: s.DatabaseID,
			OutputTitle: c.Title, OutputSummary: c.Summary, AnnotationsCount: c.Annotations.TotalCount}
		if out.setJob(); out.RunID != 0 && s.WorkflowRun == nil {
			l.WorkflowsKnown = false // the workflow run is hidden
		}
		l.Checks.Runs = append(l.Checks.Runs, out)
	}
}

// plainEnum converts a value of GraphQL to REST's spelling.
func plainEnum(s string) string { return strings.ToLower(s) }

func conclusion(s *string) string {
	if s == nil {
		return ""
	}
	return plainEnum(*s)
}

// statusState converts the state of a commit status to REST's spelling. An expected one has not been set.
func statusState(s string) string {
	if s == "EXPECTED" {
		return "pending"
	}
	return plainEnum(s)
}
