package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// findObstacle returns a reason not to work on the issue: open issues that must be resolved first, or something that
// resolves it without SIA. The latter takes one request and is an open pull request, other than the task's own, that
// closes the issue, or a commit of the base branch since the issue was opened. For a restarted task, commits count
// since the restart. It returns nil if there is no such reason.
//
// It returns who wrote the issue's present text too, if that differs from the task's and the response says so.
func (w *startWorker) findObstacle(
	ctx context.Context, t sia.Task, issue github.Issue, base string,
) (*sia.Already, sia.Actor, error) {
	var editor sia.Actor
	if issue.Title != t.Title || issue.Body != t.Body {
		t.Edited = &sia.Edit{} // the delivery of the edit is delayed or lost
	}
	if !t.ChecksIfResolved() {
		return nil, editor, nil
	}
	if first, err := w.openDependencies(ctx, t, issue); err != nil || first != nil {
		return first, editor, err
	}
	since := issue.CreatedAt
	if t.Earlier > 0 {
		since = t.StartedAt
	}
	found, err := w.repo(t).Closing(ctx,
		github.ClosingAt{Issue: t.Issue, Commit: base, Since: since, Branch: t.BaseBranch})
	if err != nil {
		return nil, editor, err
	}
	if issue.Body != t.Body && issue.Title == t.Title && found.Body == issue.Body {
		editor = found.Editor
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
		return &sia.Already{URL: p.URL, What: "pull request " + name + ", which is open, closes this issue"}, editor, nil
	}
	if c, ok := sia.ClosingCommit(found.Commits, t.Repo, t.Issue); ok {
		return &sia.Already{URL: c.URL, What: fmt.Sprintf("commit %s on `%s` closes this issue", c.SHA.Short(),
			t.BaseBranch)}, editor, nil
	}
	return nil, editor, nil
}

// openDependencies returns the open issues that must be resolved before this one: those that block it, and its
// sub-issues. The issue contains their number; only blocking issues are requested.
func (w *startWorker) openDependencies(ctx context.Context, t sia.Task, issue github.Issue) (*sia.Already, error) {
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

// maxNamedBlockers is the maximum number of blocking issues that are named.
const maxNamedBlockers = 3

func blockedBy(repo sia.Repo, open []github.Blocker) *sia.Already {
	var names []string
	for _, b := range open[:min(len(open), maxNamedBlockers)] {
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
