package runner_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a server with one attempt, and a machine that runs it step by step.
type world struct {
	t        *testing.T
	db       *store.Store
	url      string // of the database
	repo     *gitops.Repo
	space    *gitops.Workspace
	base     string
	server   *httptest.Server
	token    string
	dispatch *runner.Dispatcher
	task     sia.Task
	turns    transcript
}

// transcript is a recorder that stores turns.
type transcript struct {
	mu    sync.Mutex
	turns []agent.Turn
	db    *store.Store
	task  sia.TaskID
}

func (r *transcript) Turn(ctx context.Context, t agent.Turn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turns = append(r.turns, t)
	b, err := json.Marshal(t)
	return errors.Join(err, r.db.AppendTurn(ctx, r.task, 1, 0, t.Number, b))
}

// newWorld returns a world with a repository with one commit, and a model at an address.
func newWorld(t *testing.T, model string) *world {
	t.Helper()
	return newWorldOf(t, model, storetest.SQLite(t), map[string]string{"hello.txt": "Hello\n"})
}

// newWorldOf returns a world with a database and the repository's files.
func newWorldOf(t *testing.T, model, url string, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, db: storetest.Open(t, store.Config{URL: url}), url: url, token: runner.NewToken()}
	task := sia.NewTaskID(7, 1)
	_, err := w.db.Apply(t.Context(), task, sia.Event{ID: "start", At: time.Now(), Fact: sia.Start{Installation: 3,
		Repo: sia.Repo{ID: 7, Owner: "ada", Name: "shop"}, Issue: 1, Title: "Greet", DefaultBranch: "main"}})
	must(t, err)
	w.task, err = w.db.Task(t.Context(), task)
	must(t, err)
	w.turns.db, w.turns.task = w.db, task
	must(t, w.db.AddRunner(t.Context(), "mill", runner.Hash(w.token)))
	log := slog.New(slog.DiscardHandler)
	cache, err := gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: log})
	must(t, err)
	w.repo = cache.Repo(gitops.Remote{Key: "3/7", URL: "https://github.invalid/ada/shop"})
	w.base = w.commit(files)
	w.space, err = w.repo.Workspace(t.Context(), "", w.base)
	must(t, err)
	w.dispatch = runner.NewDispatcher(runner.Config{Store: w.db, Logger: log, Now: time.Now,
		Mirror: func(sia.Task) *gitops.Repo { return w.repo }, Key: func(sia.Task) string { return "3/7" },
		Agents: []runner.Agent{{Name: "coder", Models: []runner.Upstream{{URL: model, Key: "the key",
			Model: runner.Model{Name: "coder", Model: "m", Price: llm.Price{Input: 1, Output: 2}}}}}},
		Poll: 20 * time.Millisecond})
	w.server = httptest.NewServer(runner.NewHandler(w.dispatch, &gateway.Room{}))
	t.Cleanup(w.server.Close)
	return w
}

