package project

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// MaxFile is the maximum size of an inspected file, in bytes; a larger one is ignored.
const MaxFile = 1 << 20

// Project is a detected project. The zero Project means that nothing was detected.
type Project struct {
	Languages []Language
	Setup     []Command // commands that prepare a fresh checkout, in order; most fetch packages
	Test      Command   // command that runs the tests; empty: none detected
	Others    []Command // commands that run further tests, in the order of Languages
}

// Language is one language of a project.
type Language struct {
	Name    string `json:"name"`              // such as "Go"
	Manager string `json:"manager,omitempty"` // package manager, such as "pnpm"; empty: not known
	Why     string `json:"why"`               // the file from which it was detected
}

// Command is a command line for a shell.
type Command struct {
	Line  string   `json:"command"`
	Why   string   `json:"why"`             // reason for people, without a period
	Hosts []string `json:"hosts,omitempty"` // names of the hosts that it fetches from by HTTPS; empty: none
}

// Hosts returns the distinct hosts that the setup fetches from, in the order of the commands.
func (p Project) Hosts() (all []string) {
	for _, c := range p.Setup {
		for _, h := range c.Hosts {
			if !slices.Contains(all, h) {
				all = append(all, h)
			}
		}
	}
	return all
}

// Look detects the project in a folder. list returns the names in a folder, where "." is the top, and a folder's name
// ends with a slash; none if it can't be listed. The names of the top may include the paths of deeper go.mod files,
// which Look does not search for. read returns the content of a file by its path with slashes, and false if there is
// none that can be read. Both are called for few names, and read only once for each.
func Look(list func(dir string) []string, read func(path string) ([]byte, bool)) Project {
	type file struct {
		text []byte
		ok   bool
	}
	known := map[string]file{} // a call may be a request to GitHub
	t := top{list: list, read: func(path string) ([]byte, bool) {
		f, has := known[path]
		if !has {
			f.text, f.ok = read(path)
			known[path] = f
		}
		return f.text, f.ok
	}}.in(".")
	p := proposal{found: t.inspect(), tested: map[string]bool{}}
	for _, f := range p.found {
		if f.language.Name != "" {
			p.Languages = append(p.Languages, f.language)
		}
	}
	for _, c := range t.workflowTests() {
		p.addTested(t, c)
	}
	p.addOthers()
	return p.Project
}

// proposal is a project while it is detected.
type proposal struct {
	Project
	found  []finding       // what the files at the top say
	tested map[string]bool // kinds of the top that workflows test
}

func (p *proposal) addSetup(setup []Command) {
	for _, c := range setup {
		if !slices.ContainsFunc(p.Setup, func(o Command) bool { return o.Line == c.Line }) {
			p.Setup = append(p.Setup, c)
		}
	}
}

func (p *proposal) addTests(tests ...Command) {
	for _, c := range tests {
		if p.Test.Line == "" {
			p.Test = c
		} else if c.Line != "" {
			p.Others = append(p.Others, c)
		}
	}
}

// addTested adds a test that a workflow runs. It is prepared as the files in its folder say. If they have no lock file,
// the lock file at the top counts, or what the workflow installs before: for Python, in addition to what files say.
func (p *proposal) addTested(t top, c ciTest) {
	f := ofKind(p.found, c.kind)
	if c.dir == "." {
		p.tested[c.kind] = true
	} else {
		here := t.in(c.dir)
		if len(here.names) == 0 {
			return // such as a folder that only exists in the workflow
		}
		outer := f
		f = ofKind(here.inspect(), c.kind)
		for i := range f.setup {
			f.setup[i].Line = within(c.dir, f.setup[i].Line)
		}
		if f.language.Name != "" {
			f.language.Why = path.Join(c.dir, f.language.Why)
			p.Languages = append(p.Languages, f.language)
			if outer.locked && !f.locked {
				f.setup, f.run, f.locked = outer.setup, outer.run, true
			}
		}
	}
	test, installs := c.command(f), c.installs
	if ownEnvironment.MatchString(path.Base(c.words[0])) && test.Line == f.test.Line {
		installs = nil // for the program that runs them
	}
	if len(installs) > 0 && !f.locked {
		if c.kind != "python" { // another package manager
			f.setup = nil
		}
		f.setup = append(withoutPytest(f.setup, installs, test), installs...)
	} else {
		f.setup = withoutPytest(f.setup, nil, test)
	}
	if c.env != "" && test.Line != "" && !strings.Contains(test.Line, "|") { // a variable counts for one command
		test.Line = c.env + test.Line
		if named := workflows + "/" + c.file; !strings.HasPrefix(test.Why, named) {
			test.Why += ", and " + named + " sets the variables"
		}
	}
	test.Line = within(c.dir, test.Line)
	p.addSetup(f.setup)
	p.addTests(test)
	if c.dir == "." {
		p.addTests(f.more...)
	}
}

