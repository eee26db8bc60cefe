package testrun

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/service"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/secret"
)

// Mount points of a suite's folders in the sandbox.
const (
	depsAt  = sandbox.CacheDir + "/deps" // dependencies, read-only while tests run
	buildAt = sandbox.BuildDir           // persistent build caches
)

// MaxTestFile is the maximum size of a file that is read to build a suite, in bytes.
const MaxTestFile = 4 << 20

// Limits of a suite.
const (
	testTimeout  = "60s"            // for one run of one group of Go, which then reports the running tests
	runTimeout   = 70 * time.Second // for one run of one group, by default
	suiteTimeout = 5 * time.Minute  // for the build and all runs at one end, by default
	maxCache     = 4 << 30          // bytes of build caches, after which they are cleared
	maxDeps      = 8                // kept dependencies folders, by last use
	maxShared    = 8 << 30          // bytes of a dependencies folder for all states, after which it is cleared
	logTail      = 4 << 10          // bytes of output that explain a failure
)

// FetchTimeout limits one fetch of a suite's dependencies.
const FetchTimeout = 10 * time.Minute

// retryFetchAfter is the time before a failed fetch is repeated, since one from a registry that hangs takes minutes.
const retryFetchAfter = 30 * time.Minute

// Runner runs suites in the sandbox. Its folder of downloads and builds belongs to a single repository, so that a
// hostile commit can't affect others. It is safe for concurrent use.
type Runner struct {
	box     *sandbox.Sandbox
	History *gitops.History // contents of the files
	dir     string
	hosts   []string // allowed in addition to those of a language
	within  time.Duration
	// RunWithin limits one run of one group, in whole seconds; default 70 s. It must be set before the first run.
	RunWithin time.Duration
	// Want are images of services that tests need, in addition to those in the workflow files. It must be set before the
	// first run.
	Want []string
	// Base is the only tree whose code may fill dependencies folders that several trees use: see [Runner.Separate]. Nil:
	// any tree's may. It must be set before the first run.
	Base *Tree
	// Head are the files of the tree that is compared with Base.
	Head Files
	// Near allows the use of similar dependencies that were fetched before. It must be set before the first run.
	Near bool
	// Now returns the current time. It must be set before the first run.
	Now func() time.Time

	caches  sync.RWMutex  // locked for writing while the build caches are cleared
	filling chan struct{} // semaphore for filling empty build caches

	reachMu sync.Mutex
	reached map[string]bool // results of checked registries

	fetching atomic.Int64 // nanoseconds
}

// NewRunner returns a runner that keeps downloads and builds below dir. While fetching, hosts may be reached in
// addition to those of a language. Building and running the tests of one tree is limited by within; 0: 5 minutes.
func NewRunner(
	box *sandbox.Sandbox, h *gitops.History, dir string, hosts []string, within time.Duration,
) *Runner {
	return &Runner{box: box, History: h, dir: dir, hosts: hosts, within: cmp.Or(within, suiteTimeout),
		RunWithin: runTimeout, Now: time.Now, filling: make(chan struct{}, 1), reached: map[string]bool{}}
}

// Has reports whether a program is available in the sandbox.
func (r *Runner) Has(program string) bool { return r.box.Has(program) }

// Tree is a commit's files, possibly with replacements, and the folder that contains them.
type Tree struct {
	At    *WorkTree
	Files Files
}

// Reader returns a ReadFile for a tree. made are contents that no commit has, by ID.
func (r *Runner) Reader(t Files, made map[string][]byte) ReadFile {
	return func(p string) ([]byte, error) {
		f, ok := t[p]
		if !ok || f.Link {
			return nil, fs.ErrNotExist
		}
		if text, ok := made[f.ID]; ok {
			return text, nil
		}
		return r.History.Blob(f.ID, MaxTestFile)
	}
}