// commit adds a commit of files to the mirror.
func (w *world) commit(files map[string]string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	git := func(in []byte, args ...string) []byte {
		cmd := exec.CommandContext(w.t.Context(), "git", append([]string{"-C", dir, "-c", "user.name=a", "-c",
			"user.email=a@b"},
			args...)...)
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.Output()
		must(w.t, err)
		return out
	}
	git(nil, "init", "-q")
	for name, text := range files {
		must(w.t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	git(nil, "add", ".")
	git(nil, "commit", "-qm", "base")
	sha := strings.TrimSpace(string(git(nil, "rev-parse", "HEAD")))
	pack := git(git(nil, "rev-list", "--objects", "--all"), "pack-objects", "--stdout", "-q")
	must(w.t, w.repo.TakeCommit(w.t.Context(), sha, bytes.NewReader(pack), 1<<20))
	return sha
}

type ran struct {
	res agent.Result
	err error
}

// run offers the attempt.
func (w *world) run(ctx context.Context, in agent.Input) <-chan ran {
	in.Dir, in.Rebuild = w.space.Dir(), true
	if in.Limits.Credits == 0 {
		in.Limits.Credits = 100 * sia.Credit
	}
	out := make(chan ran, 1)
	by := w.dispatch.Agent(w.task, sia.Effect{Key: "7-1/1/attempt", Task: w.task.ID, Attempt: 1}, w.base, "coder", false)
	go func() {
		res, err := by.Run(ctx, in, &w.turns)
		out <- ran{res, err}
	}()
	return out
}

// say sends a request of the machine, and returns the status and the response.
func (w *world) say(token, path string, body []byte) (int, []byte) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.server.URL+runner.Prefix+path,
		bytes.NewReader(body))
	must(w.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	must(w.t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	must(w.t, err)
	return resp.StatusCode, b
}

// take claims the attempt.
func (w *world) take() runner.Offer {
	w.t.Helper()
	status, b := w.say(w.token, runner.NextPath, []byte("v1"))
	if status != http.StatusOK {
		w.t.Fatalf("%d: %s", status, b)
	}
	var o runner.Offer
	must(w.t, json.Unmarshal(b, &o))
	return o
}

func (w *world) expect(want int, token, path string, body []byte) {
	w.t.Helper()
	if got, b := w.say(token, path, body); got != want {
		w.t.Errorf("%s: %d and not %d: %s", path, got, want, b)
	}
}

func encoded(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

func turnPath(n int) string { return fmt.Sprintf("%s?%s=%d", runner.TurnPath, runner.TurnNumber, n) }

// far creates a commit on the machine, of a work tree that change changed.
func (w *world) far(change func(dir string)) (sha string, pack []byte) {
	w.t.Helper()
	space, err := w.repo.Workspace(w.t.Context(), "", w.base)
	must(w.t, err)
	change(space.Dir())
	by := gitops.Signature{Name: "a", Email: "a@b", When: time.Unix(0, 0)}
	sha, err = space.Commit(w.t.Context(), gitops.CommitSpec{Message: "m", Author: by, Committer: by})
	must(w.t, err)
	pack, err = space.Pack(w.t.Context(), sha, runner.MaxPack)
	must(w.t, err)
	return sha, pack
}

// The input, the reports and the result of a runner are transferred unchanged.
func TestAttemptByARunner(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	in := agent.Input{Title: "Greet", Repo: "ada/shop", Issue: 1, Attempt: 1, Setup: []string{"true"},
		Failures: []tool.FailedCheck{{Name: "test", Text: "red"}}, Brief: sia.Brief{Prompt: "Do it."},
		Previous: []agent.PreviousAttempt{{Number: 1, Summary: "s"}}}
	done := w.run(t.Context(), in)
	o := w.take()
	if d := cmp.Diff(in.Failures, o.Work.Input.Failures); d != "" || o.Work.Input.Brief.Prompt != "Do it." ||
		o.Work.Start != w.base || o.Work.Coder.Models[0].Model != "m" || o.Work.Input.Dir != "" {
		t.Errorf("given %+v\n%s", o.Work, d)
	}
	if b := encoded(t, o); bytes.Contains(b, []byte("the key")) || bytes.Contains(b, []byte("127.0.0.1")) {
		t.Errorf("it was given the model's key or address: %s", b)
	}
	turn := agent.Turn{Number: 1, Kind: agent.TurnModel, Text: "words", Cost: 5, Model: "m"}
	w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, turn))
	w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, turn)) // the response was lost
	w.expect(http.StatusConflict, o.Pass, turnPath(3), encoded(t, turn))
	for _, bad := range []agent.Turn{{Kind: "other"}, {Kind: agent.TurnModel, Number: -1},
		{Kind: agent.TurnModel, Cost: -1},
		{Kind: agent.TurnModel, Usage: llm.Usage{Input: -1}}} {
		w.expect(http.StatusUnprocessableEntity, o.Pass, turnPath(2), encoded(t, bad))
	}
	w.expect(http.StatusOK, o.Pass, runner.HeartbeatPath, nil)
	sha, pack := w.far(func(dir string) {
		must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("Hello, world!\n"), 0o600))
	})
	for _, bad := range []agent.Result{{End: "won"}, {End: sia.EndFinished, Cost: -1}, {End: sia.EndAsked},
		{End: sia.EndFinished, Usage: llm.Usage{Input: 1e18}}, {End: sia.EndFinished, Edits: sia.Edits{Made: 1e18}},
		{End: sia.EndFinished, Risk: &sia.Risk{Streak: 1e308, Same: -1e308}},
		{End: sia.EndFinished, Risk: &sia.Risk{Chance: 2}}} {
		w.expect(http.StatusUnprocessableEntity, o.Pass, runner.ResultPath,
			runner.JoinResult(encoded(t, runner.Outcome{Result: bad}), nil))
	}
	w.expect(http.StatusUnprocessableEntity, o.Pass, runner.ResultPath, []byte("xx"))
	res := agent.Result{End: sia.EndFinished, Turns: 1, Cost: 5, Agent: "builtin/m", Summary: "Greeted."}
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath,
		runner.JoinResult(encoded(t, runner.Outcome{Result: res, Commit: sha}), pack))
	got := <-done
	must(t, got.err)
	if d := cmp.Diff(res, got.res); d != "" {
		t.Error(d)
	}
	if b, err := os.ReadFile(filepath.Join(w.space.Dir(), "hello.txt")); err != nil || string(b) != "Hello, world!\n" {
		t.Errorf("in the work tree: %q, %v", b, err)
	}
	if len(w.turns.turns) != 1 || w.turns.turns[0].Text != "words" {
		t.Errorf("in the transcript: %+v", w.turns.turns)
	}
	w.expect(http.StatusGone, o.Pass, runner.HeartbeatPath, nil)
}