// addOthers adds the tests that only the files at the top show, unless workflows test by a script, which may run them.
func (p *proposal) addOthers() {
	byLanguage := p.Test.Line != "" && !p.tested["script"]
	var untested []Command
	for _, f := range p.found {
		switch {
		case p.tested[f.kind]:
		case f.test.Line == "" || p.tested["script"]:
			untested = append(untested, f.setup...)
		default:
			byLanguage = byLanguage || f.language.Name != ""
			p.addSetup(f.setup)
			p.addTests(append([]Command{f.test}, f.more...)...)
		}
	}
	if !byLanguage { // else setup without tests may only serve linters or documents
		p.addSetup(untested)
	}
}

// ofKind returns what the detectors of a kind found.
func ofKind(found []finding, kind string) (f finding) {
	for _, o := range found {
		switch {
		case o.kind != kind:
		case f.kind == "":
			f = o
		case f.test.Line == "":
			f.test = o.test
		}
	}
	return f
}

// finding is the result of one detector; any field but the kind may be empty.
type finding struct {
	kind     string // kind of project, as of a [ciTest]
	language Language
	setup    []Command
	locked   bool // a lock file says what setup installs
	test     Command
	run      string    // prefix of a command that runs in the environment of the setup
	more     []Command // commands that run tests which test leaves out
}

// top is the top level of a folder.
type top struct {
	names map[string]bool
	list  func(string) []string
	read  func(string) ([]byte, bool)
}

// in returns the top level of a folder below.
func (t top) in(dir string) top {
	list, read := t.list, t.read
	in := top{names: map[string]bool{},
		list: func(d string) []string { return list(path.Join(dir, d)) },
		read: func(name string) ([]byte, bool) { return read(path.Join(dir, name)) }}
	for _, n := range in.list(".") {
		in.names[n] = true
	}
	return in
}

// inspect returns what each detector finds.
func (t top) inspect() []finding {
	var all []finding
	for _, d := range []struct {
		kind string
		look func(top) finding
	}{{"go", golang}, {"node", node}, {"python", python}, {"rust", rust}, {"java", maven}, {"cmake", cmake},
		{"script", makefile}, {"python", guessed}} {
		f := d.look(t)
		f.kind = d.kind
		all = append(all, f)
	}
	return all
}

// has reports whether there is a file or folder of that name; a folder's name ends with a slash.
func (t top) has(name string) bool { return t.names[name] }

// hasFile reports whether there is a file with that path. A folder that is not the top is listed for it.
func (t top) hasFile(name string) bool {
	dir := path.Dir(name)
	if dir == "." {
		return t.has(name)
	}
	return fs.ValidPath(dir) && slices.Contains(t.list(dir), path.Base(name))
}

// first returns the first of some names that exists; empty: none.
func (t top) first(names ...string) string {
	if i := slices.IndexFunc(names, t.has); i >= 0 {
		return names[i]
	}
	return ""
}

// file returns the text of a top-level file, without the byte-order mark that some editors write, and whether it could
// be read.
func (t top) file(name string) (string, bool) {
	if !t.has(name) {
		return "", false
	}
	b, ok := t.read(name)
	if !ok || len(b) > MaxFile {
		return "", false
	}
	return strings.TrimPrefix(string(b), "\ufeff"), true
}

var makeTest = regexp.MustCompile(`(?m)^(test|check)\s*:([^=]|$)`)

// makefile detects a make target that runs tests.
func makefile(t top) finding {
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} { // as make looks for them
		text, ok := t.file(name)
		if !ok {
			continue
		}
		if m := makeTest.FindStringSubmatch(text); m != nil {
			return finding{test: Command{Line: "make " + m[1], Why: name + " has the target " + m[1]}}
		}
		return finding{}
	}
	return finding{}
}
