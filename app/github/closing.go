package github

import (
	"context"
	"errors"
	"time"

	"github.com/sia-bot/sia/sia"
)

// closingQuery asks for everything that may close an issue, at once. REST has the links
// between issues and pull requests nowhere.
// https://docs.github.com/en/graphql/reference/objects#issue
const closingQuery = `query($owner: String!, $name: String!, $number: Int!, $commit: String!, $since: GitTimestamp!) {
	repository(owner: $owner, name: $name) {
		issue(number: $number) {
			closedByPullRequestsReferences(first: 20) {
				nodes { number url state headRefName isCrossRepository repository { nameWithOwner } }
			}
			timelineItems(itemTypes: [REOPENED_EVENT], last: 1) { nodes { ... on ReopenedEvent { createdAt } } }
		}
		object(expression: $commit) {
			... on Commit { history(first: 100, since: $since) { nodes { oid url message committedDate } } }
		}
	}
}`

// ClosingPull is an open pull request that closes an issue when it is merged.
type ClosingPull struct {
	Number int
	URL    string
	Branch string // in the issue's repository; empty: it is elsewhere
	Repo   string // owner/name of the repository that it would be merged in
}

// Closing is what may resolve an issue.
type Closing struct {
	Pulls []ClosingPull // at most 20
	// since the time asked for, and after the issue was last reopened; newest first, of the last 100
	Commits []sia.Commit
}

// Closing reads which open pull requests close an issue, and a commit's history since a
// time, in one request. What GitHub refuses to answer, as an old server may, is not known
// and no error.
func (r *Repo) Closing(ctx context.Context, number int, commit string, since time.Time) (Closing, error) {
	var got struct {
		Repository struct {
			Issue struct {
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
		} `json:"repository"`
	}
	err := r.graphql(reading(ctx), closingQuery, map[string]any{
		"owner": r.repo.Owner, "name": r.repo.Name, "number": number,
		"commit": commit, "since": since.UTC().Format(time.RFC3339),
	}, &got)
	if err != nil {
		failed := r.fail(err, "look for what closes issue %s#%d", r.repo, number)
		var refusal *graphqlError
		if status := statusOf(err); errors.As(err, &refusal) || status >= 400 && status < 500 {
			r.app.log.WarnContext(ctx, "what closes an issue is not known", "error", failed)
			return Closing{}, nil
		}
		return Closing{}, failed
	}
	var out Closing
	for _, p := range got.Repository.Issue.Pulls.Nodes {
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
	for _, x := range got.Repository.Issue.Reopened.Nodes {
		reopened = x.CreatedAt
	}
	for _, c := range got.Repository.Object.History.Nodes {
		if !c.CommittedDate.Before(since) && c.CommittedDate.After(reopened) {
			out.Commits = append(out.Commits, sia.Commit{SHA: sia.SHA(c.OID), Message: c.Message, URL: c.URL})
		}
	}
	return out, nil
}
