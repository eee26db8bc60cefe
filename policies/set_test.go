package policies_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia/invalid"
)

// parsed returns a parsed policy file of a repository.
func parsed(t *testing.T, source string) policies.Policy {
	t.Helper()
	p, err := policies.Parse("own.yml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestShippedPolicies(t *testing.T) {
	s := policies.ShippedSet()
	for _, typ := range policies.Types() {
		p := s.For(typ, policies.Context{})
		if p.Layer != policies.Shipped || p.Reasoning == "" || !strings.HasPrefix(p.ID(), p.Name+"/1@") {
			t.Errorf("the shipped policy for %s is %s of the layer %s", typ, p.ID(), p.Layer)
		}
	}
}

func TestOneThresholdIsOverridden(t *testing.T) {
	own := parsed(t, "decision: escalate\nname: soon\nversion: 3\nparameters: {threshold: 0.2}\n")
	base := policies.ShippedSet().For(policies.TypeEscalate, policies.Context{})
	got, want := own.Escalate(), base.Escalate()
	want.Parameters.Threshold = 0.2
	if got.Parameters != want.Parameters || got.Rules.MinFailures != want.Rules.MinFailures {
		t.Errorf("got %+v, want %+v", got, want)
	}
	own = parsed(t, "decision: recover\nname: r\nversion: 1\nparameters: {base: {retry: 2}}\n")
	if b := own.Recover().Parameters.Base; b["retry"] != 2 || b["sia"] != 0.5 {
		t.Errorf("the scores are %v, want retry changed and the others as shipped", b)
	}
	own = parsed(t, "decision: technique\nname: t\nversion: 1\nrules: {ranks: {wrong-order: {decomposition: 9}}}\n")
	r := own.Technique().Rules.Ranks
	if r["wrong-order"]["decomposition"] != 9 || r["wrong-order"]["dependency-reordering"] != 1 ||
		r["flaky-check"]["error-pattern-recognition"] != 1 {
		t.Errorf("the ranks are %v, want one changed", r)
	}
	base = policies.ShippedSet().For(policies.TypeRecover, policies.Context{})
	if base.Recover().Parameters.Base["retry"] == 2 {
		t.Error("a repository's file changed what is shipped")
	}
}

func TestMostSpecificPolicyHolds(t *testing.T) {
	const file = "decision: escalate\nversion: 1\nname: "
	s := policies.ShippedSet().
		With(policies.Owner, parsed(t, file+"owners\nselector: {kind: [bug], language: [go]}")).
		With(policies.Repository, parsed(t, file+"b-all"), parsed(t, file+"a-all"),
			parsed(t, file+"docs\nselector: {kind: [docs]}"))
	for _, tt := range []struct {
		name string
		in   policies.Context
		want string
	}{
		{"the repository's outrank the owner's", policies.Context{Language: "go", Task: policies.Features{Kind: "bug"}},
			"a-all"},
		{"more conditions outrank fewer", policies.Context{Task: policies.Features{Kind: "docs"}}, "docs"},
		{"ties go by name", policies.Context{}, "a-all"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if p := s.For(policies.TypeEscalate, tt.in); p.Name != tt.want {
				t.Errorf("got %s, want %s", p.Name, tt.want)
			}
		})
	}
	only := policies.ShippedSet().With(policies.Owner, parsed(t, file+"owners\nselector: {kind: [bug], language: [go]}"))
	p := only.For(policies.TypeEscalate, policies.Context{Language: "Go", Task: policies.Features{Kind: "bug"}})
	if p.Name != "owners" {
		t.Errorf("got %s, want the owner's policy", p.Name)
	}
	if p := only.For(policies.TypeEscalate, policies.Context{Language: "java"}); p.Name != "escalate" {
		t.Errorf("got %s, want the shipped policy, for the owner's does not fit", p.Name)
	}
}

