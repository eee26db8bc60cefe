package located

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

var goTestName = regexp.MustCompile(`^(?:Test|Example|Fuzz)`)

// changedGoTests returns the test functions, and the methods of suites, that are new or changed.
func changedGoTests(was, now []byte) (out []string) {
	before := goFuncs(was)
	after := goFuncs(now)
	for _, f := range after {
		if goTestName.MatchString(f.name) && !slices.Contains(before, f) && !slices.Contains(out, f.name) {
			out = append(out, f.name)
		}
	}
	return out
}

type goFunc struct{ name, text string }

func goFuncs(source []byte) (out []goFunc) {
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", source, parser.SkipObjectResolution) // a partial result is useful
	if f == nil {
		return nil
	}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			a, b := set.Position(d.Pos()).Offset, set.Position(d.End()).Offset
			out = append(out, goFunc{d.Name.Name, string(source[a:min(b, len(source))])})
		}
	}
	return out
}

// testLine matches the beginning of a test in Python or JavaScript.
var testLine = regexp.MustCompile("^(\\s*)(?:(?:async )?def (test\\w*)|(?:it|test)(?:\\.\\w+)*\\(\\s*" +
	"(?:\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`))")

// groupLine matches the beginning of a group of tests.
var groupLine = regexp.MustCompile("^\\s*(?:class (\\w+)|(?:describe|suite|context)(?:\\.\\w+)*\\(\\s*" +
	"(?:\"([^\"\n]+)\"|'([^'\n]+)'|`([^`\n]+)`))")

// changedLineTests returns the tests that contain new lines.
func changedLineTests(was, now []byte) (out []string) {
	old := map[string]int{}
	for line := range strings.Lines(string(was)) {
		old[strings.TrimSpace(line)]++
	}
	type group struct {
		name   string
		indent int
	}
	var groups []group
	current, indent := "", -1
	for line := range strings.Lines(string(now)) {
		text := strings.TrimSpace(line)
		deep := len(line) - len(strings.TrimLeft(line, " \t"))
		for text != "" && len(groups) > 0 && deep <= groups[len(groups)-1].indent {
			groups = groups[:len(groups)-1]
		}
		if m := groupLine.FindStringSubmatch(line); m != nil {
			groups = append(groups, group{m[1] + m[2] + m[3] + m[4], deep})
		}
		if m := testLine.FindStringSubmatch(line); m != nil {
			current, indent = "", deep
			for _, g := range groups {
				current += g.name + " > "
			}
			current += m[2] + m[3] + m[4] + m[5]
		} else if text != "" && deep <= indent && !strings.ContainsAny(text[:1], ")]}") {
			current, indent = "", -1
		}
		if text == "" {
			continue
		}
		if old[text] > 0 {
			old[text]--
			continue
		}
		if current != "" && !slices.Contains(out, current) {
			out = append(out, current)
		}
	}
	return out
}
