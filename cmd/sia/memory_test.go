package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	branch "github.com/sia-bot/sia/app/memory"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/memory"
	"github.com/sia-bot/sia/sim/ghsim"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// hosted is a simulated GitHub with one repository. Its memory branch remembers a
// task and a lesson; flags are those of a server for it.
func hosted(t *testing.T) (sim *ghsim.Server, flags []string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sim, err := ghsim.New(ghsim.Config{Dir: t.TempDir()})
	must(err)
	t.Cleanup(func() { must(sim.Close()) })
	_, err = sim.Start("127.0.0.1:0")
	must(err)
	sim.CreateUser("ada")
	_, err = sim.CreateRepo("ada", "shop", ghsim.RepoSpec{Files: map[string]string{"README.md": "# Shop\n"}})
	must(err)
	registered, err := sim.CreateApp("sia")
	must(err)
	_, err = sim.Install(registered.ID, "ada", "shop")
	must(err)
	key := filepath.Join(t.TempDir(), "key.pem")
	must(os.WriteFile(key, registered.PrivateKeyPEM, 0o600))
	return sim, []string{
		"--dir", t.TempDir(), "--app-id", strconv.FormatInt(registered.ID, 10), "--app-key-file", key, "--webhook-secret",
		"s",
		"--github-url", sim.URL(), "--github-api", sim.APIURL(), "--model-url", "http://127.0.0.1:1", "--model", "none",
		"--log-level", "error",
	}
}

// handWritten is a token that somebody wrote into the memory of a task.
const handWritten = "ghp_0123456789abcdefghijABCDEFGHIJ012345"

// remember pushes a task and a lesson to the memory branch, and a file that is broken.
func remember(t *testing.T, sim *ghsim.Server) {
	t.Helper()
	repo, err := sim.Repo("ada/shop")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	task := sia.Task{
		ID: sia.NewTaskID(repo.ID, 1), Repo: sia.Repo{ID: repo.ID, Owner: "ada", Name: "shop"}, Issue: 1,
		Title: "Greet the customers", CreatedAt: at, Since: at,
		State: sia.Passed, Head: "abc",
		Attempts: []sia.Attempt{{Number: 1, StartedAt: at, EndedAt: at, Outcome: sia.AttemptPass, Head: "abc"}},
	}
	file, err := memory.JSON(task, memory.Links{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Somebody edited it by hand.
	file = bytes.ReplaceAll(file, []byte("Greet the customers"), []byte("Greet the customers "+handWritten))
	l := lesson.NewTaught(repo.ID, "x", "Say hello.", sia.Actor{Login: "ada", ID: 7}, sia.Task{}, at)
	sheet, err := lesson.Markdown(repo.ID, []lesson.Lesson{l}, nil)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := lesson.JSON([]lesson.Lesson{l}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.PushFiles("ada/shop", "sia/memory", "ada", "Memory", map[string]string{
		".sia/tasks/1.json": string(file), ".sia/tasks/1.md": string(memory.FromTask(task, memory.Links{}).Markdown()),
		".sia/tasks/2.json": "{\n",
		lesson.Path:         string(sheet), lesson.JSONPath: string(facts),
	}); err != nil {
		t.Fatal(err)
	}
}

// sia1 runs the command line in this process.
func sia1(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := runCommand(context.Background(), args, &out, &errs); code != want {
		t.Fatalf("sia %s: exit %d, want %d\n%s%s", strings.Join(args, " "), code, want, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

func TestReindexCommand(t *testing.T) {
	sim, flags := hosted(t)
	with := func(args ...string) []string { return append(args, flags...) }
	out, _ := sia1(t, cli.ExitDone, with("reindex")...)
	if !strings.Contains(out, "none") || !strings.Contains(out, "Nothing was missing.") {
		t.Errorf("without a memory branch:\n%s", out)
	}
	remember(t, sim)
	out, progress := sia1(t, cli.ExitDone, with("reindex", "--repo", "Ada/Shop")...)
	heads, err := sim.Branches("ada/shop")
	if err != nil {
		t.Fatal(err)
	}
	out = strings.ReplaceAll(out, heads["sia/memory"][:7], "<sha0>")
	path := filepath.Join("testdata", "reindex.txt")
	if *updateGolden {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), out); d != "" {
		t.Error(d)
	}
	if !strings.Contains(progress, "ada/shop: read") {
		t.Errorf("progress: %q", progress)
	}
	out, _ = sia1(t, cli.ExitDone, with("memory", "reindex", "--output", "json")...)
	var again []branch.ReindexResult
	if err := json.Unmarshal([]byte(out), &again); err != nil || len(again) != 1 || again[0].Tasks+again[0].Lessons != 0 ||
		len(again[0].Problems) != 1 {
		t.Errorf("a second time: %v\n%s", err, out)
	}
	if out, _ = sia1(t, cli.ExitDone, "task", "list", "--dir", flags[1]); !strings.Contains(out, "Greet the customers") {
		t.Errorf("the task is not there:\n%s", out)
	}
	if _, errs := sia1(t, cli.ExitFailed, with("reindex", "--repo", "ada/other")...); !strings.Contains(errs,
		"not installed in ada/other") {
		t.Errorf("a repository that is none: %s", errs)
	}
}

func TestMemoryShowCommand(t *testing.T) {
	sim, flags := hosted(t)
	with := func(args ...string) []string { return append(args, flags...) }
	if _, errs := sia1(t, cli.ExitFailed, with("memory", "show", "ada/shop#1")...); !strings.Contains(errs,
		"there is no memory of issue 1 on the branch sia/memory of ada/shop") {
		t.Error(errs)
	}
	remember(t, sim)
	for args, want := range map[string]string{
		"ada/shop#1":               "# Greet the customers (#1)",
		"ada/shop":                 "- **Lesson:** Say hello.",
		"ada/shop#1 --output json": `"task_description": "Greet the customers [secret: github-pat]"`,
	} {
		if out, _ := sia1(t, cli.ExitDone,
			with(append([]string{"memory", "show"}, strings.Fields(args)...)...)...); !strings.Contains(out, want) {
			t.Errorf("%s:\n%s", args, out)
		}
	}
	for _, bad := range []string{"shop", "ada/shop#x", "ada/shop#0", "a/b/c#1"} {
		if _, errs := sia1(t, cli.ExitUsage, with("memory", "show", bad)...); !strings.Contains(errs,
			"neither owner/name#issue nor owner/name") {
			t.Errorf("%s: %s", bad, errs)
		}
	}
}
