package tamper

import (
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// lang describes tests in one language. The expressions are matched against one line without its comment.
type lang struct {
	exts   string             // file extensions
	names  *lazyregexp.Regexp // file names by which the usual runner finds tests
	line   string             // tokens that begin a line comment
	block  bool               // has comments between /* and */
	quotes string             // quotes of strings that may span lines: `, " or ', or t for tripled ones

	test *lazyregexp.Regexp // declaration of a test; the first group that matched is its name
}

var (
	// mark matches an annotation that makes the function below it a test.
	mark = lazyregexp.New(`@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property|Theory|` +
		`ArchTest)\b|#\[(?:\w+(?:::|\\))*(?:[tT]est|rstest|test_case|case|proptest|quickcheck|wasm_bindgen_test|test_log|` +
		`sqlx_test|traced_test)\b|^\s*\[(?:\w+\.)*(?:\w*Fact|\w*Theory|Test|TestMethod|DataTestMethod|TestCase\w*)\b`)
	// function matches the declaration of a function; the first group that matched is its name.
	function = lazyregexp.New("^\\s*(?:(?:@[\\w.]+(?:\\([^)]*\\))?|#\\[[^\\]]*\\]|" + modifiers + ")\\s+)*" +
		"(?:func|function|def|fn|fun|sub)\\s+(?:\\([^)]*\\)\\s*|<[^>]*>\\s*)?&?(?:`([^`]*)`|([\\w.]+[?!]?))|" +
		"^\\s*(?:export\\s+)?(?:(?:const|let|var)\\s+)?(\\w+)\\s*:?=\\s*(?:async\\s*)?(?:func\\s*\\(|function\\b|" +
		"\\([^()]*\\)\\s*(?::[^=]+)?=>)")
	// method matches one in a language that writes the type before the name.
	method = lazyregexp.New(`^\s*(?:@[\w.]+(?:\([^)]*\))?\s+|\[[^\]]*\]\s*)*(?:` + modifiers + `\s+)*(?:<[^>]*>\s*)?` +
		`(?:void|int|long|auto|bool\w*|[A-Z][\w<>\[\]?.,]*|` + modifiers + `\s+\S+)\s+(\w+)\s*(?:<[^>]*>)?\s*` +
		`\([^;{]*(?:\{.*)?$`)
)

const modifiers = `(?:public|protected|private|internal|static|final|abstract|synchronized|default|suspend|override|` +
	`open|inline|export|async|unsafe|const|virtual|sealed|pub(?:\([^)]*\))?)`

var golang = lang{
	exts: ".go", names: lazyregexp.New(`^[^_.].*_test\.go$`), line: "//", block: true, quotes: "`",
	test: lazyregexp.New("^func (?:\\([^)]*\\) )?((?:Test|Benchmark|Fuzz|Example)\\w*)\\(|" +
		"^\\s*\\w+\\.Run\\((\\S.*?)\\s*,\\s*func\\(|" +
		"^\\s*(?:_ = )?[FPX]?(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\\(\\s*\"([^\"]*)\""),
}

var python = lang{
	exts: ".py .pyi", names: lazyregexp.New(`^(test_.*|.*_tests?|tests?|conftest)\.pyi?$`),
	line: "#", quotes: "t",
	test: lazyregexp.New(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(|^\s*class\s+(Test\w*|\w+Tests?)\s*[(:]`),
}

// script is JavaScript and TypeScript.
var script = lang{
	exts:  ".js .jsx .ts .tsx .mjs .cjs .mts .cts .vue .svelte .coffee",
	names: lazyregexp.New(`[.\-_](test|tests|spec|e2e|cy|unit)\.[a-z]+$|^(test|tests|spec)\.[a-z]+$`),
	line:  "//", block: true, quotes: "`",
	test: lazyregexp.New("^\\s*(?:await\\s+)?(?:\\w+\\.)?[xf]?(?:it|tests?|specify|scenario|describe|context|suite)" +
		"(?:\\.\\w+)*(?:\\([^'\"`]*\\))?\\(\\s*(?:'([^']*)|\"([^\"]*)|`([^`]*))|" +
		"^\\s*\\]\\s*\\)\\s*\\(\\s*['\"`]([^'\"`]*)"),
}

// byDefault matches the files that Jest and Vitest run by default.
var byDefault = lazyregexp.New(`\.(?:test|spec)\.[cm]?[jt]sx?$|(?:^|/)__tests__/.*\.[cm]?[jt]sx?$`)

// java is Java, Kotlin and other languages with the same runners.
var java = lang{
	exts:  ".java .kt .kts .groovy .scala",
	names: lazyregexp.New(`(Tests?|TestCase|IT|ITCase|Spec|Suite)\.[a-z]+$|^Test[A-Z].*\.[a-z]+$`),
	line:  "//", block: true, quotes: "t",
	test: lazyregexp.New("^(?:(?:@\\w+|public|final|internal|open)\\s+)*class\\s+(\\w*(?:Tests?|Case|IT|Spec|Suite)|" +
		"Test[A-Z]\\w*)\\b|^\\s*public\\s+void\\s+(test\\w*)\\s*\\(|^\\s*(?:@\\w+\\s+)*fun\\s+(test\\w*)\\s*\\(|" +
		"^\\s*(?:def\\s+)?x?(?:test|it|should|feature|scenario|describe|context)\\s*\\(\\s*\"([^\"]*)\"|" +
		"^\\s*def\\s+\"([^\"]*)\"\\s*\\("),
}

var ruby = lang{
	exts: ".rb", names: lazyregexp.New(`^(test_.*|.*_(test|spec)|(spec|test|rails)_helper)\.rb$`), line: "#",
	test: lazyregexp.New(`^\s*(?:RSpec\.)?[xf]?(?:it|specify|example|scenario|its|describe|context|` +
		`feature)\b(?:\s*\(?\s*(?:'([^']*)'|"([^"]*)")|(?:\s+(\S.*?))?\s*(?:\bdo\b|\{).*$)|^\s*(?:pending|skip|` +
		`focus)\s*\(?\s*['"]([^'"]*)['"].*\bdo\b|^\s*def\s+(test_\w+[?!]?)|^\s*(?:test|should)\s*\(?\s*['"]([^'"]*)['"]`),
}

var rust = lang{
	exts: ".rs", names: lazyregexp.New(`^(test_.*|.*_tests?|tests?)\.rs$`), line: "//", block: true, quotes: `"`,
	test: lazyregexp.New(`^\s*\w*test\w*!\s*[({]\s*(\w*)|^\s*(?:pub\s+)?mod\s+(\w*(?i:tests?))\s*\{`),
}

var csharp = lang{
	exts: ".cs", names: lazyregexp.New(`(?:Tests?|Spec|Specs|Fixture|Facts)\.cs$|^Test[A-Z].*\.cs$`),
	line: "//", block: true, quotes: "t",
}

var php = lang{
	exts: ".php", names: lazyregexp.New(`(?:Test|Spec|Cest)\.php$|\.test\.php$`),
	line: "// #", block: true, quotes: `"'`,
	test: lazyregexp.New(`^\s*(?:(?:public|final|static)\s+)*function\s+(test\w*)\s*\(|^\s*(?:it|test|` +
		`describe)\s*\(\s*(?:'([^']*)|"([^"]*))`),
}

// native is C, C++, Objective-C and Swift.
var native = lang{
	exts: ".c .cc .cpp .cxx .h .hpp .m .mm .swift",
	names: lazyregexp.New(`(?i)^(?:unit)?tests?[_.\-]|[_.\-](?:unit)?tests?\.[a-z]+$|\.tests?\.|(?-i:Tests?|` +
		`Spec)\.[a-z]+$`),
	line: "//", block: true,
	test: lazyregexp.New(`^\s*(?:\w+_)?(?:TEST(?:_[FP])?|TEST_CASE\w*|TEMPLATE_\w*TEST_CASE\w*|SCENARIO|SECTION|` +
		`BOOST_\w*TEST\w*)\s*\(([^)]*)|^\s*(?:(?:public|static|async|final|override|private|@\w+)\s+)*(?:void|` +
		`func)\s+(test\w*)\s*\(`),
}

// other is any language without rules of its own.
var other = lang{
	exts:  ".dart .ex .exs .sh .bats .lua .hs .clj .erl .r .jl .pl .t .ml .feature",
	names: lazyregexp.New(`(?i)(^test[_.\-]|(^|[_.\-])(tests?|spec)\.[a-z]+$|\.(bats|feature|t)$)|(Tests?|Spec)\.[a-z]+$`),
	line:  "// #", block: true,
	test: lazyregexp.New(`^\s*(?:(?:public|static|async|final)\s+)*(?:void|function|func|def|fn|sub)\s+(test\w*)\s*\(?|` +
		`^\s*@test\s+"([^"]*)"|^\s*(?:it|test|testWidgets|group)\s*\(?\s*['"]([^'"]*)|^\s*Scenario(?: Outline)?:\s*(.*)`),
}

// languages maps file extensions to languages.
var languages = func() map[string]*lang {
	out := map[string]*lang{}
	for _, l := range []*lang{&golang, &python, &script, &java, &ruby, &rust, &csharp, &php, &native, &other} {
		for _, e := range strings.Fields(l.exts) {
			out[e] = l
		}
	}
	return out
}()

// stripper removes comments and the contents of strings from the lines of one file, read in order. It has no grammar:
// its errors mostly occur equally on both sides.
type stripper struct {
	*lang
	until   string // end of the open comment or string; empty: none
	comment bool   // it is a comment
	escaped bool   // a backslash escapes in it
}

// open reports whether the next line begins in a comment or string.
func (s *stripper) open() bool { return s.until != "" }

var rawString = lazyregexp.New(`^r#+"`)

// strip returns the line without comments (code), and also without the contents of strings (bare).
func (s *stripper) strip(line string) (code, bare string) {
	var c, b strings.Builder
	for i := 0; i < len(line); {
		var n int
		rest := line[i:]
		if s.until != "" {
			var closed bool
			if n, closed = closing(rest, s.until, s.escaped); !s.comment {
				c.WriteString(rest[:n])
			}
			if closed {
				s.until, s.comment = "", false
			}
		} else if n = s.begins(line, i); n < 0 {
			break
		} else if !s.comment {
			c.WriteString(rest[:n])
			if strings.IndexByte("\"'`", rest[0]) < 0 {
				b.WriteString(rest[:n])
			} else {
				b.WriteString(rest[:1] + rest[:1])
			}
		}
		i += n
	}
	return strings.TrimRight(c.String(), " \t\r"), strings.TrimRight(b.String(), " \t\r")
}

// begins returns the length of the token at i, which may open a string or comment; -1 when the rest of the line is a
// comment.
func (s *stripper) begins(line string, i int) int {
	rest, q := line[i:], line[i]
	for m := range strings.FieldsSeq(s.line) { // not Ruby's #{…}, nor an attribute of PHP
		if strings.HasPrefix(rest, m) && !strings.HasPrefix(rest, "#[") &&
			(m != "#" || i == 0 || line[i-1] == ' ' || line[i-1] == '\t') {
			return -1
		}
	}
	opens := func(n int, until string, escaped bool) int {
		s.until, s.comment, s.escaped = until, until == "*/", escaped
		return n
	}
	switch {
	case s.block && strings.HasPrefix(rest, "/*"):
		return opens(2, "*/", false)
	case s.lang == &rust && rawString.MatchString(rest):
		n := strings.IndexByte(rest, '"')
		return opens(n+1, `"`+rest[1:n], false)
	case q == '\'' && s.lang == &rust: // a character, or a lifetime
		if n, ok := closing(rest[1:], "'", true); ok && (rest[1] == '\\' || utf8.RuneCountInString(rest[1:n]) == 1) {
			return n + 1
		}
	case q == '"' || q == '\'' || q == '`':
		triple := strings.Repeat(string(q), 3)
		if strings.Contains(s.quotes, "t") && strings.HasPrefix(rest, triple) {
			return opens(3, triple, true)
		}
		escaped := q != '`' || s.lang == &script
		n, closed := closing(rest[1:], string(q), escaped)
		if !closed && strings.IndexByte(s.quotes, q) >= 0 {
			return opens(1, string(q), escaped)
		}
		return 1 + n
	}
	_, n := utf8.DecodeRuneInString(rest)
	return n
}

// closing returns the number of bytes of s up to and including end.
func closing(s, end string, escaped bool) (n int, closed bool) {
	for i := 0; i < len(s); i++ {
		switch {
		case escaped && s[i] == '\\':
			i++
		case strings.HasPrefix(s[i:], end):
			return i + len(end), true
		}
	}
	return len(s), false
}
