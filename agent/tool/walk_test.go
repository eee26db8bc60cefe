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

// A tree that has more in it than is walked is not said to have been walked whole, and what was met counts.
func TestWalksSayThatTheyStopped(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	for i := range 10 {
		if err := root.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]error{9: errMany, 10: nil} {
		met := 0
		w := treeWalker{ctx: t.Context(), most: most, visit: func(treeEntry) (bool, error) {
			met++
			return true, nil
		}}
		if err := w.walkDir(root, ".", 1, nil); !errors.Is(err, want) || met != most {
			t.Errorf("%d of 10: %v after %d", most, err, met)
		}
	}
	s := searchPage{many: true}
	if got := s.pageText(); strings.Contains(got, "no match") || !strings.Contains(got, "200000 files and folders") {
		t.Errorf("a search that did not see everything says %q", got)
	}
}

// Where not all files were looked at, only those that were looked at twice can have changed.
func TestChangesOfATreeThatIsNotSeenWhole(t *testing.T) {
	before := map[string]fileStamp{"a": {size: 1}, "b": {size: 1}, "gone": {}}
	after := map[string]fileStamp{"a": {size: 1}, "b": {size: 2}, "new": {size: 3}}
	for whole, want := range map[bool]string{true: "[b gone new]", false: "[b]"} {
		if got := fmt.Sprint(changedFiles(before, after, whole)); got != want {
			t.Errorf("whole %v: %s, want %s", whole, got, want)
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
