package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/apptest"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/scripted"
)

// crashEnv makes the test binary run an application process instead of the tests.
const crashEnv = "SIA_TEST_APPLICATION"

// TestMain runs the tests, or the application that TestCrash kills, or a part of a sandbox.
func TestMain(m *testing.M) {
	apptest.ForwardIfAsked()
	if spec := os.Getenv(crashEnv); spec != "" {
		if err := application(spec); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Stories mostly wait for other processes, so more of them than there are processors run in parallel; -parallel on
	// the command line has priority.
	if err := flag.Set("test.parallel", "6"); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// victim is the application process's input.
type victim struct {
	Config app.Config
	Task   sia.TaskID // the process ends after this task has ended and nothing is pending
	Kills  kills
	Lease  time.Duration // 0: as in production
}

// shortLease is a lease that is short enough to wait for, and long enough for a process on a busy machine to renew.
const shortLease = 4 * time.Second

// kills configures at which effect boundaries the process kills itself. A boundary that this process or an earlier one
// reached before does not count again: the interrupted effect is repeated after each restart.
type kills struct {
	Seen  string // file with the list of boundaries, one per line
	Every int    // it dies at one of this number of new boundaries; 0: at none
	From  int    // index of that boundary, less than Every, starting at 0
	At    string // additional boundary at which it dies, as a pattern of [path.Match]; empty: none
}

// boundaries is the list of reached boundaries.
type boundaries struct {
	kills
	mu   sync.Mutex
	file *os.File
	seen map[string]bool
}

// open reads the boundaries that earlier processes reached.
func (k kills) open() (*boundaries, error) {
	file, err := os.OpenFile(k.Seen, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	b := &boundaries{kills: k, file: file, seen: map[string]bool{}}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		b.seen[lines.Text()] = true
	}
	return b, lines.Err()
}

// dies reports whether the process has to die at a boundary.
func (k kills) dies(name string) bool {
	is, err := path.Match(k.At, name)
	return err == nil && is
}

// cross records a boundary, and kills the process if required. Written data outlives the process: only a crash of the
// machine would lose it.
func (b *boundaries) cross(_ context.Context, when string, f sia.Effect) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := when + " " + f.Key
	if b.seen[name] {
		return
	}
	n := len(b.seen)
	b.seen[name] = true
	if _, err := fmt.Fprintln(b.file, name); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	if b.Every > 0 && n%b.Every == b.From || b.dies(name) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {} // until the signal arrives
	}
}

// application runs the production app until its task has ended, and kills its own process at some effect boundaries.
func application(spec string) error {
	var v victim
	if err := json.Unmarshal([]byte(spec), &v); err != nil {
		return err
	}
	reached, err := v.Kills.open()
	if err != nil {
		return err
	}
	applied := make(chan struct{}, 1)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	options := app.Options{Logger: slog.New(wake{slog.DiscardHandler, applied}), Boundary: reached.cross}
	options.Engine.Lease = v.Lease
	a, err := app.New(ctx, v.Config, options)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	fmt.Println("serving")
	for {
		t, err := a.Store.Task(ctx, v.Task)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if t.State.Final() && len(t.Pending) == 0 {
			stop()
			return errors.Join(<-ended, a.Close())
		}
		select {
		case <-applied:
		case <-ctx.Done(): // asked to end
			return errors.Join(<-ended, a.Close())
		}
	}
}

// wake is a log handler that signals every record.
type wake struct {
	slog.Handler
	applied chan struct{}
}

func (w wake) Enabled(context.Context, slog.Level) bool { return true }

func (w wake) Handle(_ context.Context, _ slog.Record) error {
	select {
	case w.applied <- struct{}{}:
	default:
	}
	return nil
}

func (w wake) WithAttrs([]slog.Attr) slog.Handler { return w }
func (w wake) WithGroup(string) slog.Handler      { return w }

// checkWorkflow runs check.sh for each pull request.
const checkWorkflow = "name: CI\non: [pull_request]\njobs:\n  test:\n    runs-on: ubuntu-latest\n" +
	"    steps:\n      - uses: actions/checkout@v4\n      - run: sh ./check.sh\n"