// A runner that asks about its change gets the answer that the server's own judge gives on the work tree with it. What
// it sends at the end replaces that.
func TestChangeOfARunnerIsJudged(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	hello := filepath.Join(w.space.Dir(), "hello.txt")
	in := agent.Input{PushRefusal: func(context.Context) (string, error) {
		b, err := os.ReadFile(hello)
		if text := string(b); text != "Unknown\n" {
			return "it says " + text, err
		}
		return "", errors.New("GitHub does not answer")
	}}
	done := w.run(t.Context(), in)
	o := w.take()
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	change := func(text string) []byte {
		sha, pack := w.far(func(dir string) {
			must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte(text), 0o600))
			if text == "Link\n" {
				must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "l")))
			}
		})
		return runner.JoinResult(encoded(t, runner.Outcome{Result: agent.Result{End: sia.EndFinished}, Commit: sha}), pack)
	}
	for _, c := range []struct{ text, why, err string }{
		{"Hello, Ada!\n", "it says Hello, Ada!\n", ""},
		{"Hello, Bob!\n", "it says Hello, Bob!\n", ""},
		{"Unknown\n", "", "could not find out"},
		{"Link\n", "leads out of the work tree", ""},
	} {
		why, err := client.PushRefusal(t.Context(), o.Pass, change(c.text))
		if !strings.Contains(why, c.why) || c.why == "" && why != "" || (err == nil) != (c.err == "") ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %q, %v", c.text, why, err)
		}
	}
	w.expect(http.StatusUnprocessableEntity, o.Pass, runner.ChangePath, []byte("xx"))
	must(t, client.Result(t.Context(), o.Pass, change("Hello, world!\n")))
	if got := <-done; got.err != nil || got.res.End != sia.EndFinished {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	if b, err := os.ReadFile(hello); err != nil || string(b) != "Hello, world!\n" {
		t.Errorf("in the work tree: %q, %v", b, err)
	}
	if _, err := client.PushRefusal(t.Context(), o.Pass, change("Later\n")); !errors.Is(err, runner.ErrGone) {
		t.Errorf("asked after the end: %v", err)
	}
}

// Of a rejected result nothing is used, also not a change about which its runner asked before.
func TestRejectedAfterAJudgedChange(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{PushRefusal: func(context.Context) (string, error) { return "no", nil }})
	o := w.take()
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	hello := filepath.Join(w.space.Dir(), "hello.txt")
	sha, pack := w.far(func(dir string) {
		must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("Earlier\n"), 0o600))
	})
	ended := runner.Outcome{Result: agent.Result{End: sia.EndFinished}, Commit: sha}
	why, err := client.PushRefusal(t.Context(), o.Pass, runner.JoinResult(encoded(t, ended), pack))
	if b, rerr := os.ReadFile(hello); err != nil || why != "no" || rerr != nil || string(b) != "Earlier\n" {
		t.Fatalf("%q, %v; in the work tree: %q, %v", why, err, b, rerr)
	}
	ended.Commit, ended.TooLarge = "", true
	must(t, client.Result(t.Context(), o.Pass, runner.JoinResult(encoded(t, ended), nil)))
	if got := <-done; got.err != nil || got.res.End != sia.EndError ||
		!strings.Contains(got.res.Reason, "nothing of it is used") {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	if b, err := os.ReadFile(hello); err != nil || string(b) != "Hello\n" {
		t.Errorf("in the work tree: %q, %v", b, err)
	}
}

// A runner gets the commit that its tests are compared with, which differs from the start commit.
func TestBaseOfTests(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	w.task.BaseSHA = sia.SHA(w.base)
	start, _ := w.far(func(dir string) {
		must(t, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("Hello, world!\n"), 0o600))
	})
	by := w.dispatch.Agent(w.task, sia.Effect{Key: "7-1/1/attempt", Task: w.task.ID, Attempt: 1}, start, "coder", false)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := by.Run(ctx, agent.Input{Dir: w.space.Dir(), Rebuild: true}, &w.turns)
		done <- err
	}()
	o := w.take()
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	cache, err := gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	far := cache.Repo(gitops.Remote{Key: "far", URL: "https://runner.invalid/base"})
	for commit, ofTests := range map[string]bool{start: false, o.Work.Tests.Base: true} {
		must(t, client.Base(t.Context(), time.Minute, o.Pass, ofTests, func(pack io.Reader) error {
			return far.TakeCommit(t.Context(), commit, pack, 1<<20)
		}))
	}
	if o.Work.Tests.Base != w.base || o.Work.Tests.Within <= 0 || !far.HasCommit(w.base) || !far.HasCommit(start) {
		t.Errorf("given %+v, of %s and %s", o.Work.Tests, start, w.base)
	}
	cancel()
	<-done
}

