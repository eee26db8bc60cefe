package settings

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/gitops"
)

// fileLimit is the maximum size of a file in a folder, in bytes.
const fileLimit = 64 << 10

// folder is the content of a folder at a commit.
type folder struct {
	files        map[string][]byte // by path; fileLimit+1 bytes of a larger one
	firstOmitted string            // first path over the limit on files; empty: none
}

// gitFolder reads the files in a folder at a commit for which include is true, up to limit files.
func gitFolder(
	ctx context.Context, mirror *gitops.Repo, sha, dir string, include func(path string) bool, limit int,
) (folder, error) {
	files, err := mirror.Files(ctx, sha, dir)
	if err != nil {
		return folder{}, err
	}
	paths := make([]string, len(files))
	for i, file := range files {
		paths[i] = file.Path
	}
	return readFolder(paths, include, limit, func(path string) ([]byte, error) {
		return mirror.ReadFile(ctx, sha, path, fileLimit)
	})
}

// readFolder reads the paths for which include is true, in order, up to limit files.
func readFolder(
	paths []string, include func(path string) bool, limit int, read func(path string) ([]byte, error),
) (f folder, err error) {
	paths = slices.DeleteFunc(paths, func(path string) bool { return !include(path) })
	slices.Sort(paths)
	if len(paths) > limit {
		paths, f.firstOmitted = paths[:limit], paths[limit]
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
