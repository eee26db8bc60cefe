package policies

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// lines returns the lines that one text has and the other does not, in order.
func lines(a, b string) (all []string) {
	has := map[string]int{}
	for l := range strings.Lines(b) {
		has[l]++
	}
	for l := range strings.Lines(a) {
		if has[l]--; has[l] < 0 {
			all = append(all, strings.TrimSpace(l))
		}
	}
	return all
}

func shippedOf(t testing.TB, typ Type) Policy {
	t.Helper()
	return ShippedSet().For(typ, Context{})
}

func TestMutate(t *testing.T) {
	for _, tt := range []struct {
		of    Type
		path  string
		value string
		was   string // how the changed lines were written
		now   string
	}{
		{TypeEscalate, "parameters.threshold", "0.5", "version: 1 | threshold: 0.65     # a person is asked above it",
			"version: 2 | threshold: 0.5     # a person is asked above it"},
		{TypeRecover, "parameters.base.retry", "0.3",
			"version: 1 | base: {sia: 0.5, next-racer: 0.6, other-coder: 0.25, retry: 0.1, person: 0.05, abandon: 0, rerun: 0}",
			"version: 2 | base: {sia: 0.5, next-racer: 0.6, other-coder: 0.25, retry: 0.3, person: 0.05, abandon: 0, rerun: 0}"},
		{TypeRecover, "rules.1.wait", "10m", "version: 1 | wait: 5m", "version: 2 | wait: 10m"},
		{TypeRecover, "rules.1.when.class", "[network]",
			"version: 1 | - when: {class: [rate_limit, network, infrastructure]}", "version: 2 | - when: {class: [network]}"},
		{TypeEscalate, "rules.triggers", "[{labels: [security], failures: 2}]", "version: 1 | triggers: []",
			"version: 2 | triggers: [{labels: [security], failures: 2}]"},
		{TypeEscalate, "selector.language", "[go]", "version: 1", "version: 2 |  | selector: | language: [go]"},
	} {
		t.Run(tt.path, func(t *testing.T) {
			p := shippedOf(t, tt.of)
			out, err := Mutate(p, Mutation{Path: tt.path, Value: tt.value})
			if err != nil {
				t.Fatal(err)
			}
			was, now := strings.Join(lines(p.Source, out.Source), " | "), strings.Join(lines(out.Source, p.Source), " | ")
			if was != tt.was || now != tt.now {
				t.Errorf("from %s\nto %s\nwant %s\nto %s", was, now, tt.was, tt.now)
			}
			if out.Version != p.Version+1 || out.Name != p.Name || out.Decision != p.Decision {
				t.Errorf("%s became %s", p.ID(), out.ID())
			}
		})
	}
}

// A mutation adds an omitted field, and leaves the rest of the file as it is.
func TestMutateWhatIsLeftOut(t *testing.T) {
	const head = "decision: escalate\nname: early\nversion: 3\nreasoning: early\n"
	next := strings.Replace(head, "3", "4", 1)
	for _, tt := range []struct{ path, value, was, now string }{
		{"parameters.threshold", "0.4", "", "\nparameters:\n  threshold: 0.4\n"},
		{"parameters.threshold", "0.4", "parameters:\n  # of the issue\n  ambiguity: 0.2   # more\n",
			"parameters:\n  # of the issue\n  threshold: 0.4\n  ambiguity: 0.2   # more\n"},
		{"parameters.threshold", "0.4", "parameters: {ambiguity: 0.2}\n", "parameters: {threshold: 0.4, ambiguity: 0.2}\n"},
		{"parameters.threshold", "0.4", "parameters: {} # none\n", "parameters: {threshold: 0.4} # none\n"},
		{"rules.triggers.1.failures", "2", "rules:\n  triggers:\n    - labels:\n        - security\n",
			"rules:\n  triggers:\n    - failures: 2\n      labels:\n        - security\n"},
	} {
		p, err := Parse("early.yml", []byte(head+tt.was))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Mutate(p, Mutation{Path: tt.path, Value: tt.value})
		if err != nil || out.Source != next+tt.now {
			t.Errorf("%s became\n%s\nwant\n%s\n%v", tt.was, out.Source, tt.now, err)
		}
	}
	for was, now := range map[string]string{
		"rules:\n- wait: 5m\n":   "rules:\n- when:\n    class: [network]\n  wait: 5m\n",
		"rules: [{wait: 5m}]\n":  "rules: [{when: {class: [network]}, wait: 5m}]\n",
		"rules:\n  - {wait: 5m}": "rules:\n  - {when: {class: [network]}, wait: 5m}",
	} {
		p, err := Parse("early.yml", []byte(strings.Replace(head, "escalate", "recover", 1)+was))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Mutate(p, Mutation{Path: "rules.1.when.class", Value: "[network]"})
		if err != nil || out.Source != strings.Replace(next, "escalate", "recover", 1)+now {
			t.Errorf("%s became\n%s\nwant\n%s\n%v", was, out.Source, now, err)
		}
	}
}

