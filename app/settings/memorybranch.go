package settings

import (
	"context"
	"errors"
	"fmt"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/memory"
)

// checkMemoryBranch rejects a memory branch that has other content: the default branch, or an existing one without
// memory.
func (f *Files) checkMemoryBranch(
	ctx context.Context, installation int64, repo sia.Repo, found config.Effective,
) (*invalid.File, error) {
	branch := found.Settings.Memory.Branch
	if branch == sia.DefaultSettings().Memory.Branch {
		return nil, nil //nolint:nilnil // the default is always valid
	}
	on, err := f.github.Repo(installation, repo).Repository(ctx)
	if err != nil {
		return nil, err
	}
	why := "is the default branch"
	if branch != on.DefaultBranch {
		if why, err = f.otherContent(ctx, installation, repo, branch); err != nil || why == "" {
			return nil, err
		}
	}
	return &invalid.File{Name: settingsFile, Problems: []invalid.Problem{{
		Path: "memory.branch", Line: found.Lines["memory.branch"], Column: 1,
		Message: fmt.Sprintf("`%s` %s; memory needs a branch of its own, such as sia/memory", branch, why),
	}}}, nil
}

// otherContent describes the content of a branch that is no memory, or returns "" if it is a memory branch or does
// not exist.
func (f *Files) otherContent(ctx context.Context, installation int64, repo sia.Repo, branch string) (string, error) {
	mirror := f.git.Repo(f.github.Repo(installation, repo).Remote())
	sha, err := mirror.Fetch(ctx, branch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	err = mirror.CheckHolds(ctx, sha, memory.BranchPaths())
	if errors.Is(err, gitops.ErrOtherContent) {
		return "is there already and holds something else", nil
	}
	return "", err
}
