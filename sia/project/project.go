package project

import (
	"regexp"
	"slices"
	"strings"
)

// MaxFile is the most bytes of a file that say anything about a project; a larger one is passed over.
const MaxFile = 1 << 20

// Project is what was found. The zero Project is of a folder about which nothing is known.
type Project struct {
	Languages []Language
	Setup     []Command // that prepare a fresh checkout, in order; most fetch packages
	Test      Command   // empty: none was found
	Others    []Command // that run further tests of it, in the order of Languages
}

// Language is one language of a project.
type Language struct {
	Name    string // such as "Go"
	Manager string // of its packages, such as "pnpm"; empty: none that is known
	Why     string // the file that says so
}

// Command is a command line for a shell.
type Command struct {
	Line  string
	Why   string   // in words for people, without a period
	Hosts []string // that it fetches from by HTTPS, by name; none: it needs no network
}

// Hosts are all hosts that a setup fetches from, each once, in the order of the commands.
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

// Look says what a folder holds. The names are those at its top; a folder's ends with a slash. read gives a
// file, by its path with slashes, and false when there is none that can be read; it is asked for few files, and
// only for those that names speak of.
func Look(names []string, read func(path string) ([]byte, bool)) Project {
	at := top{names: make(map[string]bool, len(names)), read: read}
	for _, n := range names {
		at.names[n] = true
	}
	var p Project
	var tests, untested []Command
	var tested bool // some language
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
	}
	if !tested { // else what belongs to no tests may be for linters, or for documents
		p.Setup = append(p.Setup, untested...)
	}
	if len(tests) > 0 {
		p.Test, p.Others = tests[0], tests[1:]
	}
	return p
}

// finding is what one look found; parts of it may be empty.
type finding struct {
	language Language
	setup    []Command
	test     Command
}

// top is the top of a folder.
type top struct {
	names map[string]bool
	read  func(string) ([]byte, bool)
}

// has reports whether something has that name; a folder's ends with a slash.
func (t top) has(name string) bool { return t.names[name] }

// first is the first of some names that there is; empty: none.
func (t top) first(names ...string) string {
	if i := slices.IndexFunc(names, t.has); i >= 0 {
		return names[i]
	}
	return ""
}

// file is the text of a file at the top, without the byte-order mark that some editors put first; false when there is
// none that can be read.
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

// makefile finds a target that tests, whatever it is written in.
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
