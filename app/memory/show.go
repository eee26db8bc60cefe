package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
)

// Show gives what the memory branch says: of a task, or with issue 0 the lessons
// of the repository, which is named as owner/name. It is read from GitHub, so that
// it is what people see there.
func (b *Branches) Show(ctx context.Context, name string, issue int) (markdown, json []byte, err error) {
	repos, err := b.discover(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	r := repos[0]
	set, err := b.settings.Settings(ctx, r.Installation, r.Repo)
	if err != nil {
		return nil, nil, err
	}
	paths := [2]string{lesson.Path, lesson.JSONPath}
	none := "nothing was learned there yet"
	if issue != 0 {
		paths[0], paths[1] = memory.Paths(sia.Task{Issue: issue})
		none = fmt.Sprintf("there is no memory of issue %d", issue)
	}
	none = fmt.Sprintf("%s on the branch %s of %s", none, set.Memory.Branch, r)
	git := b.mirror(r.Installation, r.Repo)
	head, err := git.Fetch(ctx, set.Memory.Branch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil, nil, &sia.Error{Op: "show memory", Message: none, Permanent: true, Err: err}
	}
	if err != nil {
		return nil, nil, err
	}
	var files [2][]byte
	for i, p := range paths {
		files[i], err = git.ReadFile(ctx, head, p, memoryFileLimit)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, &sia.Error{Op: "show memory", Message: none, Permanent: true, Err: err}
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return files[0], files[1], nil
}
