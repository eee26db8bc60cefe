package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

func itoa(n int) string { return strconv.Itoa(n) }

// plainRef matches branch names that git always accepts.
var plainRef = regexp.MustCompile(`^refs/heads(/[A-Za-z0-9_-][A-Za-z0-9_.-]*[A-Za-z0-9_-]|/[A-Za-z0-9_-])+$`)

// setHere is SetRef without git; done is false if git is needed: packed refs, unusual names, unknown commits.
func (g *Store) setHere(dir, ref, sha, old string) (done bool, err error) {
	if _, err := os.Stat(filepath.Join(dir, "packed-refs")); err == nil || !plainRef.MatchString(ref) ||
		strings.Contains(ref, "..") || strings.Contains(ref+"/", ".lock/") || sha == "" || !g.Known(dir, sha) {
		return false, nil
	}
	path := filepath.Join(dir, filepath.FromSlash(ref))
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrNotExist) {
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
			return false, nil // git has the better error
		}
		lock, err = os.OpenFile(path+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return false, nil // git waits for the lock, and has the better error
	}
	defer os.Remove(path + ".lock")
	defer lock.Close()
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, nil // a folder
	}
	if at := strings.TrimSpace(string(now)); at != old {
		return true, fmt.Errorf("git update-ref: %s is at %q, and %q was expected", ref, at, old)
	}
	if _, err := lock.WriteString(sha + "\n"); err != nil {
		return true, err
	}
	if err := lock.Close(); err != nil {
		return true, err
	}
	return true, os.Rename(path+".lock", path)
}

// refsHere are all branches and tags; false if git is needed.
func (g *Store) refsHere(dir string) (map[string]string, bool) {
	if _, err := os.Stat(filepath.Join(dir, "packed-refs")); err == nil {
		return nil, false
	}
	all := map[string]string{}
	for _, kind := range []string{"refs/heads", "refs/tags"} {
		err := filepath.WalkDir(filepath.Join(dir, kind), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(path, ".lock") {
				return err
			}
			text, err := os.ReadFile(path)
			sha := strings.TrimSpace(string(text))
			if err == nil && !wholeSHA.MatchString(sha) {
				err = fmt.Errorf("%s is no plain ref", path)
			}
			if rel, relErr := filepath.Rel(dir, path); relErr == nil {
				all[filepath.ToSlash(rel)] = sha
			}
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false
		}
	}
	return all, true
}
