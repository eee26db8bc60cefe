package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/app/runner"
	"github.com/sia-bot/sia/app/runner/worker"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
)

// TestMain runs the tests, or a part of the sandbox.
func TestMain(m *testing.M) {
	apptest.ForwardIfAsked()
	os.Exit(m.Run())
}

// half is a repository with tests; halved breaks one of them.
var (
	half = map[string]string{
		"go.mod":  "module example.com/half\n\ngo 1.21\n",
		"half.go": "package half\n\n// Half halves.\nfunc Half(n int) int { return n / 2 }\n",
		"half_test.go": "package half\n\nimport \"testing\"\n\n" +
			"func TestHalf(t *testing.T) {\n\tif Half(4) != 2 {\n\t\tt.Error(Half(4))\n\t}\n}\n\n" +
			"func TestNone(t *testing.T) {\n\tif Half(0) != 0 {\n\t\tt.Error(Half(0))\n\t}\n}\n",
	}
	halved = "package half\n\n// Half halves.\nfunc Half(n int) int { return n / 3 }\n"
)

// tested is an effect for which tests are run.
var tested = sia.Effect{Key: "7-1/1/evidence", Attempt: 1}

// head adds a commit on top of the base that breaks a test.
func (w *world) head() string {
	sha, _ := w.far(func(dir string) {
		must(w.t, os.WriteFile(filepath.Join(dir, "half.go"), []byte(halved), 0o600))
	})
	w.task.BaseSHA = sia.SHA(w.base)
	w.task.Settings = sia.DefaultSettings()
	return sha
}

// What runs on a runner has the same result as here: evidence, affected tests, and commands.
//
//test:thorough
func TestTestsOnARunner(t *testing.T) {
	there, dir := cacheDir(t), cacheDir(t) // the second run finds what the first has built
	for name, url := range map[string]func(testing.TB) string{
		"SQLite": storetest.SQLite, "PostgreSQL": storetest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			self, err := os.Executable()
			must(t, err)
			log := slog.New(slog.NewTextHandler(t.Output(), nil))
			box := sandboxtest.New(t, sandbox.Options{Self: []string{self, "forward"}, Stdlib: sandboxtest.Stdlib(t),
				Logger: log})
			w := newWorldOf(t, "http://127.0.0.1:1", url(t), half)
			head := w.head()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- worker.Run(ctx, worker.Config{Server: w.server.URL, Token: w.token, Dir: there, Sandbox: box,
					About: "v1, with a sandbox", Logger: log})
			}()
			defer func() {
				stop()
				must(t, <-ended)
			}()
			for !w.dispatch.RunsTests(t.Context()) {
				if ctx.Err() != nil {
					t.Fatal(ctx.Err())
				}
			}
			here := evidence.NewLooker(box, dir, nil, time.Now)
			wanted := evidence.Wanted{Repository: "ada/shop", Base: w.base, Head: head, Open: w.repo.OpenCommits}

			got, err := w.dispatch.Look(t.Context(), w.task, tested, head)
			must(t, err)
			want, err := here.Look(t.Context(), wanted)
			must(t, err)
			if d := cmp.Diff(want, got); d != "" || len(got.Red) != 1 {
				t.Errorf("evidence: %+v\n%s", got, d)
			}
			affected, err := w.dispatch.Affected(t.Context(), w.task, tested, head, time.Hour)
			must(t, err)
			locally, err := here.Affected(t.Context(), wanted)
			must(t, err)
			if d := cmp.Diff(locally, affected); d != "" || affected.Ran != 2 || len(affected.Failed) != 1 {
				t.Errorf("affected: %+v\n%s", affected, d)
			}
			commands := []string{"test -f half.go", "go test -run TestNone ./...", ""}
			checks, err := w.dispatch.Check(t.Context(), w.task, tested, head, commands, &sia.CheckRun{Holds: true})
			must(t, err)
			local, err := agent.NewCommands(box, dir, nil, time.Now, log)
			must(t, err)
			space, err := w.repo.Workspace(t.Context(), "", head)
			must(t, err)
			same, err := local.Check(t.Context(), agent.Input{Repo: "ada/shop", Dir: space.Dir()}, commands,
				&sia.CheckRun{Holds: true})
			must(t, err)
			if len(checks) != 3 || !checks[0].Holds || !checks[1].Ran || checks[2].Holds ||
				!cmp.Equal(checks[2].Tests, same[2].Tests) || checks[2].Command != same[2].Command {
				t.Errorf("commands: %+v; here: %+v", checks, same)
			}
			if all, err := w.db.RunnerStandings(t.Context()); err != nil || len(all) != 0 {
				t.Errorf("left: %+v, %v", all, err)
			}
		})
	}
}

