package github

import (
	"context"
	"time"

	"github.com/sia-bot/sia/sia"
)

// The parts of the query for what may close an issue. REST lacks the links between issues and pull requests, and who
// edited an issue's text.
// https://docs.github.com/en/graphql/reference/objects#issue
const (
	closingSelection = `issue(number: $number) {
			body
			editor { ... on User { login databaseId } }
			closedByPullRequestsReferences(first: 20) {
				nodes { number url state headRefName isCrossRepository repository { nameWithOwner } }
			}
			timelineItems(itemTypes: [REOPENED_EVENT], last: 1) { nodes { ... on ReopenedEvent { createdAt } } }
		}`
	sinceSelection = ` object(expression: $commit) {
			... on Commit { history(first: 100, since: $since) { nodes { oid url message committedDate } } }
		}`
)

// ClosingPull is an open pull request that closes an issue when it is merged.
type ClosingPull struct {
	Number int
	URL    string
	Branch string // in the issue's repository; empty: in another one
	Repo   string // owner/name of its base repository
}

// Closing is what may have resolved an issue, and its text.
type Closing struct {
	Body   string
	Editor sia.Actor     // who edited Body last; zero: nobody, or no user
	Pulls  []ClosingPull // at most 20
	// since the given time and the last reopening of the issue; newest first, out of the last 100
	Commits []sia.Commit
}

// closingAnswer is the repository in the response to the query.
type closingAnswer struct {
	commitRulesAnswer
	Issue *struct {
		Body   string `json:"body"`
		Editor struct {
			Login      string `json:"login"`
			DatabaseID int64  `json:"databaseId"`
		} `json:"editor"`
		Pulls struct {
			Nodes []struct {
				Number            int    `json:"number"`
				URL               string `json:"url"`
				State             string `json:"state"`
				HeadRefName       string `json:"headRefName"`
				IsCrossRepository bool   `json:"isCrossRepository"`
				Repository        struct {
					NameWithOwner string `json:"nameWithOwner"`
				} `json:"repository"`
			} `json:"nodes"`
		} `json:"closedByPullRequestsReferences"`
		Reopened struct {
			Nodes []struct {
				CreatedAt time.Time `json:"createdAt"`
			} `json:"nodes"`
		} `json:"timelineItems"`
	} `json:"issue"`
	Object struct {
		History struct {
			Nodes []struct {
				OID           string    `json:"oid"`
				URL           string    `json:"url"`
				Message       string    `json:"message"`
				CommittedDate time.Time `json:"committedDate"`
			} `json:"nodes"`
		} `json:"history"`
	} `json:"object"`
}

// ClosingAt selects an issue and the commits that may close it.
type ClosingAt struct {
	Issue  int
	Commit string    // of the base branch
	Since  time.Time // earlier commits are ignored
	Branch string    // base branch, to read its [Rules.OnCommits] too; "": don't
}

// Closing reads the open pull requests that close an issue, and the commits since a time, in one request. If GitHub
// refuses the query, as an old server may, the result is empty without an error.
func (r *Repo) Closing(ctx context.Context, at ClosingAt) (Closing, error) {
	_, known := r.Rules.commits.Get(at.Branch)
	rules := at.Branch != "" && !known
	got, err := r.askClosing(ctx, at, rules)
	if rules && isRefusedQuery(err) {
		got, err = r.askClosing(ctx, at, false) // it may have refused the rules
	}
	if err != nil {
		failed := r.app.failure(err, "look for what closes issue %s#%d", r.repo, at.Issue)
		if isRefusedQuery(err) {
			r.app.log.WarnContext(ctx, "what closes an issue is not known", "error", failed)
			return Closing{}, nil
		}
		return Closing{}, failed
	}
	return got.closing(at.Since), nil
}

// askClosing sends the query, with or without the branch's rules on commits.
func (r *Repo) askClosing(ctx context.Context, at ClosingAt, rules bool) (*closingAnswer, error) {
	q := r.graphql.query()
	q.values["commit"] = at.Commit
	q.add("$number: Int!", closingSelection, "number", at.Issue)
	q.add("$commit: String!, $since: GitTimestamp!", sinceSelection, "since", at.Since.UTC().Format(time.RFC3339))
	if rules {
		q.add("$ref: String!", commitRulesSelection, "ref", "refs/heads/"+at.Branch)
	}
	got, err := graphqlRepository[closingAnswer](ctx, r.graphql, q)
	if err == nil && got.Issue == nil {
		err = errIncomplete
	}
	if err != nil || !rules {
		return got, err
	}
	commits, err := got.rules()
	if err == nil {
		r.Rules.commits.Put(at.Branch, commits)
	}
	return got, err
}

// closing converts the response, ignoring commits before since.
func (got *closingAnswer) closing(since time.Time) Closing {
	out := Closing{Body: got.Issue.Body,
		Editor: sia.Actor{Login: got.Issue.Editor.Login, ID: got.Issue.Editor.DatabaseID}}
	for _, p := range got.Issue.Pulls.Nodes {
		if p.State != "OPEN" {
			continue
		}
		c := ClosingPull{Number: p.Number, URL: p.URL, Branch: p.HeadRefName, Repo: p.Repository.NameWithOwner}
		if p.IsCrossRepository {
			c.Branch = ""
		}
		out.Pulls = append(out.Pulls, c)
	}
	var reopened time.Time
	for _, x := range got.Issue.Reopened.Nodes {
		reopened = x.CreatedAt
	}
	for _, c := range got.Object.History.Nodes {
		if !c.CommittedDate.Before(since) && c.CommittedDate.After(reopened) {
			out.Commits = append(out.Commits, sia.Commit{SHA: sia.SHA(c.OID), Message: c.Message, URL: c.URL})
		}
	}
	return out
}
