package settings

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

const techniqueLimit = 64 << 10

// Techniques gives the techniques that a task can use: those that ship with SIA, and the
// repository's own from its base branch, as they were when the task's last attempt began,
// or as they are when none has. A broken file is left out, and the warning says so.
func (f *Files) Techniques(ctx context.Context, t sia.Task) (_ *technique.Library, warning string, err error) {
	repo := f.git.Repo(f.github.Repo(t.Installation, t.Repo).Remote())
	sha := string(t.BaseSHA)
	if sha == "" {
		sha, err = repo.Fetch(ctx, t.BaseBranch)
	} else {
		err = repo.FetchCommit(ctx, sha)
	}
	if err != nil {
		return nil, "", err
	}
	files, err := repo.Files(ctx, sha, technique.Dir)
	if err != nil {
		return nil, "", err
	}
	own := map[string][]byte{}
	var faults []string
	for _, file := range files {
		if !strings.HasPrefix(file.Path, technique.Dir+"/") || !strings.HasSuffix(file.Path, ".md") {
			continue
		}
		b, err := repo.ReadFile(ctx, sha, file.Path, techniqueLimit)
		switch {
		case errors.Is(err, gitops.ErrTooLarge):
			faults = append(faults, fmt.Sprintf("%s has more than %d KiB", file.Path, techniqueLimit>>10))
		case errors.Is(err, fs.ErrNotExist): // a submodule
		case err != nil:
			return nil, "", err
		default:
			own[file.Path] = b
		}
	}
	library, broken := technique.LoadLibrary(own)
	for _, err := range broken {
		faults = append(faults, err.Error())
	}
	if len(faults) > 0 {
		warning = "Left out, because it can't be read: " + strings.Join(faults, "; ")
	}
	return library, warning, nil
}
