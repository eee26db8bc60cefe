package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/sim/apptest"
)

// halved is a repository with one commit that is a task and closes issue 1.
func halved(t *testing.T) (dir string) {
	dir = t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
			"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	commit := func(message string, files map[string]string) {
		t.Helper()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git("add", "--all")
		git("commit", "--quiet", "--message", message)
	}
	git("init", "--quiet", "--initial-branch=main")
	commit("Begin", map[string]string{"calc.py": "def half(a):\n    return a / 3\n"})
	commit("Half is half\n\nFixes #1", map[string]string{"calc.py": "def half(a):\n    return a / 2\n",
		"test_calc.py": `import unittest
import calc


class Halves(unittest.TestCase):
    def test_half(self):
        self.assertEqual(calc.half(4), 2)
`})
	return dir
}

func branches(t *testing.T, s *apptest.Stage) map[string]string {
	t.Helper()
	heads, err := s.Sim.Branches(apptest.Repo)
	if err != nil {
		t.Fatal(err)
	}
	return heads
}

// TestReplayOfServersRepository mines a repository on GitHub, commits the task to its memory branch, and lists it from
// there.
func TestReplayOfServersRepository(t *testing.T) {
	s := apptest.Start(t, apptest.Config{From: halved(t)})
	if _, err := s.Sim.OpenIssue(apptest.Repo, apptest.Owner, "Halves are thirds", "Four gives 1.33."); err != nil {
		t.Fatal(err)
	}
	s.Settle()
	if _, err := s.Repository("ada/other"); err == nil ||
		!strings.Contains(err.Error(), `knows no repository "ada/other"`) {
		t.Errorf("a repository that the server does not know: %v", err)
	}
	r, err := s.Repository("Ada/Shop") // case-insensitive, like GitHub
	if err != nil {
		t.Fatal(err)
	}
	if tasks, broken, err := replay.Remembered(t.Context(), r); len(tasks)+len(broken) > 0 || err != nil {
		t.Errorf("without a memory branch: %v, %v, %v", tasks, broken, err)
	}

	h, err := r.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	f, err := replay.OpenFolder(t.TempDir(), r.Repo)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sandbox.RemoveAll(f.Path()); err != nil { // files of the sandbox's user
			t.Error(err)
		}
	})
	m, err := replay.Mine(t.Context(), replay.MineSpec{History: h, Folder: f, Box: sandboxtest.New(t, sandbox.Options{}),
		Repo: r.Repo, Issue: r.Issue})
	if err != nil || m.Tasks != 1 {
		t.Fatalf("mined %+v, %v", m, err)
	}
	tasks, _, err := f.Tasks()
	if err != nil {
		t.Fatal(err)
	}
	task := tasks[0]
	if task.Repo != apptest.Repo || task.Issue != 1 || task.Title != "Halves are thirds" ||
		task.Text != "Four gives 1.33." {
		t.Errorf("the task is not told as the issue is: %+v", task)
	}

	sha, err := replay.Remember(t.Context(), r, tasks)
	if err != nil {
		t.Fatal(err)
	}
	if head := branches(t, s)[apptest.MemoryBranch]; sha == "" || head != sha {
		t.Errorf("the memory branch is at %q, and it was said to be at %q", head, sha)
	}
	want, err := task.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := ".sia/replay/" + task.ID + ".json"
	if diff := cmp.Diff(string(want), onMemory(t, s, file)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
	// A user adds files: an invalid task is reported, and the others are listed.
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	push(t, s, apptest.MemoryBranch, map[string]string{".sia/replay/000000000000.json": "{",
		".sia/replay/NOTES.md": "Ours."})
	listed, broken, err := replay.Remembered(t.Context(), r)
	if err != nil || len(broken) != 1 || !strings.Contains(broken[0], "000000000000.json") {
		t.Errorf("broken: %q, %v", broken, err)
	}
	if len(listed) != 1 || listed[0].ID != task.ID || listed[0].Title != task.Title {
		t.Errorf("listed from the memory branch: %+v", listed)
	}
	task.Text = "It says " + key
	if _, err := replay.Remember(t.Context(), r, []replay.Task{task}); err != nil {
		t.Fatal(err)
	}
	if text := onMemory(t, s, file); strings.Contains(text, key) || !strings.Contains(text, "It says ") {
		t.Errorf("a secret was committed:\n%s", text)
	}
	if text := onMemory(t, s, ".sia/replay/NOTES.md"); text != "Ours." {
		t.Errorf("a person's notes are %q now", text)
	}
}

// TestReplayMindsSettings: tasks are written to the branch in the settings, and never to one that contains code.
func TestReplayMindsSettings(t *testing.T) {
	s := apptest.Start(t, apptest.Config{Files: map[string]string{"README.md": "A shop.\n"}})
	for _, c := range []struct{ named, want string }{{"notes", "notes"}, {"main", "notes"}} {
		push(t, s, "main", map[string]string{".sia/config.yml": "memory: {branch: " + c.named + "}\n"})
		main := branches(t, s)["main"]
		r, err := s.Repository(apptest.Repo)
		if err != nil {
			t.Fatal(err)
		}
		sha, err := replay.Remember(t.Context(), r, []replay.Task{{ID: "0123456789ab", Title: c.named}})
		if err != nil {
			t.Fatal(err)
		}
		heads := branches(t, s)
		if heads[c.want] != sha || heads["main"] != main || heads[apptest.MemoryBranch] != "" {
			t.Errorf("with %s named, tasks are at %s, and branches at %v", c.named, sha, heads)
		}
		text, err := s.Sim.File(apptest.Repo, c.want, ".sia/replay/0123456789ab.json")
		if err != nil || !strings.Contains(text, `"title": "`+c.named+`"`) {
			t.Errorf("with %s named: %v\n%s", c.named, err, text)
		}
	}
}