// cacheDir returns a folder in which the sandbox's user may have written.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sia-runner-")
	must(t, err)
	t.Cleanup(func() { must(t, sandbox.RemoveAll(dir)) })
	return dir
}

type looked struct {
	e   sia.TestEvidence
	err error
}

// look offers the tests of a head, and waits until they are offered.
func (w *world) look(ctx context.Context, head string) <-chan looked {
	w.t.Helper()
	must(w.t, w.db.MarkRunnerSeen(w.t.Context(), "mill", "v1", true))
	out := make(chan looked, 1)
	go func() {
		e, err := w.dispatch.Look(ctx, w.task, tested, head)
		out <- looked{e, err}
	}()
	for {
		all, err := w.db.RunnerStandings(w.t.Context())
		must(w.t, err)
		waits := func(a store.RunnerStanding) bool { return a.Tests && a.Waits() }
		if slices.ContainsFunc(all, waits) || len(out) > 0 {
			return out
		}
	}
}

// takeTests claims a run of tests.
func (w *world) takeTests() runner.Offer {
	w.t.Helper()
	status, b := w.say(w.token, runner.NextPath+"?"+runner.CanTest, []byte("v1"))
	var o runner.Offer
	if err := json.Unmarshal(b, &o); status != http.StatusOK || err != nil || o.Work.Run == nil {
		w.t.Fatalf("%d: %s", status, b)
	}
	return o
}

// outcome encodes a result about a run of tests.
func outcome(t *testing.T, o runner.Outcome) []byte {
	o.Result.End = sia.EndFinished
	return runner.JoinResult(encoded(t, o), nil)
}

// good is a result of an offer.
func good(o runner.Offer) *sia.TestEvidence {
	return &sia.TestEvidence{Head: sia.SHA(o.Work.Start), Base: sia.SHA(o.Work.Tests.Base), Language: "Go", Tests: 3}
}

// A runner that does not say that it can run tests is given attempts only. One that does gets tests first.
func TestTestsAreForRunnersThatCan(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	done := w.look(t.Context(), w.head())
	attempt := w.run(t.Context(), agent.Input{})
	if o := w.take(); o.Work.Run != nil || o.Work.Key != "7-1/1/attempt" {
		t.Fatalf("an older runner was given %+v", o.Work)
	} else {
		w.expect(http.StatusNoContent, o.Pass, runner.ReleasePath, nil)
	}
	o := w.takeTests()
	worst := 2*runner.FetchTimeout + agent.PrepareTimeout + sia.DefaultSettings().Checks.Evidence.D()
	if o.Work.Within() < worst {
		t.Errorf("the runner has %s, and may take %s", o.Work.Within(), worst)
	}
	if len(o.Work.Coder.Models) != 0 || o.Work.Tests.Base != w.base {
		t.Errorf("given %+v", o.Work)
	}
	w.expect(http.StatusPaymentRequired, o.Pass, runner.ModelPath+"0/chat/completions",
		[]byte(`{"model":"m","messages":[],"max_tokens":9}`))
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	if got := <-done; got.err != nil || got.e.Tests != 3 {
		t.Errorf("%+v", got)
	}
	again := w.take()
	w.expect(http.StatusNoContent, again.Pass, runner.ResultPath, outcome(t, runner.Outcome{}))
	if got := <-attempt; got.err != nil {
		t.Error(got.err)
	}
}

// A runner's slot for tests is given no attempt.
func TestSlotForTestsTakesNoAttempt(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	ending := make(chan struct{})
	close(ending) // polls are answered at once
	w.dispatch.Ending = ending
	ctx, cancel := context.WithCancelCause(t.Context())
	done := w.look(ctx, w.head())
	attempt := w.run(ctx, agent.Input{})
	for offered := 0; offered < 2; {
		all, err := w.db.RunnerStandings(t.Context())
		must(t, err)
		offered = len(all)
	}
	status, b := w.say(w.token, runner.NextTestsPath, []byte("v1"))
	var o runner.Offer
	if err := json.Unmarshal(b, &o); status != http.StatusOK || err != nil || o.Work.Run == nil {
		t.Errorf("%d: %s", status, b)
	}
	w.expect(http.StatusNoContent, w.token, runner.NextTestsPath, nil) // the attempt waits
	if !w.dispatch.RunsTests(t.Context()) {
		t.Error("the runner can't run tests")
	}
	w.expect(http.StatusUnauthorized, runner.NewToken(), runner.NextTestsPath, nil)
	cancel(errors.New("this server ends"))
	<-done
	<-attempt
}

