package project

import (
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

// Look detects the project in a folder. names are its top-level names; a folder's name ends with a slash. They may
// include the paths of deeper go.mod files, which it does not search for. read returns the content of a file by its
// path with slashes, and false if there is none that can be read; it is called for few files, chosen by names.
func Look(names []string, read func(path string) ([]byte, bool)) Project {
	at := top{names: make(map[string]bool, len(names)), read: read}
	for _, n := range names {
		at.names[n] = true
	}
	var p Project
	var tests, more, untested []Command
	var tested bool // a language with tests was found
	for _, look := range []func(top) finding{golang, node, python, rust, maven, makefile, guessed} {
		f := look(at)
		if f.language.Name != "" {
			p.Languages = append(p.Languages, f.language)
		}
		if f.test.Line == "" {
			untested = append(untested, f.setup...)
			continue
		}
		tested = tested || f.language.Name != ""
		tests, p.Setup = append(tests, f.test), append(p.Setup, f.setup...)
		more = append(more, f.more...)
	}
	if !tested { // else setup without tests may only serve linters or documents
		p.Setup = append(p.Setup, untested...)
	}
	if len(tests) > 0 {
		p.Test, p.Others = tests[0], append(tests[1:], more...)
	}
	return p
}

// finding is the result of one detector; any field may be empty.
type finding struct {
	language Language
	setup    []Command
	test     Command
	more     []Command // commands that run tests which test leaves out
}

// top is the top level of a folder.
type top struct {
	names map[string]bool
	read  func(string) ([]byte, bool)
}

// has reports whether there is a file or folder of that name; a folder's name ends with a slash.
func (t top) has(name string) bool { return t.names[name] }

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
