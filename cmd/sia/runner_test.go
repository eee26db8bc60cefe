package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

const modelKey = "the model's key, which no runner has"

// greetModel changes a file in each of two answers and finishes with the third, unless a fault prevents that.
func greetModel(fault *scripted.Fault) scripted.Script {
	usage := &scripted.Usage{Input: 1000, Output: 100}
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Usage: usage, Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	finish := call("finish", map[string]any{"summary": "Greeted."})
	finish.Fault = fault
	return scripted.Script{Rules: []scripted.Rule{{Name: "coder", Model: "coder", User: "Greet the customers",
		Turns: []scripted.Answer{
			call("write", map[string]any{"path": "hello.txt", "content": "Hello world\n"}),
			call("edit", map[string]any{"path": "hello.txt", "old": "Hello world", "new": "Hello, world!"}),
			finish,
		}}}}
}

// runnerWorld is a GitHub, a model, a server process, and the proxy between the server and its runners.
type runnerWorld struct {
	t       *testing.T
	ctx     context.Context
	sim     *ghsim.Server
	app     ghsim.App
	model   *scripted.Server
	dir     string // the server's
	private string
	server  *siaProcess
	front   *httptest.Server // the only address for runners

	mu      sync.Mutex
	crossed bytes.Buffer // all traffic through front
}

// newRunnerWorld starts a server process with attempts on runners.
func newRunnerWorld(t *testing.T, script scripted.Script) *runnerWorld {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	t.Cleanup(cancel)
	w := &runnerWorld{t: t, ctx: ctx, dir: filepath.Join(t.TempDir(), "server"), private: apptest.FreeAddress(t)}
	var err error
	w.sim, err = ghsim.New(ghsim.Config{Dir: filepath.Join(t.TempDir(), "github")})
	w.must(err)
	t.Cleanup(func() { w.must(w.sim.Close()) })
	_, err = w.sim.Start("127.0.0.1:0")
	w.must(err)
	w.sim.CreateUser(apptest.Owner)
	_, err = w.sim.CreateRepo(apptest.Owner, apptest.Name, ghsim.RepoSpec{Files: map[string]string{
		"check.sh": "[ ! -f hello.txt ] || grep -qx 'Hello, world!' hello.txt\n",
		".github/workflows/ci.yml": "name: CI\non: [pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n" +
			"    steps:\n      - uses: actions/checkout@v4\n      - run: sh ./check.sh\n",
		".sia/config.yml": "checks: {settle: 0s, wait: 1m}\n"}})
	w.must(err)
	w.model, err = scripted.Start(script, scripted.Options{Key: modelKey})
	w.must(err)
	t.Cleanup(func() { w.must(w.model.Close()) })
	w.app, err = w.sim.CreateApp(apptest.Slug)
	w.must(err)
	key := filepath.Join(t.TempDir(), "app.pem")
	w.must(os.WriteFile(key, w.app.PrivateKeyPEM, 0o600))
	listen := apptest.FreeAddress(t)
	w.server = w.start("serving", []string{"SIA_GITHUB_URL=" + w.sim.URL(), "SIA_GITHUB_API=" + w.sim.APIURL(),
		fmt.Sprint("SIA_APP_ID=", w.app.ID), "SIA_APP_KEY_FILE=" + key, "SIA_WEBHOOK_SECRET=" + apptest.Secret,
		"SIA_MODEL_URL=" + w.model.URL, "SIA_MODEL_KEY=" + modelKey, "SIA_MODEL=coder", "SIA_SIA_MODEL=sia",
		"SIA_REVIEWER_MODEL=reviewer", "SIA_PRICE_INPUT=3", "SIA_PRICE_OUTPUT=15", "SIA_WELCOME=false"},
		"serve", "--dir", w.dir, "--listen", listen, "--private", w.private, "--attempts-on", "runners")
	w.must(w.sim.SetWebhook(w.app.ID, "http://"+listen+"/webhook", apptest.Secret))
	_, err = w.sim.Install(w.app.ID, apptest.Owner, apptest.Name)
	w.must(err)
	to, err := url.Parse("http://" + listen)
	w.must(err)
	w.front = httptest.NewServer(w.recorded(httputil.NewSingleHostReverseProxy(to)))
	t.Cleanup(w.front.Close)
	return w
}

