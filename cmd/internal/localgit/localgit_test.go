//test:plain
package localgit_test

import (
	"path/filepath"
	"testing"

	"github.com/sia-bot/sia/cmd/internal/localgit"
)

// Git works in the folder, even in a hook of another repository.
func TestGitIgnoresTheRepositoryOfAHook(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(t.TempDir(), "none"))
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	dir := localgit.At(t.TempDir())
	for _, args := range [][]string{{"init", "--quiet"}, {"-c", "user.name=ada", "-c", "user.email=ada@example.com",
		"commit", "--quiet", "--allow-empty", "-m", "Begin"}, {"branch", "sia/half"}, {"branch", "sia/half-2"}} {
		if _, err := dir.Run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GIT_DIR", t.TempDir())
	if said, err := dir.Line(t.Context(), "log", "--format=%s"); said != "Begin" || err != nil {
		t.Errorf("git log prints %q, %v", said, err)
	}
	if got := dir.FreeBranch(t.Context(), "sia/half"); got != "sia/half-3" {
		t.Errorf("the free branch is %s", got)
	}
}
