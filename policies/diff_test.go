package policies_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/policies"
)

func TestDiff(t *testing.T) {
	const head = "decision: recover\nname: r\nversion: 1\n"
	for _, tt := range []struct {
		name, a, b string
		want       []string
	}{
		{"nothing", head, head + "# the shipped value, written down\nparameters: {base: {retry: 0.1}}\n", nil},
		{"a number", head + "parameters: {base: {retry: 2}}\n", "decision: recover\nname: r\nversion: 2\n",
			[]string{"parameters.base.retry: 2 -> 0.1", "version: 1 -> 2"}},
		{"rules", head + "rules: [{when: {class: [network]}, bonus: {retry: 1}, wait: 5m}]\n",
			head + "rules: [{when: {class: [network, test_failure]}, bonus: {sia: 1}}, {when: {kind: [docs]}, retries: 3}]\n",
			[]string{
				"rules.1.bonus.retry: 1 -> (none)", "rules.1.bonus.sia: (none) -> 1", "rules.1.wait: 5m0s -> 0s",
				"rules.1.when.class: [network] -> [network, test_failure]", "rules.2.retries: (none) -> 3",
				"rules.2.wait: (none) -> 0s", "rules.2.when.kind: (none) -> [docs]",
			}},
		{"heads", head + "reasoning: so\nselector: {size: {most: 9}}\n", "decision: recover\nname: s\nversion: 1\n",
			[]string{`name: r -> s`, `reasoning: "so" -> (none)`, "selector.size.most: 9 -> (none)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range policies.Diff(parsed(t, tt.a), parsed(t, tt.b)) {
				got = append(got, c.String())
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// All fields of the shipped policies are compared.
func TestDiffSeesEveryType(t *testing.T) {
	for typ, change := range map[policies.Type]string{
		policies.TypeDecompose: "prompt: Otherwise.", policies.TypeAssign: "parameters: {beam: 9}",
		policies.TypeEscalate: "rules: {min_failures: 3}", policies.TypeRecover: "parameters: {base: {sia: 1}}",
		policies.TypeRerun: "parameters: {good_rate: 0.5}", policies.TypeInterrupt: "parameters: {bias: 1}",
		policies.TypeTechnique: "rules: {shares: {first: 0.5}}",
	} {
		head := "decision: " + string(typ) + "\nname: a\nversion: 1\n"
		if got := policies.Diff(parsed(t, head), parsed(t, head+change)); len(got) != 1 {
			t.Errorf("%s: %v", typ, got)
		}
	}
}

func TestSelectorInWords(t *testing.T) {
	for _, tt := range []struct {
		in   policies.Selector
		want string
	}{
		{policies.Selector{}, "every context"},
		{policies.Selector{Kind: []string{"bug", "docs"}, Language: []string{"go"}, Labels: []string{"a", "b"}, Failures: 2},
			`bug or docs tasks in go labelled "a" or "b", after at least 2 failures`},
		{policies.Selector{Language: []string{"\x1b[31mgo"}}, `tasks in "\x1b[31mgo"`},
		{policies.Selector{Class: []string{"network"}, Pattern: []string{"wrong-tool"}},
			"tasks, after a failure of the class network, for the pattern wrong-tool"},
		{policies.Selector{Part: []string{"part", "merge"}}, "tasks, for a part of the kind part or merge"},
		{policies.Selector{Repository: []string{"acme/shop"}, Size: policies.Size{Least: 1}},
			"tasks of the repository acme/shop of at least 1 word"},
		{policies.Selector{Owner: []string{"acme"}, Size: policies.Size{Most: 9}},
			"tasks of the owner acme of at most 9 words"},
		{policies.Selector{Size: policies.Size{Least: 2, Most: 9}, Failures: 1},
			"tasks of 2 to 9 words, after at least 1 failure"},
	} {
		if got := tt.in.String(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
