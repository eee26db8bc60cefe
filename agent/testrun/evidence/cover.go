package evidence

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// CoverTree is [Looker.Cover] for the current state of a work tree, as agents need it. It commits as [Looker.OfTree]
// does.
func (l *Looker) CoverTree(
	ctx context.Context, space *gitops.Workspace, at time.Time, w Wanted, tests []locate.Test,
) ([]locate.Run, error) {
	if !l.Runs() {
		return nil, nil
	}
	var err error
	w.Base = space.Base()
	if w.Head, err = commitTree(ctx, space, at); errors.Is(err, gitops.ErrEmpty) {
		w.Head, err = w.Base, nil
	}
	if err != nil {
		return nil, err
	}
	return l.Cover(ctx, w, tests)
}

// Cover runs tests that are expected to fail at a change's head, and others near them, and returns the lines that each
// executed, see [testrun.Runner.Cover]. It returns none if no command can be run.
func (l *Looker) Cover(ctx context.Context, w Wanted, tests []locate.Test) (runs []locate.Run, err error) {
	if !l.Runs() {
		return nil, nil
	}
	err = l.with(ctx, w, func(s Spec) error {
		base, err := s.History.Files(ctx, w.Base)
		if err != nil {
			return fmt.Errorf("run failing tests: %w", err)
		}
		files, err := s.History.Files(ctx, w.Head)
		if err != nil {
			return fmt.Errorf("run failing tests: %w", err)
		}
		at := newFolders(filepath.Join(s.Dir, "trees"), s.History)
		s.Runner.Base, s.Runner.Head = &testrun.Tree{At: at[atBase], Files: base}, files
		runs, err = s.Runner.Cover(ctx, testrun.Tree{At: at[atHead], Files: files}, tests)
		return err
	})
	if len(runs) > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = nil // the runs so far are valid
	}
	return runs, err
}