// Run runs a suite in a prepared folder. An error means that the result is unknown: the sandbox does not work, or ctx
// has ended.
func (r *Runner) Run(ctx context.Context, l Language, s Suite, dir string) (Report, error) {
	r.caches.RLock()
	defer r.caches.RUnlock()
	done, err := r.begin(ctx, s)
	if err != nil {
		return Report{}, err
	}
	defer done()
	token := "sia-" + rand.Text()
	out := newReportReader(l, token)
	c, err := r.command(s, dir, shellFunctions(token, r.RunWithin)+s.Script)
	if err != nil {
		return Report{}, err
	}
	if err := r.joinServices(&c, dir); err != nil {
		return Report{}, err
	}
	c.Output = out
	c.Limits = sandbox.Limits{Time: r.within, Output: 2 * logTail, Disk: 2*maxCache + maxTreeBytes}
	res, err := r.box.Run(ctx, c)
	if err != nil {
		return Report{}, fmt.Errorf("run tests: %w", err)
	}
	if ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	rep := out.finish()
	rep.Log = withoutMarks(string(res.Output), token)
	if res.Ended != "" {
		rep.Ended = res.Why
	}
	return rep, nil
}

// Services returns the services in a tree's workflow files, as used in its runs.
func (r *Runner) Services(t Files) service.Set {
	var files []string
	for p, f := range t {
		if !f.Link {
			files = append(files, p)
		}
	}
	return service.FindIn(r.box, files, r.Reader(t, nil), r.Want)
}

// joinServices adds the services in the folder's workflow files to a command, without data, so that all runs start
// equal.
func (r *Runner) joinServices(c *sandbox.Command, dir string) error {
	s := service.Find(r.box, dir, r.Want)
	if !s.Any() {
		return nil
	}
	data := filepath.Join(r.dir, "services", slotName(dir))
	if err := errors.Join(sandbox.RemoveAll(data), os.MkdirAll(data, 0o700)); err != nil {
		return fmt.Errorf("make a folder for services: %w", err)
	}
	s.Join(c, data, true)
	return nil
}

