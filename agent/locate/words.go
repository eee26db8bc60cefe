package locate

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxText is the maximum size of a query's text, in bytes.
const maxText = 64 << 10

// stopWords are ignored words. Read-only.
var stopWords = wordSet("a an the and or but not no if then else when while for from with without into onto of on in " +
	"at to by as is are was were be been being it its this that these those there here i we you he she they my our your " +
	"their me us them do does did done can could should would may might must will shall have has had get gets got go " +
	"goes use uses used using make makes made so such too very just also only even still yet more most less least some " +
	"any each every all both few many much other another same than which who whom whose what where why how because " +
	"about after before between during against up down out over under again once now new old fix fixes fixed bug issue " +
	"feature request expected actual behavior behaviour version please steps reproduce add adds added change changes " +
	"changed update updates updated remove removes removed support supports allow allows work works working http https " +
	"www com github org example see one two first last like want need instead")

// commonNames are identifiers used by tests of any project, and defined by some. Read-only.
var commonNames = func() map[string]bool {
	set := map[string]bool{}
	for _, n := range strings.Fields("test it describe expect assert should beforeEach afterEach beforeAll afterAll " +
		"self def return import from const let var function async await new this true false null undefined None True False " +
		"with as for if else in is not and or lambda raise raises pytest mock toBe toEqual class assertEqual string " +
		"int bool error byte nil len t b f err fmt Errorf Fatalf Fatal Error Run Helper got want testing require Equal") {
		set[n] = true
	}
	return set
}()

// wordSet returns the words of a text in the form in which they are compared.
func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		eachWord([]byte(w), func(b []byte) { set[string(b)] = true })
	}
	return set
}

var (
	identifier  = lazyregexp.New(`[A-Za-z_$][\w$]*`)
	namedPath   = lazyregexp.New(`[\w./@+-]*[\w-]\.[A-Za-z]{1,6}\b`)
	looksNamed  = lazyregexp.New(`[a-z0-9][A-Z]|_[A-Za-z]|^[A-Z][a-z0-9]+[A-Z]|\d[A-Z]`)
	inBackticks = lazyregexp.New("`([^`\n]{1,200})`")
	withParens  = lazyregexp.New(`([A-Za-z_$][\w$]*)\(`)
)

// readText extracts locations in stack traces, paths, identifiers and words from the text of the query.
func (g *gathering) readText() {
	text := g.query.Text[:min(len(g.query.Text), maxText)]
	g.named, g.terms = map[string]bool{}, map[string]float64{}
	for _, f := range g.framesIn(text) {
		if isCode(f.path) {
			g.frames = append(g.frames, f)
		}
	}
	for _, m := range namedPath.FindAllString(text, 500) {
		if p := g.resolve(m); p != "" && isCode(p) {
			g.paths = appendNew(g.paths, p)
		}
	}
	name := func(n string) {
		if len(n) > 2 && len(g.named) < maxTerms && !commonNames[n] {
			g.named[n] = true
		}
	}
	for _, m := range inBackticks.FindAllStringSubmatch(text, 200) {
		for _, n := range identifier.FindAllString(m[1], 20) {
			name(n)
		}
	}
	for _, m := range withParens.FindAllStringSubmatch(text, 200) {
		name(m[1])
	}
	for _, n := range identifier.FindAllString(text, 5000) {
		if looksNamed.MatchString(n) {
			name(n)
		}
		eachWord([]byte(n), func(w []byte) {
			countTerm(g.terms, w)
		})
	}
}

// countTerm adds a word, unless there are too many or it is a stop word.
func countTerm(terms map[string]float64, w []byte) {
	if _, ok := terms[string(w)]; ok || len(w) > 2 && len(terms) < maxTerms && !stopWords[string(w)] {
		terms[string(w)] = 1
	}
}

// testTerms returns the words of the failing tests: of their names, calls and strings.
func (g *gathering) testTerms() map[string]float64 {
	terms := map[string]float64{}
	eachIdentifier([]byte(g.bodies.String()), func(id []byte) {
		eachWord(id, func(w []byte) { countTerm(terms, w) })
	})
	return terms
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// eachWord calls do with the words of an identifier, in lower case and without a plural's s: for parseHTTPHeaders with
// parse, http, header. word is valid only during the call.
func eachWord(name []byte, do func(word []byte)) {
	var buf [64]byte
	n := 0
	flush := func() {
		w := buf[:n]
		if n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' {
			w = w[:n-1]
		}
		if n > 1 {
			do(w)
		}
		n = 0
	}
	for i, c := range name {
		upper := c >= 'A' && c <= 'Z'
		switch {
		case c == '_' || c == '$':
			flush()
			continue
		case upper && i > 0:
			before := name[i-1]
			lowerBefore := before >= 'a' && before <= 'z' || before >= '0' && before <= '9'
			lowerAfter := i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'
			if lowerBefore || lowerAfter && n > 0 {
				flush()
			}
		}
		if upper {
			c += 'a' - 'A'
		}
		if n < len(buf) {
			buf[n] = c
			n++
		}
	}
	flush()
}

// readDocument counts the searched words, and records the searched names.
func readDocument(p string, text []byte, terms, names map[string]int) document {
	d := document{path: p}
	count := func(w []byte, times int) {
		d.words++
		if t, ok := terms[string(w)]; ok {
			if d.terms == nil {
				d.terms = map[int]int{}
			}
			d.terms[t] += times
		}
	}
	eachIdentifier(text, func(id []byte) {
		if n, ok := names[string(id)]; ok {
			if d.holds == nil {
				d.holds = map[int]bool{}
			}
			d.holds[n] = true
		}
		if len(terms) > 0 {
			eachWord(id, func(w []byte) { count(w, 1) })
		}
	})
	if len(terms) > 0 {
		eachIdentifier([]byte(p), func(id []byte) { eachWord(id, func(w []byte) { count(w, pathCounts) }) })
	}
	return d
}

// eachIdentifier calls do with every run of letters, digits, _ and $ that does not start with a digit.
func eachIdentifier(text []byte, do func(id []byte)) {
	for i := 0; i < len(text); {
		if !isWordByte[text[i]] {
			i++
			continue
		}
		start := i
		for i < len(text) && isWordByte[text[i]] {
			i++
		}
		if c := text[start]; c < '0' || c > '9' {
			do(text[start:i])
		}
	}
}

// isWordByte is true for the bytes of ASCII identifiers.
var isWordByte = func() (is [256]bool) {
	for c := range is {
		is[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$'
	}
	return is
}()
