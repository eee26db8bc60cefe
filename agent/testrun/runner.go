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

// Where a suite finds its folders in the sandbox.
const (
	depsAt  = sandbox.CacheDir + "/deps" // what was fetched, read-only while tests run
	buildAt = sandbox.BuildDir           // build caches, which stay
)

// MaxTestFile bounds a file that is read to know how to run tests, in bytes.
const MaxTestFile = 4 << 20

// Bounds of a suite.
const (
	testTimeout = "60s"            // of one run of one group of Go, which then says what was under way
	runWithin   = 70 * time.Second // of one run of one group, where nobody says otherwise
	suiteWithin = 5 * time.Minute  // build and all runs at one end, where nobody says otherwise
	maxCache    = 4 << 30          // bytes of build caches, after which they are begun anew
	maxDeps     = 8                // states of manifests of which what they depend on is kept: those used last
	logTail     = 4 << 10          // bytes of output that say why something did not work
)

// FetchWithin bounds one fetch of what a suite depends on.
const FetchWithin = 10 * time.Minute

// failedFor is how long a fetch that failed is not tried again: one from a registry that hangs takes minutes.
const failedFor = 30 * time.Minute

// Runner runs suites in the sandbox. What it fetches and builds stays in its folder, which is one
// repository's alone: a hostile commit can spoil no other's. Safe for concurrent use.
type Runner struct {
	box     *sandbox.Sandbox
	History *gitops.History // where the files are
	dir     string
	hosts   []string // that may be reached beside those that a language names
	within  time.Duration
	// RunWithin is how long one run of one group may take, in whole seconds; 70 s. It is set before the first run.
	RunWithin time.Duration
	// Want are images of services that tests need beside those that the workflow files name. It is set before the first
	// run.
	Want []string
	// Near has tests run with dependencies that were fetched for nearly the same ones. It is set before the first run.
	Near bool
	// Now tells how long ago a fetch failed. It is set before the first run.
	Now func() time.Time

	caches sync.RWMutex  // held for writing while the build caches are begun anew
	first  chan struct{} // has the turn of filling build caches that are empty

	asking  sync.Mutex
	reached map[string]bool // registries that were asked

	fetching atomic.Int64 // nanoseconds
}

// NewRunner returns a runner that keeps what it fetches and builds below dir. hosts may be reached while fetching,
// beside those that a language names. Building and running the tests of one tree is ended after within; 0: 5 minutes.
func NewRunner(
	box *sandbox.Sandbox, h *gitops.History, dir string, hosts []string, within time.Duration,
) *Runner {
	return &Runner{box: box, History: h, dir: dir, hosts: hosts, within: cmp.Or(within, suiteWithin),
		RunWithin: runWithin, Now: time.Now, first: make(chan struct{}, 1), reached: map[string]bool{}}
}

// Has reports whether commands in the sandbox find a program.
func (r *Runner) Has(program string) bool { return r.box.Has(program) }

// Tree is a commit's files, possibly with others laid over, and the folder that holds them.
type Tree struct {
	At    *WorkTree
	Files Files
}

// Reader gives a language the files of a tree. made are contents that no commit has, by their id.
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

// Run runs a suite in a folder that is laid out. An error says nothing about the tests: the sandbox
// does not work, or ctx is over.
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

// Services are those that a tree's workflow files want, as its runs have them.
func (r *Runner) Services(t Files) service.Set {
	var files []string
	for p, f := range t {
		if !f.Link {
			files = append(files, p)
		}
	}
	return service.FindIn(r.box, files, r.Reader(t, nil), r.Want)
}

// joinServices gives a command the services that the folder's workflow files want, with no data: every run begins with
// the same.
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

// begin waits while another run fills build caches that were empty: at the same time both would build what all have in
// common. done ends this one's turn, if it has it.
func (r *Runner) begin(ctx context.Context, s Suite) (done func(), err error) {
	select {
	case r.first <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done = func() { <-r.first }
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
		return sandbox.RemoveAll(r.build()) // half of it is nothing to begin with
	}
	return context.Cause(ctx)
}

// build is the folder of the build caches.
func (r *Runner) build() string { return filepath.Join(r.dir, "build") }

// deps is a folder of what suites depend on.
func (r *Runner) deps(name string) string { return filepath.Join(r.dir, "deps", name) }

// depsOf is the name of the folder for what a suite depends on.
func (r *Runner) depsOf(s Suite) string {
	if r.Near {
		return cmp.Or(s.Near, s.Deps)
	}
	return s.Deps
}

