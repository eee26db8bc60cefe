package gate

import (
	"regexp"
	"slices"
	"strings"
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
	weakWords = regexp.MustCompile(`\bis not None|!==?(?:null|None|undefined|nil)\b|toBeTruthy|toBeFalsy|toBeDefined|not\.toBeNull|not\.toBeUndefined|not\.toBeFalsy|assertNotNull|assertIsNotNone|\bNotNil\(|\bNotEmpty\(|\bNotZero\(|assert_not_nil|assert_not_empty|refute_nil|refute_empty|\bbe_truthy|\bbe_falsey|\bbe_present|isNotNull\(|isNotEmpty\(|isNotBlank\(|not_to be_nil|to_not be_nil|not_to be_empty|to\.exist|to\.be\.ok|be\.ok\b|toHaveBeenCalled\(\)|\.assert_called\(\)|is_ok\(\)|is_some\(\)|is_err\(\)|\.(?:Error|Panics)\(|isPresent\(|doesNotThrow|not\.toThrow|NotPanics|not_to raise|assert_nothing_raised|assertDoesNotThrow|raises\((?:Base)?Exception\)|assertRaises\((?:Base)?Exception\b|(?:assertThrows|expectThrows)\((?:Exception|Throwable|RuntimeException)\.class|raise_error$|toThrow\(\)$|status2xx|is2xxSuccessful|\.truthy\(|should\.exist|assert_predicate|isNotNil`)
	midWords  = regexp.MustCompile(`(?i)contain|match|inclu[d]|assert(?:not)?in\(|assertnotin\(|assert_in|regex|startswith|starts_with|start_with|hasprefix|hassuffix|end_with|endswith|ends_with|greater|less|morethan|instanceof|instance_of|isinstance|\bbe_an?\b|be_kind|kind_of|tobetypeof|almostequal|closeto|be_within|approx|indelta|in_delta|inepsilon|in_epsilon|subset|havepro|hasentry|haskey|respond_to|notequal|not_equal|assert_ne\b|assert_ne!|doesnotequal|\.not\.|not_to\b|to_not\b|should_not|raises|throw|raise_error|panics|should_panic|between|toBeGreater|atleast|atmost|expect\.objectContaining|errorAs|assertThat\(.*any`)
	booleans  = regexp.MustCompile(`^(?:assert |if |else |switch |case |assert!\(|debug_assert!\(|(?:\w+\.)*assert\(|(?:\w+\.)*(?:assertTrue|assertFalse|assert_true|assert_false|assertThat)\([^)]*(?:==|equals|<|>)|(?:\w+\.)*(?:assertTrue|assertFalse|True|False|ok|isTrue|isFalse|true|false|truthy|XCTAssertTrue|XCTAssert)\(|assert\(|refute\(|refute )`)
	equality  = regexp.MustCompile(`==|===|\.equals\(|\.eq\(|\.eql\?|DeepEqual|deepEqual|Equal\(|cmp\.Diff|compareTo|\bis None|\bis True|\bis False|errors\.Is\(|Objects\.equals|equalTo`)
	partly    = regexp.MustCompile(`(?i)!=|<|>|\bin\b|\bis not|contain|match|starts?_?with|hasprefix|hassuffix|ends?_?with|inclu[d]|isinstance|instanceof|\.as\(`)
	nilUnary  = regexp.MustCompile(`assertIsNone|assertNull\(|toBeNull|toBeUndefined|\b(?:assert|require)\.Nil\(|NoError\(|be_nil|assert_nil|isNull\(|is_none\(`)
	trueUnary = regexp.MustCompile(`assertTrue\(|\.True\(|toBeTruthy|be_truthy|isTrue\(|assert_true|\.true\(|be\.true\b|be_true\b`)
	falsUnary = regexp.MustCompile(`assertFalse\(|\.False\(|toBeFalsy|be_falsey|isFalse\(|assert_false|\.false\(|be\.false\b|be_false\b`)
	wildcards = regexp.MustCompile(`expect\.any(?:thing)?\(|mock\.Anything|\bANY\b|\bany\(\)|Mockito\.any|ArgumentMatchers\.any|\banything\b|gomock\.Any|isA\(|is_a\(`)
	passes    = regexp.MustCompile(`^(?:\w+\.)+pass\(`)
	fails     = regexp.MustCompile(`^(?:\w+\.)*(?:fail|flunk|panic!|unreachable!)\b`)
	throws    = regexp.MustCompile(`(?i)raises|throw|raise_error|matches!|errorAs|panics`)
	constant  = regexp.MustCompile(`^(?:[A-Z][A-Z0-9_]+|(?:Status|Err|Code)[A-Z]\w*)$`)
	capital   = regexp.MustCompile(`^[A-Z]\w*$`)
)

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
	switch {
	case kind == logged:
		return w
	case kind != asserted:
		w.strength = 3
		return w
	}
	guard := l == &golang && len(ts) > 0 && l.condition.MatchString(ts[0].text)
	w.boolean = guard || booleans.MatchString(f)
	for i, t := range ts {
		if t.kind == text {
			continue
		}
		switch t.text {
		case "!=", "!==", "!", "not":
			w.negated++
		case "&&", "and":
			if guard {
				w.eases++
			}
		case "||", "or":
			if !guard {
				w.eases++
			}
		}
		switch t.text {
		case "==", "!=", "===", "!==", "is":
			w.compared = append(w.compared, "==")
		case "<", ">": // with a blank before; else it may be a type's parameter
			if i > 0 && ts[i-1].at+len(ts[i-1].text) < t.at {
				w.compared = append(w.compared, t.text)
			}
		case "<=", ">=", "in":
			w.compared = append(w.compared, t.text)
		}
	}
	switch {
	case passes.MatchString(f) || tautology(ts):
		w.strength = 0
	case fails.MatchString(f):
		w.strength, w.literals = 1, nil // says only that it is never reached
	case guard:
		w.strength = guardStrength(f)
	case weakWords.MatchString(f) && !equality.MatchString(strings.TrimPrefix(f, "assert")):
		w.strength = 1
	case w.boolean && equality.MatchString(f) && !strings.Contains(f, "!="):
		w.strength = 3
	case midWords.MatchString(f), w.boolean && partly.MatchString(f):
		w.strength = 2
	case w.boolean:
		w.strength = 1
	default:
		w.strength = 3
	}
	switch {
	case nilUnary.MatchString(f):
		w.literals = append(w.literals, "nil")
	case trueUnary.MatchString(f) && w.strength == 1:
		w.literals = append(w.literals, "true")
	case falsUnary.MatchString(f) && w.strength == 1:
		w.literals = append(w.literals, "false")
	}
	return w
}