// A result that is not allowed in a work tree is rejected, and the attempt reports that. Saved turns are kept, and the
// work tree is not changed.
func TestHostileRunner(t *testing.T) {
	for name, c := range map[string]struct {
		change func(dir string)
		spoil  func(sha string, pack []byte) (string, []byte)
		says   string
	}{
		"a symlink out of the tree": {change: func(dir string) {
			must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "l")))
		},
			says: "leads out of the work tree"},
		"a damaged pack": {spoil: func(sha string, pack []byte) (string, []byte) {
			pack[len(pack)-1] ^= 1
			return sha, pack
		}, says: "unfit tree"},
		"a commit that is not there": {spoil: func(_ string, pack []byte) (string, []byte) {
			return strings.Repeat("1", 40), pack
		}, says: "unfit tree"},
		"no name of a commit": {spoil: func(_ string, pack []byte) (string, []byte) { return "../../x", pack },
			says: "../../x"},
		"too many files": {change: func(dir string) {
			must(t, os.Mkdir(filepath.Join(dir, "many"), 0o700))
			for i := range 20_001 {
				must(t, os.WriteFile(filepath.Join(dir, "many", fmt.Sprint(i)), nil, 0o600))
			}
		}, says: "20002 files are changed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "http://127.0.0.1:1")
			done := w.run(t.Context(), agent.Input{})
			o := w.take()
			w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, agent.Turn{Number: 1, Kind: agent.TurnModel, Text: "kept"}))
			sha, pack := w.far(func(dir string) {
				must(t, os.WriteFile(filepath.Join(dir, "new.txt"), []byte("new\n"), 0o600))
				if c.change != nil {
					c.change(dir)
				}
			})
			if c.spoil != nil {
				sha, pack = c.spoil(sha, bytes.Clone(pack))
			}
			w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(
				encoded(t, runner.Outcome{Result: agent.Result{End: sia.EndFinished, Turns: 1}, Commit: sha}), pack))
			got := <-done
			if got.err != nil || got.res.End != sia.EndError ||
				!strings.Contains(got.res.Reason, "the runner mill sent back was refused") ||
				!strings.Contains(got.res.Reason, c.says) {
				t.Errorf("%+v, %v", got.res, got.err)
			}
			if _, err := os.Lstat(filepath.Join(w.space.Dir(), "new.txt")); err == nil {
				t.Error("something of it is in the work tree")
			}
			if len(w.turns.turns) != 1 {
				t.Errorf("the transcript has %d turns", len(w.turns.turns))
			}
		})
	}
}

// Bodies that are too large are rejected, and not stored.
func TestLargeBodiesOfRunners(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	done := w.run(ctx, agent.Input{})
	o := w.take()
	w.expect(http.StatusRequestEntityTooLarge, o.Pass, turnPath(1), make([]byte, runner.MaxTurn+1))
	w.expect(http.StatusRequestEntityTooLarge, o.Pass, runner.ResultPath,
		make([]byte, 4+runner.MaxResult+runner.MaxPack+1))
	w.expect(http.StatusRequestEntityTooLarge, o.Pass, runner.ChangePath,
		make([]byte, 4+runner.MaxResult+runner.MaxPack+1))
	cancel()
	<-done
}

// deadlines is a response whose read deadlines are kept.
type deadlines struct {
	*httptest.ResponseRecorder
	read []time.Time
}

// SetReadDeadline sets a deadline, for [http.ResponseController].
func (d *deadlines) SetReadDeadline(t time.Time) error {
	d.read = append(d.read, t)
	return nil
}

// upload sends a result, with its body from a reader.
func (w *world) upload(pass string, body io.Reader) *deadlines {
	req := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost, runner.Prefix+runner.ResultPath, body)
	req.Header.Set("Authorization", "Bearer "+pass)
	to := &deadlines{ResponseRecorder: httptest.NewRecorder()}
	w.server.Config.Handler.ServeHTTP(to, req)
	return to
}

// A slow upload has time for each chunk. If it breaks off, the runner tries again.
func TestSlowUploadOfARunner(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{})
	o := w.take()
	if got := w.upload(o.Pass, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abc")))); got.Code !=
		http.StatusRequestTimeout {
		t.Errorf("broken off: %d: %s", got.Code, got.Body)
	}
	result := runner.JoinResult(encoded(t, runner.Outcome{Result: agent.Result{End: sia.EndFinished}}), nil)
	got := w.upload(o.Pass, iotest.HalfReader(bytes.NewReader(result)))
	if got.Code != http.StatusNoContent || len(got.read) < 3 || !got.read[1].After(got.read[0]) {
		t.Errorf("%d, deadlines %v: %s", got.Code, got.read, got.Body)
	}
	if ran := <-done; ran.err != nil || ran.res.End != sia.EndFinished {
		t.Errorf("%+v, %v", ran.res, ran.err)
	}
}

// began is a body of which nothing comes. It signals when it is read.
type began struct {
	io.Reader
	read func()
}

// Read signals, and waits.
func (b began) Read(p []byte) (int, error) {
	b.read()
	return b.Reader.Read(p)
}

// Slow uploads of results don't keep other runners' turns waiting.
func TestTurnBesideSlowUploads(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	done := w.run(ctx, agent.Input{})
	o := w.take()
	nothing, end := io.Pipe()
	var reading, all sync.WaitGroup
	for range 4 {
		reading.Add(1)
		all.Go(func() { w.upload(o.Pass, began{nothing, sync.OnceFunc(reading.Done)}) })
	}
	reading.Wait()
	for i, size := range []int{1, 100 << 10} {
		w.expect(http.StatusOK, o.Pass, turnPath(i+1),
			encoded(t, agent.Turn{Number: i + 1, Kind: agent.TurnModel, Text: strings.Repeat("a", size)}))
	}
	must(t, end.Close())
	all.Wait()
	cancel()
	<-done
}