// A mutation replaces a value in several lines, with the comments in it, and leaves the rest of the file as it is.
func TestMutateBlock(t *testing.T) {
	const head = "decision: escalate # a\nname: early\nversion: 3\nreasoning: early\n"
	next := strings.Replace(head, "3", "4", 1)
	for _, tt := range []struct{ path, value, was, now string }{
		{"rules.triggers", "[]", "rules:\n  triggers: # b\n    # c\n    - labels: [a]\n      failures: 2\n\n" +
			"    - failures: 3\n    # d\n\n# e\nparameters: {ambiguity: 0.2}\n",
			"rules:\n  triggers: [] # b\n    # d\n\n# e\nparameters: {ambiguity: 0.2}\n"},
		{"rules.triggers", "[{failures: 2}]", "rules:\n  triggers:\n  - labels:\n    - a\n  - failures: 3\nparameters: {}",
			"rules:\n  triggers: [{failures: 2}]\nparameters: {}"},
		{"rules.triggers.1", "{failures: 2}", "rules:\n  triggers:\n    - labels:\n      - a # b\n    # c\n" +
			"    - failures: 3 # d\n",
			"rules:\n  triggers:\n    - {failures: 2}\n    # c\n    - failures: 3 # d\n"},
		{"rules.triggers.1.labels", "[b]", "rules:\n  triggers:\n    - labels:\n      - a\n      failures: 3\n" +
			"    - failures: 4",
			"rules:\n  triggers:\n    - labels: [b]\n      failures: 3\n    - failures: 4"},
		{"parameters", "{threshold: 0.4}", "parameters:\r\n  threshold: 0.5 # b\r\n  ambiguity: 0.2\r\n# c\r\n",
			"parameters: {threshold: 0.4}\r\n# c\r\n"},
		{"parameters", "{threshold: 0.4}", "parameters:\n  threshold:\n    0.5", "parameters: {threshold: 0.4}"},
	} {
		p, err := Parse("early.yml", []byte(head+tt.was))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Mutate(p, Mutation{Path: tt.path, Value: tt.value})
		if err != nil || out.Source != next+tt.now {
			t.Errorf("%s became\n%s\nwant\n%s\n%v", tt.was, out.Source, tt.now, err)
		}
	}
}

func TestMutateRefuses(t *testing.T) {
	p := shippedOf(t, TypeEscalate)
	for want, m := range map[string]Mutation{
		"only what is below selector": {Path: "name", Value: "other"},
		"in one line":                 {Path: "parameters.threshold", Value: "0.4\nname: other"},
		"a value in one line":         {Path: "parameters.threshold", Value: " "},
		"decides by already":          {Path: "parameters.threshold", Value: "0.65"},
		"no such key":                 {Path: "parameters.treshold", Value: "0.4"},
		"1":                           {Path: "parameters.threshold", Value: "17"},
		"of at most":                  {Path: "rules.triggers", Value: strings.Repeat("a", 3000)},
		"rules":                       {Path: "rules.triggers.4.failures", Value: "2"},
	} {
		if out, err := Mutate(p, m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error about %q, have %v\n%s", m, want, err, out.Source)
		}
	}
}

func TestMutateEmpty(t *testing.T) {
	p, err := Parse("early.yml", []byte("decision: escalate\nname: early\nversion: 3\nreasoning: early\nparameters:\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Mutate(p, Mutation{Path: "parameters", Value: "{threshold: 0.4}"})
	if err == nil || !strings.Contains(err.Error(), "its present value can't be replaced; write that in one line") {
		t.Error(err)
	}
}

func TestMutateOneThingAlone(t *testing.T) {
	_, err := Mutate(shippedOf(t, TypeRecover), Mutation{Path: "rules.1.bonus.rerun", Value: "0.3, person: 0.9"})
	if err == nil || !strings.Contains(err.Error(), "would also change rules.1.bonus.person: (none) -> 0.9") {
		t.Error(err)
	}
}

// Any mutation results in an error or in a policy that differs only in that field.
func TestMutateChangesOneThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(Types()).Draw(t, "type")
		p := ShippedSet().For(typ, Context{})
		var paths []string
		for path := range p.fields() {
			paths = append(paths, path)
		}
		path := rapid.OneOf(rapid.SampledFrom(append(paths, "rules", "parameters", "selector")),
			rapid.StringMatching(`[a-z_.0-9']{1,30}`)).Draw(t, "path")
		value := rapid.OneOf(rapid.Map(rapid.Float64Range(0, 2), func(x float64) string { return fmt.Sprintf("%.3f", x) }),
			rapid.SampledFrom([]string{"[go]", "{a: 1}", "null", "- x", "!!", "*a", "&a 1", "\"", "'", "]", "}",
				"{", "1h", "0"}),
			rapid.String()).Draw(t, "value")
		out, err := Mutate(p, Mutation{Path: path, Value: value})
		if err != nil {
			return
		}
		for _, c := range Diff(p, out) {
			if c.Path != "version" && c.Path != path && !strings.HasPrefix(c.Path, path+".") {
				t.Fatalf("%s = %s changes %s", path, value, c)
			}
		}
	})
}
