//test:plain
//test:thorough
package replay_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/agent/sandbox"
	"github.com/sia-bot/sia/agent/sandbox/sandboxtest"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/lab/replay"
)

// TestMain lets this program be the inside of the way out of a sandbox too, as `sia forward` is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "forward" {
		os.Exit(sandbox.Forward(os.Args[2:]))
	}
	os.Exit(run(m))
}

// data is the folder of all repositories of these tests.
var data string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "sia-replay-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	data = dir
	code := m.Run()
	if err := sandbox.RemoveAll(dir); err != nil { // as the sandbox's user wrote there
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func newBox(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandboxtest.New(t, sandbox.Options{Self: []string{self, "forward"}, Stdlib: sandboxtest.Stdlib(t)})
}

// clone is a repository that a test makes with git.
type clone struct {
	t    testing.TB
	dir  string
	made int // commits
}

func newClone(t testing.TB) *clone {
	t.Helper()
	c := &clone{t: t, dir: t.TempDir()}
	c.git("init", "--quiet", "--initial-branch=main")
	return c
}

// git runs git and returns what it prints.
func (c *clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.dir
	at := time.Date(2026, 3, 1, 12, c.made, 0, 0, time.UTC).Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=ada",
		"GIT_AUTHOR_EMAIL=ada@example.com", "GIT_COMMITTER_NAME=ada", "GIT_COMMITTER_EMAIL=ada@example.com",
		"GIT_AUTHOR_DATE="+at, "GIT_COMMITTER_DATE="+at)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit commits files; an empty text removes one. It returns the commit.
func (c *clone) commit(message string, files map[string]string) string {
	c.t.Helper()
	for name, text := range files {
		p := filepath.Join(c.dir, name)
		if text == "" {
			if err := os.Remove(p); err != nil {
				c.t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			c.t.Fatal(err)
		}
	}
	c.made++
	c.git("add", "--all")
	c.git("commit", "--quiet", "--message", message)
	return c.git("rev-parse", "HEAD")
}

func (c *clone) open() *gitops.History {
	c.t.Helper()
	h, err := gitops.OpenHistory(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { h.Close() })
	return h
}

func newFolder(t testing.TB) *replay.Folder {
	t.Helper()
	f, err := replay.OpenFolder(data, filepath.Base(filepath.Dir(t.TempDir()))+"/"+filepath.Base(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// what the sandbox's user wrote is removed as the sandbox removes it
		if err := sandbox.RemoveAll(f.Path()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// goFile is a file of the package calc.
func goFile(body string) string { return "package calc\n\n" + body + "\n" }

// goTests is a test file with one function for each pair of a name and a body.
func goTests(pairs ...string) string {
	var b strings.Builder
	b.WriteString("package calc\n\nimport \"testing\"\n")
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "\nfunc %s(t *testing.T) {\n%s\n}\n", pairs[i], pairs[i+1])
	}
	return b.String()
}
