package evidence_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/sia-bot/sia/agent/testrun/evidence"
	"github.com/sia-bot/sia/gitops"
)

// Of the tests that a change reaches, those are told that fail with it and pass or are not there without it. What
// failed before, and what the change can't reach, is nobody's news.
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
-- base/far/far_test.go --
package far

import "testing"

func TestFar(t *testing.T) { t.Fatal("not reached") }
-- head/price/price.go --
package price

func Sum(a, b int) int { return a - b }
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
	// What is far is begun however slow this machine is.
	still := func() time.Time { return now }
	l := evidence.NewLooker(newBox(t), filepath.Dir(caches), nil, still) // its folder is that of all tests here
	got, err := l.Affected(t.Context(), evidence.Wanted{Repository: filepath.Base(caches), Base: base, Head: head,
		Open: func(context.Context, ...string) (*gitops.History, error) { return gitops.OpenHistory(c.dir) }})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"order::TestOrder", "price::TestMore", "price::TestSum"}, got.Failed); d != "" {
		t.Errorf("what fails: -want +got\n%s", d)
	}
	if got.Ran != 4 || !strings.Contains(got.Log, "price_test.go:7") {
		t.Errorf("%d ran, and it says %q", got.Ran, got.Log)
	}
	none, err := evidence.NewLooker(nil, "", nil, time.Now).Affected(t.Context(), evidence.Wanted{})
	if err != nil || none.Ran > 0 || none.Failed != nil {
		t.Errorf("without a sandbox: %+v, %v", none, err)
	}
}
