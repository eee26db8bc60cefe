package locate

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Bounds of what is read of tests.
const (
	mostTestFiles = 60      // failing ones that are read
	mostBody      = 400     // lines of one test
	maxTestText   = 2 << 20 // bytes of one file
)

// foundTest is a failing test in the tree.
type foundTest struct {
	file string
	name string // last part of the runner's name, without parameters; "": all of the file
	full string // the runner's name, with the groups that the test lies in
}

// testFiles are the files of the failing tests, in order.
func (g *gathering) testFiles() (out []string) {
	for _, t := range g.tests {
		if !slices.Contains(out, t.file) {
			out = append(out, t.file)
		}
	}
	slices.Sort(out)
	return out
}

// findTests finds the failing tests in the tree: by the file that is named, or by a definition of that name.
func (g *gathering) findTests(ctx context.Context) {
	wanted := map[string]string{}
	add := func(t foundTest) {
		if !slices.Contains(g.tests, t) {
			g.tests = append(g.tests, t)
		}
	}
	for _, t := range g.query.Tests {
		file, name := t.File, t.Name
		if before, after, ok := strings.Cut(name, "::"); ok && strings.Contains(before, ".") { // pytest's node id
			file, name = before, after
		}
		if before, after, ok := strings.Cut(name, " > "); ok && g.resolve(before) != "" { // Vitest's
			file, name = before, after
		}
		if at := g.resolve(file); file != "" && at != "" {
			add(foundTest{at, lastPart(name), name})
		} else if n := lastPart(name); n != "" {
			wanted[n] = name
		}
	}
	if len(wanted) == 0 {
		return
	}
	read := int64(0)
	for _, p := range g.tested {
		if ctx.Err() != nil || read > mostBytes/2 {
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

var parameters = lazyregexp.New(`\[.*\]$`)

// lastPart is the part of a runner's name of a test that stands in its definition: of Go the function, else the last.
func lastPart(name string) string {
	name = parameters.ReplaceAllString(strings.TrimSpace(name), "")
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
		name = name[i+1:] // unittest's and JUnit's
	}
	return name
}

var goTestName = lazyregexp.New(`^(?:Test|Example|Fuzz|Benchmark)\w*$`)

// definesTest reports whether a file seems to define a test of that name.
func definesTest(text []byte, name string) bool {
	for _, form := range []string{"func " + name + "(", ") " + name + "(", "def " + name + "(", "'" + name + "'",
		`"` + name + `"`, "`" + name + "`", " " + name + "("} {
		if bytes.Contains(text, []byte(form)) {
			return true
		}
	}
	return false
}

// readTests collects the text of the failing tests. Of a file in which none is found by its name, that is all of it.
func (g *gathering) readTests(ctx context.Context) {
	files := g.testFiles()
	for _, p := range files[:min(len(files), mostTestFiles)] {
		b, err := g.tree.Read(ctx, p, maxTestText)
		if err != nil {
			continue
		}
		text, bodies := string(b), ""
		for _, t := range g.tests {
			if t.file == p && t.name != "" {
				bodies += bodyOf(afterGroups(text, t.full), t.name)
			}
		}
		g.bodies.WriteString(cmp.Or(bodies, text))
	}
}

// afterGroups is a test file from where the groups of a test begin, as far as they are found: tests of several groups
// often have one name.
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

// groupEnd stands between the names of groups and tests, as runners of JavaScript and Python write it.
var groupEnd = lazyregexp.New(` > | › | » |::`)

// bodyOf is the text of a test: from the line that names it on, as long as lines are indented deeper.
func bodyOf(text, name string) string {
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
		if n++; n > mostBody {
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
