package tamper

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// weight is how much a claim says.
type weight struct {
	strength int      // 0 nothing, 1 that something is there, 2 part of it, 3 exactly it
	literals []string // values named, in order
	compared []string // comparisons, in order; == for != too
	eases    int      // connectives by which more is allowed
	negated  int      // how often it is turned round
	wild     int      // matchers that take anything
	boolean  bool
}

var (
	weakWords = phrases{
		words: []string{"toBeTruthy", "toBeFalsy", "toBeDefined", "not.toBeNull", "not.toBeUndefined", "assertNotNull",
			"assertIsNotNone", "assert_not_nil", "assert_not_empty", "refute_nil", "refute_empty", "isNotNull(", "isNotEmpty(",
			"isNotBlank(", "not_to be_nil", "to_not be_nil", "not_to be_empty", "to.exist", "to.be.ok", "toHaveBeenCalled()",
			".assert_called()", "is_ok()", "is_some()", "is_err()", ".Error(", ".Panics(", "isPresent(", "doesNotThrow",
			"not.toThrow", "NotPanics", "not_to raise", "assert_nothing_raised", "assertDoesNotThrow", "status2xx",
			"is2xxSuccessful", ".truthy(", "should.exist", "assert_predicate", "isNotNil"},
		shapes: lazyregexp.New(`\bis not None|!==?(?:null|None|undefined|nil)\b|\bNot(?:Nil|Empty|Zero)\(|` +
			`\bbe_(?:truthy|falsey|present)|be\.ok\b|` +
			`raises\((?:Base)?Exception\)|assertRaises\((?:Base)?Exception\b|` +
			`(?:assertThrows|expectThrows)\((?:Exception|Throwable|RuntimeException)\.class|raise_error$|toThrow\(\)$`),
	}
	midWords = phrases{ // in small letters
		words: []string{"contain", "match", "assert_in", "regex", "startswith", "starts_with",
			"start_with", "hasprefix", "hassuffix", "end_with", "endswith", "ends_with", "greater", "less", "morethan",
			"instanceof", "instance_of", "isinstance", "be_kind", "kind_of", "tobetypeof", "almostequal", "closeto",
			"be_within", "approx", "indelta", "in_delta", "inepsilon", "in_epsilon", "subset", "havepro", "hasentry", "haskey",
			"respond_to", "positive", "negative", "notequal", "not_equal", "doesnotequal", ".not.", "should_not", "raises",
			"throw", "raise_error",
			"panics", "should_panic", "between", "atleast", "atmost", "erroras"},
		shapes: lazyregexp.New(`inclu[d]|assert(?:not)?in\(|\bbe_an?\b|assert_ne\b|not_to\b|to_not\b|assertthat\(.*any`),
	}
	booleans = lazyregexp.New(`^(?:assert |if |else |switch |case |assert!\(|debug_assert!\(|(?:\w+\.)*assert\(|` +
		`(?:\w+\.)*(?:assertTrue|assertFalse|assert_true|assert_false|assertThat)\([^)]*(?:==|equals|<|>)|` +
		`(?:\w+\.)*(?:assertTrue|assertFalse|True|False|ok|isTrue|isFalse|true|false|truthy|XCTAssertTrue|XCTAssert)\(|` +
		`assert\(|refute\(|refute )`)
	equality = lazyregexp.New(`==|===|\.equals\(|\.eq\(|\.eql\?|DeepEqual|deepEqual|Equal\(|cmp\.Diff|` +
		`compareTo|\bis (?:[^n]|n[^o]|no[^t])|errors\.Is\(|Objects\.equals|equalTo`)
	partly = lazyregexp.New(`(?i)!=|<|>|\bin\b|\bis not|contain|match|starts?_?with|hasprefix|` +
		`hassuffix|ends?_?with|inclu[d]|isinstance|instanceof|\.as\(`)
	nilUnary = lazyregexp.New(`(?i:nil|no)_?err(?:or)?\(|assertIsNone|assertNull\(|toBeNull|toBeUndefined|` +
		`\b(?:assert|require)\.Nil\(|NoError\(|be_nil|assert_nil|isNull\(|is_none\(`)
	trueUnary = lazyregexp.New(`assertTrue\(|\.True\(|toBeTruthy|be_truthy|isTrue\(|` +
		`assert_true|\.true\(|be\.true\b|be_true\b`)
	// bare asserts that a thing is true, where nothing else counts as true.
	bare      = lazyregexp.New(`^(?:(?:debug_)?assert!?|CHECK|REQUIRE|XCTAssert)\([^!]`)
	falsUnary = lazyregexp.New(`assertFalse\(|\.False\(|toBeFalsy|be_falsey|isFalse\(|` +
		`assert_false|\.false\(|be\.false\b|be_false\b`)
	wildcards = lazyregexp.New(`expect\.any(?:thing)?\(|mock\.Anything|\bANY\b|\bany\(\)|Mockito\.any|` +
		`ArgumentMatchers\.any|\banything\b|gomock\.Any|isA\(|is_a\(`)
	passes    = lazyregexp.New(`^(?:\w+\.)+pass\(`)
	counts    = lazyregexp.New(`\.(?:plan|assertions|hasAssertions|expect)\(`) // how many assertions there are
	fails     = lazyregexp.New(`^(?:\w+\.)*(?:fail|flunk|panic!|unreachable!)\b`)
	snapshots = lazyregexp.New(`(?i)match\w*snapshot\(`)
	exactly   = lazyregexp.New(`(?i)exactly|in_?any_?order|same_?elements|containsonly|` +
		`match_array|elementsmatch|consistof`)
	present = lazyregexp.New(`\.is(?:NotNull|NotEmpty|Present)\(\)\.`) // before more is said
	throws  = lazyregexp.New(`(?i)raises|throw|raise_error|matches!|errorAs|panics`)
)

