package replay

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
)

// Source is a repository whose history is made again: a clone on this machine, or a repository of a server. Its
// settings and policies are those of today.
type Source struct {
	Name     string // owner/name, or the name of the clone's folder
	Folder   *Folder
	Settings sia.Settings
	Server   Server                           // nil: a clone on this machine
	Report   func(format string, args ...any) // prints progress

	history *gitops.History // nil: not fetched yet
}

// Server is a repository that a server knows.
type Server interface {
	Memory
	History(ctx context.Context) (*gitops.History, error) // fetches it; the caller closes it
	Policies(ctx context.Context) (*policies.Set, error)
	Issue(ctx context.Context, number int) (title, text string, err error)
}

// originName matches owner/name at the end of an address such as git@github.com:owner/name.git.
var originName = regexp.MustCompile(`[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$`)

// OpenClone opens the clone that dir is or lies in, with its folder below data. The settings are those of the commit
// that is checked out. report prints progress.
func OpenClone(
	ctx context.Context, dir, data string, report func(format string, args ...any),
) (_ *Source, err error) {
	s := &Source{Settings: sia.DefaultSettings(), Report: report}
	if s.history, err = gitops.OpenHistory(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	dir = s.history.Dir()
	s.Name = strings.TrimSuffix(filepath.Base(dir), ".git")
	if origin := s.history.Origin(); strings.Contains(origin, "://") || strings.Contains(origin, "@") {
		if m := originName.FindStringSubmatch(origin); m != nil {
			s.Name = m[1]
		}
	}
	kept := s.Name
	if !strings.Contains(kept, "/") { // only the path distinguishes repositories of the same name
		sum := sha256.Sum256([]byte(dir))
		kept += "-" + hex.EncodeToString(sum[:4])
	}
	if s.Folder, err = OpenFolder(data, kept); err != nil {
		return nil, err
	}
	found, err := s.checkedOut(ctx, func(p string) bool { return p == config.Path })
	if b, ok := found[config.Path]; err == nil && ok {
		s.Settings, err = config.Parse(config.Path, b)
	}
	return s, err
}

// Close closes the history.
func (s *Source) Close() error {
	if s.history == nil {
		return nil
	}
	return s.history.Close()
}

// History returns the repository's history. That of a server's repository is fetched. [Source.Close] closes it.
func (s *Source) History(ctx context.Context) (_ *gitops.History, err error) {
	if s.history == nil {
		s.Report("%s: fetching the history", s.Name)
		s.history, err = s.Server.History(ctx)
	}
	return s.history, err
}

// Tasks returns the tasks in the folder and on the memory branch; the folder takes precedence. It reports tasks that
// can't be read.
func (s *Source) Tasks(ctx context.Context) ([]Task, error) {
	all, broken, err := s.Folder.Tasks()
	if err != nil {
		return nil, err
	}
	var remembered []Task
	var unread []string
	if s.Server != nil {
		remembered, unread, err = Remembered(ctx, s.Server)
	} else {
		remembered, unread, err = tasksIn(ctx, s.history, s.Settings.Memory.Branch)
	}
	if err != nil {
		return nil, fmt.Errorf("read tasks from the memory branch: %w", err)
	}
	for _, b := range append(broken, unread...) {
		s.Report("left out: %s", b)
	}
	for _, t := range remembered {
		t.Remembered = true
		all = append(all, t)
	}
	slices.SortStableFunc(all, func(a, b Task) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b Task) bool { return a.ID == b.ID }), nil
}

// Policies returns the policies that apply in the repository: a server's, or the shipped ones with those of the commit
// that is checked out in a clone.
func (s *Source) Policies(ctx context.Context) (*policies.Set, error) {
	if s.Server != nil {
		return s.Server.Policies(ctx)
	}
	found, err := s.checkedOut(ctx, policies.IsFile)
	if err != nil {
		return nil, err
	}
	set := policies.ShippedSet()
	for name, b := range found {
		p, err := policies.Parse(name, b)
		if err != nil {
			return nil, err
		}
		set = set.With(policies.Repository, p)
	}
	return set, nil
}

// maxSettings is the maximum size of a file with settings or a policy, in bytes.
const maxSettings = 1 << 20

// checkedOut returns the wanted files of the commit that is checked out in the clone, by path.
func (s *Source) checkedOut(ctx context.Context, wanted func(path string) bool) (map[string][]byte, error) {
	head, err := s.history.Head()
	if err != nil {
		return nil, err
	}
	return filesAt(ctx, s.history, head, maxSettings, wanted)
}

// filesAt returns the wanted files of a commit, by path, without symbolic links. The empty commit has none. A file with
// more than most bytes is an error.
func filesAt(
	ctx context.Context, h *gitops.History, commit string, most int64, wanted func(path string) bool,
) (map[string][]byte, error) {
	if commit == "" {
		return nil, nil
	}
	all, err := h.Files(ctx, commit)
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for p, f := range all {
		if !f.Link && wanted(p) {
			if found[p], err = h.Blob(f.ID, most); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