// guardStrength weighs the condition on which a Go test fails.
func guardStrength(f string) int {
	switch {
	case strings.Contains(f, "!=") || strings.Contains(f, "cmp.Diff") || strings.Contains(f, "Equal(") || strings.Contains(f, "errors.Is("):
		return 3
	case strings.Contains(f, "==nil"):
		return 1
	case partly.MatchString(f) || strings.Contains(f, "==") || strings.Contains(f, "len("):
		return 2
	case strings.HasPrefix(f, "else") || strings.HasPrefix(f, "switch") || strings.HasPrefix(f, "case"):
		return 2
	}
	return 1
}

// vocabulary are the words of assertions themselves.
var vocabulary = regexp.MustCompile(`^(?:(?:debug_)?assert\w*!?|expect\w*|require|refute\w*|chai|qt|self|this|t|is|eq|eql|equal|be|to|not|and|or|in|should|must|if|else|switch|case|verify\w*)$`)

// tautology reports whether an assertion can't fail: it names nothing but
// literals, or compares something with itself.
func tautology(ts []token) bool {
	args, subjects := arguments(ts), 0
	for i, t := range ts {
		matcher := i > 1 && ts[i-1].text == "." && (ts[i-2].text == ")" || vocabulary.MatchString(ts[i-2].text))
		if t.kind == word && literal(t) == "" && !matcher && !vocabulary.MatchString(t.text) {
			subjects++
		}
	}
	if subjects == 0 && len(ts) > 0 && ts[0].text != "#" {
		return slices.ContainsFunc(ts, func(t token) bool {
			return literal(t) != "" && t.kind != text || t.kind == text && len(args) > 1
		})
	}
	if len(args) > 0 && flat(args[0]) == "t" {
		args = args[1:]
	}
	if len(args) >= 2 && same(args[0], args[1]) {
		return true
	}
	if i := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == ")" }); len(args) == 1 && i > 0 && i+2 < len(ts) {
		if behind := arguments(ts[i+1:]); len(behind) == 1 && same(args[0], behind[0]) { // a thing compared with itself
			return true
		}
	}
	for _, a := range args {
		for _, eq := range []string{"==", "==="} {
			if i := slices.IndexFunc(a, func(t token) bool { return t.kind == sign && t.text == eq }); i > 0 && same(a[:i], a[i+1:]) {
				return true
			}
		}
	}
	return false
}

