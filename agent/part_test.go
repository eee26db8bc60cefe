package agent_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sim/scripted"
)

func finish(a args) scripted.Answer { return calls(scripted.Call{Name: "finish", Args: a}) }

func writeFile(path, content string) scripted.Answer {
	return calls(scripted.Call{Name: "write", Args: args{"path": path, "content": content}})
}

// A run that divides a task reads and proposes; an invalid division is refused with the reasons.
func TestDivide(t *testing.T) {
	parts := []args{{"do": "store", "done_when": "its test passes", "check": "go test ./store"},
		{"do": "page", "done_when": "its test passes", "check": "go test ./page", "paths": []string{"page.go"},
			"needs": []int{1}}}
	circular := []args{{"do": "store", "done_when": "its test passes", "check": "true", "needs": []int{2}}, parts[1]}
	b := newBench(t, turns(
		calls(scripted.Call{Name: "propose", Args: args{"summary": "two", "parts": circular}}),
		calls(scripted.Call{Name: "propose", Args: args{"summary": "two", "parts": parts}}),
	))
	b.in.Planning, b.in.CanAsk = true, false
	b.in.Divide = &agent.Division{Structure: plan.Parallel, Most: 4, Prompt: "Prefer packages."}
	res := b.run()
	want := &sia.Ask{Plan: &sia.Plan{Summary: "two", Steps: []plan.Part{
		{Do: "store", DoneWhen: "its test passes", Check: "go test ./store"},
		{Do: "page", DoneWhen: "its test passes", Check: "go test ./page", Paths: []string{"page.go"}, Needs: []int{1}}}}}
	if d := cmp.Diff(want, res.Ask); d != "" || res.End != sia.EndAsked {
		t.Errorf("%+v: %s", res, d)
	}
	if got := b.results("propose")[0]; !strings.Contains(got, "part 1: needs names part 2") {
		t.Errorf("told %q", got)
	}
	first := b.model.Requests()[0]
	for _, said := range []string{"2 to 4 parts", "at the same time", "Prefer packages."} {
		if !strings.Contains(first.User(), said) {
			t.Errorf("not told %q:\n%s", said, first.User())
		}
	}
	if !strings.Contains(first.System(), "takes one task in a Git repository apart") {
		t.Error(first.System())
	}
}

func part(kind sia.PartKind, check string) *agent.Part {
	p := plan.Part{Do: "make the file", DoneWhen: "it is there", Check: check}
	return &agent.Part{Part: p, Number: 2, Kind: kind, All: []plan.Part{{Do: "read"}, p, {Do: "tell"}}, Before: []int{1}}
}

// A finished part is checked in the sandbox. If the check fails, the agent is told once.
func TestPartIsLookedAt(t *testing.T) {
	check := "cat done.txt"
	for _, tt := range []struct {
		name    string
		script  []scripted.Answer
		change  func(*agent.Input)
		holds   bool
		turns   int
		missing string
	}{
		{"at once", []scripted.Answer{writeFile("done.txt", "x"), finish(args{"summary": "made"})}, nil, true, 2, ""},
		{"when told", []scripted.Answer{finish(args{"summary": "made"}), writeFile("done.txt", "x"),
			finish(args{"summary": "made now"})}, nil, true, 3, ""},
		{"never", []scripted.Answer{finish(args{"summary": "made"}), finish(args{"summary": "it is!"})}, nil, false, 2, ""},
		{"without a word", []scripted.Answer{{Text: "done"}, {Text: "done"}}, nil, false, 2, ""},
		{"no tests known", []scripted.Answer{finish(args{"summary": "made"})}, func(in *agent.Input) { in.Part.Check = "" },
			false, 1, "no way to test this repository is known"},
		{"what failed before may fail", []scripted.Answer{finish(args{"summary": "made"})}, func(in *agent.Input) {
			in.Part.Check, in.Test = "", "echo '--- FAIL: TestOld (0.00s)'; exit 1"
			in.Part.Baseline = &sia.CheckRun{Tests: []string{"TestOld", "TestOlder"}}
		}, true, 1, ""},
		{"what passed before may not", []scripted.Answer{finish(args{"summary": "made"}), finish(args{"summary": "made"})},
			func(in *agent.Input) {
				in.Part.Check, in.Test = "", "echo '--- FAIL: TestOld (0.00s)'; echo '--- FAIL: TestNew (0.00s)'; exit 1"
				in.Part.Baseline = &sia.CheckRun{Tests: []string{"TestOld"}}
			}, false, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := contained(t, turns(tt.script...), "")
			b.in.Part = part(sia.PartOfPlan, check)
			if tt.change != nil {
				tt.change(&b.in)
			}
			res := b.run()
			if res.End != sia.EndFinished || res.Check == nil || res.Check.Holds != tt.holds || res.Turns != tt.turns ||
				!strings.Contains(res.Check.Missing, tt.missing) || (tt.missing == "") != (res.Check.Missing == "") {
				t.Fatalf("%+v, check %+v", res, res.Check)
			}
			if !tt.holds && tt.missing == "" && tt.change == nil && !strings.Contains(res.Check.Excerpt, "No such file") {
				t.Errorf("excerpt %q", res.Check.Excerpt)
			}
		})
	}
}

