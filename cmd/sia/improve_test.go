package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia/improve"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sim/scripted"
)

// The calls of a cycle, recognised by their prompts.
const (
	toAnalyse   = "^You look for one improvement"
	toWrite     = "Answer with the whole new content"
	toEdit      = "So answer with edits"
	toCriticise = "^You judge a change"
)

// A report keeps its colours, and no other control characters.
func TestImproveReportOnATerminal(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	tty, err := os.Open("/dev/zero") // a character device, as a terminal is
	if err != nil {
		t.Skip(err)
	}
	defer tty.Close()
	style := cli.StyleFor(tty)
	if style.Bold("x") == "x" {
		t.Fatal("no style")
	}
	var out strings.Builder
	a := improveAnswer{Status: statusFailure, Message: "it is no \x1b[2Jbetter", mask: new(secret.Masker)}
	a.show(&cli.Env{Ctx: t.Context(), Out: &out, Err: &out, Style: style})
	if want := string(style.Red(statusFailure)) + ": it is no \ufffd[2Jbetter\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestLastWords(t *testing.T) {
	for said, want := range map[string]string{
		"sia: --cycles takes a number from 1\nTry `sia improve file --help`.\n": "--cycles takes a number from 1",
		"sia: there is no command x\nTry `sia --help`.\n":                       "there is no command x",
		"reading\nsia: it is gone\n":                                            "it is gone",
		"":                                                                      "it ended without a word",
	} {
		if got := lastMessage(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func answers(system string, turns ...scripted.Answer) scripted.Rule {
	return scripted.Rule{Name: system, System: system, Turns: turns}
}

func analysed(file, goal string) scripted.Rule {
	return answers(toAnalyse, scripted.Answer{JSON: map[string]any{"file": file, "goal": goal, "why": "the test says so",
		"how": "return the sum", "nothing": false}})
}

func written(content string) scripted.Rule {
	return answers(toWrite, scripted.Answer{JSON: map[string]any{"content": content, "summary": "It adds."}})
}

func criticised(score float64) scripted.Rule {
	return answers(toCriticise,
		scripted.Answer{JSON: map[string]any{"score": score, "reasons": []string{"It does what it says."}}})
}

// improvement is a project with a file to improve, and the models' answers.
type improvement struct {
	dir    string
	model  *scripted.Server
	stderr bytes.Buffer
}

// improvementIn makes a Git repository with files in it, and a scripted model.
func improvementIn(t *testing.T, files map[string]string, rules ...scripted.Rule) *improvement {
	t.Helper()
	x := &improvement{dir: t.TempDir()}
	for name, content := range files {
		x.put(t, name, content)
	}
	if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", x.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var err error
	if x.model, err = scripted.Start(scripted.Script{Rules: rules}, scripted.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.model.Close() })
	return x
}

func (x *improvement) put(t *testing.T, name, content string) {
	t.Helper()
	at := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (x *improvement) get(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(x.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// args is the command line that improves a file of the project.
func (x *improvement) args(name string, more ...string) []string {
	return append([]string{"improve", filepath.Join(x.dir, name), "--output", "json", "--model-url", x.model.URL,
		"--model", "m", "--price-input", "3", "--price-output", "15"}, more...)
}

// run runs a command line and reads the one object that it prints.
func (x *improvement) run(t *testing.T, args ...string) (a improveAnswer, code int) {
	t.Helper()
	var out bytes.Buffer
	code = runCommand(t.Context(), args, &out, &x.stderr)
	return oneObject(t, out.Bytes()), code
}

// oneObject reads an answer that has to be exactly one object, with every field it promises.
func oneObject(t *testing.T, out []byte) (a improveAnswer) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil || d.More() {
		t.Fatalf("not one object: %v\n%s", err, out)
	}
	if a.Status != statusSuccess && a.Status != statusFailure || a.Message == "" {
		t.Errorf("status %q, message %q", a.Status, a.Message)
	}
	return a
}

const (
	wrongSum = "def add(a, b):\n    return a - b\n"
	rightSum = "def add(a, b):\n    return a + b\n"
	testSum  = "from calc import add\nassert add(1, 2) == 3, 'add(1, 2) is %d' % add(1, 2)\n"
)

func TestImprovePromotes(t *testing.T) {
	x := improvementIn(t, map[string]string{"calc.py": wrongSum, "test_calc.py": testSum},
		analysed("calc.py", "Add instead of subtracting"), written(strings.TrimSuffix(rightSum, "\n")), criticised(.9))
	a, code := x.run(t, x.args("calc.py", "--self-test", "python3 test_calc.py")...)
	if code != 0 || a.Status != statusSuccess || !a.Data.Promotion.Promoted || x.get(t, "calc.py") != rightSum {
		t.Fatalf("%d %+v\n%s", code, a, &x.stderr)
	}
	if b := a.Data.SelfTestBefore; b == nil || b.OK || !strings.Contains(b.Output, "add(1, 2) is -1") {
		t.Errorf("self-test before: %+v", b)
	}
	if got, err := os.ReadFile(a.Data.Promotion.Fallback); err != nil || string(got) != wrongSum {
		t.Errorf("fallback: %q, %v", got, err)
	}
	if e := a.Data.Evaluations[0]; e.Parse.Verdict != improve.Parses || e.Parse.Language != "Python" || !e.SelfTest.OK ||
		e.Critique.Score != .9 {
		t.Errorf("evaluation: %+v", e)
	}
	d := a.Data.Diffs[0].Diff
	if !strings.HasPrefix(d, "--- a/calc.py\n+++ b/calc.py\n@@ ") || !strings.Contains(d, "\n+    return a + b\n") {
		t.Errorf("diff: %s", d)
	}
	if a.Data.Usage.USD <= 0 || a.Data.Cycles[0].Usage != a.Data.Usage {
		t.Errorf("usage: %+v", a.Data.Usage)
	}
	for _, r := range x.model.Requests() {
		seesFailure := strings.Contains(r.User(), "add(1, 2) is -1")
		if critique := strings.Contains(r.System(), "You judge a change"); critique == seesFailure {
			t.Errorf("critique %v sees the self-test's output: %v", critique, seesFailure)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "git", "-C", x.dir, "status", "--porcelain").Output(); err != nil ||
		strings.Contains(string(out), ".sia") {
		t.Errorf("git status: %s %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(a.Data.Run, "project")); !os.IsNotExist(err) {
		t.Errorf("the copy was left behind: %v", err)
	}
}

//test:thorough
func TestImproveReverts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rules  []scripted.Rule
		args   []string
		says   string
		cycles int
	}{
		{"critique", []scripted.Rule{analysed("calc.py", "Add"), written(rightSum), criticised(.4)}, nil,
			"the critique scores it 0.40; 0.60 is wanted", 1},
		{"self-test", []scripted.Rule{analysed("calc.py", "Add"), written(wrongSum + "# better\n"), criticised(1)},
			[]string{"--self-test", "python3 test_calc.py"}, "the self-test does not pass: exit status 1", 1},
		{"self-test too slow", []scripted.Rule{analysed("calc.py", "Add"), written(rightSum), criticised(1)},
			[]string{"--self-test", "sleep 600", "--self-test-timeout", "1s"}, "the self-test does not pass: stopped", 1},
		{"self-test rewrites the file", []scripted.Rule{analysed("calc.py", "Add"), written(rightSum), criticised(1)},
			[]string{"--self-test", "echo 'x = 1' > calc.py"}, "the self-test changed the file", 1},
		{"does not parse", []scripted.Rule{analysed("calc.py", "Add"), written("def add(a, b:\n"), criticised(1)}, nil,
			"it does not parse: broken as Python", 1},
		{"nothing to improve", []scripted.Rule{answers(toAnalyse, scripted.Answer{JSON: map[string]any{"file": "calc.py",
			"goal": "", "why": "it is good", "how": "", "nothing": true}})}, []string{"--cycles", "3"},
			"the model sees nothing to improve: it is good", 1},
		{"the model is down", []scripted.Rule{answers(toAnalyse, scripted.Answer{Fault: &scripted.Fault{Status: 401}})}, nil,
			"Check the API key", 1},
		{"the model talks", []scripted.Rule{{System: toAnalyse, Repeat: true, Turns: []scripted.Answer{{Text: "Sure!"}}}},
			nil, "unusable, also after it was told why", 1},
		{"the same twice", []scripted.Rule{analysed("calc.py", "Add"), written(rightSum), criticised(.2)},
			[]string{"--cycles", "2"}, "the critique scores it 0.20", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := improvementIn(t, map[string]string{"calc.py": wrongSum, "test_calc.py": testSum}, c.rules...)
			a, code := x.run(t, x.args("calc.py", c.args...)...)
			if code != 1 || a.Status != statusFailure || a.Data.Promotion.Promoted || !strings.Contains(a.Message, c.says) ||
				len(a.Data.Cycles) != c.cycles {
				t.Errorf("%d %+v\n%s", code, a, &x.stderr)
			}
			if got := x.get(t, "calc.py"); got != wrongSum {
				t.Errorf("the file is %q", got)
			}
		})
	}
}

// TestImproveSaysOnce: the text report contains the reason for no improvement once.
func TestImproveSaysOnce(t *testing.T) {
	x := improvementIn(t, map[string]string{"calc.py": wrongSum},
		answers(toAnalyse, scripted.Answer{Fault: &scripted.Fault{Status: 401}}))
	var out strings.Builder
	if code := runCommand(t.Context(), []string{"improve", "file", filepath.Join(x.dir, "calc.py"), "--model-url",
		x.model.URL, "--model", "m"}, &out, &x.stderr); code != 1 {
		t.Fatalf("exit %d: %s", code, &x.stderr)
	}
	_, why, ok := strings.Cut(out.String(), "FAILURE: ")
	if why = strings.TrimSpace(why); !ok || strings.Count(out.String(), why) != 1 {
		t.Errorf("it says:\n%s", &out)
	}
}

// The second cycle receives the result of the first, and a third run the results of both.
func TestImproveRemembers(t *testing.T) {
	second := analysed("calc.py", "Add, and say so")
	second.User = "was reverted: the critique scores it 0.20"
	x := improvementIn(t, map[string]string{"calc.py": wrongSum}, second, analysed("calc.py", "Add"),
		scripted.Rule{System: toWrite, User: "and say so", Turns: written("# adds\n" + rightSum).Turns}, written(rightSum),
		scripted.Rule{System: toCriticise, User: "and say so", Turns: criticised(.8).Turns}, criticised(.2))
	a, code := x.run(t, x.args("calc.py", "--cycles", "2")...)
	if code != 0 || len(a.Data.Cycles) != 2 || a.Data.Cycles[0].Outcome != improve.Reverted ||
		a.Data.Cycles[1].Outcome != improve.Kept || x.get(t, "calc.py") != "# adds\n"+rightSum {
		t.Fatalf("%d %+v\n%s", code, a, &x.stderr)
	}
	x.put(t, ".sia/improve/history.jsonl", x.get(t, ".sia/improve/history.jsonl")+`{"run":"cut in the midd`)
	if _, code = x.run(t, x.args("calc.py")...); code != 1 {
		t.Errorf("the same again: %d", code)
	}
	lines := strings.Split(strings.TrimSpace(x.get(t, ".sia/improve/history.jsonl")), "\n")
	if len(lines) != 4 || !strings.Contains(lines[0], `"reverted"`) || !strings.Contains(lines[1], `"kept"`) ||
		!json.Valid([]byte(lines[3])) {
		t.Errorf("history:\n%s", strings.Join(lines, "\n"))
	}
}

func TestImproveNewFile(t *testing.T) {
	x := improvementIn(t, nil, analysed("lib/calc.py", "Write add"), written(rightSum), criticised(.7))
	a, code := x.run(t,
		x.args("lib/calc.py", "--self-test", "cd lib && python3 -c 'import calc; assert calc.add(1, 2) == 3'")...)
	if code != 0 || x.get(t, "lib/calc.py") != rightSum || a.Data.Promotion.Fallback != "" ||
		!strings.HasPrefix(a.Data.Diffs[0].Diff, "--- /dev/null\n") {
		t.Errorf("%d %+v\n%s", code, a, &x.stderr)
	}
}

func TestImproveUnreadable(t *testing.T) {
	x := improvementIn(t,
		map[string]string{"binary": "a\x00b", "latin1": "gr\xfc\xdfe", "large": strings.Repeat("x", improve.MaxFile+1)})
	if err := os.Symlink("loop", filepath.Join(x.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(x.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(x.dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"": "it is a folder", "binary": "NUL byte", "latin1": "no UTF-8", "large": "too large", "loop": "too many links",
		"pipe": "no ordinary file", "binary/x": "not a directory", "dangling": "a link to a file that is not there",
	} {
		a, code := x.run(t, x.args(name)...)
		if code != 1 || !strings.Contains(a.Message, says) {
			t.Errorf("%q: %d %s", name, code, a.Message)
		}
	}
	if n := len(x.model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestImproveRefuses(t *testing.T) {
	x := improvementIn(t, map[string]string{"calc.py": wrongSum})
	bad := filepath.Join(x.dir, "missing.log")
	for _, c := range []struct {
		args []string
		says string
	}{
		{x.args("calc.py", "--cycles", "0"), `--cycles: "0" is out of range; give 1 to 20`},
		{x.args("calc.py", "--cycles", "21"), `--cycles: "21"`},
		{x.args("calc.py", "--critique-threshold", "NaN"), `--critique-threshold: "NaN"`},
		{x.args("calc.py", "--critique-threshold", "1.5"), `--critique-threshold: "1.5"`},
		{x.args("calc.py", "--self-test-timeout", "0s"), `--self-test-timeout: "0s"`},
		{x.args("calc.py", "--logs", bad), "missing.log"},
		{x.args("calc.py", "--context-file", bad), "missing.log"},
		{x.args("calc.py", "--colour"), "unknown flag --colour"},
		{[]string{"improve", "--output=json"}, `missing arguments: <file>`},
		{[]string{"--log-level", "debug", "improve", "--output", "json", "--model", "m", x.dir + "/calc.py"},
			"no model is configured"},
		{[]string{"improve", "--output", "json", "--help"}, "see standard error"},
	} {
		a, code := x.run(t, c.args...)
		want := 1
		if a.Status == statusSuccess {
			want = 0 // help was requested
		}
		if code != want || !strings.Contains(a.Message, c.says) {
			t.Errorf("%v: %d %s", c.args, code, a.Message)
		}
	}
}

// An iteration can't start another, even if one of its marks is removed.
func TestImproveInsideAnIteration(t *testing.T) {
	x := improvementIn(t, map[string]string{"calc.py": wrongSum, ".sia/improve/ITERATION": "20260504T140000Z\n"})
	if a, code := x.run(t, x.args("calc.py")...); code != 1 ||
		!strings.Contains(a.Message, "an iteration can't start another") {
		t.Errorf("in a copy: %d %s", code, a.Message)
	}
	t.Setenv(improving.Environment, "20260504T140000Z")
	x = improvementIn(t, map[string]string{"calc.py": wrongSum})
	if a, code := x.run(t, x.args("calc.py")...); code != 1 ||
		!strings.Contains(a.Message, improving.Environment+" is set") {
		t.Errorf("with the variable: %d %s", code, a.Message)
	}
	t.Setenv(improving.Environment, "")
	x = improvementIn(t, map[string]string{"calc.py": wrongSum}, analysed("calc.py", "Add"), written(rightSum),
		criticised(.9))
	signs := "test -n \"$" + improving.Environment + "\" && test -f .sia/improve/ITERATION && " +
		"! echo x > .sia/improve/ITERATION && ! rm -rf .sia"
	if a, code := x.run(t, x.args("calc.py", "--self-test", signs)...); code != 0 {
		t.Errorf("a self-test in the iteration: %s %+v", a.Message, a.Data.SelfTestBefore)
	}
}

// Without a sandbox nothing of the project is run: a self-test is refused, and a parser is skipped.
func TestImproveWithoutASandbox(t *testing.T) {
	x := improvementIn(t, map[string]string{"calc.py": wrongSum}, analysed("calc.py", "Add"), written(rightSum),
		criticised(.9))
	t.Setenv("PATH", t.TempDir())
	if a, _ := x.run(t, x.args("calc.py", "--self-test", "true")...); a.Status != statusFailure ||
		!strings.Contains(a.Message, "install bubblewrap") {
		t.Errorf("%+v", a)
	}
	a, _ := x.run(t, x.args("calc.py")...)
	if a.Status != statusSuccess || a.Data.Evaluations[0].Parse.Verdict != improve.NotChecked ||
		x.get(t, "calc.py") != rightSum {
		t.Errorf("%+v", a)
	}
}

// Unreadable files are reported as such, and unwritable files stay unchanged.
func TestImproveWithoutPermission(t *testing.T) {
	x := improvementIn(t, map[string]string{"secret.py": wrongSum, "calc.py": wrongSum}, analysed("calc.py", "Add"),
		written(rightSum), criticised(.9))
	if err := os.Chmod(filepath.Join(x.dir, "secret.py"), 0); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) improveAnswer {
		cmd := exec.CommandContext(t.Context(), "sia", args...)
		cmd.Dir = "/"
		if os.Geteuid() == 0 { // root may read everything
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			reachable(t, cmd.Path, x.dir)
		}
		cmd.Stderr = &x.stderr
		out, _ := cmd.Output() // the answer's status has the exit code
		return oneObject(t, out)
	}
	if a := run(x.args("secret.py")...); a.Status != statusFailure || !strings.Contains(a.Message, "permission denied") {
		t.Errorf("%+v\n%s", a, &x.stderr)
	}
	if os.Geteuid() == 0 {
		if a := run(x.args("calc.py")...); a.Status != statusFailure || !strings.Contains(a.Message, "permission denied") ||
			x.get(t, "calc.py") != wrongSum {
			t.Errorf("a folder of another's: %+v\n%s", a, &x.stderr)
		}
	}
}

// reachable makes the folders above some paths accessible to everybody.
func reachable(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		for dir := p; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A signal ends the command at once: the file is unchanged, and one object is printed.
func TestImproveInterrupted(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, os.Kill} {
		x := improvementIn(t, map[string]string{"calc.py": wrongSum},
			answers(toAnalyse, scripted.Answer{Fault: &scripted.Fault{Stall: true}}))
		cmd := exec.CommandContext(t.Context(), "sia", x.args("calc.py")...)
		var out bytes.Buffer
		cmd.Stdout = &out
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		for b := make([]byte, 1); !strings.Contains(said.String(), "cycle 1: analyse\n"); {
			if _, err := stderr.Read(b); err != nil {
				t.Fatalf("%v: %s", err, &said)
			}
			said.Write(b)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_, _ = said.ReadFrom(stderr)
		_ = cmd.Wait()
		if x.get(t, "calc.py") != wrongSum {
			t.Errorf("%s: the file was changed", signal)
		}
		if signal == os.Interrupt {
			a := oneObject(t, out.Bytes())
			if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(a.Message, "stopped before it was done") {
				t.Errorf("%d %+v\n%s", cmd.ProcessState.ExitCode(), a, &said)
			}
			continue
		}
		if err := x.model.SetScript(scripted.Script{Rules: []scripted.Rule{analysed("calc.py", "Add"), written(rightSum),
			criticised(.9)}}); err != nil {
			t.Fatal(err)
		}
		a, code := x.run(t, x.args("calc.py")...)
		if copies, err := filepath.Glob(filepath.Join(x.dir, ".sia/improve/*/project")); code != 0 || len(copies) > 0 {
			t.Errorf("after it was killed: %d %+v; copies left: %q %v", code, a, copies, err)
		}
	}
}

// A panic results in one object, too.
func TestImprovePanics(t *testing.T) {
	var out, stderr bytes.Buffer
	ctx := context.Context(nil) // invalid, so that it panics
	code := answerInJSON(ctx,
		[]string{"improve", "x.py", "--output", "json", "--model", "m", "--model-url", "http://127.0.0.1:1",
			"--logs", os.Args[0]}, &out, &stderr)
	if a := oneObject(t, out.Bytes()); code != 1 || !strings.Contains(a.Message, "a fault of SIA") {
		t.Errorf("%d %+v\n%s", code, a, &stderr)
	}
}
