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

// BuildDir is the usual mount point of build caches inside the sandbox.
const BuildDir = CacheDir + "/build"

// Limits of compiled standard libraries.
const (
	stdlibTimeout = 10 * time.Minute    // for compiling one
	stdlibMaxAge  = 30 * 24 * time.Hour // since its last use
)

// buildGo compiles the importable packages of Go's standard library, their dependencies, and the other packages of test
// binaries into the caches at [BuildDir].
const buildGo = "go build $(go list std | grep -v internal) testing/internal/testdeps"

var buildGoEnv = []string{"GOCACHE=" + BuildDir + "/go", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local"}

// Stdlib returns a folder with Go's compiled standard library, in the layout of build caches mounted at [BuildDir]; ""
// if there is none. It is compiled once for each version of Go, without any file of a repository; if that is
// interrupted, the next call continues. Callers must copy it, since commands write to build caches. An error means that
// ctx has ended, or that the folder can't be written. If Go can't compile it, there is no error: repositories then
// compile what they need.
func (s *Sandbox) Stdlib(ctx context.Context) (dir string, err error) {
	if s.options.Stdlib == "" {
		return "", nil
	}
	select { // another attempt may be compiling it
	case s.stdlib <- struct{}{}:
		defer func() { <-s.stdlib }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	dir = filepath.Join(s.options.Stdlib, "go-"+s.goState())
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err == nil {
		return dir, nil
	}
	if dir, err = s.buildStdlib(ctx, dir); err != nil {
		return "", fmt.Errorf("compile Go's standard library once: %w", err)
	}
	return dir, nil
}

// goState returns a hash that changes with the go program.
func (s *Sandbox) goState() string {
	h := sha256.New()
	fmt.Fprintf(h, "{%q %q}\n", buildGo, buildGoEnv)
	for _, dir := range filepath.SplitList(s.Path()) {
		if st, err := os.Stat(filepath.Join(dir, "go")); err == nil {
			fmt.Fprintf(h, "%q %d %d\n", dir, st.Size(), st.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

func (s *Sandbox) buildStdlib(ctx context.Context, at string) (_ string, err error) {
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return "", err
	}
	// Remove outdated ones, and those left by killed processes.
	if err := Prune(filepath.Dir(at), "*", time.Now(), func(_ int, unused time.Duration) bool {
		return unused >= stdlibMaxAge
	}); err != nil {
		s.options.Logger.Warn("old standard libraries left behind", "error", err)
	}
	dir, err := os.MkdirTemp(filepath.Dir(at), "new-*")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, RemoveAll(dir)) }()
	built, work := filepath.Join(dir, "build"), filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return "", err
	}
	begun := at + ".begun" // result of an interrupted compilation; only one process can rename it
	if os.Rename(begun, built) != nil {
		if err := os.Mkdir(built, 0o700); err != nil {
			return "", err
		}
	}
	s.options.Compiling()
	res, err := s.Run(ctx, Command{Dir: work, Shell: buildGo, Env: buildGoEnv,
		Mounts: []Mount{{From: built, To: BuildDir, Writable: true}}, Limits: Limits{Time: stdlibTimeout}})
	if ctx.Err() != nil || res.Ended != "" {
		_ = os.Rename(built, begun) // if another process was interrupted, too, one result is enough
	}
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
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
