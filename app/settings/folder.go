package settings

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/gitops"
)

// fileLimit bounds the bytes that are read of a file of a folder.
const fileLimit = 64 << 10

// folder is what was read of a folder of a commit.
type folder struct {
	files map[string][]byte // by path; one of more than fileLimit bytes has fileLimit+1
	left  string            // the first path that was left out, because there are too many; empty: none was
}

// gitFolder reads those of the files below a folder of a commit that are wanted, the first most of them.
func gitFolder(
	ctx context.Context, mirror *gitops.Repo, sha, dir string, wanted func(path string) bool, most int,
) (folder, error) {
	files, err := mirror.Files(ctx, sha, dir)
	if err != nil {
		return folder{}, err
	}
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = file.Path
	}
	return readFolder(paths, wanted, most, func(path string) ([]byte, error) {
		return mirror.ReadFile(ctx, sha, path, fileLimit)
	})
}

// readFolder reads those of the paths that are wanted, the first most of them by name.
func readFolder(
	paths []string, wanted func(path string) bool, most int, read func(path string) ([]byte, error),
) (f folder, err error) {
	paths = slices.DeleteFunc(paths, func(path string) bool { return !wanted(path) })
	slices.Sort(paths)
	if len(paths) > most {
		paths, f.left = paths[:most], paths[most]
	}
	f.files = map[string][]byte{}
	for _, path := range paths {
		b, err := read(path)
		switch {
		case errors.Is(err, gitops.ErrTooLarge) || errors.Is(err, github.ErrTooLarge):
			f.files[path] = make([]byte, fileLimit+1)
		case errors.Is(err, fs.ErrNotExist): // a link, or a submodule
		case err != nil:
			return folder{}, err
		default:
			f.files[path] = b
		}
	}
	return f, nil
}
