package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/lab/replay"
	"github.com/sia-bot/sia/policies"
)

// TestSource reads a clone's settings and policies as they are checked out, and its tasks in the folder and on the
// memory branch that the settings name.
func TestSource(t *testing.T) {
	c, data := newClone(t), t.TempDir()
	c.git("remote", "add", "origin", "git@github.com:ada/shop.git")
	var said []string
	open := func() *replay.Source {
		t.Helper()
		s, err := replay.OpenClone(t.Context(), c.dir, data, func(format string, args ...any) {
			said = append(said, fmt.Sprintf(format, args...))
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	s := open()
	if tasks, err := s.Tasks(t.Context()); s.Name != "ada/shop" || err != nil || len(tasks)+len(said) > 0 {
		t.Errorf("before the first commit, %s has %v, %q, %v", s.Name, tasks, said, err)
	}
	sha := c.commit("Begin", map[string]string{".sia/config.yml": "memory:\n  branch: sia-memory\n",
		policies.Dir + "/recover.yml": strings.Replace(shippedRecover(t), "version: 1", "version: 7", 1)})
	task := replay.Task{Version: 1, ID: sha[:12], Commit: sha, Parent: sha, Language: "go", Tests: []string{"a_test.go"},
		Failing: []string{".::TestA"}}
	other := task
	other.Commit = strings.Repeat("f", 40)
	other.ID = other.Commit[:12]
	files := map[string]string{replay.MemoryDir + "/bad.json": "{"}
	for _, one := range []replay.Task{task, other} {
		text, err := one.Encode()
		if err != nil {
			t.Fatal(err)
		}
		files[one.MemoryPath()] = string(text)
	}
	c.git("checkout", "--quiet", "-b", "sia-memory")
	c.commit("Remember", files)
	c.git("checkout", "--quiet", "main")
	if err := s.Folder.SaveTask(task); err != nil {
		t.Fatal(err)
	}
	s = open()
	tasks, err := s.Tasks(t.Context())
	if err != nil || len(tasks) != 2 || tasks[0].ID != task.ID || tasks[0].Remembered || tasks[1].ID != other.ID ||
		!tasks[1].Remembered || len(said) != 1 || !strings.HasPrefix(said[0], "left out: .sia/replay/bad.json: ") {
		t.Errorf("tasks %+v, %q, %v", tasks, said, err)
	}
	set, err := s.Policies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(set.All(), func(p policies.Policy) bool { return p.Name == "recover" && p.Version == 7 }) {
		t.Errorf("policies %v", set.All())
	}
	c.commit("Break the settings", map[string]string{".sia/config.yml": "memory: 1\n"})
	if s, err := replay.OpenClone(t.Context(), c.dir, data, nil); err == nil {
		t.Errorf("wrong settings are read as %+v", s.Settings)
	}
}

func shippedRecover(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "policies", "defaults", "recover.yml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