// Wrong tokens are rejected, and after many of them the address has to wait. A known runner is still served.
func TestWrongTokensOfRunners(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	w.run(t.Context(), agent.Input{})
	last := 0
	for range 100 {
		if last, _ = w.say(runner.NewToken(), runner.NextPath, nil); last != http.StatusUnauthorized {
			break
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after a hundred wrong tokens: %d", last)
	}
	w.take()
	must(t, w.db.RemoveRunner(t.Context(), "mill"))
	if got, _ := w.say(w.token, runner.NextPath, nil); got != http.StatusUnauthorized &&
		got != http.StatusTooManyRequests {
		t.Errorf("a removed token: %d", got)
	}
}

// An invalid pass is rejected while the database is locked for writing: that needs no write.
func TestWrongPassCostsNoWrite(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	raw, err := storetest.Raw(t, w.url).Conn(t.Context())
	must(t, err)
	defer raw.Close()
	_, err = raw.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	must(t, err)
	pass := "sia-attempt-" + strings.Repeat("A", 52)
	for _, path := range []string{runner.HeartbeatPath, turnPath(1), runner.ResultPath, runner.ReleasePath} {
		w.expect(http.StatusGone, pass, path, nil)
	}
	_, err = raw.ExecContext(t.Context(), `ROLLBACK`)
	must(t, err)
}

// A lost runner is replaced by another, which gets the turns in the transcript. When five are lost the attempt has
// failed.
func TestLostRunners(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{})
	for n := range 5 {
		o := w.take()
		if n > 0 && (len(o.Work.Input.Saved) != n || o.Work.Input.Saved[n-1].Number != n || !o.Work.Input.Rebuild) {
			t.Errorf("runner %d was given %+v", n+1, o.Work.Input.Saved)
		}
		w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, agent.Turn{Number: n + 1, Kind: agent.TurnModel}))
		w.expect(http.StatusNoContent, o.Pass, runner.ReleasePath+"?"+runner.ReleaseLost+"=1", nil)
		w.expect(http.StatusGone, o.Pass, turnPath(2), encoded(t, agent.Turn{Number: n + 2, Kind: agent.TurnModel}))
	}
	got := <-done
	if got.err != nil || got.res.End != sia.EndError || !strings.Contains(got.res.Reason, "5 runners") ||
		got.res.Turns != 5 {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// The cost of calls without an answer goes along to the next runner.
func TestCostGoesToTheNextRunner(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 60 * sia.Credit}})
	o := w.take()
	w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, agent.Turn{Number: 1, Kind: agent.TurnEnd, Cost: 7}))
	w.expect(http.StatusNoContent, o.Pass, runner.ReleasePath+"?"+runner.ReleaseLost+"=1", nil)
	o = w.take()
	if saved := o.Work.Input.Saved; len(saved) != 1 || saved[0].Cost != 7 {
		t.Errorf("the next runner was given %+v", saved)
	}
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndFinished}}), nil))
	if got := <-done; got.err != nil {
		t.Error(got.err)
	}
}

// A runner's result teaches about nothing that its attempt did not have, and costs at most what was reserved.
func TestResultOfARunnerIsConfined(t *testing.T) {
	for _, c := range []struct{ agent, want string }{
		{"builtin/m", "builtin/m"}, {"builtin/n+x+m", "builtin/n+x+m"}, {"builtin/m+m", ""}, {"builtin/m+o", ""},
		{"builtin/", ""}, {"m", ""}, {"", ""},
	} {
		w := newWorld(t, "http://127.0.0.1:1")
		own := &w.dispatch.Agents[0]
		own.Models = append(own.Models, runner.Upstream{Model: runner.Model{Name: "other", Model: "n+x"}})
		done := w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 60 * sia.Credit}, Brief: sia.Brief{
			ToolLessons: []sia.ToolLesson{{ID: "shown", Tool: "read"}, {ID: "held", Tool: "read", Withheld: true}}}})
		o := w.take()
		res := agent.Result{End: sia.EndFinished, Cost: 5e18, Agent: c.agent,
			LessonsShown: []string{"forged", "shown", "held"}, LessonsWithheld: []string{"forged", "shown", "held"}}
		w.expect(http.StatusNoContent, o.Pass, runner.ResultPath,
			runner.JoinResult(encoded(t, runner.Outcome{Result: res}), nil))
		got := <-done
		must(t, got.err)
		want := agent.Result{End: sia.EndFinished, Cost: 60 * sia.Credit, Agent: c.want, LessonsShown: []string{"shown"},
			LessonsWithheld: []string{"held"}}
		if d := cmp.Diff(want, got.res); d != "" {
			t.Errorf("%s: %s", c.agent, d)
		}
	}
}

