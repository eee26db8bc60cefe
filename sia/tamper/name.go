package tamper

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// What asserts is told by the name of the call, whatever the library: by the
// words that it is made of. Some say so wherever they stand in a name. Others do
// when the name begins with them and nothing is done with what the call returns.
var (
	asserting = set("assert asserts assertion assertions expect expects verify verifies refute flunk should shouldnt")
	// mayAssert assert as a statement.
	mayAssert = set("check checks ensure must wont equal equals eq eql eqnice ne same fail fails match matches fnmatch " +
		"like contains throws raises rejects eventually consistently ω")
	// asserters are what libraries for asserting are called in a test: every method
	// asserts that is not known to do something else.
	asserters = set("assert require is qt check expect should must verify t st tt tap qunit td chai")
	// matchers are methods that assert where the receiver is a suite of tests.
	matchers = set("no not nil true false len empty zero error panics in is regexp subset json require")
	// settingUp are the first words of what a test does before and beside asserting.
	settingUp = set("log logf logger helper cleanup clean setup set setenv parallel run skip skipf name context " +
		"teardown temp chdir comment end test timeout new make create mk mkdir write read open close start stop init " +
		"register add append remove delete reset restore stub spy mock use with only before after each describe it done " +
		"parse load save build copy move touch git exec print insert push sandbox replace fake render mount import prepare " +
		"wait sleep update get todo")
	declaring = set("func function def fn class import from new macro let const var use package fun void")
	// before are keywords that stand before a call; any other word there is a type.
	before  = set("await return yield throw try else do in not and or go defer async")
	handles = set("t b f tb tt") // what a test of Go is given, and hands to those that fail it
	suites  = set("s suite ts")
)

// macro is a name in capitals, as those of C and C++ that assert.
var macro = lazyregexp.New(`^[A-Z][A-Z0-9_]+$`)

// requires reports whether a word of a macro's name asserts.
func requires(word string) bool { return word == "require" || word == "compare" || mayAssert[word] }

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// nameWords are the words of a name, in lower case: of verifyThat_isOK, verify,
// that, is and ok; of XCTAssertNil, xct, assert and nil.
func nameWords(name string) []string {
	var out []string
	from, before := 0, rune(0)
	cut := func(to, next int) {
		if to > from {
			out = append(out, strings.ToLower(name[from:to]))
		}
		from = next
	}
	for i, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			cut(i, i+len(string(r)))
		} else if after, _ := utf8.DecodeRuneInString(name[min(len(name), i+utf8.RuneLen(r)):]); unicode.IsUpper(r) &&
			(!unicode.IsUpper(before) || unicode.IsLower(after)) {
			cut(i, i)
		}
		before = r
	}
	cut(len(name), len(name))
	return out
}

// assertingAt is the index of the token with which an assertion begins; -1 when
// the tokens of a row hold none.
func (l *lang) assertingAt(ts []token) int {
	for i, t := range ts {
		if t.kind != word || l.declares(ts, i) || !l.calls(ts, i) {
			continue
		}
		from := receiver(ts, i)
		words := nameWords(t.text)
		switch {
		case len(words) == 0, l == &java && t.text[0] == '@', l == &ruby && t.text == "ensure",
			l == &rust && i > 0 && ts[i-1].text == "." && words[0] == "expect": // that unwraps
		case slices.ContainsFunc(words, func(w string) bool { return asserting[w] }),
			l == &other && macro.MatchString(t.text) && slices.ContainsFunc(words, requires):
			return from
		case l.statement(ts, from) &&
			(l.handsTest(ts, i) && (words[0] == "test" || words[0] == "run" || !settingUp[words[0]]) ||
				!settingUp[words[0]] && (mayAssert[words[0]] || l.assertsFor(ts, from, i, words[0]))):
			return from
		}
	}
	return -1
}

// declares reports whether the word at i is declared there, behind a keyword or a type.
func (l *lang) declares(ts []token, i int) bool {
	if i == 0 || ts[i-1].kind != word {
		return false
	}
	return declaring[ts[i-1].text] || l != &ruby && !before[ts[i-1].text]
}

// calls reports whether the word at i is called: with brackets, as a macro, with types
// between, or as a keyword or method of Ruby that needs none.
func (l *lang) calls(ts []token, i int) bool {
	name := ts[i].text
	bare := l == &ruby && !capital.MatchString(name)
	i += 1 + typeArguments(ts[i+1:])
	if i == len(ts) {
		return bare
	}
	next := ts[i]
	switch {
	case next.kind == sign && next.text == "(":
		return true
	case next.kind == sign && (next.text == "[" || next.text == "{"):
		return bare || strings.HasSuffix(name, "!") || l == &java && next.text == "{" // Kotlin's last argument
	case next.kind == sign && next.text == ".": // expect.fail(), x.should.equal()
		return strings.EqualFold(name, "should") || name == "must"
	case bare:
		return next.kind != sign || next.text == ":" || next.text == "->" || next.text == "-"
	}
	return i == 1 && name == "assert"
}

// maxTypes bounds the tokens of a call's types.
const maxTypes = 30

// typeArguments is how many tokens before a call's brackets name types, as in
// ShouldBe<List<int>>().
func typeArguments(ts []token) int {
	from := 0
	if len(ts) > 0 && ts[0].text == "::" {
		from = 1
	}
	if from == len(ts) || ts[from].text != "<" {
		return 0
	}
	depth := 0
	for i, t := range ts[from:min(len(ts), maxTypes)] {
		switch {
		case t.text == "<":
			depth++
		case t.text == ">":
			if depth--; depth == 0 && from+i+1 < len(ts) && (ts[from+i+1].text == "(" || ts[from+i+1].text == "{") {
				return from + i + 1
			} else if depth == 0 {
				return 0
			}
		case t.kind != word && !strings.Contains(".,?::[]&*()", t.text):
			return 0
		}
	}
	return 0
}

// receiver is where the expression begins of which the word at i is the last name.
func receiver(ts []token, i int) int {
	for i > 1 && ts[i-1].kind == sign && (ts[i-1].text == "." || ts[i-1].text == "::" || ts[i-1].text == "&") {
		k, depth := i-2, 0
		for ; k >= 0; k-- {
			if depth -= ts[k].depth(); depth <= 0 && (ts[k].kind != sign || depth < 0) {
				break
			}
		}
		if k < 0 || depth < 0 {
			return i
		}
		i = k
	}
	return i
}

// statement reports whether nothing is done with the expression that begins at i.
func (l *lang) statement(ts []token, i int) bool {
	for k := range i {
		switch ts[k].text {
		case "await", "try", "?", "!", ".", "}", "_", "=":
		default:
			return false
		}
	}
	return i == 0 || ts[0].text != "=" && (ts[i-1].text != "=" || i == 2)
}

// handsTest reports whether the call at i is handed a test of Go, and no function to
// run in it, so that it may fail the test.
func (l *lang) handsTest(ts []token, i int) bool {
	return l == &golang && i+3 < len(ts) && handles[ts[i+2].text] && ts[i+3].text == "," &&
		!slices.ContainsFunc(ts, func(t token) bool { return t.text == "func" })
}

// assertsFor reports whether the call at i, as a statement, is made on something that
// asserts.
func (l *lang) assertsFor(ts []token, from, i int, verb string) bool {
	on := strings.ToLower(ts[from].text)
	if from == i || l == &golang && handles[on] {
		return false
	}
	return asserters[on] || suites[on] && matchers[verb]
}
