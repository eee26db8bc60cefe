package tool

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// However long lists of what to ignore are, and however many, so many of their patterns count.
func TestIgnoredPatternsAreBounded(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for lines, want := range map[int]int{1500: maxRules, 20_000: maxRules, 100: 1600} {
		if err := root.WriteFile(".gitignore", []byte(strings.Repeat("**/a*b*c*d*e*f\n", lines)), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := ignoreRules(root, "below", make([]gitignore.Pattern, 1500)); len(got) != want {
			t.Errorf("%d patterns below 1500: %d count, want %d", lines, len(got), want)
		}
	}
}

// Whatever is done on the way, a walk ends after its time, and says how to narrow it.
func TestWalksEnd(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for i := range 100 {
		if err := root.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		err := walkTree(t.Context(), root, ".", func(treeEntry) (bool, error) {
			<-time.After(time.Second)
			return true, nil
		})
		if took := time.Since(began); !errors.Is(err, errSlow) || took > walkWithin+time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}
