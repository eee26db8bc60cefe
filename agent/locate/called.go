package locate

import (
	"bytes"
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Bounds of what is read of tests.
const (
	mostTestFiles = 60      // failing ones that are read
	mostBody      = 400     // lines of one test
	mostCalled    = 600     // names
	wholeFile     = 0.3     // how much a name counts that only the file of a failing test holds
	maxTestText   = 2 << 20 // bytes of one file
)

// foundTest is a failing test in the tree.
type foundTest struct {
	file string
	name string // last part of the runner's name, without parameters; "": all of the file
	full string // the runner's name, with the groups that the test lies in
}

// call is a name that failing tests call.
type call struct {
	weight float64
	folder string // of the package that the test says it is in; "": it does not say
	lacks  bool   // the compiler names it as a type that lacks something
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

// readCalled collects the names that the failing tests call, and what their files import.
func (g *gathering) readCalled(ctx context.Context) {
	g.local = map[string]bool{}
	files := g.testFiles()
	for _, p := range files[:min(len(files), mostTestFiles)] {
		b, err := g.tree.Read(ctx, p, maxTestText)
		if err != nil {
			continue
		}
		var names []string
		for _, t := range g.tests {
			if t.file == p && t.name != "" {
				names = append(names, t.name)
			}
		}
		g.local[path.Dir(p)] = true
		if path.Ext(p) == ".go" {
			g.readGoTest(b, names)
		} else {
			g.readOtherTest(string(b), p)
		}
	}
}

// addCall notes a name, with the greatest weight that it was met with.
func (g *gathering) addCall(name string, c call) {
	if len(name) < 2 || len(g.called) >= mostCalled {
		return
	}
	if was, ok := g.called[name]; !ok || c.weight > was.weight && !was.lacks {
		g.called[name] = c
	}
}

// readGoTest reads what tests of a Go file call, and the functions of the same file that they call.
func (g *gathering) readGoTest(text []byte, names []string) {
	set := token.NewFileSet()
	f, _ := parser.ParseFile(set, "", text, parser.SkipObjectResolution) // a part is better than nothing
	if f == nil {
		return
	}
	imports := map[string]string{} // folders of the tree, by the name that the file calls the package
	for _, i := range f.Imports {
		at := strings.Trim(i.Path.Value, `"`)
		name := path.Base(at)
		if versionPart.MatchString(name) {
			name = path.Base(path.Dir(at))
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		if dir, ok := g.folderOf(at); ok {
			imports[name] = dir
		}
	}
	funcs, bodies := map[string]*ast.FuncDecl{}, []ast.Node{}
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
			funcs[d.Name.Name] = d
		}
	}
	for _, n := range names {
		if d := funcs[n]; d != nil {
			bodies = append(bodies, d)
		}
	}
	weight := 1.0
	if len(bodies) == 0 {
		bodies, weight = []ast.Node{f}, wholeFile
	}
	for _, b := range bodies {
		from, to := set.PositionFor(b.Pos(), false).Offset, set.PositionFor(b.End(), false).Offset
		if from = max(from, 0); from < to && to <= len(text) { // what is broken may have no place
			g.bodies.Write(text[from:to])
		}
	}
	seen := map[string]bool{}
	for depth := 0; depth < 2 && len(bodies) > 0; depth++ {
		var next []ast.Node
		for _, b := range bodies {
			ast.Inspect(b, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					c := call{weight: weight}
					if x, ok := n.X.(*ast.Ident); ok {
						c.folder = imports[x.Name]
					}
					g.addCall(n.Sel.Name, c)
				case *ast.Ident:
					if d := funcs[n.Name]; d != nil && !seen[n.Name] {
						seen[n.Name] = true
						next = append(next, d)
					} else if d == nil {
						g.addCall(n.Name, call{weight: weight})
					}
				}
				return true
			})
		}
		bodies, weight = next, weight*0.7
	}
}

var versionPart = lazyregexp.New(`^v\d+$`)

// folderOf is the folder of the tree that a Go import path means: the longest end of it that is one.
func (g *gathering) folderOf(importPath string) (string, bool) {
	if !strings.Contains(importPath, ".") {
		return "", false // the standard library
	}
	if g.folders == nil {
		g.folders = map[string]bool{}
		for _, p := range g.code {
			g.folders[path.Dir(p)] = true
		}
	}
	parts := strings.Split(importPath, "/")
	for i := range parts {
		if dir := strings.Join(parts[i:], "/"); i > 0 && g.folders[dir] {
			return dir, true
		}
	}
	return "", false
}

