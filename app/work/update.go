package work

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// maxConflicts is the maximum number of conflicting files that are reported.
const maxConflicts = 50

// update merges the base branch into the task's branch. If they conflict, nothing is pushed: the next attempt gets both
// sides. GitHub may say that they conflict although the branch contains the base.
func (w *branchWorker) update(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	out := sia.Updated{From: f.SHA}
	if f.SHA != t.Head {
		return out, nil // somebody else has pushed
	}
	onto, err := w.updateCommit(ctx, t, f)
	if errors.Is(err, gitops.ErrNoBranch) {
		out.Refused = "the base branch does not exist any more"
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Onto = sia.SHA(onto)
	merged, err := w.mergeBase(ctx, t, string(t.Head), onto, f.At)
	if err != nil {
		return nil, err
	}
	if out.Conflicts = conflicts(merged); len(out.Conflicts) > 0 {
		return out, nil
	}
	if merged.SHA == string(t.Head) {
		out.Contained = true
		return out, nil
	}
	on, err := w.pushCommit(ctx, t, onto, merged.SHA, string(t.Head))
	// A rule may allow no merge commits on the branch. A person can update it in another way.
	var rejected *gitops.RejectedError
	if refused, ok := parseRefusal(err); ok {
		out.Refused = refused.Reason
		return out, nil
	} else if errors.As(err, &rejected) && !rejected.IsQueued() {
		out.Refused = "GitHub refused the push: " + rejected.Reason
		return out, nil
	}
	var moved *gitops.LeaseError
	if errors.As(err, &moved) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.SHA, out.Warning = sia.SHA(on.sha), on.warning
	return out, nil
}

// textOnto stores the key of an attempt's last update and the base commit that it merges.
const textOnto = "onto"

// updateCommit returns the commit of the base branch that an update merges. If the update is repeated after a crash, it
// merges the same commit, even if the base has moved, and finds its own merge on the branch.
func (w *branchWorker) updateCommit(ctx context.Context, t sia.Task, f sia.Effect) (string, error) {
	kept, err := w.Store.Text(ctx, t.ID, f.Attempt, textOnto)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	key, sha, _ := strings.Cut(kept, " ")
	if key == f.Key && w.mirror(t).FetchCommit(ctx, sha) == nil { // otherwise the base was reset
		return sha, nil
	}
	if sha, err = w.mirror(t).Fetch(ctx, t.BaseBranch); err != nil {
		return "", err
	}
	return sha, w.Store.SaveText(ctx, t.ID, f.Attempt, textOnto, f.Key+" "+sha)
}

// mergeBase merges a commit of the base branch into one of the task's branch, without pushing. It is reproducible: the
// same merge makes the same commit.
func (w *branchWorker) mergeBase(
	ctx context.Context, t sia.Task, ours, onto string, at time.Time,
) (gitops.Merged, error) {
	bot, err := w.author(ctx)
	if err != nil {
		return gitops.Merged{}, err
	}
	bot.When = at
	merged, err := w.mirror(t).Merge(ctx, string(t.BaseSHA), ours, onto,
		gitops.CommitSpec{Message: render.MergeMessage(t), Author: bot, Committer: bot, Trailers: w.trailers(t, bot)},
		gitops.MergeLabels{Ours: t.Branch, Theirs: t.BaseBranch})
	if err != nil {
		return gitops.Merged{}, fmt.Errorf("merge %s into %s: %w", t.BaseBranch, t.Branch, err)
	}
	return merged, nil
}

func conflicts(m gitops.Merged) []sia.Conflict {
	var out []sia.Conflict
	for _, c := range m.Conflicts[:min(len(m.Conflicts), maxConflicts)] {
		out = append(out, sia.Conflict{Path: c.Path, What: string(c.Kind)})
	}
	return out
}

// startPoint is the commit with an attempt's initial files, and the parents of the attempt's commit.
type startPoint struct {
	commit  string
	parents []string // parents of a merge that the attempt completes; empty: commit alone
	open    []string // files with conflict markers
}

// startPoint returns where the attempt begins: at start, or at the merge of the base into it, with both sides of
// conflicts.
func (w *branchWorker) startPoint(ctx context.Context, t sia.Task, start string) (startPoint, error) {
	if t.Merging == nil {
		return startPoint{commit: start}, nil
	}
	merged, err := w.mergeBase(ctx, t, start, string(t.Merging.Onto), t.Attempt().StartedAt)
	if err != nil {
		return startPoint{}, err
	}
	b := startPoint{commit: merged.SHA, parents: []string{start, string(t.Merging.Onto)}}
	for _, c := range merged.Conflicts {
		b.open = append(b.open, c.Path)
	}
	return b, nil
}
