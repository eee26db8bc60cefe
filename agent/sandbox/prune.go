package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// Prune removes what a folder of caches no longer needs, of the files and folders in it that match a pattern as of
// [path.Match]. unneeded decides about each by how many were used after it, and by how long it was not used. Their
// modification times tell. A folder that is not there has nothing.
func Prune(dir, pattern string, now time.Time, unneeded func(newer int, unused time.Duration) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for what is no longer needed: %w", err)
	}
	var all []fs.FileInfo
	for _, e := range entries {
		if is, err := path.Match(pattern, e.Name()); err != nil || !is {
			continue
		}
		if info, err := e.Info(); err == nil { // else it is gone
			all = append(all, info)
		}
	}
	slices.SortStableFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var failed error
	for i, info := range all {
		if unneeded(i, now.Sub(info.ModTime())) {
			failed = errors.Join(failed, RemoveAll(filepath.Join(dir, info.Name())))
		}
	}
	return failed
}
