package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
)

// already finds what resolves the issue without SIA, with one request: an open pull
// request that closes it and is not the task's own, or a commit of the base branch since
// it was opened. Who starts a task again knows what is on the base by then. nil: nothing
// is known to.
func (w *Worker) already(ctx context.Context, t sia.Task, issue github.Issue, base string) (*sia.Already, error) {
	if issue.Title != t.Title || issue.Body != t.Body {
		t.Edited = &sia.Edit{} // the delivery that said so is still under way, or lost
	}
	if !t.LooksForDone() {
		return nil, nil
	}
	since := issue.CreatedAt
	if t.Earlier > 0 {
		since = t.StartedAt
	}
	found, err := w.repo(t).Closing(ctx, t.Issue, base, since)
	if err != nil {
		return nil, err
	}
	for _, p := range found.Pulls {
		here := strings.EqualFold(p.Repo, t.Repo.String())
		if here && (p.Number == t.Pull.Number || p.Branch == t.Branch) {
			continue
		}
		name := fmt.Sprintf("#%d", p.Number)
		if !here {
			name = p.Repo + name
		}
		return &sia.Already{URL: p.URL, What: "pull request " + name + ", which is open, closes this issue"}, nil
	}
	if c, ok := sia.ClosingCommit(found.Commits, t.Repo, t.Issue); ok {
		return &sia.Already{URL: c.URL, What: fmt.Sprintf("commit %s on `%s` closes this issue", c.SHA.Short(),
			t.BaseBranch)}, nil
	}
	return nil, nil
}
