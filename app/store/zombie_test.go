//go:build unix

package store_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/lease"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

// workerEnv makes the test binary a worker: a process with an engine on a shared database. Its value has the worker's
// name, the database, and the repository that it pushes to.
const workerEnv = "SIA_TEST_WORKER"

// The worker that is suspended, and the other one.
const (
	sleeper = "sleeper"
	healthy = "healthy"
)

func TestMain(m *testing.M) {
	if args := strings.Split(os.Getenv(workerEnv), "\n"); len(args) == 3 {
		if err := beWorker(args[0], args[1], args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beWorker runs a worker until its input ends. Before its push it prints a line, and continues when it reads one.
func beWorker(name, db, remote string) (err error) {
	ctx := context.Background()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	s, err := store.Open(ctx, store.Config{URL: db, Logger: log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	dir, err := os.MkdirTemp("", "sia-worker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cache, err := gitops.OpenCache(dir, gitops.CacheOptions{MayPush: lease.Check})
	if err != nil {
		return err
	}
	repo := cache.Repo(gitops.Remote{Key: "1", URL: remote,
		Token: func(context.Context) (string, error) { return name, nil }})
	goOn := make(chan bool, 1)
	var once sync.Once
	c := store.EngineConfig{Shared: true, Lease: time.Second, Grace: time.Second,
		Backoff: func(int) time.Duration { return 0 }}
	if name == healthy { // long enough on a busy machine
		c.Lease, c.Heartbeats = time.Minute, time.Tick(20*time.Millisecond)
	}
	e, err := s.Start(ctx, store.Handlers{
		Delivery: func(context.Context, store.Delivery) error { return nil },
		Effect: func(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
			if f.Kind != sia.DoPush {
				return allWell(ctx, t, f)
			}
			sha, err := commit(ctx, repo, name)
			if err != nil {
				return nil, err
			}
			once.Do(func() {
				fmt.Println("before the push")
				<-goOn
			})
			if err := repo.Push(ctx, "sia/issue-42", sha, ""); err != nil {
				return nil, err
			}
			return sia.Pushed{SHA: f.SHA, Warning: name}, nil
		},
	}, c)
	if err != nil {
		return err
	}
	for input := bufio.NewScanner(os.Stdin); input.Scan(); {
		goOn <- true
	}
	return e.Stop(ctx)
}

// commit creates a worker's commit on main.
func commit(ctx context.Context, repo *gitops.Repo, name string) (string, error) {
	base, err := repo.Fetch(ctx, "main")
	if err != nil {
		return "", err
	}
	w, err := repo.Workspace(ctx, "", base)
	if err != nil {
		return "", err
	}
	defer w.Remove()
	if err := os.WriteFile(filepath.Join(w.Dir(), "by"), []byte(name), 0o600); err != nil {
		return "", err
	}
	return w.Commit(ctx, gitops.CommitSpec{Message: name, Author: gitops.Signature{Name: name, Email: "a@example.com",
		When: time.Now()}})
}

// gitHost serves one repository. It blocks a push of the sleeper.
type gitHost struct {
	url, bare string
	pushing   chan bool // a push of the sleeper has arrived
	goOn      chan bool // closed: it may continue
	pushes    atomic.Int64
}

func newGitHost(t *testing.T) *gitHost {
	t.Helper()
	root := t.TempDir()
	g := &gitHost{bare: filepath.Join(root, "a.git"), pushing: make(chan bool, 100), goOn: make(chan bool)}
	runGit(t, root, "init", "-q", "--bare", "-b", "main", g.bare)
	runGit(t, g.bare, "config", "http.receivepack", "true")
	tree := runGit(t, g.bare, "hash-object", "-t", "tree", "-w", "/dev/null")
	runGit(t, g.bare, "update-ref", "refs/heads/main", runGit(t, g.bare, "commit-tree", "-m", "first", tree))
	backend := &cgi.Handler{Path: filepath.Join(runGit(t, root, "--exec-path"), "git-http-backend"), Root: "/", Dir: root,
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=x", "GIT_CONFIG_NOSYSTEM=1",
			"HOME=" + root},
		Stderr: io.Discard}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, who, _ := r.BasicAuth(); who == sleeper && r.Method == http.MethodPost &&
			strings.HasSuffix(r.URL.Path, "/git-receive-pack") {
			g.pushes.Add(1)
			body, err := io.ReadAll(r.Body) // read all, because git spins on a response before that
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			g.pushing <- true
			<-g.goOn
		}
		backend.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	g.url = srv.URL + "/a.git"
	return g
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// worker is a process with an engine.
type worker struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner // its output
	log *bufio.Scanner
}

func startWorker(ctx context.Context, t *testing.T, name, db, remote string) *worker {
	t.Helper()
	w := &worker{Cmd: exec.CommandContext(ctx, os.Args[0])}
	w.Env = append(os.Environ(), workerEnv+"="+strings.Join([]string{name, db, remote}, "\n"))
	var err error
	if w.in, err = w.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := w.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := w.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	w.out, w.log = bufio.NewScanner(out), bufio.NewScanner(log)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	return w
}

// goOn lets a worker push.
func (w *worker) goOn(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(w.in, "go on\n"); err != nil {
		t.Fatal(err)
	}
}

func (w *worker) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := w.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// stopBetweenWrites suspends a worker while it does not hold the database's write lock, which would block all others.
func (w *worker) stopBetweenWrites(t *testing.T, s *store.Store, id sia.TaskID) {
	t.Helper()
	for {
		w.signal(t, syscall.SIGSTOP)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := s.SaveText(ctx, id, 0, "free", "yes")
		cancel()
		if err == nil {
			return
		}
		w.signal(t, syscall.SIGCONT)
	}
}

// TestStoppedProcess suspends a process with SIGSTOP before or during a push until its lease has expired and another
// process has pushed. When it continues, nothing of it arrives: neither on the branch nor in the log.
func TestStoppedProcess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		within bool // during the push; otherwise before it
	}{{"before a push", false}, {"within a push", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			host := newGitHost(t)
			db := filepath.Join(t.TempDir(), "sia.db")
			s := storetest.Open(t, store.Config{URL: db})
			id := sia.NewTaskID(7, 42)
			apply(t, s, id, sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Installation: 3,
				Repo: sia.Repo{ID: 7, Owner: "octo", Name: "demo"}, Issue: 42, Title: "t", DefaultBranch: "main"}})

			slow := startWorker(ctx, t, sleeper, db, host.url)
			slow.out.Scan()
			if c.within {
				slow.goOn(t)
				<-host.pushing
			}
			slow.stopBetweenWrites(t, s, id)
			fast := startWorker(ctx, t, healthy, db, host.url)
			go func() {
				for fast.log.Scan() { // so that it does not block
				}
			}()
			fast.out.Scan()
			fast.goOn(t)
			key := pushDone(ctx, t, s, id)
			head := runGit(t, host.bare, "rev-parse", "sia/issue-42")
			sent := host.pushes.Load()

			slow.signal(t, syscall.SIGCONT)
			if !c.within {
				slow.goOn(t)
			}
			close(host.goOn)
			dropped := false
			for !dropped && slow.log.Scan() {
				dropped = strings.Contains(slow.log.Text(), "outcome dropped") && strings.Contains(slow.log.Text(), key)
			}
			if !dropped {
				t.Error("the process that was stopped said nothing of its outcome")
			}
			go func() {
				for slow.log.Scan() { // so that it does not block
				}
			}()
			for _, w := range []*worker{slow, fast} {
				w.in.Close()
				if err := w.Wait(); err != nil {
					t.Error(err)
				}
			}

			if now := runGit(t, host.bare, "rev-parse", "sia/issue-42"); now != head {
				t.Errorf("the branch moved from %s to %s", head, now)
			}
			if by := runGit(t, host.bare, "log", "--format=%s", "sia/issue-42"); by != healthy+"\nfirst" {
				t.Errorf("on the branch: %q", by)
			}
			if host.pushes.Load() != sent {
				t.Errorf("the process sent %d pushes after its lease ran out", host.pushes.Load()-sent)
			}
			wantOneOutcome(t, s, id, key)
		})
	}
}

// pushDone waits until a task's push is done.
func pushDone(ctx context.Context, t *testing.T, s *store.Store, id sia.TaskID) (key string) {
	t.Helper()
	for {
		effects, err := s.Effects(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range effects {
			if f.Kind == sia.DoPush && f.State != store.EffectPending {
				return f.Key
			}
		}
	}
}

// wantOneOutcome checks that the log has one outcome of a push, the healthy worker's.
func wantOneOutcome(t *testing.T, s *store.Store, id sia.TaskID, key string) {
	t.Helper()
	events, err := s.Events(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []sia.Fact
	for _, r := range events {
		if r.Event.Effect == key {
			outcomes = append(outcomes, r.Event.Fact)
		}
	}
	if len(outcomes) != 1 || outcomes[0] != sia.Fact(sia.Pushed{SHA: "c0ffee1", Warning: healthy}) {
		t.Errorf("outcomes: %+v", outcomes)
	}
	if _, err := s.Replay(context.Background(), id); err != nil {
		t.Error(err)
	}
}