// A lone runner that makes an attempt runs tests beside it. A server of an older version gives it these afterwards, and
// nothing else beside the attempt.
//
//test:thorough
func TestTestsBesideAnAttempt(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	for name, older := range map[string]bool{"this version": false, "an older server": true} {
		t.Run(name, func(t *testing.T) {
			var out lockedBuilder
			log := slog.New(slog.NewTextHandler(&out, nil))
			box := sandboxtest.New(t, sandbox.Options{Self: []string{self, "forward"}, Stdlib: sandboxtest.Stdlib(t),
				Logger: log})
			asked, answer := make(chan bool, 100), make(chan bool)
			model := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				asked <- true
				<-answer
				rw.WriteHeader(http.StatusBadRequest)
			}))
			defer model.Close()
			w := newWorldOf(t, model.URL, storetest.SQLite(t), half)
			head := w.head()
			current, refused := w.server.Config.Handler, make(chan bool, 100)
			w.server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if older && r.URL.Path == runner.Prefix+runner.NextTestsPath {
					rw.Header().Set(runner.Header, "1")
					http.NotFound(rw, r)
					refused <- true
					return
				}
				current.ServeHTTP(rw, r)
			})
			attempt := w.run(t.Context(), agent.Input{Limits: agent.Limits{Credits: 100 * sia.Credit}})
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- worker.Run(ctx, worker.Config{Server: w.server.URL, Token: w.token, Dir: cacheDir(t), Sandbox: box,
					About: "v1, with a sandbox", Attempts: 1, Logger: log})
			}()
			<-asked
			tests := make(chan []sia.CheckRun, 1)
			go func() {
				got, err := w.dispatch.Check(t.Context(), w.task, tested, head, []string{"test -f half.go"}, nil)
				if err != nil {
					t.Error(err)
				}
				tests <- got
			}()
			var got []sia.CheckRun
			if older {
				<-refused
			} else {
				got = <-tests
			}
			if len(attempt) > 0 {
				t.Errorf("the attempt has ended: %+v", <-attempt)
			}
			close(answer)
			<-attempt
			if older {
				got = <-tests
			}
			if len(got) != 1 || !got[0].Holds {
				t.Errorf("%+v", got)
			}
			stop()
			must(t, <-ended)
			if n := strings.Count(out.String(), "msg=\"attempt begins\""); n != 1 {
				t.Errorf("%d attempts began:\n%s", n, out.String())
			}
		})
	}
}

// lockedBuilder is a strings.Builder that is safe for concurrent use.
type lockedBuilder struct {
	mu  sync.Mutex
	out strings.Builder
}