// phrases are what tells something by its words. Looking for those takes a tenth of the time of an expression
// that names them all.
type phrases struct {
	words  []string           // wherever they stand
	shapes *lazyregexp.Regexp // what has to be told from what is around it
}

func (v phrases) in(f string) bool { return containsAny(f, v.words...) || v.shapes.MatchString(f) }

// flat writes tokens without blanks but between words, strings as "".
func flat(ts []token) string {
	var b strings.Builder
	for i, t := range ts {
		if i > 0 && t.kind == word && (ts[i-1].kind == word || ts[i-1].kind == number || ts[i-1].kind == text) ||
			i > 0 && ts[i-1].kind == word && (t.kind == number || t.kind == text || t.text == "!") {
			b.WriteByte(' ')
		}
		if t.kind == text {
			b.WriteString(`""`)
		} else {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

// weigh says how much a claim says.
func weigh(l *lang, kind claimKind, ts []token) weight {
	f := flat(ts)
	w := weight{literals: literals(ts, throws.MatchString(f)), wild: len(wildcards.FindAllString(f, -1))}
	switch kind {
	case asserted:
	case logged:
		return w
	default:
		w.strength = 3
		return w
	}
	guard := l == &golang && len(ts) > 0 && l.condition.MatchString(ts[0].text)
	w.boolean = guard || booleans.MatchString(f)
	w.operators(ts, guard)
	switch {
	case passes.MatchString(f) || tautology(ts) && !counts.MatchString(f):
		w.strength = 0
	case fails.MatchString(f):
		w.strength, w.literals = 1, nil // says only that it is never reached
	case guard:
		w.strength = guardStrength(f)
	default:
		w.strength = callStrength(f, w.boolean)
	}
	typed := l != &python && l != &script && l != &ruby
	switch {
	case nilUnary.MatchString(f):
		w.literals = append(w.literals, "nil")
	case w.strength == 1 && (trueUnary.MatchString(f) || typed && bare.MatchString(f)):
		w.literals = append(w.literals, "true")
	case falsUnary.MatchString(f) && w.strength == 1:
		w.literals = append(w.literals, "false")
	}
	return w
}

// operators notes what a claim compares, turns round and connects. On a guard a
// Go test fails, so there "and" allows more; elsewhere "or" does.
func (w *weight) operators(ts []token, guard bool) {
	for i, t := range ts {
		if t.kind == text {
			continue
		}
		switch t.text {
		case "!", "not":
			w.negated++
		case "!=", "!==":
			w.negated++
			w.compared = append(w.compared, "==")
		case "==", "===", "is":
			w.compared = append(w.compared, "==")
		case "<=", ">=", "in":
			w.compared = append(w.compared, t.text)
		case "<", ">": // with a blank before; else it may be a type's parameter
			if i > 0 && ts[i-1].at+len(ts[i-1].text) < t.at {
				w.compared = append(w.compared, t.text)
			}
		case "&&", "and":
			if guard {
				w.eases++
			}
		case "||", "or":
			if !guard {
				w.eases++
			}
		}
	}
}

// callStrength weighs an assertion by its name and its matcher.
func callStrength(f string, boolean bool) int {
	f = present.ReplaceAllString(f, ".")
	switch {
	case weakWords.in(f) && !equality.MatchString(strings.TrimPrefix(f, "assert")):
		return 1
	case boolean && equality.MatchString(f) && !strings.Contains(f, "!=") && !falsUnary.MatchString(f):
		return 3
	case snapshots.MatchString(f), exactly.MatchString(f) && !strings.Contains(strings.ToLower(f), "not"):
		return 3
	case midWords.in(strings.ToLower(f)), boolean && partly.MatchString(f),
		falsUnary.MatchString(f) && equality.MatchString(f):
		return 2
	case boolean:
		return 1
	}
	return 3
}

// guardStrength weighs the condition on which a Go test fails.
func guardStrength(f string) int {
	switch {
	case containsAny(f, "!=", "cmp.Diff", "Equal(", "errors.Is("):
		return 3
	case strings.Contains(f, "==nil"):
		return 1
	case partly.MatchString(f), containsAny(f, "==", "len("), hasAnyPrefix(f, "else", "switch", "case"):
		return 2
	}
	return 1
}

// unary reports whether an assertion is about one thing: that it is true, or
// false, or nil.
func unary(f string) bool {
	return trueUnary.MatchString(f) || falsUnary.MatchString(f) || nilUnary.MatchString(f)
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}
