package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// vocabulary are the words of assertions themselves.
var vocabulary = lazyregexp.New(`^(?:(?:debug_)?assert\w*!?|expect\w*|require|refute\w*|chai|qt|self|this|t|is|` +
	`eq|eql|equal|be|to|not|and|or|in|should|must|if|else|switch|case|verify\w*)$`)

// tautology reports whether an assertion can't fail: it names nothing but
// literals, or compares something with itself.
func tautology(ts []token) bool {
	args := arguments(ts)
	if len(ts) > 0 && ts[0].text != "#" && !hasSubject(ts) {
		return slices.ContainsFunc(ts, func(t token) bool {
			return literal(t) != "" && t.kind != text || t.kind == text && len(args) > 1
		})
	}
	return comparesItself(ts, args)
}

// hasSubject reports whether an assertion names something that it is about.
func hasSubject(ts []token) bool {
	for i, t := range ts {
		matcher := i > 1 && ts[i-1].text == "." && (ts[i-2].text == ")" || vocabulary.MatchString(ts[i-2].text) &&
			(i == 2 || ts[i-2].text != "t"))
		held := strings.HasPrefix(t.text, "expected") && i+1 < len(ts) && ts[i+1].text == "." // what a variable holds
		if t.kind == word && literal(t) == "" && !matcher && (held || !vocabulary.MatchString(t.text)) {
			return true
		}
	}
	return false
}

// comparesItself reports whether an assertion with these arguments compares a
// thing with itself: in two arguments, in the argument and its matcher's, or on
// two sides of an operator.
func comparesItself(ts []token, args [][]token) bool {
	if len(args) > 0 && flat(args[0]) == "t" {
		args = args[1:]
	}
	if len(args) >= 2 && same(args[0], args[1]) {
		return true
	}
	closed := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == ")" })
	opened := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == "(" })
	if len(args) == 1 && closed > 0 && closed+2 < len(ts) && opened > 0 &&
		slices.ContainsFunc(nameWords(ts[opened-1].text), func(w string) bool { return asserting[w] }) {
		if behind := arguments(ts[closed+1:]); len(behind) == 1 && same(args[0], behind[0]) {
			return true
		}
	}
	return slices.ContainsFunc(args, func(a []token) bool { return mirrored(a, "==") || mirrored(a, "===") })
}

// mirrored reports whether an expression is the same on both sides of an operator.
func mirrored(ts []token, operator string) bool {
	i := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == operator })
	return i > 0 && same(ts[:i], ts[i+1:])
}

// same reports whether two expressions are one variable or field.
func same(a, b []token) bool {
	called := slices.ContainsFunc(a, func(t token) bool { return t.kind != word && t.text != "." })
	return len(a) > 0 && !called && flat(a) == flat(b)
}
