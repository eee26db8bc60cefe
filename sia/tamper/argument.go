package tamper

import (
	"slices"
	"strings"
)

// span is where an argument's tokens are: from the first to before the comma or
// bracket behind the last.
type span struct{ from, to int }

// argumentSpans finds the arguments of the first call, or of a statement without
// brackets.
func argumentSpans(ts []token) []span {
	from := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == "(" }) + 1
	if len(ts) > 1 && ts[0].kind == word && (ts[1].kind != sign || from == 0) {
		from = 1 // assert x, y
	}
	if from == 0 {
		return nil
	}
	var out []span
	depth, to := 0, from
	for ; to < len(ts); to++ {
		t := ts[to]
		if depth += t.depth(); depth < 0 {
			break
		}
		if depth == 0 && t.kind == sign && t.text == "," {
			out = append(out, span{from, to})
			from = to + 1
		}
	}
	if from < to {
		out = append(out, span{from, to})
	}
	return out
}

// arguments are the tokens of each argument.
func arguments(ts []token) [][]token {
	var out [][]token
	for _, s := range argumentSpans(ts) {
		out = append(out, ts[s.from:s.to])
	}
	return out
}

// withoutMessage leaves out the words for people with which an assertion fails:
// the last arguments.
func withoutMessage(ts []token) []token {
	args := argumentSpans(ts)
	if len(args) < 2 {
		return ts
	}
	needed := neededArguments(ts, args)
	for i := needed; i < len(args); i++ {
		if message(ts[args[i].from:args[i].to]) {
			return slices.Concat(ts[:args[i-1].to], ts[args[len(args)-1].to:])
		}
	}
	return ts
}

// neededArguments is how many arguments an assertion has at least: of those
// behind them, one may be a message.
func neededArguments(ts []token, args []span) int {
	f := flat(ts)
	switch {
	case flat(ts[args[0].from:args[0].to]) == "t":
		if name := flat(ts[:args[0].from]); unary(name) || weakWords.in(name) {
			return 2
		}
		return 3
	case strings.HasPrefix(f, "assert_equal"):
		return 2
	case unary(f), hasAnyPrefix(f, "assert ", "assert(", "assert!(", "assert.ok(", "debug_assert!(", "refute"):
		return 1
	}
	return 2
}

// message reports whether an argument is words for people.
func message(arg []token) bool {
	if len(arg) == 1 && arg[0].kind == text {
		return true
	}
	return len(arg) > 0 && len(arg) <= 4 &&
		slices.ContainsFunc(arg, func(t token) bool { return t.kind == text && strings.Contains(t.text, " ") })
}