// The first message has the part, its dependencies, and the failures of an earlier run.
func TestPartIsTold(t *testing.T) {
	b := contained(t, turns(finish(args{"summary": "x"}), finish(args{"summary": "x"})), "")
	b.in.Part = part(sia.PartOfPlan, "false")
	b.in.Part.Left, b.in.Part.Why = &sia.CheckRun{Command: "cat done.txt", Excerpt: "no such file"}, "the limit of turns"
	b.in.Part.Open = []sia.Conflict{{Path: "a.txt", What: "both sides changed the same lines"}}
	b.in.Brief.Steps = []plan.Part{{Do: "a step of the whole"}}
	b.run()
	message := b.model.Requests()[0].User()
	for _, said := range []string{"Your part: 2 of 3", "make the file", "Checked with: false",
		"1. read (is in the work tree)", "3. tell (is done by others)", "tried before", "no such file", "a.txt: both sides"} {
		if !strings.Contains(message, said) {
			t.Errorf("not told %q:\n%s", said, message)
		}
	}
	if strings.Contains(message, "a step of the whole") {
		t.Errorf("told the steps of the whole:\n%s", message)
	}
}

// A test that reproduces a fault must run and fail.
func TestPartThatReproduces(t *testing.T) {
	fails := "echo '--- FAIL: TestSum (0.00s)'; echo '    sum_test.go:3: 2+2 = 5, want 4'; exit 1\n"
	run := args{"summary": "it shows the fault", "check": "sh sum_test.sh"}
	for _, tt := range []struct {
		name   string
		script []scripted.Answer
		holds  bool
		said   string
	}{
		{"it fails", []scripted.Answer{writeFile("sum_test.sh", fails), finish(run)}, true, ""},
		{"it passes", []scripted.Answer{writeFile("sum_test.sh", "true"), finish(run), finish(run)}, false,
			"the test passes"},
		{"it does not build", []scripted.Answer{writeFile("sum_test.sh", "echo 'FAIL x [build failed]'; exit 2"), finish(run),
			finish(run)}, false, ""},
		{"beside a package without tests", []scripted.Answer{
			writeFile("sum_test.sh", "echo '?   	x/b	[no test files]'\n"+fails), finish(run)}, true, ""},
		{"no test of that name", []scripted.Answer{writeFile("sum_test.sh", "echo 'No tests found'; exit 1"), finish(run),
			finish(run)}, false, ""},
		{"no command", []scripted.Answer{writeFile("sum_test.sh", fails), finish(args{"summary": "x"}), finish(run)},
			true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := contained(t, turns(tt.script...), "")
			b.in.Part = part(sia.PartTest, "")
			res := b.run()
			if res.Check == nil || res.Check.Holds != tt.holds || res.Check.Command != "sh sum_test.sh" ||
				!strings.Contains(res.Check.Excerpt, tt.said) {
				t.Errorf("%+v, check %+v", res, res.Check)
			}
		})
	}
}

// Without a sandbox nothing is checked, and the result reports that.
func TestPartWithoutASandbox(t *testing.T) {
	b := newBench(t, turns(finish(args{"summary": "made"})))
	b.in.Part = part(sia.PartOfPlan, "true")
	if res := b.run(); res.Check == nil || !strings.Contains(res.Check.Missing, "no sandbox") {
		t.Errorf("%+v", res)
	}
}

// Check runs the parts' commands and the repository's tests on a separate tree, and reports whether tests ran.
func TestChecker(t *testing.T) {
	b := newBench(t, turns(done))
	b.write("here.txt", "x")
	c, err := agent.NewCommands(sandboxtest.New(t, sandbox.Options{}), "", nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	in := agent.Input{Dir: b.in.Dir, Repo: "o/r", Test: "cat here.txt"}
	got, err := c.Check(t.Context(), in, []string{"cat gone.txt", "", "cat here.txt"}, nil)
	if err != nil || len(got) != 2 || got[0].Holds || !got[1].Holds || got[1].Command != "cat here.txt" || !c.Runs() {
		t.Errorf("%+v, %v", got, err)
	}
	b.write("here.txt", "3 pass\n 0 fail")
	if got, err = c.Check(t.Context(), in, []string{"cat here.txt"}, nil); err != nil || !got[0].Holds || !got[0].Ran {
		t.Errorf("%+v, %v", got, err)
	}
	// A program that is not there says nothing of the code, unless it ran before the change.
	for _, base := range []*sia.CheckRun{nil, {Holds: true}} {
		in.Test = "no-such-program"
		got, err := c.Check(t.Context(), in, []string{""}, base)
		if err != nil || got[0].Holds || strings.Contains(got[0].Missing, "exit status 127") != (base == nil) {
			t.Errorf("before %+v: %+v, %v", base, got, err)
		}
	}
	// Of many failing tests with much output, the first is fixed. If not all failures are known, the result is unknown.
	fail := func(first, last int) string {
		return fmt.Sprintf(`for i in $(seq %d %d); do printf '%%02000d\n' 0; echo "--- FAIL: Test$i (0.00s)"; done; exit 1`,
			first, last)
	}
	for last, known := range map[int]bool{60: true, 300: false} {
		in.Test = fail(1, last)
		base, err := c.Check(t.Context(), in, []string{""}, nil)
		if err != nil {
			t.Fatal(err)
		}
		in.Test = fail(2, last)
		got, err := c.Check(t.Context(), in, []string{""}, &base[0])
		if err != nil || got[0].Holds != known || (got[0].Missing == "") != known {
			t.Errorf("of %d: %+v, %v", last, got, err)
		}
	}
	none, err := agent.NewCommands(nil, "", nil, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := none.Check(t.Context(), in, []string{"true"}, nil); err != nil || got[0].Missing == "" ||
		none.Runs() {
		t.Errorf("%+v, %v", got, err)
	}
	in.Dir += "/gone"
	if _, err := c.Check(t.Context(), in, []string{"true"}, nil); err == nil {
		t.Error("there is no such tree, and no error")
	}
}
