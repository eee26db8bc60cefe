package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/lab/replay"
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

var ownerName = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)

// with calls do with the repository. An existing folder takes precedence.
func (f replayFlags) with(e *cli.Env, do func(*replay.Source) error) (err error) {
	var s *replay.Source
	if st, statErr := os.Stat(f.Repo); statErr == nil && st.IsDir() {
		s, err = replay.OpenClone(e.Ctx, f.Repo, f.Dir, e.Progressf)
	} else {
		var closing func() error
		if s, closing, err = f.openServer(e); err == nil {
			defer func() { err = errors.Join(err, closing()) }()
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// openServer opens a repository that the server knows. The caller calls closing.
func (f replayFlags) openServer(e *cli.Env) (_ *replay.Source, closing func() error, err error) {
	if !ownerName.MatchString(f.Repo) {
		return nil, nil, fmt.Errorf("%s is neither a folder with a clone nor owner/name", f.Repo)
	}
	c, err := f.withoutModels().config()
	if err != nil {
		return nil, nil, err
	}
	server, closing, err := app.OpenRepository(e.Ctx, c, app.Options{Logger: e.Logger}, f.Repo)
	if err != nil {
		return nil, nil, err
	}
	s := &replay.Source{Name: server.Repo, Settings: server.Settings, Server: server, Report: e.Progressf}
	if s.Folder, err = replay.OpenFolder(f.Dir, s.Name); err != nil {
		return nil, nil, errors.Join(err, closing())
	}
	return s, closing, nil
}

// findReplayTask returns the task with an id or a commit that begins with id.
func findReplayTask(all []replay.Task, id string) (replay.Task, error) {
	var found []replay.Task
	for _, t := range all {
		if id != "" && (strings.HasPrefix(t.ID, id) || strings.HasPrefix(t.Commit, id)) {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return replay.Task{}, fmt.Errorf("there is no task %q; `sia replay list` shows those that there are", id)
	}
	return replay.Task{}, fmt.Errorf("%d tasks begin with %q; give more digits", len(found), id)
}
