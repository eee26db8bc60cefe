package replay_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/scripted"
)

type args = map[string]any

// newCoder is the builtin agent with a model that says what a script tells it to.
func newCoder(t *testing.T, box *sandbox.Sandbox, script scripted.Script) (replay.Coder, *scripted.Server) {
	t.Helper()
	srv, err := scripted.Start(script, scripted.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	model, err := llm.New(llm.Config{Model: "coder", BaseURL: srv.URL, Retries: 1, Price: llm.Price{Input: 1, Output: 10},
		HTTPClient: &http.Client{Transport: &http.Transport{}}})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	commands, err := agent.NewCommands(box, "", nil, time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	builtin, err := agent.NewBuiltin(agent.BuiltinConfig{Model: model, Commands: commands, Now: time.Now, Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	return replay.Coder{Name: "scripted", Agent: builtin, Tools: builtin.Tools()}, srv
}

// edits is a script that writes calc.go and finishes, after what else is to be done.
func edits(text string, first ...scripted.Call) scripted.Script {
	var turns []scripted.Answer
	for _, c := range first {
		turns = append(turns, scripted.Answer{Calls: []scripted.Call{c}})
	}
	if text != "" {
		write := scripted.Call{Name: "write", Args: args{"path": "calc.go", "content": text}}
		turns = append(turns, scripted.Answer{Calls: []scripted.Call{write}})
	}
	turns = append(turns, scripted.Answer{Calls: []scripted.Call{{Name: "finish", Args: args{"summary": "Done."}}}})
	return scripted.Script{Rules: []scripted.Rule{{Name: "all", Turns: turns, Repeat: true}}}
}

// TestPlay has a mined task done: rightly, wrongly, not at all, by one that breaks something else, and with no
// model.
func TestPlay(t *testing.T) {
	c := newClone(t)
	c.commit("Begin", map[string]string{"go.mod": "module example.com/calc\n\ngo 1.21\n",
		"calc.go": goFile(addRight + subWrong), "AGENTS.md": "Be brief.\n", "run.sh": "true\n"})
	answer := c.commit("Sub is the wrong way round", map[string]string{"calc.go": goFile(addRight + subRight),
		"neg.go": goFile("func Neg(a int) int { return -a }"), // nobody can be asked to guess this
		"calc_test.go": goTests("TestSub", "if Sub(9, 1) != 8 { t.Error() }", "TestAdd", "if Add(1, 2) != 3 { t.Error() }",
			"TestNeg", "if Neg(1) != -1 { t.Error() }")})
	box, f, h := newBox(t), newFolder(t), c.open()
	if m := mine(t, replay.MineSpec{History: h, Folder: f, Box: box, Repo: "acme/calc"}); m.Tasks != 1 {
		t.Fatalf("mined %+v", m)
	}
	tasks, _, err := f.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	task := tasks[0]
	play := func(script scripted.Script, v replay.Variant) (replay.Result, *scripted.Server, error) {
		coder, srv := newCoder(t, box, script)
		p, err := replay.NewPlayer(replay.PlayerConfig{History: h, Folder: f, Box: box, Coders: []replay.Coder{coder},
			Limits: agent.Limits{Credits: 10 * sia.Credit, Turns: 10}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Play(t.Context(), task, v, 3)
		return r, srv, err
	}

	look := scripted.Call{Name: "run", Args: args{"command": "git log --oneline | wc -l; git status --porcelain; ls; " +
		"git cat-file -t " + answer + " || echo not there"}}
	r, srv, err := play(edits(goFile(addRight+subRight), look),
		replay.Variant{Name: "right", Lessons: []string{"Mind the order."}})
	if err != nil || !r.Resolved || r.Seed != 3 || r.Variant != "right" || r.Task != task.ID || r.Cost <= 0 ||
		r.Seconds <= 0 {
		t.Errorf("a right answer came to %+v, %v", r, err)
	}
	if diff := cmp.Diff([]string{"calc.go"}, r.Files); diff != "" {
		t.Errorf("changed files (-want +got):\n%s", diff)
	}
	asked := srv.Requests()
	told, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"calc_test", "TestSub", task.Parent[:12]} {
		if strings.Contains(string(told), kept) {
			t.Errorf("the coder was told of %q", kept)
		}
	}
	seen := asked[1].Last()
	if !strings.Contains(seen, "not there") || !strings.Contains(seen, "1\n") || strings.Contains(seen, "_test") ||
		strings.Contains(seen, " M ") || strings.Contains(seen, "??") {
		t.Errorf("what the coder saw of the repository:\n%s", seen)
	}
	for _, want := range []string{"Mind the order.", "Be brief."} {
		if !strings.Contains(asked[0].User(), want) {
			t.Errorf("the coder was not told %q", want)
		}
	}

	for _, one := range []struct {
		name, text, why string
		first           []scripted.Call
	}{
		{"wrong", goFile(addRight + "func Sub(a, b int) int { return a + b }\n"), "1 of 1 tests still fail: .::TestSub", nil},
		{"nothing", "", "nothing was changed", nil},
		{"breaks", goFile("func Add(a, b int) int { return 0 }\n" + subRight), "tests that passed fail now: .::TestAdd", nil},
		{"no code", "package calc\n\nfunc (\n", "does not build", nil},
		// A test of its own under the same name is replaced, and one that ends the run early proves nothing.
		{"cheats", goFile(addRight + subWrong), "still fail", []scripted.Call{{Name: "write", Args: args{"path": "x_test.go",
			"content": "package calc\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(0) }\n"}},
			{Name: "write", Args: args{"path": "calc_test.go", "content": goTests("TestSub", "")}}}},
	} {
		r, _, err := play(edits(one.text, one.first...), replay.Variant{Name: one.name})
		if err != nil || r.Resolved || !strings.Contains(r.Why, one.why) {
			t.Errorf("%s: %+v, %v; want %q", one.name, r, err, one.why)
		}
	}

	refused := []scripted.Answer{{Fault: &scripted.Fault{Status: 401}}}
	down := scripted.Script{Rules: []scripted.Rule{{Name: "down", Turns: refused, Repeat: true}}}
	if r, _, err := play(down, replay.Variant{Name: "down"}); err == nil || r.Resolved {
		t.Errorf("without a model: %+v, %v; want an error, since it says nothing of the task", r, err)
	}
	_, _, err = play(edits(""), replay.Variant{Technique: "magic"})
	if err == nil || !strings.Contains(err.Error(), "decomposition") {
		t.Errorf("an unknown technique: %v; want one that names those that there are", err)
	}
	_, _, err = play(edits(""), replay.Variant{Coder: "nobody"})
	if err == nil || !strings.Contains(err.Error(), "scripted") {
		t.Errorf("an unknown coder: %v; want one that names those that there are", err)
	}
	left, err := filepath.Glob(filepath.Join(f.Path(), "cache", "play-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("work trees stay behind: %v %v", left, err)
	}
}

// A folder is a name, whatever it is called, and no pattern.
func TestFolderThatLooksLikeAPattern(t *testing.T) {
	f, err := replay.OpenFolder(filepath.Join(t.TempDir(), "a[b]"), "acme/shop")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path(), "tasks", "torn.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, broken, err := f.Tasks(); err != nil || len(broken) != 1 {
		t.Errorf("broken %q, %v; want one file", broken, err)
	}
}

// TestFolder keeps what was written through torn files.
func TestFolder(t *testing.T) {
	f := newFolder(t)
	sha := strings.Repeat("0123456789", 4)
	good := `{"version":1,"id":"012345678901","commit":"` + sha + `","parent":"` + sha + `","language":"go",` +
		`"tests":["a_test.go"],"failing":[".::TestA"],"weight":{"of":3}}`
	for name, text := range map[string]string{"012345678901": good, "torn": good[:50], "empty": "",
		"newer":   strings.Replace(good, `"version":1`, `"version":9`, 1),
		"outside": strings.Replace(good, `"id":"012345678901"`, `"id":"../../../../x"`, 1),
		"cobol":   strings.Replace(good, `"language":"go"`, `"language":"cobol"`, 1)} {
		if err := os.WriteFile(filepath.Join(f.Path(), "tasks", name+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tasks, broken, err := f.Tasks()
	if err != nil || len(tasks) != 1 || len(broken) != 5 {
		t.Fatalf("%d tasks, broken %q, %v", len(tasks), broken, err)
	}
	runs := filepath.Join(f.Path(), "runs.jsonl")
	if err := f.AppendRun(replay.Result{Task: "012345678901", Variant: "a"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(runs)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(runs, append(whole, whole[:20]...), 0o600); err != nil { // killed while writing the second
		t.Fatal(err)
	}
	if err := f.AppendRun(replay.Result{Task: "012345678901", Variant: "c"}); err != nil {
		t.Fatal(err)
	}
	all, err := f.Runs()
	if err != nil || len(all) != 2 || all[0].Variant != "a" || all[1].Variant != "c" {
		t.Errorf("runs %+v, %v", all, err)
	}
}