// crashFiles are the repository's files: a check that costs nothing.
var crashFiles = map[string]string{
	"check.sh": "[ -f hello.txt ] || exit 0\n" +
		"[ \"$(cat hello.txt)\" = \"Hello, world!\" ] || { echo 'hello.txt:1: error: the greeting is wrong'; exit 1; }\n",
	".github/workflows/ci.yml": checkWorkflow,
	".sia/config.yml":          "checks: {settle: 0s, wait: 1m}\n",
}

// crashStory is a task during which processes are killed.
type crashStory struct {
	name  string
	files map[string]string // of the repository, in addition to crashFiles
	model scripted.Script
	must  []string // expected result of the undisturbed run
	least int      // minimum number of boundaries in the undisturbed run
}

// crashStories are a task with a first attempt that fails, one with parallel parts that conflict, and one with a
// follow-up that is reverted.
func crashStories() []crashStory {
	return []crashStory{
		{name: "another approach", model: crashModel(), least: 42,
			must: []string{"task passed, 2 attempts, 2 prompts, 1 interventions", "draft false",
				"file hello.txt:\nHello, world!", "1 reviews",
				"on hello.txt:1: **✂️ Not asked for:** The comma is not asked for."}},
		{name: "parts", model: partsModel(), least: 24,
			files: map[string]string{".sia/policies/parts.yml": "decision: decompose\n" +
				"name: in-parts\nversion: 1\nreasoning: Everything is done in parts here.\n" +
				"parameters: {threshold: 0, parallel: 5, many_demands: 1}\n"},
			must: []string{"task passed, 1 attempts, 1 prompts, 0 interventions", "draft false",
				"file hello.txt:\nHello, world!", "file shop.txt:\nhello and bye\n"}},
		{name: "a follow-up that is taken back", model: followUpModel(), least: 30,
			files: map[string]string{".sia/config.yml": "checks: {settle: 0s, wait: 1m, evidence: 0s}\n"},
			must: []string{"task passed, 2 attempts, 2 prompts, 0 interventions", "draft false",
				"file hello.txt:\nHello, world!", "1 reviews"}},
	}
}

// followUpModel succeeds at once; a reviewer finds something missing, and the follow-up breaks a check.
func followUpModel() scripted.Script {
	s := crashModel()
	usage := s.Rules[0].Turns[0].Usage
	attempt := func(rule scripted.Rule, text string) scripted.Rule {
		rule.Turns = slices.Clone(rule.Turns)
		rule.Turns[0].Calls = []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": text}}}
		return rule
	}
	s.Rules[0], s.Rules[1] = attempt(s.Rules[0], "Hello, hello!\n"), attempt(s.Rules[1], "Hello, world!\n")
	s.Rules[0].User = "What is not done yet"
	s.Rules[3].Turns = []scripted.Answer{{Usage: usage, JSON: map[string]any{"remarks": []any{}, "demands": []any{
		map[string]any{"quote": "Put a greeting into hello.txt.", "state": "unmet", "why": "It is no greeting.", "path": "",
			"line": 0, "code": ""}}}}}
	return s
}

// partsModel makes three parts, two of which change the same line.
func partsModel() scripted.Script {
	usage := &scripted.Usage{Input: 1000, Output: 100}
	call := func(name string, args map[string]any) scripted.Answer {
		return scripted.Answer{Usage: usage, Calls: []scripted.Call{{Name: name, Args: args}}}
	}
	part := func(number, path, text string) scripted.Rule {
		return scripted.Rule{Name: "part " + number, Model: "coder", User: "Your part: " + number + " of",
			Turns: []scripted.Answer{
				call("write", map[string]any{"path": path, "content": text}), call("finish", map[string]any{"summary": "Done."})}}
	}
	do := func(what, check string) map[string]any {
		return map[string]any{"do": what, "done_when": "it is there", "check": check}
	}
	return scripted.Script{Rules: []scripted.Rule{
		{Name: "plan", Model: "coder", User: "How to take it apart", Turns: []scripted.Answer{call("propose", map[string]any{
			"summary": "In three.", "parts": []any{do("greet", "test -f hello.txt"), do("list hello", "grep hello shop.txt"),
				do("list bye", "grep bye shop.txt")}})}},
		part("1", "hello.txt", "Hello, world!\n"), part("2", "shop.txt", "hello\n"), part("3", "shop.txt", "bye\n"),
		part("4", "shop.txt", "hello and bye\n"),
	}}
}

