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

// seedNear initializes a missing dependencies folder with the newest similar one, so that only the differences are
// fetched. It hard-links files of packages, since they are replaced as a whole, and copies the others.
func (r *Runner) seedNear(s Suite) error {
	kind := strings.TrimRight(s.Near, "0123456789abcdef")
	to := r.deps(s.Near)
	if !r.Near || kind == "" || exists(to) {
		return nil
	}
	deps := r.deps("")
	all, err := fs.Glob(os.DirFS(deps), kind+"*") // the folder's own name is not part of the pattern
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
		return sandbox.RemoveAll(to) // everything is fetched then
	}
	return nil
}
