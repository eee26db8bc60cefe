package settings

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
)

// ownBranch refuses to keep memory on a branch that holds something else: the default
// branch, or any that is there and has no memory on it.
func (f *Files) ownBranch(
	ctx context.Context, installation int64, repo sia.Repo, found config.Effective,
) (*invalid.File, error) {
	branch := found.Settings.Memory.Branch
	if branch == sia.DefaultSettings().Memory.Branch {
		return nil, nil //nolint:nilnil // there is nothing wrong with it
	}
	on, err := f.github.Repo(installation, repo).Repository(ctx)
	if err != nil {
		return nil, err
	}
	why := "is the default branch"
	if branch != on.DefaultBranch {
		if why, err = f.holds(ctx, installation, repo, branch); err != nil || why == "" {
			return nil, err
		}
	}
	return &invalid.File{Name: settingsFile, Problems: []invalid.Problem{{
		Path: "memory.branch", Line: found.Lines["memory.branch"], Column: 1,
		Message: fmt.Sprintf("`%s` %s; memory needs a branch of its own, such as sia/memory", branch, why),
	}}}, nil
}

// memoryPaths begin the paths of the files that SIA keeps on a memory branch.
var memoryPaths = []string{".sia/tasks/", ".sia/lessons.md", ".sia/transcripts/", ".sia/metrics/"}

// holds says what a branch holds that is no memory; empty where it is a memory branch, or
// none yet.
func (f *Files) holds(ctx context.Context, installation int64, repo sia.Repo, branch string) (string, error) {
	mirror := f.git.Repo(f.github.Repo(installation, repo).Remote())
	sha, err := mirror.Fetch(ctx, branch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	files, err := mirror.Files(ctx, sha, "")
	if err != nil || len(files) == 0 {
		return "", err
	}
	memory := slices.ContainsFunc(files, func(file gitops.File) bool {
		return slices.ContainsFunc(memoryPaths, func(p string) bool { return strings.HasPrefix(file.Path, p) })
	})
	if memory {
		return "", nil
	}
	return "is there already and holds something else", nil
}