// begin waits while another run fills empty build caches, so that common parts are not built twice. done releases the
// semaphore, if held.
func (r *Runner) begin(ctx context.Context, s Suite) (done func(), err error) {
	select {
	case r.filling <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done = func() { <-r.filling }
	if entries, err := os.ReadDir(r.build()); err == nil && len(entries) > 0 {
		done()
		return func() {}, nil
	}
	if err := r.addStdlib(ctx, s); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// addStdlib copies the compiled standard library into empty build caches.
func (r *Runner) addStdlib(ctx context.Context, s Suite) error {
	if !s.Stdlib {
		return nil
	}
	from, err := r.box.Stdlib(ctx)
	if err != nil || from == "" {
		return err
	}
	if err := os.CopyFS(r.build(), os.DirFS(from)); err != nil && ctx.Err() == nil {
		return sandbox.RemoveAll(r.build()) // a partial copy is useless
	}
	return context.Cause(ctx)
}

// build returns the folder of the build caches.
func (r *Runner) build() string { return filepath.Join(r.dir, "build") }

// deps returns a dependencies folder.
func (r *Runner) deps(name string) string { return filepath.Join(r.dir, "deps", name) }

// Separate returns the suite of a tree with the dependencies folder that it may use: the one that Base fills, or, if
// Base declares other dependencies, a folder of Head.
func (r *Runner) Separate(l Language, s Suite, t Files) Suite {
	if r.Base == nil || !s.Executes || maps.Equal(manifests(l, t), manifests(l, r.Base.Files)) {
		return s
	}
	return r.setApart(s)
}

// isFilledByBase reports whether Base fills the dependencies folder of a suite of another tree.
func (r *Runner) isFilledByBase(s Suite, t Tree) bool {
	return r.Base != nil && s.Executes && !s.apart && t.At != r.Base.At
}

// setApart returns a suite with the dependencies folder of Head.
func (r *Runner) setApart(s Suite) Suite {
	h := sha256.New()
	for _, p := range slices.Sorted(maps.Keys(r.Head)) {
		fmt.Fprintf(h, "%q %v\n", p, r.Head[p])
	}
	s.Deps, s.apart = s.Deps+"-"+hex.EncodeToString(h.Sum(nil)[:16]), true
	return s
}

// manifests returns the files of a tree that declare dependencies.
func manifests(l Language, t Files) Files {
	out := Files{}
	for p, f := range t {
		if l.IsManifest(p) {
			out[p] = f
		}
	}
	return out
}

// depsOf returns the name of a suite's dependencies folder.
func (r *Runner) depsOf(s Suite) string {
	if r.Near {
		return cmp.Or(s.Near, s.Deps)
	}
	return s.Deps
}

func (r *Runner) command(s Suite, dir, script string) (sandbox.Command, error) {
	deps, build, now := r.deps(r.depsOf(s)), r.build(), time.Now()
	// Read-only commands run as another user, so the folder is world-readable; its parent is not. Its time is the last
	// use.
	if err := errors.Join(os.MkdirAll(deps, 0o755), os.Chtimes(deps, now, now), os.MkdirAll(build, 0o700)); err != nil {
		return sandbox.Command{}, fmt.Errorf("make caches: %w", err)
	}
	// A script may be longer than the maximum argument.
	return sandbox.Command{Dir: dir, Shell: `eval "$(cat)"`, Stdin: strings.NewReader(script),
		Env: append([]string{"SLOT=" + slotName(dir)}, s.Env...),
		Mounts: []sandbox.Mount{
			{From: deps, To: depsAt}, {From: build, To: buildAt, Writable: true}}}, nil
}

// withoutMarks removes the lines with marks from a log.
func withoutMarks(log, token string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, token+" ") && strings.TrimSpace(line) != "" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// slotName returns a name for a work tree, for caches that can't be shared.
func slotName(dir string) string { return filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir) }

// Prepared reports whether a suite's dependencies were fetched, or, if its registry can't be reached, installed ones
// were set up.
func (r *Runner) Prepared(ctx context.Context, l Language, s Suite, t Files) bool {
	mark := r.fetchedMark(l, s, t)
	return r.fetched(s, mark) || r.fetched(s, mark+installedSuffix) && r.Unreached(ctx, s) != ""
}

// fetched reports whether a mark is valid: the folder may have been removed since. An empty mark was
// written by an older version, which kept the marks of removed folders.
func (r *Runner) fetched(s Suite, mark string) bool {
	st, err := os.Stat(mark)
	return err == nil && st.Size() > 0 && exists(r.deps(r.depsOf(s)))
}

// installedSuffix is the suffix of a mark for dependencies installed on the machine.
const installedSuffix = "-installed"

// FetchAgain makes the next run fetch a suite's dependencies again.
func (r *Runner) FetchAgain(l Language, s Suite, t Files) error {
	mark := r.fetchedMark(l, s, t)
	for _, file := range []string{mark, mark + installedSuffix, mark + failedSuffix} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("have dependencies fetched again: %w", err)
		}
	}
	return nil
}

// fetchedMark returns the file that marks a suite's dependencies as fetched. It contains the name of their folder.
func (r *Runner) fetchedMark(l Language, s Suite, t Files) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", s.Prepare, r.depsOf(s))
	for _, p := range slices.Sorted(maps.Keys(t)) {
		if l.IsManifest(p) && !s.Eager { // with Eager, the folder's name depends on the manifests
			fmt.Fprintf(h, "%q %s\n", p, t[p].ID)
		}
	}
	return filepath.Join(r.dir, "prepared", hex.EncodeToString(h.Sum(nil)[:16]))
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

// failedSuffix is the suffix of a file that records a failed fetch: its allowed hosts and the reason. The file's time
// is that of the failure.
const failedSuffix = "-failed"

// recentFailure returns why a fetch failed recently; "": it did not, or with other hosts.
func (r *Runner) recentFailure(mark string) string {
	st, err := os.Stat(mark + failedSuffix)
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(mark + failedSuffix)
	hosts, why, _ := strings.Cut(string(text), "\n")
	age := r.Now().Sub(st.ModTime())
	if err != nil || hosts != strings.Join(r.hosts, " ") || age < 0 || age >= retryFetchAfter {
		return ""
	}
	return why
}