func crashModel() scripted.Script {
	usage := &scripted.Usage{Input: 1000, Output: 100}
	attempt := func(text string) []scripted.Answer {
		return []scripted.Answer{
			{Usage: usage, Calls: []scripted.Call{{Name: "write", Args: map[string]any{"path": "hello.txt", "content": text}}}},
			{Usage: usage, Calls: []scripted.Call{{Name: "finish", Args: map[string]any{"summary": "Greeted."}}}},
		}
	}
	return scripted.Script{Rules: []scripted.Rule{
		{Name: "told", Model: "coder", User: "with the comma", Turns: attempt("Hello, world!\n")},
		{Name: "first", Model: "coder", Turns: attempt("Hello world\n")},
		{Name: "diagnosis", Model: "sia", Turns: []scripted.Answer{{Usage: usage, JSON: map[string]any{
			"diagnosis": "The comma is missing.", "pattern": "unclear-instructions", "technique": "prompt-restructuring",
			"modified_prompt": "Write it with the comma.", "hypothesis": "Then it passes.", "confidence": 0.8,
		}}}},
		{Name: "final review", Model: "reviewer", System: "Before people read its pull request",
			Turns: []scripted.Answer{{Usage: usage, JSON: map[string]any{"demands": []any{}, "remarks": []any{map[string]any{
				"about": "scope", "why": "The comma is not asked for.", "path": "hello.txt", "line": 1,
				"code": "Hello, world!"}}}}}},
		{Name: "review", Model: "reviewer",
			Turns: []scripted.Answer{{Usage: usage, JSON: map[string]any{"verdict": "approved", "points": []string{}}}}},
	}}
}

