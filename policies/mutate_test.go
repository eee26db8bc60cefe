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

// A mutation adds an omitted field to a minimal file.
func TestMutateWhatIsLeftOut(t *testing.T) {
	for _, source := range []string{
		"decision: escalate\nname: early\nversion: 3\nreasoning: early\n",
		"decision: escalate\nname: early\nversion: 3\nreasoning: early\nparameters:\n  ambiguity: 0.2\n",
		"decision: escalate\nname: early\nversion: 3\nreasoning: early\nparameters: {ambiguity: 0.2}\n",
	} {
		p, err := Parse("early.yml", []byte(source))
		if err != nil {
			t.Fatal(err)
		}
		out, err := Mutate(p, Mutation{Path: "parameters.threshold", Value: "0.4"})
		if err != nil {
			t.Fatalf("%s\n%v", source, err)
		}
		if got := out.Escalate().Parameters; got.Threshold != 0.4 || got.Ambiguity != p.Escalate().Parameters.Ambiguity {
			t.Errorf("%+v of\n%s", got, out.Source)
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