func (w *runnerWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// recorded wraps next and records all traffic.
func (w *runnerWorld) recorded(next *httputil.ReverseProxy) http.Handler {
	next.FlushInterval = -1
	next.ErrorHandler = func(rw http.ResponseWriter, _ *http.Request, _ error) { rw.WriteHeader(http.StatusBadGateway) }
	next.ModifyResponse = func(resp *http.Response) error {
		resp.Body = tee{io.TeeReader(resp.Body, w), resp.Body}
		return nil
	}
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		head, _ := httputil.DumpRequest(r, false)
		_, _ = w.Write(head)
		r.Body = tee{io.TeeReader(r.Body, w), r.Body}
		next.ServeHTTP(rw, r)
	})
}

type tee struct {
	io.Reader
	io.Closer
}

// Write records traffic.
func (w *runnerWorld) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.crossed.Write(b)
}

// siaProcess is a process of sia with its log.
type siaProcess struct {
	cmd   *exec.Cmd
	lines chan string // of its log; closed at its end
	ended chan struct{}
	mu    sync.Mutex
	log   strings.Builder
}

// start starts sia with its own environment and waits for a line of its log.
func (w *runnerWorld) start(until string, env []string, args ...string) *siaProcess {
	w.t.Helper()
	p := &siaProcess{cmd: exec.CommandContext(w.ctx, "sia", args...), lines: make(chan string, 1000),
		ended: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(), "TMPDIR=" + os.TempDir()}, env...)
	out, err := p.cmd.StderrPipe()
	w.must(err)
	w.must(p.cmd.Start())
	go func() {
		defer close(p.ended)
		defer close(p.lines)
		for in := bufio.NewScanner(out); in.Scan(); {
			p.mu.Lock()
			p.log.WriteString(in.Text() + "\n")
			p.mu.Unlock()
			select {
			case p.lines <- in.Text():
			default:
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGCONT)
		_ = p.cmd.Process.Kill()
		<-p.ended
		_ = p.cmd.Wait()
		if w.t.Failed() {
			w.t.Logf("sia %s:\n%s", strings.Join(args, " "), p.said())
		}
	})
	p.await(w.t, until)
	return p
}

func (p *siaProcess) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// await waits for a line of the log.
func (p *siaProcess) await(t *testing.T, until string) {
	t.Helper()
	for line := range p.lines {
		if strings.Contains(line, until) {
			return
		}
	}
	t.Fatalf("it ended before it said %q:\n%s", until, p.said())
}

// sia runs a command in the server's folder.
func (w *runnerWorld) sia(args ...string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.ctx, "sia", append(args, "--dir", w.dir)...)
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("sia %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// runner adds a runner and starts it with only the front's address and its token.
func (w *runnerWorld) runner(name string) *siaProcess {
	w.t.Helper()
	token := w.sia("runner", "add", name)
	return w.start("waiting for attempts", []string{"SIA_RUNNER_TOKEN=" + token}, "runner", "--server", w.front.URL,
		"--dir", filepath.Join(w.t.TempDir(), name))
}

// ask makes a user open an issue that asks for a greeting.
func (w *runnerWorld) ask() {
	w.t.Helper()
	_, err := w.sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "- Put a greeting into hello.txt.")
	w.must(err)
	w.must(w.sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
}

// asked counts the requests to the coder.
func (w *runnerWorld) asked() (turns []int) {
	for _, q := range w.model.Requests() {
		if q.Rule == "coder" {
			turns = append(turns, q.Turn())
		}
	}
	return turns
}

// until polls until a condition holds.
func (w *runnerWorld) until(what string, so func() bool) {
	w.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-w.ctx.Done():
			w.t.Fatalf("it never came that %s", what)
		}
	}
}

// db opens the server's database.
func (w *runnerWorld) db() *store.Store {
	w.t.Helper()
	return storetest.Open(w.t, store.Config{URL: "sqlite:" + filepath.Join(w.dir, "sia.db")})
}

