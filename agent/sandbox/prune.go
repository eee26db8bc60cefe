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

// Prune removes unneeded files and folders from a cache folder, of those that match a pattern of [path.Match]. unneeded
// decides for each by the number of more recently used ones and by the time since its last use, as of its modification
// time. It is no error if the folder does not exist.
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
		if info, err := e.Info(); err == nil { // otherwise it was removed
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