func TestBrokenPolicyFiles(t *testing.T) {
	of := func(decision, more string) string { return "decision: " + decision + "\nname: a\nversion: 1\n" + more }
	for _, tt := range []struct{ name, source, want string }{
		{"no YAML", "decision: [", "own.yml:1:"},
		{"empty", "", "decision: want one of"},
		{"another type", "decision: escalat\nname: a\nversion: 1", "own.yml:1:1: decision: want one of decompose, " +
			"assign, interrupt, rerun, recover, technique, escalate (did you mean escalate?)"},
		{"a key of nobody's", of("escalate", "selectr: {}"),
			"own.yml:4:1: selectr: there is no such key (did you mean selector?)"},
		{"a key that is near none", of("escalate", "why: {}"), "own.yml:4:1: why: there is no such key; there are " +
			"decision, name, parameters, reasoning, rules, selector, version"},
		{"a parameter of nobody's", of("escalate", "parameters:\n  treshold: 1"),
			"own.yml:5:3: parameters.treshold: there is no such key (did you mean threshold?)"},
		{"out of range", of("escalate", "parameters:\n  ambiguity: 2"),
			"own.yml:5:14: parameters.ambiguity: want a number from 0 to 1; this is 2"},
		{"not a number, and a key of nobody's", of("escalate", "parameters: {ambiguity: much, treshold: 1}"),
			"own.yml:4:25: parameters.ambiguity: want a number from 0 to 1; this is \"much\"\n" +
				"own.yml:4:31: parameters.treshold: there is no such key (did you mean threshold?)"},
		{"a list for a number", of("escalate", "rules: {min_failures: [1]}"),
			"own.yml:4:23: rules.min_failures: want a whole number from 1 to 20; this is a list"},
		{"a number for a word", of("recover", "selector: {language: [1.20]}"),
			"own.yml:4:23: selector.language.1: want text; this is 1.20; put quotation marks around it"},
		{"a word for a list", of("recover", "selector: {language: go}"),
			"own.yml:4:22: selector.language: want a list, such as [\"one\", \"two\"]; this is \"go\" (did you mean [\"go\"]?)"},
		{"a word for a section", of("recover", "parameters: 5"), "own.yml:4:13: parameters: want keys, one a line such as " +
			"`base: "},
		{"no version at all", "decision: escalate\nname: a\nversion: one",
			"own.yml:3:10: version: want a whole number; this is \"one\""},
		{"no name", "decision: escalate\nversion: 1", "own.yml: name: want a name"},
		{"no version", "decision: escalate\nname: a", "own.yml: version: want a whole number"},
		{"twice", "decision: escalate\nname: a\nname: b\nversion: 1", "own.yml:3:"},
		{"an unknown kind", of("escalate", "selector: {kind: [bgu]}"), "selector.kind: \"bgu\" is none of bug, "},
		{"an unknown part", of("recover", "selector: {part: [merg]}"),
			"own.yml:4:12: selector.part: \"merg\" is none of part, reproduce, merge, mend (did you mean merge?)"},
		{"an unknown part of a rule", of("recover", "rules:\n  - when: {part: [merge]}\n  - when: {part: [whole]}"),
			"own.yml:6:12: rules.2.when.part: \"whole\" is none of part, "},
		{"an unknown kind of a trigger", of("escalate", "rules: {triggers: [{kind: [bugs]}]}"),
			"own.yml:4:21: rules.triggers.1.kind: \"bugs\" is none of bug, "},
		{"an unknown class", of("recover", "rules: [{when: {class: [network, test_failed]}}]"),
			"own.yml:4:17: rules.1.when.class: \"test_failed\" is none of compile_error, "},
		{"an unknown pattern", of("recover", "selector: {pattern: [wrongtool]}"),
			"own.yml:4:12: selector.pattern: \"wrongtool\" is none of interdependent-components, "},
		{"fewer failures than none", of("escalate", "rules: {triggers: [{failures: -1}]}"),
			"rules.triggers.1.failures: want a number of failures"},
		{"a size that none has", of("escalate", "rules: {triggers: [{size: {least: 9, most: 3}}]}"),
			"rules.triggers.1.size: want a least and a most number of words"},
		{"a long prompt", of("decompose", "prompt: "+strings.Repeat("a", 5000)),
			"own.yml:4:1: prompt: it has 5000 bytes; a prompt takes at most 4096"},
		{"too many parts", of("decompose", "parameters: {max_parts: 13}"),
			"parameters.max_parts: want a whole number from 2 to 12; this is 13"},
		{"too many at once", of("assign", "parameters: {race: 9}"), "parameters.race: want a whole number from 1 to 8"},
		{"an unknown action", of("recover", "parameters:\n  base: {retri: 1}"),
			"own.yml:5:10: parameters.base.retri: there is no such action"},
		{"aliases", "decision: &a escalate\nname: *a\nversion: 1", "decision: want one of decompose"},
		{"an alias", of("escalate", "reasoning: &a why\nselector: {kind: [*a]}"),
			"own.yml:4:12: reasoning: want text; this is an alias or anchor, which keys don't use\n" +
				"own.yml:5:19: selector.kind.1: want text; this is an alias or anchor, which keys don't use"},
		{"a trigger for everything", of("escalate", "rules: {triggers: [{}]}"),
			"rules.triggers.1: a trigger without a condition"},
		{"a wait", of("recover", "rules: [{wait: 9h}]"), "rules.1.wait: want a duration from 0s to 6h"},
		{"deep", "decision: " + strings.Repeat("[", 5000), "nested too deeply"},
		{"large", "reasoning: " + strings.Repeat("a", 70<<10), "at most 65536"},
		{"no text", "decision: \xff", "not UTF-8"},
		{"two policies", of("escalate", "---\n") + of("recover", ""), "a second YAML document; want one"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := policies.Parse("own.yml", []byte(tt.source))
			var file *invalid.File
			if !errors.As(err, &file) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an invalid file with %q", err, tt.want)
			}
		})
	}
}