var (
	// jsImport is what an import, a re-export, a require or a mock of JavaScript names.
	jsImport = lazyregexp.New(`(?:from|import|require\(|mock\(|import\()\s*["'](\.{1,2}(?:/[^"'\n]*)?)["']`)
	// pyImport is an import of Python.
	pyImport = lazyregexp.New(`(?m)^\s*(?:from\s+([.\w]+)\s+import\s+([^#\n]+)|import\s+([.\w]+))`)
	// calledName is any identifier.
	calledName = lazyregexp.New(`[A-Za-z_$][\w$]*`)
)

// readOtherTest reads what tests of another language call.
func (g *gathering) readOtherTest(text, file string) {
	for _, m := range jsImport.FindAllStringSubmatch(text, 200) {
		g.importJS(file, m[1])
	}
	if path.Ext(file) == ".py" {
		for _, m := range pyImport.FindAllStringSubmatch(text, 200) {
			g.importPython(m[1]+m[3], m[2])
		}
	}
	bodies, weight := "", 1.0
	for _, t := range g.tests {
		if t.file == file && t.name != "" {
			bodies += bodyOf(afterGroups(text, t.full), t.name)
		}
	}
	if bodies == "" {
		bodies, weight = text, wholeFile
	}
	g.bodies.WriteString(bodies)
	for _, n := range namesIn(bodies, path.Ext(file)) {
		g.addCall(n, call{weight: weight})
	}
}

// importJS notes the file that a relative import names.
func (g *gathering) importJS(file, spec string) {
	at := path.Join(path.Dir(file), spec)
	bare := strings.TrimSuffix(at, path.Ext(at))
	for _, base := range []string{at, bare} {
		for _, end := range []string{"", ".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cjs", ".vue", ".svelte", "/index.ts",
			"/index.tsx", "/index.js", "/index.mjs"} {
			if p := base + end; g.has(p) && isCode(p) {
				g.addImport(p)
				return
			}
		}
	}
}

// importPython notes the files that an import names: of "from a.b import c" a/b.py, a/b/__init__.py and a/b/c.py,
// wherever a lies.
func (g *gathering) importPython(module, names string) {
	at := strings.Trim(strings.ReplaceAll(module, ".", "/"), "/")
	if at == "" {
		return
	}
	try := []string{at + ".py", at + "/__init__.py"}
	for n := range strings.SplitSeq(names, ",") {
		if n, _, _ = strings.Cut(strings.Trim(n, " ()\\\t"), " "); n != "" {
			try = append(try, at+"/"+n+".py")
		}
	}
	for _, t := range try {
		for _, p := range g.byBase[path.Base(t)] {
			if (p == t || strings.HasSuffix(p, "/"+t)) && isCode(p) {
				g.addImport(p)
			}
		}
	}
}

// addImport notes a file that failing tests import. One that stands for its folder stands for all in it.
func (g *gathering) addImport(p string) {
	if slices.Contains(folderFiles, stem(p)) {
		g.local[path.Dir(p)] = true
	}
	if !slices.Contains(g.imported, p) {
		g.imported = append(g.imported, p)
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

// commonNames are called by tests of any project, and defined by some as well. Nothing changes them.
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

// namesIn are the names in source code outside of strings and comments, each once.
func namesIn(text, ext string) (out []string) {
	seen := map[string]bool{}
	code := withoutStrings(text, ext)
	for _, n := range calledName.FindAllString(code, 20_000) {
		if len(n) > 1 && !commonNames[n] && !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// withoutStrings blanks strings and comments out, roughly.
func withoutStrings(text, ext string) string {
	var b strings.Builder
	comment := "//"
	if ext == ".py" || ext == ".rb" {
		comment = "#"
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], comment):
			for i < len(text) && text[i] != '\n' {
				i++
			}
			b.WriteByte('\n')
		case c == '"' || c == '\'':
			for i++; i < len(text) && text[i] != c && text[i] != '\n'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			b.WriteByte(' ')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
