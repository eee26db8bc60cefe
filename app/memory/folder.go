package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
)

// maxFolderFiles limits the files of a folder of the memory branch that are read.
const maxFolderFiles = 5000

// ReadFolder returns the files below a folder of a repository's memory branch, by path; none if the branch or folder
// does not exist.
func (b *Branches) ReadFolder(ctx context.Context, r store.Repository, folder string) (map[string][]byte, error) {
	branch, err := b.branchName(ctx, r)
	if err != nil {
		return nil, err
	}
	git := b.mirror(r.Installation, r.Repo)
	head, err := git.Fetch(ctx, branch)
	if errors.Is(err, gitops.ErrNoBranch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	files, err := git.Files(ctx, head, folder)
	if err != nil {
		return nil, err
	}
	if len(files) > maxFolderFiles {
		return nil, fmt.Errorf("read %s of the memory branch: it has more than %d files", folder, maxFolderFiles)
	}
	out := map[string][]byte{}
	for _, f := range files {
		if !f.Mode.IsRegular() {
			continue
		}
		if out[f.Path], err = git.ReadFile(ctx, head, f.Path, memoryFileLimit); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// WriteFiles commits files to a repository's memory branch, with secrets masked, and returns the branch's head. Edits
// of users there are imported at the next read.
func (b *Branches) WriteFiles(
	ctx context.Context, r store.Repository, message string, files map[string][]byte,
) (sha string, err error) {
	branch, err := b.branchName(ctx, r)
	if err != nil {
		return "", err
	}
	bot, err := b.github.Author(ctx, b.now())
	if err != nil {
		return "", err
	}
	return b.commit(ctx, r.Installation, r.Repo, gitops.FilesSpec{
		Branch: branch, Author: bot, Message: messagePrefix + message,
		Update: func(func(string) ([]byte, error)) (map[string][]byte, error) {
			masked := map[string][]byte{}
			for p, content := range files {
				masked[p] = []byte(b.secrets.Mask(strings.ToValidUTF8(string(content), "\uFFFD")))
			}
			return masked, nil
		},
	})
}

func (b *Branches) branchName(ctx context.Context, r store.Repository) (string, error) {
	set, err := b.settings.Settings(ctx, r.Installation, r.Repo)
	return set.Memory.Branch, err
}
