package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// BuildDir is where build caches are usually mounted, as a command sees them.
const BuildDir = CacheDir + "/build"

// Bounds of compiled standard libraries.
const (
	stdlibWithin = 10 * time.Minute    // to compile one
	stdlibKeep   = 30 * 24 * time.Hour // after it was last used
)

// stdlib is how a language's standard library is compiled into the caches at [BuildDir].
type stdlib struct {
	build string // shell commands
	env   []string
}

// stdlibs are those that can be compiled beforehand, by the language's program.
var stdlibs = map[string]stdlib{
	// what can be imported, with what that needs, and what every test binary holds besides
	"go": {"go build $(go list std | grep -v internal) testing/internal/testdeps",
		[]string{"GOCACHE=" + BuildDir + "/go", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local"}},
}

// Stdlib is a folder with the compiled standard library of a language, by the name of its program, laid out as build
// caches that are mounted at [BuildDir]; "": there is none. It is compiled once for each version of the program, where
// no file of a repository is. Callers copy it, since commands write to build caches. An error means that ctx is over,
// or that the folder can't be written. A program that can't compile it gives no error: repositories then compile what
// they need.
func (s *Sandbox) Stdlib(ctx context.Context, program string) (dir string, err error) {
	lib, known := stdlibs[program]
	if s.options.Stdlib == "" || !known {
		return "", nil
	}
	select { // another attempt may be compiling it
	case s.stdlib <- struct{}{}:
		defer func() { <-s.stdlib }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	dir = filepath.Join(s.options.Stdlib, program+"-"+s.stdlibState(program, lib))
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return dir, nil
	}
	if dir, err = s.buildStdlib(ctx, lib, dir); err != nil {
		return "", fmt.Errorf("compile the standard library of %s once: %w", program, err)
	}
	return dir, nil
}

// stdlibState changes with the program.
func (s *Sandbox) stdlibState(program string, lib stdlib) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", lib)
	for _, dir := range filepath.SplitList(s.Path()) {
		if st, err := os.Stat(filepath.Join(dir, program)); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", dir, st.Size(), st.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (s *Sandbox) buildStdlib(ctx context.Context, lib stdlib, at string) (_ string, err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return "", err
	}
	s.pruneStdlibs(time.Now())
	dir, err := os.MkdirTemp(filepath.Dir(at), "new-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, RemoveAll(dir)) }()
	built, work := filepath.Join(dir, "build"), filepath.Join(dir, "work")
	if err := errors.Join(os.Mkdir(built, 0o700), os.Mkdir(work, 0o700)); err != nil {
		return "", err
	}
	res, err := s.Run(ctx, Command{Dir: work, Shell: lib.build, Env: lib.env,
		Mounts: []Mount{{From: built, To: BuildDir, Writable: true}}, Limits: Limits{Time: stdlibWithin}})
	switch {
	case err != nil:
		return "", err
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case !res.OK():
		s.options.Logger.WarnContext(ctx, "no standard library was compiled beforehand", "why", res.String(), "output",
			string(res.Output))
		return "", nil
	}
	if err := os.Rename(built, at); err != nil && !errors.Is(err, fs.ErrExist) { // another process was faster
		return "", err
	}
	return at, nil
}

// pruneStdlibs removes those of programs that are gone, and what killed processes left.
func (s *Sandbox) pruneStdlibs(now time.Time) {
	entries, err := os.ReadDir(s.options.Stdlib)
	if err != nil {
		s.options.Logger.Warn("old standard libraries left behind", "error", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || now.Sub(info.ModTime()) < stdlibKeep {
			continue
		}
		if err := RemoveAll(filepath.Join(s.options.Stdlib, e.Name())); err != nil {
			s.options.Logger.Warn("old standard library left behind", "error", err)
		}
	}
}