// ended waits until the task has ended.
func (w *runnerWorld) ended(db *store.Store) (task sia.Task) {
	w.t.Helper()
	w.until("the task has ended", func() bool {
		all, err := db.Tasks(w.ctx, store.Filter{})
		w.must(err)
		if len(all) == 1 {
			task = all[0]
		}
		return len(all) == 1 && task.State.Final() && len(task.Pending) == 0
	})
	return task
}

// passed returns what is wrong with a task that should have passed in one attempt of so many turns.
func (w *runnerWorld) passed(task sia.Task) {
	w.t.Helper()
	if task.State != sia.Passed || len(task.Attempts) != 1 {
		w.t.Fatalf("the task is %s after %d attempts: %+v", task.State, len(task.Attempts), task.Attempt())
	}
	pull, err := w.sim.Pull(apptest.Repo, 2)
	w.must(err)
	text, err := w.sim.File(apptest.Repo, pull.Head, "hello.txt")
	w.must(err)
	if text != "Hello, world!\n" || len(pull.Commits) != 1 || len(pull.Files) != 1 {
		w.t.Errorf("hello.txt is %q, in %d commits with the files %v", text, len(pull.Commits), pull.Files)
	}
}

// An issue passes with an attempt by a runner that has no key and connects only to the server. The runner ends when its
// token is revoked.
//
//test:thorough
func TestRunner(t *testing.T) {
	t.Parallel()
	w := newRunnerWorld(t, greetModel(&scripted.Fault{Stall: true, After: 1, Times: 1}))
	w.ask()
	db := w.db()
	w.until("the attempt waits for a runner", func() bool {
		all, err := db.RunnerStandings(w.ctx)
		w.must(err)
		return len(all) == 1 && all[0].State == store.RunnerOffered
	})
	if got := w.sia("task", "show", apptest.Repo+"#1"); !strings.Contains(got, "waits for a runner") {
		t.Errorf("sia task show does not say what the attempt waits for:\n%s", got)
	}
	p := w.runner("mill")
	w.until("the model is in the midst of its third answer", func() bool { return len(w.asked()) == 3 })
	if got := w.sia("runner", "list"); !strings.Contains(got, apptest.Repo+"#1, attempt 1") {
		t.Errorf("sia runner list does not say what it makes:\n%s", got)
	}
	for _, address := range connections(t, p.cmd.Process.Pid) {
		if !strings.HasSuffix(w.front.URL, address) {
			t.Errorf("the runner is connected to %s", address)
		}
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.cmd.Process.Pid))
	w.must(err)
	_, err = w.sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia pause")
	w.must(err)
	var task sia.Task
	w.until("the task is paused", func() bool {
		all, err := db.Tasks(w.ctx, store.Filter{})
		w.must(err)
		task = all[0]
		return task.State == sia.OnHold && len(task.Pending) == 0
	})
	if a := task.Attempts[0]; a.Turns != 2 || a.Cost <= 0 {
		t.Errorf("paused: attempt %+v", a)
	}
	p.await(t, "attempt reported") // the pause reached it
	w.must(w.model.SetScript(greetModel(nil)))
	_, err = w.sim.Comment(apptest.Repo, 1, apptest.Owner, "/sia resume")
	w.must(err)
	if task = w.ended(db); task.State != sia.Passed {
		t.Fatalf("the task is %s: %+v", task.State, task.Attempt())
	}
	w.checkRefusedTokens("mill", p)
	block, _ := pem.Decode(w.app.PrivateKeyPEM)
	w.mu.Lock()
	defer w.mu.Unlock()
	if !bytes.Contains(w.crossed.Bytes(), []byte("/runner/model/0")) {
		t.Error("what the runner was sent was not seen here")
	}
	for what, text := range map[string]string{"the model's key": modelKey, "the model's address": strings.TrimPrefix(
		w.model.URL, "http://"), "the app's key": strings.Fields(string(w.app.PrivateKeyPEM))[10],
		"the webhook's secret": apptest.Secret, "GitHub's address": strings.TrimPrefix(w.sim.URL(), "http://"),
		"a token of GitHub's": "ghs_", "the app's key, decoded": string(block.Bytes[:40])} {
		if bytes.Contains(w.crossed.Bytes(), []byte(text)) || bytes.Contains(environ, []byte(text)) {
			t.Errorf("the runner was given %s", what)
		}
	}
}

