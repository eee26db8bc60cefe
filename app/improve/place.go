package improve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/app/atomicfile"
	"github.com/sia-bot/sia/sia/improve"
)

// Names in a project.
const (
	placeFolder  = ".sia/improve"
	lockName     = "lock"
	cacheFolder  = "cache"    // build caches of self-tests
	copyFolder   = "project"  // in an iteration: the working copy
	fallbackName = "fallback" // in an iteration: the original
	keptName     = "kept"     // in an iteration: the kept version
	stampFormat  = "20060102T150405Z"
	maxSameStamp = 100 // iterations that may begin within one second
)

// errBusy means that another process uses a place.
var errBusy = errors.New("another `sia improve` works on this project; wait for it to end")

// Place is the folder .sia/improve of a project, locked by this process until Close.
type Place struct {
	Root string // the project's folder, absolute
	dir  string
	lock *os.File
	now  func() time.Time
}

// Open creates and locks the place of a project, which is excluded from its commits. Since a repository may contain
// this folder, Open rejects it if it has entries other than folders and regular files.
func Open(root string, now func() time.Time) (*Place, error) {
	dir := filepath.Join(root, placeFolder)
	if err := makePlaceFolder(root); err != nil {
		return nil, fmt.Errorf("make a place for improvements: %w", err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Lstat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := atomicfile.Replace(ignore, []byte("*\n"), 0o644); err != nil {
			return nil, fmt.Errorf("make a place for improvements: %w", err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("make a place for improvements: %w", err)
	}
	if err := tryLock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("hold %s: %w", dir, err), lock.Close())
	}
	return &Place{Root: root, dir: dir, lock: lock, now: now}, nil
}

// makePlaceFolder creates the folder of a place, unless it exists. It returns an error if an entry leads outside.
func makePlaceFolder(root string) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	at := root
	for _, name := range strings.Split(placeFolder, "/") {
		at = filepath.Join(at, name)
		if err := os.Mkdir(at, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return cmp.Or(err, fmt.Errorf("%s is no folder; remove it", at))
		}
	}
	all, err := os.ReadDir(at)
	for _, d := range all {
		if !d.IsDir() && !d.Type().IsRegular() {
			return fmt.Errorf("%s is no ordinary file (%s); remove it if you don't know it", filepath.Join(at, d.Name()),
				d.Type())
		}
	}
	return err
}

// Close unlocks the place.
func (p *Place) Close() error { return p.lock.Close() }

// Cache returns a folder for builds of self-tests, which is kept between runs.
func (p *Place) Cache() (string, error) {
	dir := filepath.Join(p.dir, cacheFolder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a cache for self-tests: %w", err)
	}
	return dir, nil
}

// Iteration is the folder of one run. It is not safe for concurrent use.
type Iteration struct {
	Name string // start time, in UTC
	Dir  string
	Copy string   // the copy of the project
	Left []string // entries of the project that could not be copied, for users

	files *copiedFiles
}

// Begin creates a new iteration with a copy of the project.
func (p *Place) Begin(ctx context.Context) (_ *Iteration, err error) {
	i := new(Iteration)
	began := p.now().UTC()
	for n := 1; ; n++ {
		i.Name = began.Format(stampFormat)
		if n > 1 {
			i.Name = fmt.Sprintf("%s-%d", i.Name, n)
		}
		i.Dir = filepath.Join(p.dir, i.Name)
		if err = os.Mkdir(i.Dir, 0o755); !errors.Is(err, fs.ErrExist) || n == maxSameStamp {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("begin an iteration: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, sandbox.RemoveAll(i.Dir))
		}
	}()
	i.Copy = filepath.Join(i.Dir, copyFolder)
	if i.Left, err = copyProject(ctx, p.Root, i.Copy); err != nil {
		return nil, err
	}
	mark := filepath.Join(i.Copy, placeFolder)
	if err := errors.Join(os.MkdirAll(mark, 0o755),
		os.WriteFile(filepath.Join(mark, markFile), []byte(i.Name+"\n"), 0o644)); err != nil {
		return nil, fmt.Errorf("mark the iteration's copy: %w", err)
	}
	root, err := os.OpenRoot(i.Copy)
	if err != nil {
		return nil, fmt.Errorf("open the iteration's copy: %w", err)
	}
	i.files = &copiedFiles{root}
	return i, nil
}

// Files returns the copy's files.
func (i *Iteration) Files() improve.Files { return i.files }

// Cycle saves the kept version of a cycle that ended.
func (i *Iteration) Cycle(c improve.Cycle) error {
	if c.Outcome != improve.Kept {
		return nil
	}
	f, err := i.files.Read(c.File)
	if err != nil {
		return fmt.Errorf("save what was kept of %s: %w", c.File, err)
	}
	_, err = i.saveVersion(keptName, c.File, f)
	return err
}

// saveVersion saves a version of a file in the iteration's folder.
func (i *Iteration) saveVersion(folder, name string, f improve.File) (path string, err error) {
	path = filepath.Join(i.Dir, folder, filepath.FromSlash(name))
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
		err = atomicfile.Replace(path, []byte(f.Text), 0o644)
	}
	if err != nil {
		return "", fmt.Errorf("save a version of %s: %w", name, err)
	}
	return path, nil
}

// End removes the copy. Fallback and kept version stay.
func (i *Iteration) End() error {
	if err := errors.Join(i.files.root.Close(), sandbox.RemoveAll(i.Copy)); err != nil {
		return fmt.Errorf("end iteration %s: %w", i.Name, err)
	}
	return nil
}

// Tidy removes the copies that killed processes left in this place. Since the place is locked, none of them is in use.
func (p *Place) Tidy() error {
	all, err := os.ReadDir(p.dir)
	if err != nil {
		return fmt.Errorf("tidy up: %w", err)
	}
	for _, d := range all {
		if !d.IsDir() || d.Name() == cacheFolder {
			continue
		}
		dir := filepath.Join(p.dir, d.Name())
		if err := sandbox.RemoveAll(filepath.Join(dir, copyFolder)); err != nil {
			return fmt.Errorf("tidy up iteration %s: %w", d.Name(), err)
		}
		_ = os.Remove(dir) // succeeds only if nothing was kept
	}
	return nil
}