// recordFailure records a failed fetch, so that it is not repeated immediately.
func (r *Runner) recordFailure(mark, why string, when time.Time) error {
	file := mark + failedSuffix
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
		os.WriteFile(file, []byte(strings.Join(r.hosts, " ")+"\n"+why), 0o600), os.Chtimes(file, when, when))
	if err != nil {
		return fmt.Errorf("note a fetch that failed: %w", err)
	}
	return nil
}

// Fetches reports whether the next run of a suite would fetch dependencies.
func (r *Runner) Fetches(ctx context.Context, l Language, s Suite, t Files) bool {
	mark := r.fetchedMark(l, s, t)
	return s.Prepare != "" && !r.fetched(s, mark) && r.recentFailure(mark) == "" && r.Unreached(ctx, s) == ""
}

// Fetching returns the total time spent on fetching.
func (r *Runner) Fetching() time.Duration { return time.Duration(r.fetching.Load()) }

// Fetch fetches a suite's dependencies, once for each state of the manifests. This is the only step in which code of
// the repository, such as a package's setup, has a network; if it may run, it is the code of Base, or the folder is
// that of Head. If no registry can be reached, the dependencies installed on the machine are used. why is the reason of
// a failure; after that, no fetch is tried for half an hour.
func (r *Runner) Fetch(ctx context.Context, l Language, s Suite, t Tree) (why string, err error) {
	mark := r.fetchedMark(l, s, t.Files)
	if s.Prepare == "" || r.fetched(s, mark) {
		return "", nil
	}
	if why := r.recentFailure(mark); why != "" {
		return why, nil
	}
	if unreached := r.Unreached(ctx, s); unreached != "" {
		if s.Installed == "" {
			return unreached, nil
		}
		return r.Install(ctx, l, s, t)
	}
	var hosts []string
	if r.box.CanFetch() {
		hosts = slices.Clone(r.hosts) // the first match is used: the operator's
		for _, registry := range s.Hosts {
			// With a port, a private address is allowed: the operator controls name resolution, and may have a mirror.
			hosts = append(hosts, registry+":443")
		}
	}
	began := r.Now()
	why, err = r.fill(ctx, s, t, s.Prepare, hosts, mark)
	ended := r.Now()
	r.fetching.Add(int64(ended.Sub(began)))
	if err != nil || why == "" {
		return "", err
	}
	return why, r.recordFailure(mark, why, ended)
}

// Install sets up the dependencies installed on the machine for a suite, if possible. why is the reason of a failure.
func (r *Runner) Install(ctx context.Context, l Language, s Suite, t Tree) (why string, err error) {
	mark := r.fetchedMark(l, s, t.Files) + installedSuffix
	if s.Installed == "" || r.fetched(s, mark) {
		return "", nil
	}
	return r.fill(ctx, s, t, s.Installed, nil, mark)
}

// fill runs the script that fills a suite's folder, in the tree or in Base, and sets the mark.
func (r *Runner) fill(
	ctx context.Context, s Suite, t Tree, script string, hosts []string, mark string,
) (why string, err error) {
	if err := r.seedNear(s); err != nil {
		return "", err
	}
	if b := r.Base; b != nil && s.Executes && !s.apart && t.At != b.At {
		t = *b // it declares the same
		err := t.At.Set(ctx, t.Files, nil, s.Links)
		if errors.Is(err, gitops.ErrTree) || errors.Is(err, gitops.ErrTooLarge) {
			return "the base commit: " + err.Error(), nil
		}
		if err != nil {
			return "", err
		}
	}
	c, err := r.command(s, t.At.Dir, script)
	if err != nil {
		return "", err
	}
	c.Mounts[0].Writable, c.Hosts = true, hosts
	c.Limits = sandbox.Limits{Time: FetchTimeout, Output: 2 * logTail,
		Disk: maxShared + 2*maxCache + maxTreeBytes} // with what is there already
	res, err := r.box.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("fetch what tests depend on: %w", err)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if !res.OK() {
		return fmt.Sprintf("%s: %s", res, Tail(string(res.Output))), nil
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, []byte(r.depsOf(s)), 0o600))
	if err != nil {
		return "", fmt.Errorf("note what was fetched: %w", err)
	}
	return "", nil
}