// connections returns the addresses that a process is connected to, as host and port.
func connections(t *testing.T, pid int) (out []string) {
	t.Helper()
	sockets := map[string]bool{}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	fds, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.HasPrefix(to, "socket:[") {
			sockets[strings.Trim(to, "socket:[]")] = true
		}
	}
	for _, file := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) < 10 || !sockets[f[9]] {
				continue
			}
			host, port, _ := strings.Cut(f[2], ":")
			var n int
			if _, err := fmt.Sscanf(port, "%X", &n); err != nil || n == 0 {
				continue
			}
			if host == "0100007F" {
				host = "127.0.0.1"
			}
			out = append(out, fmt.Sprintf("%s:%d", host, n))
		}
	}
	if len(out) == 0 {
		t.Fatal("the runner is connected to nobody")
	}
	return out
}

// A runner fails during an attempt. Another continues from the last turn: one outcome, one commit, and each answer is
// requested and paid for once. What the first reports when it resumes is ignored.
//
//test:thorough
func TestRunnerLost(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRunnerWorld(t, greetModel(&scripted.Fault{Stall: true, After: 1, Times: 1}))
			w.ask()
			first := w.runner("first")
			w.until("the model is in the midst of its third answer", func() bool { return len(w.asked()) == 3 })
			w.must(first.cmd.Process.Signal(signal))
			db := w.db()
			w.runner("second")
			raw := storetest.Raw(t, "sqlite:"+filepath.Join(w.dir, "sia.db"))
			_, err := raw.ExecContext(w.ctx, `UPDATE runner_attempts SET until = 1`) // a minute later
			w.must(err)
			task := w.ended(db)
			w.passed(task)
			if got := w.asked(); !slices.Equal(got, []int{0, 1, 2, 2}) {
				t.Errorf("answers asked for, by their place in the conversation: %v", got)
			}
			// three answers of 0.45 credits; the interrupted call costs its reservation, which is more than its use
			answers := sia.CreditsOf(3 * (1000*3 + 100*15) / 1e6)
			most := answers + sia.CreditsOf((20_000*3+8192*15)/1e6)
			if a := task.Attempt(); a.Turns != 3 || a.Cost < answers || a.Cost > most {
				t.Errorf("%d turns for %s credits, of at least %s and at most %s", a.Turns, a.Cost, answers, most)
			}
			if signal == syscall.SIGSTOP {
				w.must(first.cmd.Process.Signal(syscall.SIGCONT))
				first.await(t, "no longer this runner's")
				w.passed(w.ended(db))
			}
		})
	}
}

// checkRefusedTokens removes a runner, and starts one with an unknown token. Both must end with advice, and neither
// token may give access to anything.
func (w *runnerWorld) checkRefusedTokens(name string, p *siaProcess) {
	w.t.Helper()
	w.sia("runner", "remove", name)
	p.await(w.t, "does not know this runner's token")
	token := "sia-runner-" + strings.Repeat("A", 52)
	w.start("does not know this runner's token", []string{"SIA_RUNNER_TOKEN=" + token}, "runner", "--server", w.front.URL,
		"--dir", filepath.Join(w.t.TempDir(), "other"))
	for _, token := range []string{"", "x", token, "sia-attempt-" + strings.Repeat("A", 52)} {
		for _, path := range []string{"next", "work", "base", "beat", "turn?n=1", "change", "result", "release",
			"model/0/chat/completions"} {
			method := http.MethodPost
			if path == "base" || path == "work" {
				method = http.MethodGet
			}
			req, err := http.NewRequestWithContext(w.ctx, method, w.front.URL+"/runner/"+path, strings.NewReader("{}"))
			w.must(err)
			req.Header.Set("Authorization", "Bearer "+token)
			resp, err := http.DefaultClient.Do(req)
			w.must(err)
			w.must(resp.Body.Close())
			if resp.StatusCode/100 == 2 || resp.StatusCode >= 500 {
				w.t.Errorf("%s with the token %q: %s", path, token, resp.Status)
			}
		}
	}
}