// same reports whether two expressions are one variable or field.
func same(a, b []token) bool {
	called := slices.ContainsFunc(a, func(t token) bool { return t.kind != word && t.text != "." })
	return len(a) > 0 && !called && flat(a) == flat(b)
}

// literal is the value that a token names, in one spelling for all languages; ""
// when it names none.
func literal(t token) string {
	switch t.kind {
	case number:
		return t.text
	case text:
		return `"` + t.text
	case word:
		switch t.text {
		case "true", "True":
			return "true"
		case "false", "False":
			return "false"
		case "nil", "null", "None", "undefined", "NULL":
			return "nil"
		}
	}
	return ""
}

// literals lists the values that tokens name; types too where the claim is about
// what is thrown.
func literals(ts []token, types bool) []string {
	var out []string
	for i, t := range ts {
		v := literal(t)
		if v != "" && t.kind == number && i > 0 && ts[i-1].text == "-" && unary(ts, i-1) {
			v = "-" + v
		}
		call := i+1 < len(ts) && ts[i+1].text == "("
		if v == "" && t.kind == word && i > 0 && !call {
			qualified := (ts[i-1].text == "." || ts[i-1].text == "::") && i > 1 && capital.MatchString(ts[i-2].text)
			if constant.MatchString(t.text) || qualified && capital.MatchString(t.text) || types && capital.MatchString(t.text) {
				v = t.text
			}
		}
		if v != "" {
			out = append(out, v)
		}
	}
	return out
}

// unary reports whether the minus at i belongs to the number behind it alone.
func unary(ts []token, i int) bool {
	if i == 0 {
		return true
	}
	before := ts[i-1]
	if before.kind == sign && before.text != ")" && before.text != "]" {
		return true
	}
	return ts[i+1].at == ts[i].at+1 && before.at+len(before.text) < ts[i].at
}

// arguments splits the arguments of the first call, or of a statement without
// brackets.
func arguments(ts []token) [][]token {
	start := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == "(" })
	if len(ts) > 1 && ts[0].kind == word && (ts[1].kind != sign || start < 0) {
		start = 0 // assert x, y
	}
	if start < 0 {
		return nil
	}
	var out [][]token
	var arg []token
	depth := 0
	for _, t := range ts[start+1:] {
		if depth += t.depth(); depth < 0 {
			break
		}
		if depth == 0 && t.kind == sign && t.text == "," {
			out, arg = append(out, arg), nil
			continue
		}
		arg = append(arg, t)
	}
	if len(arg) > 0 {
		out = append(out, arg)
	}
	return out
}

