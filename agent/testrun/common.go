package testrun

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sia-bot/sia/agent/sandbox"
)

// fillFromCommon begins empty build caches with what all repositories have in common, such as a standard library. That
// is built once for each version of the language's program, where no file of a repository is. It is copied, for tests
// may write to a repository's caches. What can't be had is built with the repository's own code.
func (r *Runner) fillFromCommon(ctx context.Context, l Language, s Suite) error {
	if r.Common == "" || s.Common == "" {
		return nil
	}
	at := filepath.Join(r.Common, l.Name()+"-"+r.commonState(l, s))
	if !exists(at) {
		if err := r.buildCommon(ctx, l, s, at); err != nil {
			return err
		}
	}
	if err := os.CopyFS(r.build(), os.DirFS(at)); err != nil && ctx.Err() == nil {
		return sandbox.RemoveAll(r.build()) // half of it is nothing to begin with
	}
	return context.Cause(ctx)
}

// commonState changes with the program.
func (r *Runner) commonState(l Language, s Suite) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", s.Common)
	for _, dir := range filepath.SplitList(r.box.Path()) {
		if st, err := os.Stat(filepath.Join(dir, l.Program())); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", dir, st.Size(), st.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (r *Runner) buildCommon(ctx context.Context, l Language, s Suite, at string) (err error) {
	if err := os.MkdirAll(r.Common, 0o700); err != nil {
		return fmt.Errorf("make a folder for what is built once: %w", err)
	}
	dir, err := os.MkdirTemp(r.Common, l.Name()+"-new-*")
	if err != nil {
		return fmt.Errorf("make a folder for what is built once: %w", err)
	}
	defer func() { err = errors.Join(err, sandbox.RemoveAll(dir)) }()
	built, work := filepath.Join(dir, "build"), filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(built, 0o700), os.Mkdir(work, 0o700)); err != nil {
		return fmt.Errorf("make a folder for what is built once: %w", err)
	}
	res, err := r.box.Run(ctx, sandbox.Command{Dir: work, Shell: s.Common, Env: s.Env,
		Mounts: []sandbox.Mount{{From: built, To: buildAt, Writable: true}},
		Limits: sandbox.Limits{Time: prepareWithin, Output: logTail}})
	if err != nil {
		return fmt.Errorf("build what is built once: %w", err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !res.OK() {
		return nil
	}
	older, err := filepath.Glob(filepath.Join(r.Common, l.Name()+"-*"))
	if err != nil {
		return fmt.Errorf("look for what was built before: %w", err)
	}
	for _, o := range older { // what a killed process left is among them
		if o == dir {
			continue
		}
		if err := sandbox.RemoveAll(o); err != nil {
			return fmt.Errorf("remove what was built before: %w", err)
		}
	}
	if err := os.Rename(built, at); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process removed it, as above
		return fmt.Errorf("keep what was built once: %w", err)
	}
	return nil
}
