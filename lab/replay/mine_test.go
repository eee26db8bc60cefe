package replay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/lab/replay"
)

// Functions of the package calc, wrong and right.
const (
	addRight  = "func Add(a, b int) int { return a + b }\n"
	subWrong  = "func Sub(a, b int) int { return b - a }\n"
	subRight  = "func Sub(a, b int) int { return a - b }\n"
	halfWrong = "func Half(a int) int { return a / 3 }\n"
	halfRight = "func Half(a int) int { return a / 2 }\n"
)

const subTest = `t.Run("large", func(t *testing.T) { if Sub(9, 1) != 8 { t.Error() } })
t.Run("zero", func(t *testing.T) { if Sub(1, 1) != 0 { t.Error() } })
t.Run("again", func(t *testing.T) { if Sub(2, 1) != 1 { t.Error() } })
t.Run("again", func(t *testing.T) { if Sub(3, 1) != 2 { t.Error() } })`

// history is a repository with a commit of each kind, and the verdict that each should get, by the commit.
func history(t testing.TB) (c *clone, want map[string]replay.Verdict) {
	c, want = newClone(t), map[string]replay.Verdict{}
	commit := func(v replay.Verdict, message string, files map[string]string) {
		if sha := c.commit(message, files); v != "" {
			want[sha] = v
		}
	}
	subTests := goTests("TestSub", subTest, "TestSubItself", "if Sub(4, 4) != 0 { t.Errorf(`%d`, `vet minds`) }")
	addTest := []string{"TestAdd", "if Add(1, 2) != 3 { t.Fatal() }"}
	commit("", "Begin", map[string]string{"go.mod": "module example.com/calc\n\ngo 1.21\n", "README.md": "Calc.\n",
		"calc.go": goFile(addRight + subWrong + halfWrong), "add_test.go": goTests(addTest...),
		"third.go": goFile("func Third(a int) int { return a / 4 }\n\nfunc Name() []byte { return nil }")})
	commit("", "Words only", map[string]string{"README.md": "Calculates.\n"})
	commit(replay.Verified, "Sub is the wrong way round\n\nIt gave b - a.\n\nFixes #7", map[string]string{
		"calc.go": goFile(addRight + subRight + halfWrong), "README.md": "Calculates well.\n",
		"sub_test.go": subTests})
	commit("", "Add Mul", map[string]string{"mul.go": goFile("func Mul(a, b int) int { return a * b }"),
		"mul_test.go": goTests("TestMul", "if Mul(2, 3) != 6 { t.Fatal() }")})
	commit("", "Say what Add does",
		map[string]string{"calc.go": goFile("// Add adds.\n" + addRight + subRight + halfWrong),
			"add_test.go": goTests(append(addTest, "TestAddOne", "if Add(0, 1) != 1 { t.Fatal() }")...)})
	commit("", "Measure Sub", map[string]string{"calc.go": goFile(addRight + "func Sub(a, b int) int { return -b + a }\n" +
		halfWrong), "sub_test.go": subTests +
		"\nfunc BenchmarkSub(b *testing.B) { for b.Loop() { Sub(2, 1) } }\n"})
	commit(replay.PassesBefore, "Tidy Add", map[string]string{
		"calc.go":     goFile("func Add(a, b int) int { return b + a }\n" + subRight + halfWrong),
		"add_test.go": goTests(append(addTest, "TestAddZero", "if Add(0, 0) != 0 { t.Fatal() }")...)})
	// One test calls what the commit adds; the other shows what it repairs, and takes the binary down.
	commit(replay.Verified, "Add Neg, and halve by two", map[string]string{
		"calc.go": goFile(addRight + subRight + halfRight), "neg.go": goFile("func Neg(a int) int { return -a }"),
		"neg_test.go":  goTests("TestNeg", "if Neg(1) != -1 { t.Fatal() }"),
		"half_test.go": goTests("TestHalf", "if Half(8) != 4 { panic(Half(8)) }")})
	// The same within one file: what calls Cube goes, by itself or by a helper, with the import that only it used. That
	// Name does not fit is known when it is built.
	commit(replay.Verified, "Add Cube, and divide by three", map[string]string{
		"cube.go":  goFile("func Cube(a int) int { return a * a * a }"),
		"third.go": goFile("func Third(a int) int { return a / 3 }\n\nfunc Name() string { return `third` }"),
		"third_test.go": strings.Replace(goTests("TestThird", "if Third(12) != 4 { t.Fatal() }", "TestCube",
			"if strconv.Itoa(Cube(3)) != `27` { t.Fatal() }", "TestCubes", "if cubes(1, 2) != 9 { t.Fatal() }", "TestName",
			"var name string = Name(); t.Log(name)"),
			`import "testing"`, `import (
	"strconv"
	"testing"
)

// cubes adds cubes.
func cubes(of ...int) (sum int) {
	for _, a := range of {
		sum += Cube(a)
	}
	return sum
}`, 1)})
	commit(replay.NoBuild, "Name is a list", map[string]string{
		"third.go":      goFile("func Third(a int) int { return a / 3 }\n\nfunc Name() []string { return nil }"),
		"third_test.go": goTests("TestName", "var names []string = Name(); t.Log(names)")})
	commit(replay.FailsAfter, "Try something", map[string]string{"neg.go": goFile("func Neg(a int) int { return 0 - a }"),
		"neg_test.go": goTests("TestNeg", "if Neg(1) != 1 { t.Fatal() }")})
	commit(replay.Flaky, "Now and then", map[string]string{"neg.go": goFile("func Neg(a int) int { return -a }"),
		"neg_test.go": strings.Replace(goTests("TestNeg", `if _, err := os.Stat("ran"); err != nil {
	os.WriteFile("ran", nil, 0o644)
	t.Fatal("the first time")
}`), `import "testing"`, "import (\n\t\"os\"\n\t\"testing\"\n)", 1)})
	c.git("checkout", "--quiet", "-b", "side")
	c.commit("Aside", map[string]string{"notes.txt": "Notes.\n"})
	c.git("checkout", "--quiet", "main")
	c.commit("Meanwhile", map[string]string{"README.md": "Calculates very well.\n"})
	c.git("merge", "--quiet", "--no-ff", "--message", "Merge side", "side")
	return c, want
}