// RunPrepared fetches a suite's dependencies and runs it in a prepared folder. If the code of Base can't fetch them for
// another tree, that of the tree does. why is the reason if the fetch failed.
func (r *Runner) RunPrepared(ctx context.Context, l Language, s Suite, t Tree) (rep Report, why string, err error) {
	fetch := func() (why string, err error) {
		if why, err = r.Fetch(ctx, l, s, t); err == nil && why != "" && r.isFilledByBase(s, t) {
			s = r.setApart(s)
			why, err = r.Fetch(ctx, l, s, t)
		}
		return why, err
	}
	if s.Eager {
		if why, err := fetch(); err != nil || why != "" {
			return rep, why, err
		}
	}
	for {
		if rep, err = r.Run(ctx, l, s, t.At.Dir); err != nil {
			return rep, "", err
		}
		if !rep.Lacks(l) {
			return rep, "", nil
		}
		if r.Prepared(ctx, l, s, t.Files) {
			if !r.isFilledByBase(s, t) {
				return rep, "", nil
			}
			s = r.setApart(s) // the tree needs more than Base, such as Surefire's provider for the first test
		}
		if why, err := fetch(); err != nil || why != "" {
			rep.unfetched(l, why) // the tree needs dependencies that are unavailable
			return rep, "", err
		}
	}
}

// Tail returns the end of a log, a few lines for users, without control characters and secrets.
func Tail(log string) string { return LongTail(log, 600) }

// LongTail returns the last limit bytes of a log, from the start of a line, cleaned as by [Tail].
func LongTail(log string, limit int) string {
	log = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(log, "\uFFFD"))
	log = strings.TrimSpace(secret.Mask(log))
	if len(log) > limit {
		log = log[len(log)-limit:]
		if i := strings.IndexByte(log, '\n'); i >= 0 {
			log = log[i+1:]
		}
	}
	return strings.ToValidUTF8(log, "")
}

// folderSize returns the total size of a folder's files.
func folderSize(ctx context.Context, dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what vanishes meanwhile takes up nothing
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// TrimCache clears the build caches if they have grown large.
func (r *Runner) TrimCache(ctx context.Context) error {
	if total, err := folderSize(ctx, r.build()); err != nil || total < maxCache {
		return err
	}
	r.caches.Lock()
	defer r.caches.Unlock()
	if err := sandbox.RemoveAll(r.build()); err != nil {
		return fmt.Errorf("trim build caches: %w", err)
	}
	return nil
}

// TrimDeps removes the least recently used dependencies folders for one state, and large ones for all states. No test
// may run at the same time.
func (r *Runner) TrimDeps(ctx context.Context) error {
	// A folder for one state has a dash in its name.
	err := sandbox.Prune(r.deps(""), "*-*", r.Now(), func(newer int, _ time.Duration) bool { return newer >= maxDeps })
	if err != nil {
		return err
	}
	if r.Fetching() > 0 { // otherwise none has grown
		if err := r.trimShared(ctx); err != nil {
			return fmt.Errorf("trim dependencies: %w", err)
		}
	}
	// A run creates the folder again, so the marks of removed ones go, too.
	prepared := filepath.Join(r.dir, "prepared")
	marks, _ := os.ReadDir(prepared) // there may be none
	for _, mark := range marks {
		file := filepath.Join(prepared, mark.Name())
		deps, err := os.ReadFile(file)
		gone := len(deps) == 0 || !exists(r.deps(string(deps)))
		if err == nil && gone && !strings.HasSuffix(file, failedSuffix) {
			err = os.Remove(file)
		}
		if err != nil {
			return fmt.Errorf("trim dependencies: %w", err)
		}
	}
	return nil
}

// trimShared clears the dependencies folders for all states that are larger than maxShared.
func (r *Runner) trimShared(ctx context.Context) error {
	folders, err := os.ReadDir(r.deps(""))
	for _, d := range folders {
		if strings.Contains(d.Name(), "-") {
			continue
		}
		total, err := folderSize(ctx, r.deps(d.Name()))
		if err == nil && total > maxShared {
			err = sandbox.RemoveAll(r.deps(d.Name()))
		}
		if err != nil {
			return err
		}
	}
	return err
}