func (r *Runner) command(s Suite, dir, script string) (sandbox.Command, error) {
	deps, build, now := r.deps(r.depsOf(s)), r.build(), time.Now()
	// Commands that may only read it run as somebody else; nobody else gets as far as there. Its time is that of its use.
	if err := errors.Join(os.MkdirAll(deps, 0o755), os.Chtimes(deps, now, now), os.MkdirAll(build, 0o700)); err != nil {
		return sandbox.Command{}, fmt.Errorf("make caches: %w", err)
	}
	// A script may be longer than an argument can be.
	return sandbox.Command{Dir: dir, Shell: `eval "$(cat)"`, Stdin: strings.NewReader(script),
		Env: append([]string{"SLOT=" + slotName(dir)}, s.Env...),
		Mounts: []sandbox.Mount{
			{From: deps, To: depsAt}, {From: build, To: buildAt, Writable: true}}}, nil
}

// withoutMarks is a log without the lines that the script prints for us.
func withoutMarks(log, token string) string {
	var b strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, token+" ") && strings.TrimSpace(line) != "" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// slotName tells a work tree from others, for caches that can't be shared.
func slotName(dir string) string { return filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir) }

// Prepared reports whether what a suite depends on was fetched, as far as its registries can be reached.
func (r *Runner) Prepared(ctx context.Context, l Language, s Suite, t Files) bool {
	mark := r.fetchedMark(l, s, t)
	return r.fetched(s, mark) || r.fetched(s, mark+installedOnly) && r.Unreached(ctx, s) != ""
}

// fetched reports whether a mark holds: what it is about may have been removed since.
func (r *Runner) fetched(s Suite, mark string) bool {
	return exists(mark) && exists(r.deps(r.depsOf(s)))
}

// installedOnly ends the name of a mark that says that there is what the machine has, and nothing else.
const installedOnly = "-installed"

// FetchAgain has what a suite depends on fetched again the next time.
func (r *Runner) FetchAgain(l Language, s Suite, t Files) error {
	mark := r.fetchedMark(l, s, t)
	for _, file := range []string{mark, mark + installedOnly, mark + failedFetch} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("have dependencies fetched again: %w", err)
		}
	}
	return nil
}

// fetchedMark is the file that says that what a suite depends on was fetched.
func (r *Runner) fetchedMark(l Language, s Suite, t Files) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", s.Prepare, r.depsOf(s))
	for _, p := range slices.Sorted(maps.Keys(t)) {
		if l.IsManifest(p) && !s.Eager { // the folder of one that is eager is named by what it says of them
			fmt.Fprintf(h, "%q %s\n", p, t[p].ID)
		}
	}
	return filepath.Join(r.dir, "prepared", hex.EncodeToString(h.Sum(nil)[:16]))
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

// failedFetch ends the name of a file that says which hosts a fetch that failed could reach beside the registries, and
// why it failed. Its time is when.
const failedFetch = "-failed"

// failedLately says why a fetch failed a short time ago; "": it did not, or could reach other hosts.
func (r *Runner) failedLately(mark string) string {
	st, err := os.Stat(mark + failedFetch)
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(mark + failedFetch)
	hosts, why, _ := strings.Cut(string(text), "\n")
	age := r.Now().Sub(st.ModTime())
	if err != nil || hosts != strings.Join(r.hosts, " ") || age < 0 || age >= failedFor {
		return ""
	}
	return why
}

// noteFailed keeps a fetch that failed from being tried again at once.
func (r *Runner) noteFailed(mark, why string, when time.Time) error {
	file := mark + failedFetch
	err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700),
		os.WriteFile(file, []byte(strings.Join(r.hosts, " ")+"\n"+why), 0o600), os.Chtimes(file, when, when))
	if err != nil {
		return fmt.Errorf("note a fetch that failed: %w", err)
	}
	return nil
}

// Fetches reports whether a suite needs something that would be fetched now.
func (r *Runner) Fetches(ctx context.Context, l Language, s Suite, t Files) bool {
	mark := r.fetchedMark(l, s, t)
	return s.Prepare != "" && !r.fetched(s, mark) && r.failedLately(mark) == "" && r.Unreached(ctx, s) == ""
}

// Fetching is how long fetching has taken.
func (r *Runner) Fetching() time.Duration { return time.Duration(r.fetching.Load()) }