// The saved turns of earlier runners cost at most what was reserved.
func TestSavedTurnsCostAtMostTheReservation(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 60 * sia.Credit},
		Saved: []agent.Turn{{Number: 1, Kind: agent.TurnModel, Cost: 5e18},
			{Number: 2, Kind: agent.TurnModel, Cost: 5e18}}})
	o := w.take()
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndFinished}}), nil))
	if got := <-done; got.err != nil || got.res.Cost != 60*sia.Credit {
		t.Errorf("it cost %s, %v", got.res.Cost, got.err)
	}
}

// A released attempt does not count as lost, however often it is released. Until then the pass gives access to its
// input.
func TestAttemptIsHandedOn(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	done := w.run(t.Context(), agent.Input{})
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	var o runner.Offer
	for range 7 {
		o = w.take()
		work, err := client.Work(t.Context(), o.Pass)
		must(t, err)
		if d := cmp.Diff(o.Work, work); d != "" {
			t.Error(d)
		}
		must(t, client.Release(t.Context(), o.Pass, false))
		if _, err := client.Work(t.Context(), o.Pass); !errors.Is(err, runner.ErrGone) {
			t.Errorf("its work, after it was given back: %v", err)
		}
		if _, err := client.Heartbeat(t.Context(), o.Pass); !errors.Is(err, runner.ErrGone) {
			t.Errorf("a heartbeat, after it was given back: %v", err)
		}
	}
	o = w.take()
	must(t, client.Result(t.Context(), o.Pass, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndFinished}}), nil)))
	if got := <-done; got.err != nil || got.res.End != sia.EndFinished {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// An attempt that no runner takes reports that.
func TestAttemptWithoutRunner(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := w.run(ctx, agent.Input{})
	for offered := false; !offered; {
		all, err := w.db.RunnerStandings(t.Context())
		must(t, err)
		offered = len(all) == 1
	}
	cancel(fmt.Errorf("took longer: %w", context.DeadlineExceeded)) // like the engine
	got := <-done
	if !errors.Is(got.err, context.DeadlineExceeded) || !strings.Contains(got.err.Error(), "no runner has it") ||
		sia.IsPermanent(got.err) {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// The model is called with the attempt's pass, which is not forwarded, and the cost is counted here: a lower cost in a
// runner's report is ignored, and calls beyond the budget are rejected.
func TestModelOfARunner(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer the key" {
			t.Errorf("asked with %q", r.Header.Get("Authorization"))
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[],"usage":{"prompt_tokens":400000,"completion_tokens":50000}}`) // 50 credits
	}))
	defer model.Close()
	w := newWorld(t, model.URL)
	done := w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 60 * sia.Credit}})
	o := w.take()
	ask := []byte(`{"model":"m","messages":[{"role":"user","content":"hi"}],"max_tokens":100000}`)
	path := runner.ModelPath + "0/chat/completions"
	w.expect(http.StatusNotFound, o.Pass, runner.ModelPath+"1/chat/completions", ask)
	w.expect(http.StatusForbidden, o.Pass, path, []byte(`{"model":"dearer","messages":[]}`))
	w.expect(http.StatusGone, "sia-attempt-"+strings.Repeat("A", 52), path, ask)
	w.expect(http.StatusUnauthorized, w.token, path, ask)
	w.expect(http.StatusOK, o.Pass, path, ask)
	raw := storetest.Raw(t, w.url)
	_, err := raw.ExecContext(t.Context(), `CREATE TRIGGER away BEFORE UPDATE OF calls ON runner_attempts
		BEGIN SELECT RAISE(ABORT, 'the disk is away'); END`)
	must(t, err)
	w.expect(http.StatusServiceUnavailable, o.Pass, path, ask) // not a lack of credits
	_, err = raw.ExecContext(t.Context(), `DROP TRIGGER away`)
	must(t, err)
	long := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 400_000) + `"}]}`)
	w.expect(http.StatusPaymentRequired, o.Pass, path, long)
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndError, Cost: 1}, Failure: &runner.Failure{Message: "402"}}), nil))
	got := <-done
	if got.err != nil || got.res.End != sia.EndCredits || got.res.Cost != 50*sia.Credit {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	w.expect(http.StatusGone, o.Pass, path, ask)
}

