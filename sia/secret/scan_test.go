package secret

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	_ "github.com/sia-bot/sia/sia/fixedseed"
)

// A rule reads only the text around its keywords: everything that its expression matches must be found from there.
//
//test:plain
func TestEveryRuleIsFoundFromItsKeywords(t *testing.T) {
	padding := strings.Repeat("nothing to see here.\n", 40)
	tried := 0
	for _, r := range allShapes().rules {
		if r.expr == nil || r.extend != nil {
			continue
		}
		gen := rapid.StringMatching(r.expr.String())
		for i := range 8 {
			match := gen.Example(i + 1)
			m := r.expr.FindStringSubmatchIndex(match)
			if m == nil {
				continue // a word boundary that the generator can't know
			}
			if strings.ContainsFunc(match, func(r rune) bool { return r > unicode.MaxASCII }) {
				continue // ſ folds to s, which no issuer writes
			}
			if lower := strings.ToLower(match); !slices.ContainsFunc(r.keywords,
				func(k string) bool { return strings.Contains(lower, k) }) {
				match = r.keywords[0] + " = " + match // gitleaks' rule, too, wants it somewhere before
				m = r.expr.FindStringSubmatchIndex(match)
			}
			if m == nil {
				continue
			}
			v := r.secret(m)
			if !r.isSecret(match[v.start:v.end], match[m[0]:m[1]]) {
				continue // not random enough
			}
			tried++
			text := padding + match + "\n" + padding
			value := match[v.start:v.end]
			if !slices.ContainsFunc(allShapes().find(text), func(f Finding) bool {
				return f.Start < len(padding)+v.end && f.End > len(padding)+v.start && len(value) > 0
			}) {
				t.Errorf("%s: %q is not found", r.id, match)
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d matches were tried", tried)
	}
}

func BenchmarkFind(b *testing.B) {
	log := strings.Repeat("2026-11-02T09:14:07Z    token_test.go:31: key = \"refresh\", want https://example.org/a?b=c "+
		"at 9f3b2c1d4e5f60718293a4b5c6d7e8f901234567\n", 8000)
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		new(Masker).Find(log)
	}
}