// withoutMessage leaves out the words for people with which an assertion fails.
func withoutMessage(ts []token) []token {
	args := arguments(ts)
	if len(args) < 2 {
		return ts
	}
	f := flat(ts)
	from := 2
	switch {
	case len(args) > 1 && flat(args[0]) == "t":
		from = 3
		if trueUnary.MatchString(f) || falsUnary.MatchString(f) || nilUnary.MatchString(f) || weakWords.MatchString(f) {
			from = 2
		}
	case trueUnary.MatchString(f), falsUnary.MatchString(f), nilUnary.MatchString(f), strings.HasPrefix(f, "assert "), strings.HasPrefix(f, "assert("),
		strings.HasPrefix(f, "assert!("), strings.HasPrefix(f, "assert.ok("), strings.HasPrefix(f, "debug_assert!("), strings.HasPrefix(f, "refute"):
		from = 1
		if strings.HasPrefix(f, "assert_equal") {
			from = 2
		}
	}
	drop := func(i, j int) []token { // arguments i to j
		n := 0
		for k := range args[:i] {
			n += len(args[k]) + 1
		}
		m := n
		for k := i; k < j; k++ {
			m += len(args[k]) + 1
		}
		start := slices.IndexFunc(ts, func(t token) bool { return t.kind == sign && t.text == "(" })
		if len(ts) > 1 && ts[0].kind == word && ts[1].kind != sign {
			start = 0
		}
		lo, hi := start+1+n, min(start+m, len(ts))
		if j == len(args) && lo > start+1 {
			lo-- // the comma before
		} else if hi < len(ts) {
			hi++ // the comma behind
		}
		if lo > hi || hi > len(ts) {
			return ts
		}
		return slices.Concat(ts[:lo], ts[hi:])
	}
	for i := from; i < len(args); i++ {
		if message(args[i]) {
			return drop(i, len(args))
		}
	}
	if len(args) > from && message(args[0]) && len(args[0]) == 1 { // JUnit 4
		return drop(0, 1)
	}
	return ts
}

func message(arg []token) bool {
	if len(arg) == 1 && arg[0].kind == text {
		return true
	}
	return len(arg) > 0 && len(arg) <= 4 && slices.ContainsFunc(arg, func(t token) bool { return t.kind == text && strings.Contains(t.text, " ") })
}

// weaker says in what way the new claim says less than the old; "" when it does not.
func weaker(old, new *claim) string {
	if old.kind != asserted {
		if old.kind != logged && !keeps(old.literals, new.literals) {
			if old.kind == tabled {
				return "a case of the test was changed"
			}
			return "an expected value was changed"
		}
		return ""
	}
	flag := func(c *claim) string {
		if n := len(c.literals); n > 0 && (c.literals[n-1] == "true" || c.literals[n-1] == "false" || c.literals[n-1] == "nil") {
			return c.literals[n-1]
		}
		return ""
	}
	switch {
	case new.kind == logged:
		return "an assertion became a mere message"
	case new.strength == 0 && old.strength > 0:
		return "an assertion can't fail any more"
	case old.boolean && new.boolean && len(old.compared) > 0 && slices.Equal(old.compared, new.compared) && slices.Equal(old.literals, new.literals) && (old.negated-new.negated)%2 != 0:
		return "an assertion was turned round"
	case flag(old) != "" && flag(old) == flag(new) && keeps(old.literals, new.literals) && (len(old.literals) == 1 || old.strength == 3) && (new.boolean || new.strength == 3) && (new.negated-old.negated)%2 == 0:
		return ""
	case new.strength > old.strength && old.strength == 1 && keeps(values(old.literals), new.literals):
		return ""
	case new.strength < old.strength && new.strength == 1:
		return "an assertion was weakened: it only says that something is there"
	case new.strength < old.strength:
		return "an assertion was weakened: it says less than before"
	case !keeps(old.literals, new.literals):
		return "what an assertion expects was changed"
	case new.wild > old.wild:
		return "an assertion was weakened: it takes anything"
	case new.eases > old.eases:
		return "an assertion was weakened: it allows more than before"
	case old.boolean && new.boolean && new.strength <= old.strength && !slices.Equal(old.compared, new.compared) && len(new.compared) <= len(old.compared):
		return "an assertion compares in another way"
	case (old.negated-new.negated)%2 != 0 && new.strength <= old.strength && old.boolean == new.boolean:
		return "an assertion was turned round"
	}
	return ""
}

// values are the literals but those that only say that something is there.
func values(literals []string) []string {
	return slices.DeleteFunc(slices.Clone(literals), func(l string) bool { return l == "nil" || l == "true" })
}

// keeps reports whether all values of a are in b, in order.
func keeps(a, b []string) bool {
	for _, v := range b {
		if len(a) > 0 && a[0] == v {
			a = a[1:]
		}
	}
	return len(a) == 0
}
