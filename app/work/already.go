package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// already finds what speaks against working on the issue: issues that are to be resolved
// first, or what resolves it without SIA. The latter takes one request: an open pull
// request that closes it and is not the task's own, or a commit of the base branch since
// it was opened. Who starts a task again knows what is on the base by then. nil: nothing
// is known to.
func (w *startWorker) already(ctx context.Context, t sia.Task, issue github.Issue, base string) (*sia.Already, error) {
	if issue.Title != t.Title || issue.Body != t.Body {
		t.Edited = &sia.Edit{} // the delivery that said so is still under way, or lost
	}
	if !t.ChecksIfResolved() {
		return nil, nil
	}
	if first, err := w.waitsFor(ctx, t, issue); err != nil || first != nil {
		return first, err
	}
	since := issue.CreatedAt
	if t.Earlier > 0 {
		since = t.StartedAt
	}
	found, err := w.repo(t).Closing(ctx,
		github.ClosingAt{Issue: t.Issue, Commit: base, Since: since, Branch: t.BaseBranch})
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

// waitsFor finds the open issues that are to be resolved before this one: those that block it, and
// those that it is made of. The issue says how many there are; only what blocks it is asked for.
func (w *startWorker) waitsFor(ctx context.Context, t sia.Task, issue github.Issue) (*sia.Already, error) {
	if issue.Blockers > 0 {
		open, err := w.repo(t).OpenBlockers(ctx, t.Issue)
		if err != nil {
			return nil, err
		}
		if len(open) > 0 {
			return blockedBy(t.Repo, open), nil
		}
	}
	if issue.OpenSubs == 0 {
		return nil, nil
	}
	what := fmt.Sprintf("%d of its %d sub-issues are open", issue.OpenSubs, issue.SubIssues)
	if issue.OpenSubs == 1 {
		what = fmt.Sprintf("one of its %d sub-issues is open", issue.SubIssues)
	}
	if issue.SubIssues == 1 {
		what = "its sub-issue is open"
	}
	return &sia.Already{URL: issue.URL, What: what}, nil
}

// namedBlockers is how many issues that block another are named.
const namedBlockers = 3

func blockedBy(repo sia.Repo, open []github.Blocker) *sia.Already {
	var names []string
	for _, b := range open[:min(len(open), namedBlockers)] {
		name := fmt.Sprintf("#%d", b.Number)
		if b.Repo != "" && !strings.EqualFold(b.Repo, repo.String()) {
			name = b.Repo + name
		}
		names = append(names, name)
	}
	if more := len(open) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	what := "issue " + names[0] + ", which is open, blocks this issue"
	if len(names) > 1 {
		what = "issues " + text.List(names) + ", which are open, block this issue"
	}
	return &sia.Already{URL: open[0].URL, What: what}
}