// crashWorld is a GitHub with a repository, a model, and a victim that is configured with them and not launched yet.
func crashWorld(
	t *testing.T, key []byte, script scripted.Script, more map[string]string,
) (*ghsim.Server, *scripted.Server, victim) {
	t.Helper()
	files := maps.Clone(crashFiles)
	maps.Copy(files, more)
	dir := t.TempDir()
	sim, err := ghsim.New(ghsim.Config{Dir: filepath.Join(dir, "github"), AppKeyPEM: key})
	check(t, err)
	t.Cleanup(func() { check(t, sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	check(t, err)
	sim.CreateUser(apptest.Owner)
	repo, err := sim.CreateRepo(apptest.Owner, apptest.Name, ghsim.RepoSpec{Files: files})
	check(t, err)
	model, err := scripted.Start(script, scripted.Options{})
	check(t, err)
	t.Cleanup(func() { check(t, model.Close()) })
	registered, err := sim.CreateApp(apptest.Slug)
	check(t, err)
	v := victim{Config: apptest.Configure(sim, registered, model.URL, filepath.Join(dir, "sia")),
		Task: sia.NewTaskID(repo.ID, 1)}
	v.Kills.Seen = filepath.Join(dir, "boundaries")
	v.Config.Listen = apptest.FreeAddress(t)
	v.Config.Schedule.Look, v.Config.Schedule.Redeliver = "@every 1s", "@every 1s"
	return sim, model, v
}

// begin launches the victim and makes a user request something.
func begin(t *testing.T, sim *ghsim.Server, v victim) *process {
	t.Helper()
	process := launch(t, v)
	check(t, sim.SetWebhook(v.Config.GitHub.AppID, "http://"+v.Config.Listen+"/webhook", apptest.Secret))
	_, err := sim.Install(v.Config.GitHub.AppID, apptest.Owner, apptest.Name)
	check(t, err)
	_, err = sim.OpenIssue(apptest.Repo, apptest.Owner, "Greet the customers", "- Put a greeting into hello.txt.")
	check(t, err)
	check(t, sim.Label(apptest.Repo, 1, apptest.Owner, "sia"))
	return process
}

// run plays the task once with processes that die at some boundaries. It returns the resulting state of the world, the
// boundaries, and the number of killed processes.
func (c crashStory) run(t *testing.T, key []byte, db string, every, from int) (
	world string, crossed []string, died int,
) {
	t.Helper()
	sim, _, v := crashWorld(t, key, c.model, c.files)
	v.Kills.Every, v.Kills.From = every, from
	v.Config.DB, v.Lease = db, shortLease // on SQLite a new process waits for no lease
	for process := begin(t, sim, v); process.wait(t); process = launch(t, v) {
		if died++; died > 100 {
			t.Fatal("a hundred processes died, and the task is not done")
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	defer cancel()
	check(t, sim.WaitIdle(ctx))
	list, err := os.ReadFile(v.Kills.Seen)
	check(t, err)
	return describe(t, sim, v), strings.Split(strings.TrimSpace(string(list)), "\n"), died
}

// Finished parts are only in the mirror until they are pushed. Without the mirror the parts are repeated, and the task
// continues.
func TestPartsSurviveALostMirror(t *testing.T) {
	t.Parallel()
	c := crashStories()[1]
	for _, at := range []string{"/1/attempt-run-4", "/1/attempt-run-5"} { // the third part, and the one that resolves
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			sim, _, v := crashWorld(t, nil, c.model, c.files)
			v.Kills.At = "before 1005-1" + at
			if !begin(t, sim, v).wait(t) {
				t.Fatalf("it came to no %s", at)
			}
			check(t, os.RemoveAll(filepath.Join(v.Config.Dir, "git")))
			v.Kills.At = ""
			if launch(t, v).wait(t) {
				t.Fatal("it died again")
			}
			world := describe(t, sim, v)
			for _, must := range c.must {
				if !strings.Contains(world, must) {
					t.Errorf("it lacks %q:\n%s", must, world)
				}
			}
		})
	}
}

// process is one running application.
type process struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

// launch starts the application and waits until it serves.
func launch(t *testing.T, v victim) *process {
	t.Helper()
	spec, err := json.Marshal(v)
	check(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), apptest.Limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), crashEnv+"="+string(spec))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	p := &process{cmd: cmd, out: bufio.NewScanner(out)}
	if !p.out.Scan() || p.out.Text() != "serving" {
		_ = cmd.Wait()
		// It may have died at a boundary before it served: the first effects after a restart run immediately.
		if v.Kills.Every == 0 && v.Kills.At == "" {
			t.Fatalf("the application does not start: %s", p.out.Text())
		}
	}
	return p
}

// wait waits for the process to end, normally or killed.
func (p *process) wait(t *testing.T) (killed bool) {
	t.Helper()
	var last string
	for p.out.Scan() {
		last = p.out.Text()
	}
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return true
		}
	}
	if err != nil {
		t.Fatalf("the application: %v: %s", err, last)
	}
	return false
}

// describe returns everything that users see and the task contains, without differences between runs.
func describe(t *testing.T, sim *ghsim.Server, v victim) string {
	t.Helper()
	var b strings.Builder
	issues, err := sim.Issues(apptest.Repo)
	check(t, err)
	for _, i := range issues {
		fmt.Fprintf(&b, "#%d %s by %s, pull %v, %s, labels %v, reactions %v\n%s\n", i.Number, i.Title, i.Author, i.IsPull,
			i.State, i.Labels, i.Reactions, i.Body)
		for _, c := range i.Comments {
			fmt.Fprintf(&b, "comment by %s:\n%s\n", c.Author, c.Body)
		}
	}
	pull, err := sim.Pull(apptest.Repo, 2)
	check(t, err)
	fmt.Fprintf(&b, "draft %v, files %v, %d commits\n", pull.Draft, pull.Files, len(pull.Commits))
	fmt.Fprintf(&b, "%d reviews\n", len(pull.Reviews))
	for _, c := range pull.OnLines {
		fmt.Fprintf(&b, "on %s:%d: %s\n", c.Path, c.Line, c.Body)
	}
	for _, file := range append(pull.Files, ".sia/tasks/1.md", ".sia/tasks/1.json", ".sia/transcripts/1/1.md") {
		ref := pull.Head
		if strings.HasPrefix(file, ".sia") {
			ref = "sia/memory"
		}
		text, err := sim.File(apptest.Repo, ref, file)
		check(t, err)
		fmt.Fprintf(&b, "file %s:\n%s\n", file, text)
	}
	s, err := store.Open(t.Context(), store.Config{URL: v.Config.WithDefaults().DB})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	task, err := s.Replay(t.Context(), v.Task)
	check(t, err)
	fmt.Fprintf(&b, "task %s, %d attempts, %d prompts, %d interventions, credits %+v\n", task.State, len(task.Attempts),
		len(task.Prompts), len(task.Interventions), task.Credits)
	text := b.String()
	for _, p := range volatile {
		text = p.expr.ReplaceAllString(text, p.with)
	}
	return text
}

