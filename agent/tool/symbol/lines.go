package symbol

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// language holds the patterns of definitions in one language, matched line by line.
type language struct {
	// patterns match a definition; the group "name" is its name. The first match is used.
	patterns []*lazyregexp.Regexp
	not      []string // names that are keywords
	comments []string // prefixes of comment lines
	body     string   // start of a body: "{" or ":" …
}

func newLanguage(body string, comments, not []string, patterns ...string) *language {
	l := &language{body: body, comments: comments, not: not}
	for _, p := range patterns {
		l.patterns = append(l.patterns, lazyregexp.New(p))
	}
	return l
}

// keywords look like calls or function names in languages with braces.
var keywords = []string{"if", "for", "foreach", "while", "switch", "catch", "return", "else", "do", "new", "throw",
	"using", "lock", "synchronized", "function", "sizeof", "case", "await", "yield", "elseif", "match", "when", "try"}

var slashes = []string{"//", "*", "/*"}

// languages by file extension; read-only.
var languages = knownLanguages()

func knownLanguages() map[string]*language {
	byEnd := map[string]*language{}
	for ends, l := range map[string]*language{
		".py .pyi": newLanguage(":", []string{"#"}, nil,
			`^\s*(?:async\s+)?def\s+(?P<name>\w+)`, `^\s*class\s+(?P<name>\w+)`,
			`^(?P<name>[A-Z][A-Z0-9_]+)\s*(?::[^=]+)?=[^=]`),
		".js .jsx .mjs .cjs .ts .tsx .mts .cts .vue .svelte": newLanguage("{", slashes, keywords,
			`^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:async\s+)?function\s*\*?\s*(?P<name>[\w$]+)`,
			`^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?class\s+(?P<name>[\w$]+)`,
			`^\s*(?:export\s+)?(?:declare\s+)?(?:const\s+)?(?:interface|enum|namespace)\s+(?P<name>[\w$.]+)`,
			`^\s*(?:export\s+)?(?:declare\s+)?type\s+(?P<name>[\w$]+)\s*(?:<.*>)?\s*=`,
			`^(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)`,
			`^(?:module\.)?exports\.(?P<name>[\w$]+)\s*=`,
			`^\s+(?:(?:public|private|protected|static|readonly|abstract|override|async|get|set)\s+)*\*?`+
				`(?P<name>#?[\w$]+)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^={;]+)?\{\s*$`),
		".java .kt .kts .scala": newLanguage("{", slashes, keywords,
			`^\s*(?:(?:public|private|protected|internal|static|final|abstract|sealed|data|open|inner|value|strictfp`+
				`|case)\s+)*(?:class|interface|enum(?:\s+class)?|record|object|trait|@interface)\s+(?P<name>\w+)`,
			`^\s*(?:(?:public|private|protected|internal|override|suspend|inline|open|abstract|operator|infix|final`+
				`|implicit)\s+)*(?:fun|def)\s+(?:<[^>]*>\s*)?(?P<name>[\w.]+)`,
			`^\s+(?:@\w+\s+)*(?:(?:public|private|protected|static|final|abstract|synchronized|native|default)\s+)*`+
				`(?:<[^>]+>\s+)?[\w.<>\[\],? ]*\b(?P<name>\w+)\s*\([^;=]*\)\s*(?:throws\s+[\w., ]+)?\s*\{`),
		".cs": newLanguage("{", slashes, keywords,
			`^\s*namespace\s+(?P<name>[\w.]+)`,
			`^\s*(?:(?:public|private|protected|internal|static|sealed|abstract|partial|readonly|ref|file)\s+)*(?:class`+
				`|interface|enum|struct|record(?:\s+(?:class|struct))?)\s+(?P<name>\w+)`,
			`^\s*(?:(?:public|private|protected|internal|static|virtual|override|abstract|async|sealed|extern|partial|new`+
				`|unsafe)\s+)+[\w.<>\[\],? ]+\s+(?P<name>\w+)\s*(?:<[^>]*>)?\(`,
			`^\s*(?:(?:public|private|protected|internal)\s+)(?P<name>\w+)\s*\(`),
		".c .h .cc .cpp .cxx .hh .hpp .hxx .m .mm": newLanguage("{", slashes,
			append([]string{"defined", "decltype", "alignas"}, keywords...),
			`^\s*(?:template\s*<[^>]*>\s*)?(?:typedef\s+)?(?:class|struct|union|enum(?:\s+class)?|namespace)\s+`+
				`(?:\[\[\w+\]\]\s*)?(?P<name>[\w:]+)[^;()]*(?:\{|$)`,
			`^#\s*define\s+(?P<name>\w+)`,
			`^(?:[\w:<>,&*\[\]]+[\s&*]+)+(?P<name>~?[\w:]+(?:operator\S+)?)\s*\([^;]*(?:\{\s*\}?|\)|,)\s*(?:const`+
				`|noexcept|override)?\s*\{?\s*$`,
			`^\s*(?:typedef|using)\s+(?P<name>\w+)\s*=`),
		".rs": newLanguage("{", []string{"//"}, nil,
			`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:default\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?(?:extern\s+"[^"]*"`+
				`\s+)?fn\s+(?P<name>\w+)`,
			`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:unsafe\s+)?(?:struct|enum|union|trait|mod|type|macro_rules!)\s+(?P<name>\w+)`,
			`^\s*(?:pub(?:\([^)]*\))?\s+)?(?:const|static(?:\s+mut)?)\s+(?P<name>[A-Z]\w*)\s*:`,
			`^\s*(?:unsafe\s+)?impl(?:<[^{]*>)?\s+(?P<name>[^{]+?)\s*(?:where\b.*)?\{?\s*$`),
		".rb .rake": newLanguage("\x00", []string{"#"}, nil,
			`^\s*def\s+(?P<name>(?:self\.)?[\w?!=\[\]<>+*/%-]+)`, `^\s*(?:class|module)\s+(?P<name>[\w:]+)`,
			`^\s*(?P<name>[A-Z][A-Z0-9_]+)\s*=[^=~]`),
		".php": newLanguage("{", append([]string{"#"}, slashes...), keywords,
			`^\s*(?:(?:public|private|protected|static|final|abstract)\s+)*function\s+&?(?P<name>\w+)`,
			`^\s*(?:(?:final|abstract|readonly)\s+)*(?:class|interface|trait|enum)\s+(?P<name>\w+)`,
			`^\s*namespace\s+(?P<name>[\w\\]+)`,
			`^\s*(?:(?:public|private|protected|final)\s+)*const\s+(?:\w+\s+)?(?P<name>[A-Z]\w*)\s*=`),
	} {
		for end := range strings.FieldsSeq(ends) {
			byEnd[end] = l
		}
	}
	return byEnd
}

