package evidence_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
)

// A failing test, and others near it, are run separately, and the lines of each are returned. Of the others, failing
// ones are ignored. Each archive has a repository, the test as FILE NAME, and the expected result.
func TestCover(t *testing.T) {
	archives, err := filepath.Glob("testdata/cover/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	for _, file := range archives {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, want := newClone(t), ""
			if last := len(a.Files) - 1; a.Files[last].Name == "want" {
				want, a.Files = string(a.Files[last].Data), a.Files[:last]
			}
			head := c.commit(a, "")
			var test locate.Test
			test.File, test.Name, _ = strings.Cut(strings.TrimSpace(string(a.Comment)), " ")
			w := evidence.Wanted{Repository: filepath.Base(caches), Base: head, Head: head,
				Open: func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(c.dir) }}
			l := evidence.NewLooker(newBox(t), filepath.Dir(caches), nil, time.Now)
			runs, err := l.Cover(t.Context(), w, []locate.Test{test})
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, r := range runs {
				fmt.Fprintf(&got, "failed %t\n", r.Failed)
				for _, b := range r.Blocks {
					fmt.Fprintf(&got, "%s:%d-%d\n", b.Path, b.From, b.To)
				}
			}
			if d := cmp.Diff(want, got.String()); d != "" {
				t.Error(d)
			}
		})
	}
	none, err := evidence.NewLooker(nil, "", nil, time.Now).Cover(t.Context(), evidence.Wanted{}, nil)
	if err != nil || none != nil {
		t.Errorf("without a sandbox: %v, %v", none, err)
	}
}

// The tests run on the current work tree, and those that ran before the deadline are returned.
func TestCoverInTime(t *testing.T) {
	a, err := txtar.ParseFile("testdata/cover/go.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := newClone(t)
	head := c.commit(a, "")
	ctx, end := context.WithCancel(t.Context())
	end()
	w := evidence.Wanted{Repository: filepath.Base(caches), Base: head, Head: head,
		Open: func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(c.dir) }}
	l := evidence.NewLooker(newBox(t), filepath.Dir(caches), nil, time.Now)
	if runs, err := l.Cover(overdue{ctx}, w, []locate.Test{{File: "shop/price_test.go"}}); err == nil || runs != nil {
		t.Errorf("%v, %v", runs, err)
	}
}