func (b *lockedBuilder) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *lockedBuilder) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// A run of tests whose runner is lost goes to another. After five lost runners it counts as not run, and the effect
// goes on; a runner that gives it back is not counted.
func TestLostTests(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	done := w.look(t.Context(), head)
	first := w.takeTests()
	w.expect(http.StatusNoContent, first.Pass, runner.ReleasePath+"?"+runner.ReleaseLost+"=1", nil)
	o := w.takeTests()
	w.expect(http.StatusGone, first.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	if got := <-done; got.err != nil || got.e.NotRun != "" || got.e.Tests != 3 {
		t.Errorf("%+v", got)
	}
	done = w.look(t.Context(), head)
	for n := range 8 {
		lost := ""
		if n > 2 {
			lost = "?" + runner.ReleaseLost + "=1"
		}
		w.expect(http.StatusNoContent, w.takeTests().Pass, runner.ReleasePath+lost, nil)
	}
	if got := <-done; got.err != nil || !strings.Contains(got.e.NotRun, "5 runners took the tests and were lost") {
		t.Errorf("%+v", got)
	}
}

// Tests that runners only give back, because their disks are full or they find no room for a Pod, wait no longer than
// those that no runner takes. A lost runner starts that time again.
func TestTestsGivenBack(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	var later atomic.Int64
	w.dispatch.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	release := func(query string) {
		t.Helper()
		o := w.takeTests()
		later.Add(int64(4 * time.Minute))
		w.expect(http.StatusNoContent, o.Pass, runner.ReleasePath+query, nil)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := w.look(ctx, head)
	for range 3 {
		release("")
	}
	if got := <-done; got.err != nil || got.e.NotRun != "no runner that can run tests was free for 10 minutes" {
		t.Errorf("given back: %+v", got)
	}
	done = w.look(ctx, head)
	release("")
	release("?" + runner.ReleaseLost + "=1")
	release("")
	release("")
	o := w.takeTests()
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	if got := <-done; got.err != nil || got.e.Tests != 3 {
		t.Errorf("lost once: %+v", got)
	}
}

// Tests that no runner takes for ten minutes, or that none can run, count as not run.
func TestTestsWithoutRunner(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	var later atomic.Int64
	w.dispatch.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	e, err := w.dispatch.Look(t.Context(), w.task, tested, head)
	if err != nil || !strings.HasPrefix(e.NotRun, "no runner that was seen within the last hour can run tests") {
		t.Errorf("%+v, %v", e, err)
	}
	done := w.look(t.Context(), head)
	later.Store(int64(10 * time.Minute))
	const why = "no runner that can run tests was free for 10 minutes"
	if got := <-done; got.err != nil || got.e.NotRun != why || string(got.e.Head) != head {
		t.Errorf("%+v", got)
	}
	must(t, w.db.MarkRunnerSeen(t.Context(), "mill", "v1", false))
	checks, err := w.dispatch.Check(t.Context(), w.task, tested, head, []string{"make", ""}, nil)
	if err != nil || len(checks) != 2 || checks[1].Missing == "" || checks[1].Holds {
		t.Errorf("%+v, %v", checks, err)
	}
	if checks, err := w.dispatch.Check(t.Context(), sia.Task{}, tested, head, nil, nil); err != nil || checks != nil {
		t.Errorf("without commands: %+v, %v", checks, err)
	}
	if _, err := w.dispatch.Affected(t.Context(), w.task, tested, head, time.Hour); err == nil {
		t.Error("affected tests were run")
	}
}

// A runner whose machine can't run tests gives them back as lost, whatever hinders it, so that another runs them. What
// the repository itself causes is the result.
func TestTestsOnABrokenRunner(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	broken, err := sandbox.New(sandbox.Options{Bwrap: "/nowhere/bwrap"}, sandbox.Capability{Kind: sandbox.KindFull})
	must(t, err)
	full := cacheDir(t)
	must(t, os.WriteFile(filepath.Join(full, "sandbox"), nil, 0o600)) // instead of the folder of its caches
	attempt := func(box *sandbox.Sandbox, dir string) error {
		return worker.Attempt(t.Context(), worker.Config{Server: w.server.URL, Dir: dir, Sandbox: box,
			Logger: slog.New(slog.NewTextHandler(t.Output(), nil))}, w.takeTests().Pass)
	}
	done := w.look(t.Context(), head)
	for name, why := range map[string]error{
		"a Pod without a sandbox": attempt(nil, cacheDir(t)),
		"no folder":               attempt(broken, full),
	} {
		if why == nil {
			t.Errorf("%s: it is a result", name)
		}
	}
	o := w.takeTests()
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	if got := <-done; got.err != nil || got.e.Tests != 3 {
		t.Errorf("%+v", got)
	}
	checks := make(chan []sia.CheckRun, 1)
	go func() {
		got, err := w.dispatch.Check(t.Context(), w.task, tested, head, []string{"make"}, nil)
		if err != nil {
			t.Error(err)
		}
		checks <- got
	}()
	for range 5 {
		if err := attempt(broken, cacheDir(t)); err == nil {
			t.Error("a command that no sandbox ran has a result")
		}
	}
	if got := <-checks; len(got) != 1 || !strings.HasPrefix(got[0].Missing, "5 runners took the tests and were lost") {
		t.Errorf("%+v", got)
	}
}

// What a runner says about tests is refused if it is about something else or too large, and masked.
func TestHostileTests(t *testing.T) {
	many := make([]string, sia.MaxEvidence+1)
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	token := "ghs_" + strings.Repeat("aB3d", 9)
	for name, spoil := range map[string]func(o *runner.Outcome){
		"another head": func(o *runner.Outcome) { o.Evidence.Head = sia.SHA(w.base) },
		"another base": func(o *runner.Outcome) { o.Evidence.Base = sia.SHA(head) },
		"nothing":      func(o *runner.Outcome) { o.Evidence = nil },
		"other tests":  func(o *runner.Outcome) { o.Evidence, o.Affected = nil, &agent.TestsRun{Ran: 1} },
		"many":         func(o *runner.Outcome) { o.Evidence.Red = many },
		"long":         func(o *runner.Outcome) { o.Evidence.Left = []string{strings.Repeat("x", 5000)} },
		"a count":      func(o *runner.Outcome) { o.Evidence.Tests = -1 },
		"a secret":     func(o *runner.Outcome) { o.Evidence.Red = []string{"x::" + token} },
		"a failure": func(o *runner.Outcome) {
			o.Failure = &runner.Failure{Message: "no disk: " + token + strings.Repeat(" x", 5000)}
		},
	} {
		done := w.look(t.Context(), head)
		o := w.takeTests()
		out := runner.Outcome{Evidence: good(o)}
		spoil(&out)
		w.expect(http.StatusRequestEntityTooLarge, o.Pass, runner.ResultPath, make([]byte, 2*runner.MaxResult))
		w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, out))
		got := <-done
		e := got.e
		says := "what the runner mill sent back was refused"
		switch name {
		case "a secret":
			says = ""
		case "long":
			says = ""
			if want := []string{strings.Repeat("x", 299) + "…"}; !slices.Equal(e.Left, want) {
				t.Errorf("not clipped: %q", e.Left)
			}
		case "a failure":
			says = "the runner mill could not run them: no disk: [secret: "
			if len(e.NotRun) > 500 {
				t.Errorf("not clipped: %q", e.NotRun)
			}
		}
		if got.err != nil || !strings.HasPrefix(e.NotRun, says) || strings.Contains(string(encoded(t, e)), token) ||
			e.NotRun != "" && (len(e.Red) > 0 || string(e.Head) != head) || (says == "") != (e.NotRun == "") {
			t.Errorf("%s: %+v, %v", name, e, got.err)
		}
	}
	run := sia.CheckRun{Command: "make", Holds: true}
	for name, checks := range map[string][]sia.CheckRun{
		"none":           nil,
		"one is missing": {{Command: "make test", Holds: true}},
		"another":        {run, {Command: "true", Holds: true}, {Command: "make all"}},
		"more":           {run, {Command: "make test"}, {Command: "go test"}, {Command: "x"}},
		"a class":        {run, {Command: "make test", Class: token}},
		"names":          {run, {Command: "make test", Tests: make([]string, 201)}},
		"":               {run, {Command: "make test", Excerpt: strings.Repeat("x ", 50_000) + token}},
	} {
		done := make(chan []sia.CheckRun, 1)
		go func() {
			got, err := w.dispatch.Check(t.Context(), w.task, tested, head, []string{"make", "make test", ""}, nil)
			if err != nil {
				t.Error(err)
			}
			done <- got
		}()
		o := w.takeTests()
		w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Checks: checks}))
		got := <-done
		refused := len(got) == 3 && strings.Contains(got[0].Missing, "was refused") && !got[0].Holds
		if refused != (name != "") || len(got[1].Excerpt) > 64<<10 || strings.Contains(string(encoded(t, got)), token) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// When tests are no longer needed, their runner stops. When the server ends they go on, and the next run of the effect
