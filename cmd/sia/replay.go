package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/config"
)

type replayCmd struct {
	Mine replayMineCmd `cmd:"" help:"Find commits that made tests pass: tasks with a known answer." example:"sia replay mine --repo ../shop"`
	List replayListCmd `cmd:"" help:"List the tasks that were found." example:"sia replay list --repo ../shop"`
	Show replayShowCmd `cmd:"" help:"Show one task." example:"sia replay show 3f2a9c1 --repo ../shop"`
	Run  replayRunCmd  `cmd:"" help:"Have coders do tasks again, and see how they do." example:"sia replay run --repo ../shop"`
}

// replayFlags select the repository and the folder of its replay data.
type replayFlags struct {
	serverFlags `embed:""`
	Repo        string        `help:"A folder with a clone, bare or not, or owner/name of a repository that the server knows." default:"." placeholder:"PATH|OWNER/NAME"`
	TestTimeout time.Duration `help:"How long building and running a commit's tests may take." default:"5m"`
	cli.Format  `embed:""`
}

// replaySource is the repository that a command works on.
type replaySource struct {
	name     string // owner/name, or the folder's
	folder   *replay.Folder
	settings sia.Settings
	server   *app.Repository // nil: a clone on this machine
	clone    *gitops.History // nil: not fetched yet
	closing  []func() error
}

var ownerName = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// open finds the repository. An existing folder takes precedence.
func (f replayFlags) open(e *cli.Env) (*replaySource, error) {
	s := &replaySource{settings: sia.DefaultSettings()}
	if st, err := os.Stat(f.Repo); err == nil && st.IsDir() {
		return s, s.openClone(e, f)
	}
	if !ownerName.MatchString(f.Repo) {
		return nil, fmt.Errorf("%s is neither a folder with a clone nor owner/name", f.Repo)
	}
	c, err := f.withoutModels().config()
	if err != nil {
		return nil, err
	}
	server, closing, err := app.OpenRepository(e.Ctx, c, app.Options{Logger: e.Logger}, f.Repo)
	if err != nil {
		return nil, err
	}
	s.server, s.name, s.settings, s.closing = server, server.Repo, server.Settings, append(s.closing, closing)
	if s.folder, err = replay.OpenFolder(f.Dir, s.name); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// with calls do with the repository.
func (f replayFlags) with(e *cli.Env, do func(*replaySource) error) (err error) {
	s, err := f.open(e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	return do(s)
}

// originName matches owner/name at the end of an address such as git@github.com:owner/name.git.
var originName = regexp.MustCompile(`[:/]([\w.-]+/[\w.-]+?)(?:\.git)?/?$`)

func (s *replaySource) openClone(e *cli.Env, f replayFlags) (err error) {
	if s.clone, err = gitops.OpenHistory(f.Repo); err != nil {
		return err
	}
	s.closing = append(s.closing, s.clone.Close)
	dir := s.clone.Dir()
	s.name = strings.TrimSuffix(filepath.Base(dir), ".git")
	kept := s.name
	if origin := s.clone.Origin(); strings.Contains(origin, "://") || strings.Contains(origin, "@") {
		if m := originName.FindStringSubmatch(origin); m != nil {
			s.name, kept = m[1], m[1]
		}
	}
	if !strings.Contains(kept, "/") { // only the path distinguishes repositories of the same name
		sum := sha256.Sum256([]byte(dir))
		kept += "-" + hex.EncodeToString(sum[:4])
	}
	if s.folder, err = replay.OpenFolder(f.Dir, kept); err == nil {
		err = s.readSettings(e.Ctx)
	}
	if err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// maxSettings is the maximum size of a settings file, in bytes.
const maxSettings = 1 << 20

// readSettings reads the settings at the commit that is checked out in a clone.
func (s *replaySource) readSettings(ctx context.Context) error {
	head, err := s.clone.Head()
	if err != nil || head == "" {
		return err
	}
	all, err := s.clone.Files(ctx, head)
	if err != nil {
		return err
	}
	file, ok := all[".sia/config.yml"]
	if !ok || file.Link {
		return nil
	}
	b, err := s.clone.Blob(file.ID, maxSettings)
	if err == nil {
		s.settings, err = config.Parse(".sia/config.yml", b)
	}
	return err
}

// history returns the repository's history. That of a server's repository is fetched.
func (s *replaySource) history(e *cli.Env) (*gitops.History, error) {
	if s.clone != nil {
		return s.clone, nil
	}
	fmt.Fprintf(e.Err, "%s: fetching the history\n", s.name)
	h, err := s.server.History(e.Ctx)
	if err != nil {
		return nil, err
	}
	s.clone, s.closing = h, append(s.closing, h.Close)
	return h, nil
}

func (s *replaySource) close() error {
	var all []error
	for _, f := range slices.Backward(s.closing) {
		all = append(all, f())
	}
	return errors.Join(all...)
}

// keptTask is a task with its source.
type keptTask struct {
	replay.Task
	from string // "folder" or "memory"
}

// tasks returns the tasks in the data folder and on the memory branch; the folder takes precedence. It reports tasks
// that can't be read.
func (s *replaySource) tasks(e *cli.Env) (all []keptTask, err error) {
	mined, broken, err := s.folder.Tasks()
	if err != nil {
		return nil, err
	}
	var remembered []replay.Task
	var unread []string
	if s.server != nil {
		remembered, unread, err = replay.Remembered(e.Ctx, s.server)
	} else {
		remembered, unread, err = replay.TasksIn(e.Ctx, s.clone, s.settings.Memory.Branch)
	}
	if err != nil {
		return nil, fmt.Errorf("read tasks from the memory branch: %w", err)
	}
	for _, b := range append(broken, unread...) {
		e.Progressf("left out: %s", b)
	}
	for _, t := range mined {
		all = append(all, keptTask{t, "folder"})
	}
	for _, t := range remembered {
		all = append(all, keptTask{t, "memory"})
	}
	slices.SortStableFunc(all, func(a, b keptTask) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b keptTask) bool { return a.ID == b.ID }), nil
}

// findReplayTask returns the task with an id or a commit that begins with id.
func findReplayTask(all []keptTask, id string) (keptTask, error) {
	var found []keptTask
	for _, t := range all {
		if id != "" && (strings.HasPrefix(t.ID, id) || strings.HasPrefix(t.Commit, id)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return keptTask{}, fmt.Errorf("there is no task %q; `sia replay list` shows those that there are", id)
	}
	return keptTask{}, fmt.Errorf("%d tasks begin with %q; give more digits", len(found), id)
}