// The outcome of a runner's model call is recorded with its kind.
func TestModelOfARunnerIsObserved(t *testing.T) {
	var status atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		fmt.Fprint(w, `{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":5}}`)
	}))
	w := newWorld(t, model.URL)
	seen := make(chan llm.Call, 1)
	w.dispatch.Agents[0].Models[0].Observe = func(_ context.Context, _ sia.TaskID, c llm.Call) { seen <- c }
	w.run(t.Context(), agent.Input{})
	o := w.take()
	ask := []byte(`{"model":"m","messages":[],"max_tokens":9}`)
	for _, c := range []struct {
		status int
		want   llm.ErrorKind
	}{{http.StatusOK, ""}, {http.StatusUnauthorized, llm.KindAuth}, {http.StatusTooManyRequests, llm.KindRateLimit},
		{http.StatusInternalServerError, llm.KindOverloaded}} {
		status.Store(int64(c.status))
		w.expect(c.status, o.Pass, runner.ModelPath+"0/chat/completions", ask)
		if got := <-seen; got.Failed != c.want || got.Ended || got.Client != "coder" ||
			(got.Usage.Output == 5) != (c.want == "") {
			t.Errorf("%d: %+v", c.status, got)
		}
	}
	model.Close()
	w.expect(http.StatusBadGateway, o.Pass, runner.ModelPath+"0/chat/completions", ask)
	if got := <-seen; got.Failed != llm.KindNetwork || got.Ended {
		t.Errorf("not reached: %+v", got)
	}
}

// When a runner hangs up, the server reads the answer to its end: the call was answered, and costs its usage, also if a
// user stops the attempt meanwhile.
func TestRunnerHangsUp(t *testing.T) {
	// 50 credits
	const usage = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":400000,\"completion_tokens\":50000}}\n\n"
	for name, parts := range map[string][2]string{
		"after the answer": {usage + "data: [DONE]\n\n", ""},
		"before its end":   {"data: {\"choices\":[]}\n\n", usage + "data: [DONE]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			goOn := make(chan bool)
			model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, parts[0])
				_ = http.NewResponseController(w).Flush()
				<-goOn
				fmt.Fprint(w, parts[1])
			}))
			defer model.Close()
			w := newWorld(t, model.URL)
			w.dispatch.Lease = time.Hour
			seen := make(chan llm.Call, 1)
			w.dispatch.Agents[0].Models[0].Observe = func(_ context.Context, _ sia.TaskID, c llm.Call) { seen <- c }
			noticed := make(chan bool)
			handler := runner.NewHandler(w.dispatch, &gateway.Room{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				context.AfterFunc(r.Context(), func() { close(noticed) })
				handler.ServeHTTP(w, r)
			}))
			defer server.Close()
			ctx, cancel := context.WithCancelCause(t.Context())
			done := w.run(ctx, agent.Input{})
			o := w.take()
			asking, hangUp := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(asking, http.MethodPost,
				server.URL+runner.Prefix+runner.ModelPath+"0/chat/completions",
				strings.NewReader(`{"model":"m","stream":true,"max_tokens":200000}`))
			must(t, err)
			req.Header.Set("Authorization", "Bearer "+o.Pass)
			resp, err := http.DefaultClient.Do(req)
			must(t, err)
			defer resp.Body.Close()
			_, err = io.ReadFull(resp.Body, make([]byte, len(parts[0])))
			must(t, err)
			hangUp()
			<-noticed
			cancel(store.ErrCancelled)
			w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
				Result: agent.Result{End: sia.EndCancelled, Cost: 1}}), nil))
			close(goOn)
			if got := <-seen; got.Ended || got.Failed != "" || got.Usage.Output != 50_000 {
				t.Errorf("observed %+v", got)
			}
			if got := <-done; got.err != nil || got.res.End != sia.EndCancelled || got.res.Cost != 50*sia.Credit {
				t.Errorf("%+v, %v", got.res, got.err)
			}
		})
	}
}

// Requests of one attempt share their memory limit, and leave memory to others.
func TestRoomOfARunnersRequests(t *testing.T) {
	here, answered := make(chan bool), make(chan bool)
	var second atomic.Bool
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if second.CompareAndSwap(false, true) {
			here <- true
			<-answered
		}
		fmt.Fprint(w, `{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":5}}`)
	}))
	defer model.Close()
	w := newWorld(t, model.URL)
	w.dispatch.Lease = time.Hour // no heartbeats here, and the bodies are large
	w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 10_000 * sia.Credit}})
	one := w.take()
	must(t, w.db.OfferAttempt(t.Context(), store.RunnerAttempt{Key: "7-1/2/attempt", Task: w.task.ID, Owner: "o",
		Start: w.base, Coder: "coder", Work: []byte("{}"), Credits: 10_000 * sia.Credit, MostCalls: 9}))
	other := w.take()
	path := runner.ModelPath + "0/chat/completions"
	large := []byte(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"` + strings.Repeat("x", 10<<20) +
		`"}]}`)
	done := make(chan int)
	go func() {
		status, _ := w.say(one.Pass, path, large)
		done <- status
	}()
	<-here
	w.expect(http.StatusServiceUnavailable, one.Pass, path, large)
	w.expect(http.StatusOK, other.Pass, path, large)
	answered <- true
	if status := <-done; status != http.StatusOK {
		t.Errorf("the first: %d", status)
	}
}