// takes their result, but not that of other tests.
func TestStopReachesTests(t *testing.T) {
	w := newWorldOf(t, "http://127.0.0.1:1", storetest.SQLite(t), half)
	head := w.head()
	for _, cause := range []error{store.ErrCancelled, context.DeadlineExceeded} {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := w.look(ctx, head)
		o := w.takeTests()
		w.expect(http.StatusOK, o.Pass, runner.HeartbeatPath, nil)
		cancel(cause)
		if got := <-done; !errors.Is(got.err, cause) {
			t.Errorf("%+v", got)
		}
		w.expect(http.StatusGone, o.Pass, runner.HeartbeatPath, nil)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := w.look(ctx, head)
	o := w.takeTests()
	ended := errors.New("this server ends")
	cancel(ended)
	if got := <-done; !errors.Is(got.err, ended) {
		t.Errorf("%+v", got)
	}
	w.expect(http.StatusNoContent, o.Pass, runner.ResultPath, outcome(t, runner.Outcome{Evidence: good(o)}))
	w.task.BaseSHA = sia.SHA(head)
	ctx, cancel = context.WithCancelCause(t.Context())
	done = w.look(ctx, head) // the tests of another base
	w.takeTests()
	cancel(ended)
	if got := <-done; !errors.Is(got.err, ended) {
		t.Errorf("%+v", got)
	}
	w.task.BaseSHA = sia.SHA(w.base)
	if e, err := w.dispatch.Look(t.Context(), w.task, tested, head); err != nil || e.Tests != 3 {
		t.Errorf("%+v, %v", e, err)
	}
}
