package locate

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Limits for reading tests.
const (
	maxTestFiles = 60      // failing tests' files that are read
	maxBody      = 400     // lines of a test
	maxTestText  = 2 << 20 // bytes of a file
)

// foundTest is a failing test in the tree.
type foundTest struct {
	file string
	name string // last part of the runner's name, without parameters; "": the whole file
	full string // the runner's name, including groups
}

// testFiles returns the files of the failing tests, sorted.
func (g *gathering) testFiles() (out []string) {
	for _, t := range g.tests {
		if !slices.Contains(out, t.file) {
			out = append(out, t.file)
		}
	}
	slices.Sort(out)
	return out
}

// findTests finds the failing tests in the tree, by their file or by a definition of their name.
func (g *gathering) findTests(ctx context.Context) {
	wanted := map[string]string{}
	add := func(t foundTest) {
		if !slices.Contains(g.tests, t) {
			g.tests = append(g.tests, t)
		}
	}
	for _, t := range g.query.Tests {
		file, name := t.File, t.Name
		if before, after, ok := strings.Cut(name, "::"); ok && strings.Contains(before, ".") { // pytest's node ID
			file, name = before, after
		}
		if before, after, ok := strings.Cut(name, " > "); ok && g.resolve(before) != "" { // Vitest's
			file, name = before, after
		}
		if at := g.resolve(file); file != "" && at != "" {
			add(foundTest{at, definitionName(name), name})
		} else if n := definitionName(name); n != "" {
			wanted[n] = name
		}
	}
	if len(wanted) == 0 {
		return
	}
	read := int64(0)
	for _, p := range g.tested {
		if ctx.Err() != nil || read > maxBytes/2 {
			return
		}
		b, err := g.tree.Read(ctx, p, maxTestText)
		if err != nil {
			continue
		}
		read += int64(len(b))
		for n := range wanted {
			if definesTest(b, n) {
				add(foundTest{p, n, wanted[n]})
			}
		}
	}
	slices.SortFunc(g.tests, func(a, b foundTest) int {
		return cmp.Or(strings.Compare(a.file, b.file), strings.Compare(a.name, b.name))
	})
}

var (
	parameters = lazyregexp.New(`\[.*\]$`)
	// inClass matches the class of a test in parentheses, which Surefire 2 and unittest print after the name.
	inClass = lazyregexp.New(` ?\([\w$]+(?:\.[\w$]+)+\)$`)
)

// definitionName returns the part of a runner's test name that is in its definition: for Go the function, else the last
// part.
func definitionName(name string) string {
	name = parameters.ReplaceAllString(strings.TrimSpace(name), "")
	name = inClass.ReplaceAllString(name, "")
	if top, rest, ok := strings.Cut(name, "/"); ok && goTestName.MatchString(top) {
		if method, _, _ := strings.Cut(rest, "/"); strings.HasPrefix(method, "Test") {
			return method // of a suite
		}
		return top
	}
	for _, sep := range []string{"::", " > ", " › ", " » "} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			name = name[i+len(sep):]
		}
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && !strings.Contains(name, " ") {
		name = name[i+1:] // form of unittest and JUnit
	}
	return name
}

var goTestName = lazyregexp.New(`^(?:Test|Example|Fuzz|Benchmark)\w*$`)

// definesTest reports whether a file appears to define a test with that name.
func definesTest(text []byte, name string) bool {
	for _, form := range []string{"func " + name + "(", ") " + name + "(", "def " + name + "(", "'" + name + "'",
		`"` + name + `"`, "`" + name + "`", " " + name + "("} {
		if bytes.Contains(text, []byte(form)) {
			return true
		}
	}
	return false
}

// readTests collects the text of the failing tests. If none is found in a file by name, it takes the whole file.
func (g *gathering) readTests(ctx context.Context) {
	files := g.testFiles()
	for _, p := range files[:min(len(files), maxTestFiles)] {
		b, err := g.tree.Read(ctx, p, maxTestText)
		if err != nil {
			continue
		}
		text, bodies := string(b), ""
		for _, t := range g.tests {
			if t.file == p && t.name != "" {
				bodies += testBody(afterGroups(text, t.full), t.name)
			}
		}
		g.bodies.WriteString(cmp.Or(bodies, text))
	}
}

// afterGroups returns a test file from the start of a test's groups, if they are found: tests in different groups often
// have the same name.
func afterGroups(text, full string) string {
	groups := groupEnd.Split(full, 10)
	for _, group := range groups[:len(groups)-1] {
		for _, form := range []string{"'" + group + "'", `"` + group + `"`, "`" + group + "`", "class " + group} {
			if i := strings.Index(text, form); i >= 0 && group != "" {
				line := strings.LastIndexByte(text[:i], '\n') + 1
				text = text[line:]
				break
			}
		}
	}
	return text
}

// groupEnd matches the separator between groups and tests, in the format of JavaScript and Python runners.
var groupEnd = lazyregexp.New(` > | › | » |::`)

// testBody returns the text of a test: the line that names it and the following lines with deeper indentation.
func testBody(text, name string) string {
	var out strings.Builder
	indent, n, deepest := -1, 0, false
	for line := range strings.Lines(text) {
		start := strings.TrimLeft(line, " \t")
		deep := len(line) - len(start)
		if indent < 0 {
			if strings.Contains(line, name) && definesTest([]byte(line), name) {
				indent = deep
				out.WriteString(line)
			}
			continue
		}
		if n++; n > maxBody {
			break
		}
		if strings.TrimSpace(start) != "" && deep <= indent && !strings.ContainsAny(start[:1], ")]}") {
			if deepest {
				break
			}
		} else if deep > indent {
			deepest = true
		}
		out.WriteString(line)
	}
	return out.String()
}