// volatile matches differences between runs, with replacements.
var volatile = []struct {
	expr *regexp.Regexp
	with string
}{
	// machine-readable: every time and version, to the nanosecond
	{regexp.MustCompile(`(?s),\n  "record": \{.*?\n  \}\n\}`), "\n}"},
	{regexp.MustCompile(`https?://127\.0\.0\.1:\d+`), "<host>"},
	{regexp.MustCompile(`pullrequestreview-\d+`), "pullrequestreview-<id>"},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "<sha>"},
	{regexp.MustCompile("`[0-9a-f]{7}`"), "`<sha>`"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?( UTC|Z)?`), "<time>"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "<time>"},
	// a run parallel to the one in which the process died continues from its turns, and reports so
	{regexp.MustCompile(`\n\*Note: resumed: [^\n]*\n`), ""},
	// a busy machine needs more than one
	{regexp.MustCompile(`(took|\),) (less than a minute|\d+ minutes?)`), "$1 <minutes>"},
	{regexp.MustCompile(`issuecomment-\d+|runs/\d+|job/\d+|-v\d+`), "<id>"},
	{regexp.MustCompile(`"duration_minutes": [0-9.]+|\*\*Minutes:\*\* [0-9.]+`), "<minutes>"},
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// killEvery is the number of boundaries between two kills of a crash run. Each run begins at another one, so that
// together they kill at every boundary, and each process that follows a killed one completes a few effects itself.
const killEvery = 6

// Processes that are killed at effect boundaries, before or after the effect, and restarted produce the same state of
// the world as an undisturbed one: nothing is lost, nothing is duplicated.
func TestCrash(t *testing.T) {
	t.Parallel()
	sim, err := ghsim.New(ghsim.Config{})
	check(t, err)
	registered, err := sim.CreateApp("key")
	check(t, err)
	check(t, sim.Close())
	for _, c := range crashStories() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want, boundaries, died := c.run(t, registered.PrivateKeyPEM, "", 0, 0)
			if len(boundaries) < c.least || died > 0 {
				t.Fatalf("%d boundaries and %d deaths in an undisturbed run:\n%s", len(boundaries), died, want)
			}
			for _, must := range c.must {
				if !strings.Contains(want, must) {
					t.Fatalf("the undisturbed run lacks %q:\n%s", must, want)
				}
			}
			for from := range killEvery {
				t.Run(fmt.Sprintf("from boundary %d", from+1), func(t *testing.T) {
					t.Parallel()
					got, crossed, died := c.run(t, registered.PrivateKeyPEM, "", killEvery, from)
					// The number of updates of GitHub depends on timing, so a run may have slightly fewer boundaries than the
					// undisturbed one.
					if least := (len(crossed) - from) / killEvery; died < least || least < c.least/8 {
						t.Errorf("%d processes died at %d boundaries", died, len(crossed))
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("killed at each %dth of these boundaries, from the %dth on:\n%s\n-undisturbed +killed\n%s",
							killEvery, from+1, strings.Join(crossed, "\n"), diff)
					}
				})
			}
		})
	}
}