// Fetch fetches what a suite depends on, once for each state of the manifests. Only here does code
// of the repository, such as a package's set-up, meet a network. Where no registry can be reached, what is installed on
// the machine has to do. why says what went wrong; for half an hour nothing is fetched then.
func (r *Runner) Fetch(ctx context.Context, l Language, s Suite, t Tree) (why string, err error) {
	mark := r.fetchedMark(l, s, t.Files)
	if s.Prepare == "" || r.fetched(s, mark) {
		return "", nil
	}
	if why := r.failedLately(mark); why != "" {
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
		hosts = slices.Clone(r.hosts) // the first that fits counts: the operator's
		for _, registry := range s.Hosts {
			// With a port its address may be a private one: who runs the machine says where such a name leads, and may
			// have a mirror answer to it.
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
	return why, r.noteFailed(mark, why, ended)
}

// Install has what is installed on the machine do for a suite, as far as it can. why says what went wrong.
func (r *Runner) Install(ctx context.Context, l Language, s Suite, t Tree) (why string, err error) {
	mark := r.fetchedMark(l, s, t.Files) + installedOnly
	if s.Installed == "" || r.fetched(s, mark) {
		return "", nil
	}
	return r.fill(ctx, s, t, s.Installed, nil, mark)
}

// fill runs the script that fills a suite's folder, and marks that it did.
func (r *Runner) fill(
	ctx context.Context, s Suite, t Tree, script string, hosts []string, mark string,
) (why string, err error) {
	if err := r.seedNear(s); err != nil {
		return "", err
	}
	c, err := r.command(s, t.At.Dir, script)
	if err != nil {
		return "", err
	}
	c.Mounts[0].Writable, c.Hosts = true, hosts
	c.Limits = sandbox.Limits{Time: FetchWithin, Output: 2 * logTail}
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
	if err := errors.Join(os.MkdirAll(filepath.Dir(mark), 0o700), os.WriteFile(mark, nil, 0o600)); err != nil {
		return "", fmt.Errorf("note what was fetched: %w", err)
	}
	return "", nil
}

// RunPrepared runs a suite in a folder that is laid out, and fetches what it depends on. why says what went wrong with
// that.
func (r *Runner) RunPrepared(ctx context.Context, l Language, s Suite, t Tree) (rep Report, why string, err error) {
	if s.Eager {
		if why, err := r.Fetch(ctx, l, s, t); err != nil || why != "" {
			return rep, why, err
		}
	}
	for {
		if rep, err = r.Run(ctx, l, s, t.At.Dir); err != nil {
			return rep, "", err
		}
		if !rep.Lacks(l) || r.Prepared(ctx, l, s, t.Files) {
			return rep, "", nil
		}
		if why, err := r.Fetch(ctx, l, s, t); err != nil || why != "" {
			rep.unfetched(l, why) // what is laid out needs what can't be had
			return rep, "", err
		}
	}
}

// Tail is the end of a log, a few lines for people: without what would steer a terminal, or whoever reads the
// output of tests.
func Tail(log string) string { return LongTail(log, 600) }

// LongTail is the last bytes of a log, from the beginning of a line, as of [Tail].
func LongTail(log string, most int) string {
	log = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(log, "\uFFFD"))
	log = strings.TrimSpace(secret.Mask(log))
	if len(log) > most {
		log = log[len(log)-most:]
		if i := strings.IndexByte(log, '\n'); i >= 0 {
			log = log[i+1:]
		}
	}
	return strings.ToValidUTF8(log, "")
}

// TrimCache begins the build caches anew where they have grown large.
func (r *Runner) TrimCache(ctx context.Context) error {
	build := r.build()
	var total int64
	err := filepath.WalkDir(build, func(_ string, d fs.DirEntry, err error) error {
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
	if err != nil || total < maxCache {
		return err
	}
	r.caches.Lock()
	defer r.caches.Unlock()
	if err := sandbox.RemoveAll(build); err != nil {
		return fmt.Errorf("trim build caches: %w", err)
	}
	return nil
}

// TrimDeps removes what was fetched for states of the manifests that were not run for the longest time. Nothing may run
// meanwhile.
func (r *Runner) TrimDeps() error {
	// A folder of one state has a dash in its name; others serve all.
	return sandbox.Prune(r.deps(""), "*-*", r.Now(), func(newer int, _ time.Duration) bool { return newer >= maxDeps })
}
