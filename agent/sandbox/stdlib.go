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

// buildGo compiles into the caches at [BuildDir] what can be imported of Go's standard library, with what that needs,
// and what every test binary holds besides.
const buildGo = "go build $(go list std | grep -v internal) testing/internal/testdeps"

var buildGoEnv = []string{"GOCACHE=" + BuildDir + "/go", "GOFLAGS=-buildvcs=false", "GOTOOLCHAIN=local"}

// Stdlib is a folder with Go's compiled standard library, laid out as build caches that are mounted at [BuildDir]; "":
// there is none. It is compiled once for each version of Go, where no file of a repository is; one that was stopped
// goes on the next time. Callers copy it, since commands write to build caches. An error means that ctx is over, or
// that the folder can't be written. A Go that can't compile it gives no error: repositories then compile what they
// need.
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

// goState changes with the program go.
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
	// Those of programs that are gone, and what killed processes left.
	if err := Prune(filepath.Dir(at), "*", time.Now(), func(_ int, unused time.Duration) bool {
		return unused >= stdlibKeep
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
	begun := at + ".begun" // what somebody stopped; one process takes it
	if os.Rename(begun, built) != nil {
		if err := os.Mkdir(built, 0o700); err != nil {
			return "", err
		}
	}
	s.options.Compiling()
	res, err := s.Run(ctx, Command{Dir: work, Shell: buildGo, Env: buildGoEnv,
		Mounts: []Mount{{From: built, To: BuildDir, Writable: true}}, Limits: Limits{Time: stdlibWithin}})
	if ctx.Err() != nil || res.Ended != "" {
		_ = os.Rename(built, begun) // where another process stopped, too, one of the two is enough
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
