package policies_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/sia-bot/sia/policies"
)

// The patterns and techniques of the product: the table that ships knows them all.
var (
	productPatterns = strings.Fields(`accumulated-cruft context-overload environment external-dependency-blocker
		flaky-check interdependent-components missing-credentials missing-example over-constrained repeated-error
		unclear-instructions unclear-specification unknown wrong-abstraction-level wrong-order wrong-tool`)
	productTechniques = strings.Fields(`decomposition tool-change prompt-restructuring context-pruning example-injection
		constraint-relaxation dependency-reordering abstraction-level-shift error-pattern-recognition fresh-start`)
)

func TestShippedTable(t *testing.T) {
	p := defaults(t)
	if got := slices.Sorted(maps.Keys(p.Ranks)); !slices.Equal(got, productPatterns) {
		t.Errorf("the table's patterns are %v, want %v", got, productPatterns)
	}
	first := map[string]bool{}
	for pattern, ranks := range p.Ranks {
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
	for rank, want := range []float64{p.Shares.Other, p.Shares.First, p.Shares.Second, p.Shares.Later} {
		technique := []string{"fresh-start", "decomposition", "dependency-reordering", "abstraction-level-shift"}[rank]
		if got := p.Share("interdependent-components", technique); got != want {
			t.Errorf("share of %s is %v, want %v", technique, got, want)
		}
	}
	if got := p.Share("a pattern of their own", "a technique of their own"); got != p.Shares.Other {
		t.Errorf("share of what the table doesn't know is %v, want %v", got, p.Shares.Other)
	}
}

func TestParsePolicyRefuses(t *testing.T) {
	const good = `
decision: technique
name: mine
version: 2
parameters: {explore: 0.1, explore_among: 3, weight_prior: 6, weight_global: 25, weight_org: 15,
  weight_opinions: 10, confidence: 0.3, opinion: 1}
shares: {first: 0.4, second: 0.3, later: 0.2, other: 0.1}
ranks: {p: {a: 1}}
`
	p, err := policies.ParsePolicy([]byte(good))
	if err != nil || p.Version != 2 || p.Share("p", "a") != 0.4 {
		t.Fatalf("parsed %+v: %v", p, err)
	}
	for _, tt := range []struct{ old, new, says string }{
		{"decision: technique", "decision: retry", `"retry"`},
		{"name: mine", "name: ''", "name"},
		{"version: 2", "version: 0", "version"},
		{"explore: 0.1", "explore: 0.6", "parameters.explore "},
		{"explore: 0.1", "explore: .nan", "parameters.explore "},
		{"explore_among: 3", "explore_among: 0", "parameters.explore_among"},
		{"weight_prior: 6", "weight_prior: 0", "parameters.weight_prior"},
		{"weight_org: 15", "weight_org: -1", "parameters.weight_org"},
		{"opinion: 1", "opinion: 9", "parameters.opinion"},
		{"first: 0.4", "first: 1", "shares.first"},
		{"{a: 1}", "{a: 0}", "ranks.p.a"},
		{"shares:", "share:", "share"},
		{"name: mine", "name: [", "parse technique policy"},
	} {
		_, err := policies.ParsePolicy([]byte(strings.Replace(good, tt.old, tt.new, 1)))
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("with %q: %v, want an error that says %s", tt.new, err, tt.says)
		}
	}
	p.Name = ""
	if _, err := policies.NewLearner(p); err == nil {
		t.Error("a learner takes a policy without a name")
	}
}
