package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// mutant is SIA without one of its defences.
type mutant struct {
	Name   string // the removed defence, in a few words
	Tests  []tests
	Within time.Duration // time limit of tests that wait without the defence, until they have failed; 0: default
	Edits  []edit
}

// tests are tests of one package. Each must fail. They all have the same depth.
type tests struct {
	Package string // its folder, in the module
	Names   []string
}

// depth returns the nesting of the tests: 0 for functions.
func (t tests) depth() int { return strings.Count(t.Names[0], "/") }

// edit replaces some lines of a file.
type edit struct{ File, From, To string }

func (m mutant) String() string {
	s := m.Name + ":"
	for _, t := range m.Tests {
		s += " " + t.Package + " " + strings.Join(t.Names, " ")
	}
	for _, e := range m.Edits {
		s += ", " + e.File
	}
	return s
}

// read reads mutants. A section of the file is one of them:
//
//	-- the removed defence --
//	test app/webhook TestHandler TestVerifyWithoutSecret
//	within 1m
//	edit app/webhook/handler.go
//	 	a line that stays
//	-	a removed line
//	+	its replacement
//
// Empty lines are ignored. The lines of an edit must occur in the file exactly once, as whole lines. Several edits
// remove a defence together with a second one behind it; several lines of tests are for a defence that tests of
// several packages prove. "within" is for a defence that is a limit: it is the time limit of tests that wait
// without it.
func read(name string) ([]mutant, error) {
	file, err := txtar.ParseFile(name)
	if err != nil {
		return nil, err
	}
	var all []mutant
	known := map[string]bool{}
	for _, section := range file.Files {
		m, err := parse(section.Name, string(section.Data))
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %s: %w", name, section.Name, err)
		case known[m.Name]:
			return nil, fmt.Errorf("%s: %s is there twice", name, m.Name)
		}
		known[m.Name] = true
		all = append(all, m)
	}
	return all, nil
}

func parse(name, text string) (mutant, error) {
	m := mutant{Name: name}
	for line := range strings.Lines(text) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		words := strings.Fields(rest)
		switch last := len(m.Edits) - 1; {
		case key == "" && rest == "":
		case key == "test" && len(words) > 1:
			t := tests{words[0], words[1:]}
			if slices.ContainsFunc(t.Names, func(n string) bool { return strings.Count(n, "/") != t.depth() }) {
				return m, fmt.Errorf("%q needs a line for each depth of tests", line)
			}
			m.Tests = append(m.Tests, t)
		case key == "within":
			within, err := time.ParseDuration(rest)
			if err != nil {
				return m, err
			}
			m.Within = within
		case key == "edit" && len(words) == 1:
			m.Edits = append(m.Edits, edit{File: words[0]})
		case last < 0 || !strings.ContainsAny(line[:1], " +-"):
			return m, fmt.Errorf("%q is neither test, within nor edit, nor a line of an edit", line)
		default:
			if line[0] != '+' {
				m.Edits[last].From += line[1:]
			}
			if line[0] != '-' {
				m.Edits[last].To += line[1:]
			}
		}
	}
	if len(m.Tests) == 0 || len(m.Edits) == 0 {
		return m, errors.New("it needs a test and an edit")
	}
	return m, nil
}

// files returns the mutant's versions of files of the module in dir. Each removed text must occur
// exactly once, in whole lines.
func (m mutant) files(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, e := range m.Edits {
		text, again := files[e.File]
		if !again {
			var err error
			if text, err = os.ReadFile(filepath.Join(dir, e.File)); err != nil {
				return nil, err
			}
		}
		lines := "\n" + string(text)
		if n := strings.Count(lines, "\n"+e.From); n != 1 || e.From == "" || e.From == e.To {
			return nil, fmt.Errorf("%s has these lines %d times, and not once to be changed:\n%s", e.File, n, e.From)
		}
		files[e.File] = []byte(strings.Replace(lines, "\n"+e.From, "\n"+e.To, 1)[1:])
	}
	return files, nil
}