// Editors on Windows write a byte order mark and CRLF line ends.
func TestPolicyFilesOfWindows(t *testing.T) {
	p, err := policies.Parse("own.yml", []byte("\ufeffdecision: escalate\r\nname: a\r\nversion: 1\r\n"+
		"parameters: {threshold: 0.2}\r\n"))
	if err != nil || p.Escalate().Parameters.Threshold != .2 {
		t.Fatalf("threshold %v, %v", p.Escalate().Parameters.Threshold, err)
	}
	if p, err = policies.Mutate(p, policies.Mutation{Path: "parameters.threshold", Value: "0.4"}); err != nil ||
		p.Escalate().Parameters.Threshold != .4 {
		t.Errorf("changed: threshold %v, %v", p.Escalate().Parameters.Threshold, err)
	}
}

// FuzzParse searches for a file that causes a panic, or an accepted file with which decisions fail.
func FuzzParse(f *testing.F) {
	f.Add([]byte("decision: escalate\nname: a\nversion: 1\nparameters: {threshold: 0.2}\n" +
		"rules: {triggers: [{labels: [x]}]}"))
	f.Add([]byte("decision: decompose\nname: a\nversion: 1\nparameters: {threshold: 2}\nprompt: Divide."))
	f.Add([]byte("decision: recover\nname: a\nversion: 1\nrules:\n  - when: {class: [network]}\n    bonus: {retry: 1}"))
	f.Fuzz(func(t *testing.T, source []byte) {
		p, err := policies.Parse("own.yml", source)
		if err != nil {
			return
		}
		if a := p.Escalate().Decide(policies.Context{Failures: 3}); p.Decision == policies.TypeEscalate && a.Choice == "" {
			t.Errorf("nothing was chosen: %+v", a)
		}
		a := p.Decompose().Decide(policies.Context{Checkable: true})
		if p.Decision == policies.TypeDecompose && a.Choice == "" {
			t.Errorf("nothing was chosen: %+v", a)
		}
		if a := p.Recover().Decide(policies.Context{}); p.Decision == policies.TypeRecover && a.Choice == "" {
			t.Errorf("nothing was chosen: %+v", a)
		}
	})
}