func mine(t *testing.T, s replay.MineSpec) replay.Mined {
	t.Helper()
	m, err := replay.Mine(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestMine mines a history with a commit of each kind, stopped and begun again on the way.
//
//test:race
func TestMine(t *testing.T) {
	c, want := history(t)
	f := newFolder(t)
	spec := replay.MineSpec{History: c.open(), Folder: f, Box: newBox(t), Repo: "acme/calc", Workers: 2}

	// It ends in the midst of the first candidate, as when it is killed: nothing is kept of that one.
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	first := spec
	first.Workers = 1
	first.Progress = func(replay.Progress) { cancel(stopped) }
	if _, err := replay.Mine(ctx, first); !errors.Is(err, stopped) {
		t.Fatalf("Mine that is stopped: %v", err)
	}
	kept, err := f.Candidates()
	if err != nil || len(kept) != 1 {
		t.Fatalf("%d candidates were kept, %v; want the one that was told", len(kept), err)
	}

	one := spec
	one.Candidates = 2
	if m := mine(t, one); m.Judged != 2 || m.Stopped == "" {
		t.Errorf("judged %d of the 2 candidates that were allowed, stopped %q", m.Judged, m.Stopped)
	}
	m := mine(t, spec)
	if m.Judged != len(want)-3 || m.Stopped != "" {
		t.Errorf("judged %d, stopped %q; want the other %d", m.Judged, m.Stopped, len(want)-3)
	}
	got := map[string]replay.Verdict{}
	if kept, err = f.Candidates(); err != nil {
		t.Fatal(err)
	}
	for sha, k := range kept {
		got[sha] = k.Verdict
		t.Logf("%s %s: %s", sha[:8], k.Verdict, k.Why)
	}
	if len(m.Passed) != 3 {
		t.Errorf("passed over %v, want one commit for each of three reasons", m.Passed)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if m := mine(t, spec); m.Judged != 0 {
		t.Errorf("judged %d candidates again", m.Judged)
	}
	spec.Max = 1
	if m := mine(t, spec); m.Stopped == "" || m.Judged != 0 {
		t.Errorf("with as many tasks as wanted: judged %d, stopped %q", m.Judged, m.Stopped)
	}
	testMinedTasks(t, c, f)

	tasks, _, err := f.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	again, err := replay.Check(t.Context(), spec, tasks, nil)
	if err != nil || len(again.Held) != len(tasks) {
		t.Errorf("of %d tasks %d hold a third time: %v, %v, %v", len(tasks), len(again.Held), again.Gone, again.Stuck, err)
	}
	tasks[0].Failing = append(tasks[0].Failing, ".::TestAdd") // which passes at both ends
	again, err = replay.Check(t.Context(), spec, tasks[:1], nil)
	if err != nil || !strings.Contains(again.Gone[tasks[0].ID], "TestAdd") {
		t.Errorf("a task that does not hold: %+v, %v", again, err)
	}
	testHostile(t, c, spec)
}

// testMinedTasks looks at what the tasks say.
func testMinedTasks(t *testing.T, c *clone, f *replay.Folder) {
	t.Helper()
	tasks, broken, err := f.Tasks()
	if err != nil || len(broken) > 0 {
		t.Fatal(err, broken)
	}
	byTitle := map[string]replay.Task{}
	for _, task := range tasks {
		byTitle[task.Title] = task
		if task.Mined.IsZero() || task.Repo != "acme/calc" || task.Language != "go" ||
			c.git("rev-parse", task.Commit+"^") != task.Parent {
			t.Errorf("task %+v", task)
		}
	}
	type says struct {
		Text                          string
		Issue                         int
		Tests, Failing, Passing, Code []string
		LeftOut                       map[string][]string
	}
	got := map[string]says{}
	for title, task := range byTitle {
		got[title] = says{task.Text, task.Issue, task.Tests, task.Failing, task.Passing, task.Files, task.LeftOut}
	}
	want := map[string]says{
		"Sub is the wrong way round": {"It gave b - a.\n\nFixes #7", 7, []string{"sub_test.go"},
			[]string{".::TestSub/again", ".::TestSub/large"}, []string{".::TestSubItself"},
			[]string{"README.md", "calc.go"}, nil},
		"Add Neg, and halve by two": {"", 0, []string{"half_test.go"}, []string{".::TestHalf"}, nil,
			[]string{"calc.go", "neg.go"}, nil},
		"Add Cube, and divide by three": {"", 0, []string{"third_test.go"}, []string{".::TestThird"}, nil,
			[]string{"cube.go", "third.go"},
			map[string][]string{"third_test.go": {`import "strconv"`, "cubes", "TestCube", "TestCubes",
				"TestName"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
}

// testHostile mines commits that do what they can against it: nothing outlasts the limits, and what
// they leave in their trees troubles no other.
func testHostile(t *testing.T, c *clone, spec replay.MineSpec) {
	t.Helper()
	hostile := func(n int, imports, body string) string {
		return c.commit(fmt.Sprintf("Hostile %d", n), map[string]string{
			"calc.go": goFile(fmt.Sprintf("func Add(a, b int) int { return a + b + 0*%d }\n", n) + subRight + halfRight),
			"hostile_test.go": strings.Replace(goTests("TestHostile", body), `import "testing"`,
				"import (\n"+imports+"\n\t\"testing\"\n)", 1)})
	}
	printing := hostile(1, `"fmt"; "strings"`, `for { fmt.Println(strings.Repeat("=== RUN ", 1<<16)) }`)
	// A process that outlives its parent must not hold anything up either.
	sleeping := hostile(2, `"os"; "os/exec"`, `os.WriteFile("../../escaped", []byte("x"), 0o644)
os.WriteFile("/tmp/../etc/escaped", []byte("x"), 0o644)
os.RemoveAll("calc.go"); os.Symlink("/etc", "etc")
for i := 0; i < 20; i++ { exec.Command("sh", "-c", "sleep 1000 & sleep 1000").Start() }
select {}`)
	lying := hostile(3, `"fmt"; "os"`, `fmt.Println("--- PASS: TestHostile (0.00s)")
fmt.Println("--- FAIL: TestOther (0.00s)"); os.Exit(0)`)
	spec.History, spec.Max, spec.Within = c.open(), 0, 8*time.Second
	mine(t, spec)
	kept, err := spec.Folder.Candidates()
	if err != nil {
		t.Fatal(err)
	}
	for _, sha := range []string{printing, sleeping, lying} {
		k, ok := kept[sha]
		t.Logf("%s %s in %.0f s: %s", sha[:8], k.Verdict, k.Seconds, k.Why)
		if !ok || k.Verdict == replay.Verified {
			t.Errorf("hostile commit %s came to %q", sha[:8], k.Verdict)
		}
	}
	if kept[printing].Verdict != replay.Ended || kept[sleeping].Verdict != replay.Ended {
		t.Errorf("endless tests came to %q and %q, want %q", kept[printing].Verdict, kept[sleeping].Verdict, replay.Ended)
	}
	tasks, _, err := spec.Folder.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	spec.Within = 0
	if again, err := replay.Check(t.Context(), spec, tasks, nil); err != nil || len(again.Held) != len(tasks) {
		t.Errorf("after hostile commits %d of %d tasks hold: %+v %v", len(again.Held), len(tasks), again, err)
	}
}
