package testrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
)

// seedNear begins a folder for dependencies that is not there yet with the newest of nearly the same, so that only what
// differs is fetched. Files of packages are linked, for those are replaced as a whole; others are copied.
func (r *Runner) seedNear(s Suite) error {
	kind := strings.TrimRight(s.Near, "0123456789abcdef")
	to := r.deps(s.Near)
	if !r.Near || kind == "" || exists(to) {
		return nil
	}
	deps := r.deps("")
	all, err := fs.Glob(os.DirFS(deps), kind+"*") // the folder's own name is no pattern
	if err != nil {
		return fmt.Errorf("look for dependencies of nearly the same: %w", err)
	}
	from, newest := "", time.Time{}
	for _, name := range all {
		dir := filepath.Join(deps, name)
		if st, err := os.Stat(filepath.Join(dir, s.Whole)); err == nil && st.ModTime().After(newest) {
			from, newest = dir, st.ModTime()
		}
	}
	if from == "" {
		return nil
	}
	err = filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		at := filepath.Join(to, strings.TrimPrefix(p, from))
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(at, 0o755)
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(p)
			return errors.Join(err, os.Symlink(target, at))
		}
		if strings.Count(strings.TrimPrefix(p, from), "/") > 2 {
			return os.Link(p, at)
		}
		b, err := os.ReadFile(p)
		return errors.Join(err, os.WriteFile(at, b, 0o644))
	})
	if err != nil {
		return sandbox.RemoveAll(to) // all of it is fetched then
	}
	return nil
}
