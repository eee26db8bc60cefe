package replay

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
	"time"
	"unicode"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/secret"
)

// Where a suite finds its folders in the sandbox.
const (
	depsAt  = sandbox.CacheDir + "/deps"  // what was fetched, read-only while tests run
	buildAt = sandbox.CacheDir + "/build" // build caches, which stay
)

// Bounds of a suite.
const (
	testTimeout   = "60s"            // of one run of one group, where the runner can be told
	suiteWithin   = 5 * time.Minute  // build and all runs at one end, where nobody says otherwise
	prepareWithin = 10 * time.Minute // fetching
	maxCache      = 4 << 30          // bytes of build caches, after which they are begun anew
	maxTestFile   = 4 << 20          // bytes of a file that is read to know how to run tests
	logTail       = 4 << 10          // bytes of output that say why something did not work
)

// bench runs suites in the sandbox. What it fetches and builds stays in its folder, which is one
// repository's alone: a hostile commit can spoil no other's. Safe for concurrent use.
type bench struct {
	box     *sandbox.Sandbox
	history *gitops.History
	dir     string
	hosts   []string // that may be reached beside those that a language names
	within  time.Duration

	caches sync.RWMutex  // held for writing while the build caches are begun anew
	first  chan struct{} // has the turn of filling build caches that are empty
}

func newBench(box *sandbox.Sandbox, h *gitops.History, f *Folder, hosts []string, within time.Duration) *bench {
	return &bench{box: box, history: h, dir: f.cache(), hosts: hosts, within: cmp.Or(within, suiteWithin),
		first: make(chan struct{}, 1)}
}

// has reports whether commands in the sandbox find a program.
func (b *bench) has(program string) bool {
	return slices.ContainsFunc(filepath.SplitList(b.box.Path()), func(dir string) bool {
		st, err := os.Stat(filepath.Join(dir, program))
		return err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0
	})
}

// tree is a commit's files, possibly with others laid over, and the folder that holds them.
type tree struct {
	at    *slot
	files files
}

// reader gives a language the files of a tree. made are contents that no commit has, by their id.
func (b *bench) reader(t files, made map[string][]byte) readFile {
	return func(p string) ([]byte, error) {
		f, ok := t[p]
		if !ok || f.Link {
			return nil, fs.ErrNotExist
		}
		if text, ok := made[f.ID]; ok {
			return text, nil
		}
		return b.history.Blob(f.ID, maxTestFile)
	}
}

// run runs a suite in a folder that is laid out. An error says nothing about the tests: the sandbox
// does not work, or ctx is over.
func (b *bench) run(ctx context.Context, l language, s suite, dir string) (report, error) {
	b.caches.RLock()
	defer b.caches.RUnlock()
	done, err := b.begin(ctx)
	if err != nil {
		return report{}, err
	}
	defer done()
	token := "sia-" + rand.Text()
	out := newReportReader(l, token)
	c, err := b.command(s, dir, shellFunctions(token)+s.script)
	if err != nil {
		return report{}, err
	}
	c.Output = out
	c.Limits = sandbox.Limits{Time: b.within, Output: 2 * logTail, Disk: 2*maxCache + maxTreeBytes}
	res, err := b.box.Run(ctx, c)
	if err != nil {
		return report{}, fmt.Errorf("run tests: %w", err)
	}
	if ctx.Err() != nil {
		return report{}, context.Cause(ctx)
	}
	rep := out.finish()
	rep.log = withoutMarks(string(res.Output), token)
	if res.Ended != "" {
		rep.ended = res.Why
	}
	return rep, nil
}

// begin waits while another run fills build caches that were empty: at the same time both would build what all have in
// common, as a standard library. done ends this one's turn, if it has it.
func (b *bench) begin(ctx context.Context) (done func(), err error) {
	select {
	case b.first <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done = func() { <-b.first }
	if entries, err := os.ReadDir(b.build()); err == nil && len(entries) > 0 {
		done()
		done = func() {}
	}
	return done, nil
}

// build is the folder of the build caches.
func (b *bench) build() string { return filepath.Join(b.dir, "build") }

func (b *bench) command(s suite, dir, script string) (sandbox.Command, error) {
	deps, build := filepath.Join(b.dir, "deps", s.deps), b.build()
	// Commands that may only read it run as somebody else; nobody else gets as far as there.
	if err := errors.Join(os.MkdirAll(deps, 0o755), os.MkdirAll(build, 0o700)); err != nil {
		return sandbox.Command{}, fmt.Errorf("make caches: %w", err)
	}
	// A script may be longer than an argument can be.
	return sandbox.Command{Dir: dir, Shell: `eval "$(cat)"`, Stdin: strings.NewReader(script),
		Env: append([]string{"SLOT=" + slotName(dir)}, s.env...),
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

// prepared is the mark of a suite that has fetched what it needs.
func (b *bench) prepared(l language, s suite, t files) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", s.prepare, s.deps)
	for _, p := range slices.Sorted(maps.Keys(t)) {
		if l.isManifest(p) {
			fmt.Fprintf(h, "%q %s\n", p, t[p].ID)
		}
	}
	return filepath.Join(b.dir, "prepared", hex.EncodeToString(h.Sum(nil)[:16]))
}

func exists(file string) bool { _, err := os.Stat(file); return err == nil }

// prepare fetches what a suite depends on, once for each state of the manifests. Only here does code
// of the repository, such as a package's set-up, meet a network. why says what went wrong.
func (b *bench) prepare(ctx context.Context, l language, s suite, t tree) (why string, err error) {
	mark := b.prepared(l, s, t.files)
	if s.prepare == "" || exists(mark) {
		return "", nil
	}
	c, err := b.command(s, t.at.dir, s.prepare)
	if err != nil {
		return "", err
	}
	c.Mounts[0].Writable = true
	if b.box.CanFetch() {
		c.Hosts = slices.Clone(b.hosts) // the first that fits counts: the operator's
		for _, registry := range s.hosts {
			// With a port its address may be a private one: who runs the machine says where such a name leads, and may
			// have a mirror answer to it.
			c.Hosts = append(c.Hosts, registry+":443")
		}
	}
	c.Limits = sandbox.Limits{Time: prepareWithin, Output: 2 * logTail}
	res, err := b.box.Run(ctx, c)
	if err != nil {
		return "", fmt.Errorf("fetch what tests depend on: %w", err)
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if !res.OK() {
		return fmt.Sprintf("%s: %s", res, tail(string(res.Output))), nil
	}
	if err := writeFile(mark, nil); err != nil {
		return "", err
	}
	return "", nil
}

// tail is the end of a log, for people: without what would steer a terminal, or whoever reads the
// output of tests.
func tail(log string) string {
	log = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(log, "\uFFFD"))
	log = strings.TrimSpace(secret.Mask(log))
	if len(log) > 600 {
		log = log[len(log)-600:]
		if i := strings.IndexByte(log, '\n'); i >= 0 {
			log = log[i+1:]
		}
	}
	return strings.ToValidUTF8(log, "")
}

// trimCache begins the build caches anew where they have grown large.
func (b *bench) trimCache(ctx context.Context) error {
	build := b.build()
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
	b.caches.Lock()
	defer b.caches.Unlock()
	if err := sandbox.RemoveAll(build); err != nil {
		return fmt.Errorf("trim build caches: %w", err)
	}
	return nil
}
