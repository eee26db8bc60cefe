package project

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var unittestMark = regexp.MustCompile(`(?m)^\s*(import|from) unittest\b`)

// pytestNamed is pytest, or a plugin of it, among what a project needs.
var pytestNamed = regexp.MustCompile(`\bpytest\b`)

// requirements are the files that list what a project needs, one a line.
var requirements = []string{"requirements.txt", "requirements-dev.txt", "requirements-test.txt",
	"dev-requirements.txt", "test-requirements.txt"}

var pytestMark = regexp.MustCompile(`(?m)^\[tool\.pytest|^\[(tool:)?pytest\]`)

// python reads what Python projects keep at their top.
func python(t top) finding {
	why := t.first("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "tox.ini", "pytest.ini", "conftest.py")
	f := finding{test: pytest(t)}
	if f.test.Line == "" {
		f.test = unconfigured(t)
	}
	if why == "" && f.test.Line == "" {
		return finding{}
	}
	if why == "" {
		why, _, _ = strings.Cut(f.test.Why, " is there")
	}
	f.language = Language{"Python", "pip", why}
	switch {
	case t.has("uv.lock"):
		f.language.Manager = "uv"
	case t.has("poetry.lock"):
		f.language.Manager = "poetry"
	default:
		f.setup = pip(t)
	}
	return f
}

const pytestLine = "python3 -m pytest -q"

// pytest says whether the tests are pytest's.
func pytest(t top) Command {
	const line = pytestLine
	if _, ok := t.file("pytest.ini"); ok {
		return Command{Line: line, Why: "pytest.ini is there"}
	}
	for _, name := range []string{"pyproject.toml", "setup.cfg", "tox.ini"} {
		if text, ok := t.file(name); ok && pytestMark.MatchString(text) {
			return Command{Line: line, Why: name + " configures pytest"}
		}
	}
	if _, ok := t.file("conftest.py"); ok {
		return Command{Line: line, Why: "conftest.py is there"}
	}
	if t.has("tests/") {
		if _, ok := t.read("tests/conftest.py"); ok {
			return Command{Line: line, Why: "tests/conftest.py is there"}
		}
	}
	return Command{}
}

// unconfigured says how tests run that no file configures, by what a test file at the top imports.
func unconfigured(t top) Command {
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		if strings.HasPrefix(name, "test") && strings.HasSuffix(name, ".py") {
			if text, ok := t.file(name); ok && !unittestMark.MatchString(text) {
				return Command{Line: pytestLine, Why: name + " is there"}
			}
			return discover(t, name+" is there", "")
		}
	}
	if t.has("tests/") {
		if _, ok := t.read("tests/__init__.py"); ok { // else it finds none of what lies there
			return discover(t, "tests/__init__.py is there", "")
		}
	}
	return Command{}
}

// discover finds tests with pytest where a file names it, and else with unittest: that finds its own tests alone, and
// before Python 3.12 it passes without any.
func discover(t top, why, in string) Command {
	for _, name := range append([]string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini"}, requirements...) {
		if text, ok := t.file(name); ok && pytestNamed.MatchString(text) {
			return Command{Line: pytestLine, Why: why + ", and " + name + " names pytest"}
		}
	}
	return Command{Line: "python3 -m unittest discover" + in, Why: why}
}

// pip says how the project and what it needs are installed.
func pip(t top) (all []Command) {
	hosts := []string{"pypi.org", "files.pythonhosted.org"}
	var lists []string
	for _, name := range requirements {
		if t.has(name) {
			lists = append(lists, name)
		}
	}
	if len(lists) > 0 {
		verb := " is there"
		if len(lists) > 1 {
			verb = " are there"
		}
		all = append(all, Command{"python3 -m pip install -r " + strings.Join(lists, " -r "),
			strings.Join(lists, ", ") + verb, hosts})
	}
	if text, ok := t.file("pyproject.toml"); ok {
		if what, is := packaged(text); is {
			return append(all, Command{"python3 -m pip install -e " + what, "pyproject.toml describes a package", hosts})
		}
	}
	if t.has("setup.py") {
		all = append(all, Command{"python3 -m pip install -e .", "setup.py describes a package", hosts})
	}
	return all
}

// packaged reports whether a pyproject.toml describes a package, and what of it pip installs, as a word for a
// shell: the package with the extra that is for tests, where there is one.
func packaged(text string) (what string, is bool) {
	var p struct {
		Project *struct {
			Extras map[string]any `toml:"optional-dependencies"`
		} `toml:"project"`
		Build map[string]any `toml:"build-system"`
	}
	if toml.Unmarshal([]byte(text), &p) != nil {
		return "", false
	}
	if p.Project == nil {
		return ".", p.Build != nil
	}
	for _, name := range []string{"test", "tests", "testing", "dev"} {
		if _, has := p.Project.Extras[name]; has {
			return "'.[" + name + "]'", true
		}
	}
	return ".", true
}

// guessed is how Python tests run where nothing else says how: the last resort.
func guessed(t top) finding {
	if why := t.first("setup.py", "pyproject.toml", "requirements.txt"); why != "" && t.has("tests/") &&
		python(t).test.Line == "" {
		return finding{test: discover(t, why+" and the folder tests are there", " -s tests")}
	}
	return finding{}
}
