package app_test

import (
	"testing"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Every expression of the program can be compiled, though none was yet.
func TestExpressionsCompile(t *testing.T) {
	if n := lazyregexp.Compile(); n < 100 {
		t.Errorf("only %d expressions are known here", n)
	}
}
