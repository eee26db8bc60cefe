package app_test

import (
	"testing"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Every lazily compiled expression of the program is valid.
func TestExpressionsCompile(t *testing.T) {
	if n := lazyregexp.Compile(); n < 100 {
		t.Errorf("only %d expressions are known here", n)
	}
}
