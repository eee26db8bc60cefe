package bandit_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// The shipped table has all patterns and techniques of the product.
var (
	productPatterns = strings.Fields(`accumulated-cruft context-overload environment external-dependency-blocker
		flaky-check interdependent-components missing-credentials missing-example over-constrained repeated-error
		unclear-instructions unclear-specification unknown wrong-abstraction-level wrong-order wrong-tool`)
	productTechniques = strings.Fields(`decomposition tool-change prompt-restructuring context-pruning example-injection
		constraint-relaxation dependency-reordering abstraction-level-shift error-pattern-recognition fresh-start`)
)

func TestShippedTable(t *testing.T) {
	p := defaults(t)
	if got := slices.Sorted(maps.Keys(p.Rules.Ranks)); !slices.Equal(got, productPatterns) {
		t.Errorf("the table's patterns are %v, want %v", got, productPatterns)
	}
	first := map[string]bool{}
	for pattern, ranks := range p.Rules.Ranks {
		for technique, rank := range ranks {
			if !slices.Contains(productTechniques, technique) {
				t.Errorf("%s: %q is no technique", pattern, technique)
			}
			first[technique] = first[technique] || rank == 1
		}
	}
	for _, technique := range productTechniques {
		if !first[technique] {
			t.Errorf("%s is the first choice for nothing", technique)
		}
	}
	for rank, want := range []float64{p.Rules.Shares.Other, p.Rules.Shares.First, p.Rules.Shares.Second,
		p.Rules.Shares.Later} {
		technique := []string{"fresh-start", "decomposition", "dependency-reordering", "abstraction-level-shift"}[rank]
		if got := p.Share("interdependent-components", technique); got != want {
			t.Errorf("share of %s is %v, want %v", technique, got, want)
		}
	}
	if got := p.Share("a pattern of their own", "a technique of their own"); got != p.Rules.Shares.Other {
		t.Errorf("share of what the table doesn't know is %v, want %v", got, p.Rules.Shares.Other)
	}
}