// An attempt for which no model answered is offered again later, and the cost of its calls is kept.
func TestAttemptIsOfferedLater(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"choices":[],"usage":{"prompt_tokens":400000,"completion_tokens":50000}}`) // 50 credits
	}))
	defer model.Close()
	w := newWorld(t, model.URL)
	done := w.run(t.Context(), agent.Input{})
	o := w.take()
	w.expect(http.StatusOK, o.Pass, runner.ModelPath+"0/chat/completions", []byte(`{"model":"m","max_tokens":100000}`))
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result:  agent.Result{End: sia.EndError, Turns: 1, Cost: 1},
		Failure: &runner.Failure{Message: "busy", Known: true, RetryAfter: time.Minute}}), nil))
	if got := <-done; sia.RetryAfter(got.err) != time.Minute || sia.IsPermanent(got.err) || got.res.Turns != 1 {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	if spent, err := w.db.AttemptSpent(t.Context(), "7-1/1/attempt"); err != nil || spent != 50*sia.Credit {
		t.Errorf("until it is offered again: %s credits, %v", spent, err)
	}
	done = w.run(t.Context(), agent.Input{})
	o = w.take()
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndFinished, Cost: 1}}), nil))
	if got := <-done; got.err != nil || got.res.End != sia.EndFinished || got.res.Cost != 50*sia.Credit {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// When a user stops an attempt, its runner stops it, and the result is applied. When the server stops, the offer is
// kept.
func TestStopReachesARunner(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := w.run(ctx, agent.Input{})
	o := w.take()
	cancel(store.ErrCancelled)
	for stop := false; !stop; {
		status, b := w.say(o.Pass, runner.HeartbeatPath, nil)
		var v runner.Heartbeat
		if err := json.Unmarshal(b, &v); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s %v", status, b, err)
		}
		stop = v.Stop
	}
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndCancelled, Turns: 3}}), nil))
	if got := <-done; got.err != nil || got.res.End != sia.EndCancelled || got.res.Turns != 3 {
		t.Errorf("%+v, %v", got.res, got.err)
	}

	// While no runner has it, what the last one did is not here.
	ctx, cancel = context.WithCancelCause(t.Context())
	done = w.run(ctx, agent.Input{})
	o = w.take()
	w.expect(http.StatusOK, o.Pass, turnPath(1), encoded(t, agent.Turn{Number: 1, Kind: agent.TurnModel}))
	w.expect(http.StatusNoContent, o.Pass, runner.ReleasePath, nil)
	cancel(store.ErrCancelled)
	if got := <-done; got.err != nil || got.res.End != sia.EndCancelled ||
		got.res.Reason != agent.StoppedWithoutRunner {
		t.Errorf("%+v, %v", got.res, got.err)
	}

	ctx, cancel = context.WithCancelCause(t.Context())
	done = w.run(ctx, agent.Input{})
	o = w.take()
	ended := errors.New("this server ends")
	cancel(ended)
	if got := <-done; !errors.Is(got.err, ended) {
		t.Errorf("%+v, %v", got.res, got.err)
	}
	w.expect(http.StatusOK, o.Pass, runner.HeartbeatPath, nil)
	done = w.run(t.Context(), agent.Input{}) // another server continues it
	again := w.take()
	w.expect(http.StatusGone, o.Pass, runner.HeartbeatPath, nil)
	w.expect(http.StatusNoContent, again.Pass, runner.ResultPath, runner.JoinResult(encoded(t, runner.Outcome{
		Result: agent.Result{End: sia.EndFinished}}), nil))
	if got := <-done; got.err != nil || got.res.End != sia.EndFinished {
		t.Errorf("%+v, %v", got.res, got.err)
	}
}

// A runner does not retry the fetch of a commit if no retry can help.
func TestCommitThatCannotBeSent(t *testing.T) {
	w := newWorld(t, "http://127.0.0.1:1")
	var status atomic.Int32
	var refused atomic.Pointer[sia.Error]
	github := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
	}))
	defer github.Close()
	cache, err := gitops.OpenCache(t.TempDir(), gitops.CacheOptions{Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	w.repo = cache.Repo(gitops.Remote{Key: "3/7", URL: github.URL, Token: func(context.Context) (string, error) {
		if err := refused.Load(); err != nil {
			return "", err
		}
		return "token", nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	done := w.run(ctx, agent.Input{})
	o := w.take()
	client, err := runner.NewClient(w.server.URL, false)
	must(t, err)
	for _, c := range []struct {
		status int
		err    *sia.Error
		retry  bool
	}{
		{http.StatusUnauthorized, nil, false}, {http.StatusForbidden, nil, false}, {http.StatusNotFound, nil, false},
		{http.StatusOK, &sia.Error{Message: "it is suspended", Permanent: true}, false},
		{http.StatusInternalServerError, nil, true}, {http.StatusOK, &sia.Error{Message: "GitHub is down"}, true},
	} {
		status.Store(int32(c.status))
		refused.Store(c.err)
		err := client.Base(t.Context(), time.Nanosecond, o.Pass, false, func(io.Reader) error { return nil })
		if err == nil || errors.Is(err, runner.ErrUnavailable) != c.retry {
			t.Errorf("%d, %v: %v", c.status, c.err, err)
		}
	}
	cancel()
	<-done
}
