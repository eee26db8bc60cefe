package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// looks are words of rules about what code looks like.
	looks = set("name naming camelcase order style layout metrics length size line lines newline spacing " +
		"complexity indent docs documentation readability formatting whitespace quotes semi comma curly")
	// trifling are words of rules about whether code is used or may be, or is fast: turned off in tests, as
	// those about its looks, nothing is tested less.
	trifling = set("unused dead deprecated deprecation private static import imports performance modernize serial " +
		"rawtypes unchecked")
	// telling are words of rules that see what a test forgets.
	telling = set("must result results value expression expressions test tests expect assert assertion assertions")
	// plainRule are rules of that kind by their form: of PEP 8, names, and what is not used, by
	// their numbers; and single ones of Clippy.
	plainRule = lazyregexp.New(`^(?:[DENW]\d{3}|F401|F841|clippy::\w+_\w+)$`)
	// typed is what turns off the check of types, which tests of types rely on.
	typed = lazyregexp.New(`type:|@ts-|mypy|pyright|phpstan`)
)

// hushes reports whether a line turns off a check, unless each of the rules that it names
// is a trifle. One that names no rule turns off all.
func (l *lang) hushes(raw string) bool {
	at := l.hush.FindStringIndex(raw)
	if at == nil {
		return false
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(raw[at[1]:], "-next"), "-line")
	rest = strings.TrimLeft(rest, ":=([{ ")
	if end := strings.IndexAny(rest, ")]}*"); end >= 0 {
		rest = rest[:end]
	}
	named := 0
	for _, rule := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" ,\"'", r) }) {
		if rule == "--" || strings.HasPrefix(rule, "//") {
			break // the reason
		}
		words := nameWords(rule)
		is := func(set map[string]bool) bool {
			return slices.ContainsFunc(words, func(w string) bool { return set[w] })
		}
		switch named++; {
		case typed.MatchString(raw):
			if rule != "deprecated" {
				return true
			}
		case is(telling), l == &rust && rule == "unused": // which is all of a kind there
			return true
		case !is(trifling) && !is(looks) && !plainRule.MatchString(rule):
			return true
		}
	}
	return named == 0
}