// symbols reads a file line by line. The depth of a definition follows from its indentation.
func (l *language) symbols(text string) (all []Symbol) {
	var indents []int
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		start := strings.TrimLeft(line, " \t")
		if start == "" || len(line) > maxLine || l.isComment(start) {
			continue
		}
		name := l.nameOf(line)
		if name == "" {
			continue
		}
		indent := len(strings.ReplaceAll(line[:len(line)-len(start)], "\t", "    "))
		for len(indents) > 0 && indents[len(indents)-1] >= indent {
			indents = indents[:len(indents)-1]
		}
		all = append(all, Symbol{Line: n, Depth: min(len(indents), 3), Name: name, Text: l.headOf(start)})
		indents = append(indents, indent)
		if len(all) == maxSymbols {
			break
		}
	}
	return all
}

func (l *language) isComment(start string) bool {
	return slices.ContainsFunc(l.comments, func(c string) bool {
		return strings.HasPrefix(start, c) && !strings.HasPrefix(start, "#define")
	})
}

// nameOf returns the name that a line defines; "" if none.
func (l *language) nameOf(line string) string {
	for _, p := range l.patterns {
		m := p.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if name := strings.TrimSpace(m[p.SubexpIndex("name")]); name != "" && !slices.Contains(l.not, name) {
			return name
		}
	}
	return ""
}

// headOf returns a definition without its body.
func (l *language) headOf(line string) string {
	switch l.body {
	case ":": // the last one, since parameters may contain others
		line = strings.TrimRight(line, " \t")
		return strings.TrimSuffix(line, ":")
	default:
		if i := strings.Index(line, l.body); i > 0 {
			line = line[:i]
		}
	}
	return strings.TrimRight(line, " \t=")
}
