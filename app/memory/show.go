package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
)

// Show returns the memory of a task, or for issue 0 the lessons of the repository, which is named as owner/name. It
// reads from GitHub, so the result is what users see there.
func (b *Branches) Show(ctx context.Context, name string, issue int) (markdown, json []byte, err error) {
	repos, err := b.discover(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	paths := []string{lesson.Path, lesson.JSONPath}
	none := "nothing was learned there yet"
	if issue != 0 {
		markdown, json := memory.Paths(sia.Task{Issue: issue})
		paths, none = []string{markdown, json}, fmt.Sprintf("there is no memory of issue %d", issue)
	}
	branch, err := b.branchName(ctx, repos[0])
	if err != nil {
		return nil, nil, err
	}
	files, err := b.files(ctx, repos[0], branch, paths...)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, &sia.Error{Op: "show memory", Permanent: true, Err: err,
			Message: fmt.Sprintf("%s on the branch %s of %s", none, branch, repos[0])}
	}
	if err != nil {
		return nil, nil, err
	}
	return files[0], files[1], nil
}

// files reads files of a memory branch. The error wraps [fs.ErrNotExist] if the branch or one of the files does not
// exist.
func (b *Branches) files(
	ctx context.Context, r store.Repository, branch string, paths ...string,
) (files [][]byte, err error) {
	git := b.mirror(r.Installation, r.Repo)
	head, err := git.Fetch(ctx, branch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil, errors.Join(fs.ErrNotExist, err)
	}
	for _, p := range paths {
		if err == nil {
			var file []byte
			file, err = git.ReadFile(ctx, head, p, memoryFileLimit)
			files = append(files, file)
		}
	}
	return files, err
}
