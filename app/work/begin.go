package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// begin reads the issue before an attempt starts: somebody may have closed it, removed the label or asked to stop, and
// the delivery of that event may be lost. Then it reads settings and base.
func (w *startWorker) begin(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if halted, err := w.pauseIfHalted(ctx, t, f); err != nil || halted {
		return sia.Done{}, err
	}
	issue, err := w.Looker.Issue(ctx, t)
	if err != nil {
		return nil, err
	}
	if t, err = w.Store.Task(ctx, t.ID); err != nil { // Issue may have updated its repository
		return nil, err
	}
	if err := w.saveQuiet(ctx, t, issue); err != nil {
		return nil, err
	}
	if err := w.checkBranch(ctx, t); err != nil {
		return nil, err
	}
	now, err := w.Store.Task(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if _, waited := now.Pending[f.Key]; !waited {
		return sia.Done{}, nil // the events found have changed the plan
	}
	t = now
	sha, err := w.mirror(t).Fetch(ctx, t.BaseBranch)
	if errors.Is(err, gitops.ErrNoBranch) {
		if t.BaseBranch, err = w.newBase(ctx, t); err != nil {
			return nil, err
		}
		sha, err = w.mirror(t).Fetch(ctx, t.BaseBranch)
	}
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil, &sia.Error{Op: "begin", Message: fmt.Sprintf("the base branch `%s` does not exist, so there is "+
			"nothing to start from", t.BaseBranch), Permanent: true, Err: err}
	}
	if err != nil {
		return nil, err
	}
	set, err := w.Settings.At(ctx, t.Installation, t.Repo, t.BaseBranch, sha)
	if err != nil {
		return nil, err
	}
	unread, err := w.Memory.Read(ctx, t.Installation, t.Repo, set.Memory.Branch, sia.Actor{})
	if err != nil {
		return nil, err
	}
	broken, err := w.Settings.ReadPolicies(ctx, t.Installation, t.Repo, t.BaseBranch, sha)
	if err != nil {
		return nil, err
	}
	warnings := slices.DeleteFunc([]string{set.Warning, unread, broken}, func(s string) bool { return s == "" })
	access, err := w.repo(t).Permission(ctx, issue.Author)
	if err != nil {
		return nil, err
	}
	done, editor, err := w.findObstacle(ctx, t, issue, sha)
	if err != nil {
		return nil, err
	}
	if editor, err = w.permitted(ctx, t, editor, set.Settings); err != nil {
		return nil, err
	}
	replaces := ""
	if editor.Login != "" {
		replaces = sia.Brief{}.Hash(t.Title, t.Body)
	}
	commits, err := w.branch.commitRules(ctx, t, sha)
	if err != nil {
		return nil, err
	}
	if t.BaseSHA != "" && t.Head != "" && (!t.Brief.FromBase || t.Kept != "") {
		base, err := w.headBase(ctx, t)
		if err != nil {
			return nil, err
		}
		sha = string(cmp.Or(base, t.BaseSHA)) // the branch is based on it: its changes are measured against it
	}
	t.Title, t.Body = issue.Title, issue.Body
	if err := w.Lessons.TakeShared(ctx, t.Repo.ID); err != nil {
		return nil, err
	}
	told, withheld, err := w.Lessons.ForAttempt(ctx, t, set.Settings)
	if err != nil {
		return nil, err
	}
	tools, err := w.Lessons.ForTools(ctx, t, set.Settings, slices.Concat(told, withheld)...)
	if err != nil {
		return nil, err
	}
	asked, err := w.readRequests(ctx, t, set.Settings)
	if err != nil {
		return nil, err
	}
	forecast, err := w.forecast(ctx, t, issue.Labels)
	if err != nil {
		return nil, err
	}
	return sia.Begun{
		Settings: set.Settings, SettingsFrom: set.From, Warning: strings.Join(warnings, "\n\n"),
		BaseBranch: t.BaseBranch, BaseSHA: sia.SHA(sha), Title: issue.Title, Body: issue.Body, Author: issue.Author,
		Access: access, Labels: issue.Labels,
		Lessons: lesson.Refs(told), Withheld: lesson.IDs(withheld), ToolLessons: tools, Already: done, Asked: asked,
		Commits: commits, Forecast: forecast, EditedBy: editor, Replaces: replaces,
	}, nil
}

// newBase returns the base branch of a task whose base branch is gone: perhaps it was renamed. Then its pull requests
// follow, and no event reports it.
// https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-branches-in-your-repository/renaming-a-branch
// https://github.com/orgs/community/discussions/200245
func (w *startWorker) newBase(ctx context.Context, t sia.Task) (string, error) {
	if t.Pull.Number != 0 {
		p, err := w.repo(t).Pull(ctx, t.Pull.Number)
		return cmp.Or(p.BaseRef, t.BaseBranch), err
	}
	repo, err := w.repo(t).Repository(ctx)
	return cmp.Or(repo.DefaultBranch, t.BaseBranch), err
}

// permitted returns who edited the issue if the edit counts, like that of a delivery.
func (w *startWorker) permitted(
	ctx context.Context, t sia.Task, editor sia.Actor, set sia.Settings,
) (sia.Actor, error) {
	if editor.Login == "" {
		return editor, nil
	}
	has, err := w.repo(t).Permission(ctx, editor.Login)
	if err != nil || !sia.Covers(has, set.Access.CommandPermission) {
		return sia.Actor{}, err
	}
	return editor, nil
}

// pauseIfHalted pauses the task if its repository, its installation or the whole server is paused. It reports whether
// it did.
func (w *startWorker) pauseIfHalted(ctx context.Context, t sia.Task, f sia.Effect) (bool, error) {
	h, halted, err := w.Store.HaltOver(ctx, t.Installation, t.Repo.ID)
	if err != nil || !halted {
		return false, err
	}
	_, err = w.Store.Apply(ctx, t.ID, sia.Event{ID: "halted/" + f.Key, At: w.Now(), By: h.Actor(),
		Fact: sia.PauseAsked{Reason: h.Reason, Scope: h.Scope}})
	return true, err
}

// checkBranch records what somebody else pushed to the task's branch. This comes before the attempt is paid for: an
// attempt with another start could not be pushed.
func (w *startWorker) checkBranch(ctx context.Context, t sia.Task) error {
	for _, kind := range t.Pending {
		if kind == sia.DoAttempt || kind == sia.DoPush || kind == sia.DoUpdate || kind == sia.DoTakeBack {
			return nil // the branch's head may be SIA's own commit
		}
	}
	head, err := w.mirror(t).Head(ctx, t.Branch)
	if err != nil || sia.SHA(head) == t.Head {
		return err
	}
	_, err = w.Store.Apply(ctx, t.ID, sia.Event{
		ID: fmt.Sprintf("look/%s/branch/v%d", t.ID, t.Version), At: w.Now(), Fact: sia.BranchMoved{SHA: sia.SHA(head)},
	})
	return err
}
