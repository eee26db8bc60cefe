package gitops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"
)

// openClone opens the clone that contains a folder: it searches the parents for .git, as git does. root is the folder
// of the work tree or of the bare repository.
// https://git-scm.com/docs/gitrepository-layout
func openClone(dir string) (repo *filesystem.Storage, root string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		for _, folder := range []string{filepath.Join(at, ".git"), at} {
			found, err := gitFolder(folder)
			if err != nil {
				return nil, "", err
			}
			if found != "" {
				repo, err = openGitFolder(found)
				return repo, at, err
			}
		}
		if at == filepath.Dir(at) {
			return nil, "", fmt.Errorf("%s is not in a git repository", dir)
		}
	}
}

// gitFolder returns the folder that holds a repository: the named one, or the one that a file of that name points to,
// as in linked work trees and submodules. "" means that there is none.
func gitFolder(name string) (string, error) {
	st, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if st.IsDir() {
		for _, inside := range []string{"HEAD", "refs"} {
			if _, err := os.Stat(filepath.Join(name, inside)); err != nil {
				return "", nil //nolint:nilerr // it is some other folder
			}
		}
		return name, nil
	}
	to, err := readPointer(name, "gitdir: ")
	if err != nil || to == "" {
		return "", err
	}
	return to, nil
}

// maxPointer bounds a file that names a folder, in bytes.
const maxPointer = 8 << 10

// readPointer reads a file that names a folder, absolute or relative to the file's folder.
func readPointer(name, prefix string) (string, error) {
	st, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if !st.Mode().IsRegular() || st.Size() > maxPointer {
		return "", fmt.Errorf("%s does not say where the repository is", name)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	to, ok := strings.CutPrefix(strings.TrimSpace(string(b)), prefix)
	if !ok || to == "" {
		return "", fmt.Errorf("%s does not say where the repository is", name)
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(name), to)
	}
	return to, nil
}

// openGitFolder opens the folder that holds a repository.
func openGitFolder(dir string) (*filesystem.Storage, error) {
	var files billy.Filesystem = osfs.New(dir)
	common, err := readPointer(filepath.Join(dir, "commondir"), "")
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		files = dotgit.NewRepositoryFilesystem(files, osfs.New(common))
	}
	return filesystem.NewStorageWithOptions(files, cache.NewObjectLRUDefault(),
		filesystem.Options{KeepDescriptors: true, AlternatesFS: osfs.New("/")}), nil
}
