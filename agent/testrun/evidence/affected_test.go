package evidence_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
)

// overdue is a context with a deadline that passes when it is canceled.
type overdue struct{ context.Context }

func (o overdue) Err() error {
	if o.Context.Err() == nil {
		return nil
	}
	return context.DeadlineExceeded
}

// Of the tests that a change reaches, those are reported that fail with it, and pass or don't exist without it. Tests
// that failed before, or that the change can't reach, are not reported.
func TestAffected(t *testing.T) {
	a := txtar.Parse([]byte(`
-- base/go.mod --
module shop

go 1.21
-- base/price/price.go --
package price

func Sum(a, b int) int { return a + b }
-- base/price/price_test.go --
package price

import "testing"

func TestSum(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Fatal("sum")
	}
}

func TestOld(t *testing.T) { t.Fatal("fails since long") }
-- base/order/order_test.go --
package order

import (
	"testing"

	"shop/price"
)

func TestOrder(t *testing.T) {
	if price.Sum(1, 1) != 2 {
		t.Fatal("order")
	}
}
-- base/stock/stock.go --
package stock

func Left() int { return 1 }
-- base/stock/stock_test.go --
package stock

import "testing"

func TestLeft(t *testing.T) {
	if Left() < 1 {
		t.Fatal("none")
	}
}
-- base/far/far_test.go --
package far

import "testing"

func TestFar(t *testing.T) { t.Fatal("not reached") }
-- head/price/price.go --
package price

func Sum(a, b int) int { return a - b }
-- head/stock/stock.go --
package stock

func Left() int { return 2 }
-- head/price/more_test.go --
package price

import "testing"

func TestMore(t *testing.T) {
	if Sum(2, 2) != 4 {
		t.Fatal("more")
	}
}
`))
	c := newClone(t)
	base := c.commit(a, "base/")
	head := c.commit(a, "head/")
	now := time.Now()
	// Far groups are started even on a slow machine.
	still := func() time.Time { return now }
	w := evidence.Wanted{Repository: filepath.Base(caches), Base: base, Head: head,
		Open: func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(c.dir) }}
	l := evidence.NewLooker(newBox(t), filepath.Dir(caches), nil, still) // uses the folder of all tests here
	got, err := l.Affected(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"order::TestOrder", "price::TestMore", "price::TestSum"}, got.Failed); d != "" {
		t.Errorf("what fails: -want +got\n%s", d)
	}
	if got.Ran != 5 || !strings.Contains(got.Log, "price_test.go:7") {
		t.Errorf("%d ran, and it says %q", got.Ran, got.Log)
	}
	// If the deadline passes before the second batch, the failures of the first one are reported. On the base, only the
	// failing groups were run.
	ctx, end := context.WithCancel(t.Context())
	defer end()
	results := filepath.Join(caches, "late", filepath.Base(caches), "results", "*.json")
	l = evidence.NewLooker(newBox(t), filepath.Join(caches, "late"), nil, func() time.Time {
		if kept, err := filepath.Glob(results); err != nil || len(kept) > 0 {
			end()
		}
		return now
	})
	if got, err = l.Affected(overdue{ctx}, w); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"price::TestMore", "price::TestSum"}, got.Failed); d != "" {
		t.Errorf("what fails of the first batch: -want +got\n%s", d)
	}
	ran := map[string]int{}
	kept, err := filepath.Glob(results)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range kept {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range []string{"price", "stock"} {
			ran[group] += strings.Count(string(b), `"`+group+`":`)
		}
	}
	if d := cmp.Diff(map[string]int{"price": 2, "stock": 1}, ran); d != "" {
		t.Errorf("trees in which a group ran: -want +got\n%s", d)
	}
	none, err := evidence.NewLooker(nil, "", nil, time.Now).Affected(t.Context(), evidence.Wanted{})
	if err != nil || none.Ran > 0 || none.Failed != nil {
		t.Errorf("without a sandbox: %+v, %v", none, err)
	}
}

// The folder of a repository is removed if it was unused for a month. Other files stay.
func TestUnusedFoldersGo(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for name, days := range map[string]int{"acme%2Fgone": 31, "acme%2Fused": 29, "photos": 1000} {
		at := now.AddDate(0, 0, -days)
		if err := errors.Join(os.Mkdir(filepath.Join(dir, name), 0o700),
			os.Chtimes(filepath.Join(dir, name), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	away := errors.New("the repository is away")
	l := evidence.NewLooker(newBox(t), dir, nil, func() time.Time { return now })
	_, err := l.Affected(t.Context(), evidence.Wanted{Repository: "acme/Shop",
		Open: func(context.Context, ...string) (*gitops.History, error) { return nil, away }})
	if !errors.Is(err, away) {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	slices.Sort(left)
	if d := cmp.Diff([]string{"acme%2Fshop", "acme%2Fused", "photos"}, left); d != "" {
		t.Errorf("left: -want +got\n%s", d)
	}
}
