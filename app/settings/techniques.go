package settings

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/technique"
)

// maxTechniques is the maximum number of a repository's techniques.
const maxTechniques = 50

// Techniques returns the techniques that a task can use: the built-in ones, and the repository's own from its base
// branch, at the base of the task's last attempt, or else at the branch's current head. It omits invalid files, which
// the warning names.
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
	own, err := gitFolder(ctx, repo, sha, technique.Dir, isTechnique, maxTechniques)
	if err != nil {
		return nil, "", err
	}
	var faults []string
	for _, name := range slices.Sorted(maps.Keys(own.files)) {
		if len(own.files[name]) > fileLimit {
			faults = append(faults, fmt.Sprintf("%s has more than %d KiB", name, fileLimit>>10))
			delete(own.files, name)
		}
	}
	if own.firstOmitted != "" {
		faults = append(faults, fmt.Sprintf("%s and what follows it: a repository can have %d techniques", own.firstOmitted,
			maxTechniques))
	}
	library, broken := technique.LoadLibrary(own.files)
	for _, err := range broken {
		faults = append(faults, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if len(faults) > 0 {
		warning = "Left out, because it can't be read: " + strings.Join(faults, "; ")
	}
	return library, warning, nil
}

// isTechnique reports whether a path is that of a technique.
func isTechnique(name string) bool {
	return strings.HasPrefix(name, technique.Dir+"/") && strings.HasSuffix(name, ".md")
}
