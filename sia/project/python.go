package project

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

var unittestMark = regexp.MustCompile(`(?m)^\s*(import|from) unittest\b`)

// pytestNamed matches pytest, or a plugin of it, among a project's dependencies.
var pytestNamed = regexp.MustCompile(`\bpytest\b`)

// requirements are the names of files that list a project's dependencies, one a line.
var requirements = []string{"requirements.txt", "requirements-dev.txt", "requirements-test.txt",
	"dev-requirements.txt", "test-requirements.txt", "requirements_dev.txt", "requirements_test.txt",
	"dev_requirements.txt", "test_requirements.txt"}

var pytestMark = regexp.MustCompile(`(?m)^\[tool\.pytest|^\[(tool:)?pytest\]`)

// python inspects the top-level files of Python projects.
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
	manager, setup, run := locked(t)
	if manager == "" {
		f.setup = pip(t)
		if strings.HasPrefix(f.test.Line, pytestLine) || f.test.Line == "" && namesPytest(t) != "" {
			f.setup = append(f.setup, lacksPytest(t)...)
		}
		return f
	}
	f.language.Manager, f.setup, f.locked, f.run = manager, setup, true, run
	if f.test.Line != "" {
		f.test.Line = run + f.test.Line
	}
	return f
}

// locked returns the package manager of a lock file, the commands that install its packages in a separate environment,
// and the prefix of a command that runs there. manager is empty if there is no lock file.
func locked(t top) (manager string, setup []Command, run string) {
	text, _ := t.file("pyproject.toml")
	p := described(text)
	var line string
	switch {
	case t.has("uv.lock"):
		manager, run, line = "uv", "uv run --no-sync ", "uv sync --frozen"
		if p.extra != "" {
			line += " --extra " + p.extra
		}
		if p.group != "" && p.group != "dev" { // uv installs dev by default
			line += " --group " + p.group
		}
		line += " --offline || " + line // without --offline it would try to fetch the build backend
	case t.has("poetry.lock"):
		manager, run, line = "poetry", "poetry run ", "poetry install --no-interaction"
		if p.extra != "" {
			line += " --extras " + p.extra
		}
	default:
		return "", nil, ""
	}
	why := manager + ".lock is there"
	return manager, []Command{
		{"command -v " + manager + " || python3 -m pip install " + manager, why, pypi()}, {line, why, pypi()}}, run
}

func pypi() []string { return []string{"pypi.org", "files.pythonhosted.org"} }

const pytestLine = "python3 -m pytest -q"

// pytest returns the pytest command if the project configures pytest; else an empty one.
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

// unconfigured returns the command for tests without configuration, chosen by the imports of a top-level test file.
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
		if _, ok := t.read("tests/__init__.py"); ok { // else unittest finds no tests there
			return discover(t, "tests/__init__.py is there", "")
		}
	}
	return Command{}
}

// discover returns the command that discovers tests: pytest if a file names it, else unittest, which finds only its own
// tests, and before Python 3.12 passes without any.
func discover(t top, why, in string) Command {
	if name := namesPytest(t); name != "" {
		return Command{Line: pytestLine, Why: why + ", and " + name + " names pytest"}
	}
	return Command{Line: "python3 -m unittest discover" + in, Why: why}
}

// namesPytest returns the first top-level file that names pytest; empty: none.
func namesPytest(t top) string {
	for _, name := range append([]string{"pyproject.toml", "setup.py", "setup.cfg", "tox.ini"}, requirements...) {
		if text, ok := t.file(name); ok && pytestNamed.MatchString(text) {
			return name
		}
	}
	return ""
}

// pipPytest begins the command that installs pytest where nothing else does.
const pipPytest = "python3 -m pip install pytest"

// lacksPytest returns the command that installs pytest if nothing that pip installs names it.
func lacksPytest(t top) []Command {
	for _, name := range requirements {
		if text, ok := t.file(name); ok && pytestNamed.MatchString(text) {
			return nil
		}
	}
	text, _ := t.file("pyproject.toml")
	if mayInstallPytest(described(text).installed) {
		return nil
	}
	return []Command{{pipPytest, "the tests need it, and no list of packages that is installed names it", pypi()}}
}

// pytestOrUnknown matches pytest, and lists of packages whose content is not known, such as extras of the work tree.
var pytestOrUnknown = regexp.MustCompile(`\bpytest\b|\.(?:/[\w./-]*)?\[| -r|--requirement|--group|include-group`)

// mayInstallPytest reports whether a command, or packages, may include pytest.
func mayInstallPytest(line string) bool { return pytestOrUnknown.MatchString(line) }

// withoutPytest removes the command that installs pytest from setup if the test does not need it, or if one of a
// workflow's commands may install it.
func withoutPytest(setup, installs []Command, test Command) []Command {
	isNeeded := strings.Contains(test.Line, pytestLine) &&
		!slices.ContainsFunc(installs, func(c Command) bool { return mayInstallPytest(c.Line) })
	return slices.DeleteFunc(slices.Clone(setup), func(c Command) bool {
		return !isNeeded && strings.Contains(c.Line, pipPytest)
	})
}

// ownEnvironment matches a program that runs tests in an environment that it makes itself.
var ownEnvironment = regexp.MustCompile(`^(?:tox|nox|hatch)$`)

// pip returns the commands that install the project and its dependencies.
func pip(t top) (all []Command) {
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
			strings.Join(lists, ", ") + verb, pypi()})
	}
	text, _ := t.file("pyproject.toml")
	p := described(text)
	var what, why []string
	if p.isPackage {
		what, why = append(what, "-e ."), append(why, "a package")
		if p.extra != "" {
			what[0] = "-e '.[" + p.extra + "]'"
		}
	}
	if p.group != "" {
		all = append(all, Command{"python3 -m pip install --upgrade pip",
			"pyproject.toml has groups of dependencies, which pip knows since 25.1", pypi()})
		what, why = append(what, "--group "+p.group), append(why, "a group of dependencies")
	}
	if len(what) > 0 {
		return append(all, Command{"python3 -m pip install " + strings.Join(what, " "),
			"pyproject.toml describes " + strings.Join(why, " and "), pypi()})
	}
	if t.has("setup.py") {
		all = append(all, Command{"python3 -m pip install -e .", "setup.py describes a package", pypi()})
	}
	return all
}

// pyproject describes what to install according to a pyproject.toml.
type pyproject struct {
	isPackage    bool
	extra, group string // those for tests; empty: none
	installed    string // packages that the project, the extra and the group name
}

func described(text string) pyproject {
	var p struct {
		Project *struct {
			Name         string         `toml:"name"`
			Dependencies any            `toml:"dependencies"`
			Extras       map[string]any `toml:"optional-dependencies"`
		} `toml:"project"`
		Build  map[string]any `toml:"build-system"`
		Groups map[string]any `toml:"dependency-groups"`
	}
	if toml.Unmarshal([]byte(text), &p) != nil {
		return pyproject{}
	}
	out := pyproject{isPackage: p.Project != nil || p.Build != nil, group: forTests(p.Groups)}
	if p.Project != nil {
		out.extra = forTests(p.Project.Extras)
		out.installed = fmt.Sprint(p.Project.Dependencies, p.Project.Extras[out.extra])
	}
	out.installed += fmt.Sprint(p.Groups[out.group])
	if p.Project != nil && p.Project.Name != "" { // extras of the package itself
		self := p.Project.Name + "["
		out.installed = strings.NewReplacer("["+self, "[.[", " "+self, " .[").Replace(out.installed)
	}
	return out
}

// forTests returns the name of the entry for tests; empty: none.
func forTests(named map[string]any) string {
	for _, name := range []string{"test", "tests", "testing", "dev"} {
		if _, has := named[name]; has {
			return name
		}
	}
	return ""
}

// guessed returns a default command for Python tests if nothing else was detected.
func guessed(t top) finding {
	why, named := t.first("setup.py", "pyproject.toml", "requirements.txt"), namesPytest(t)
	if why == "" || python(t).test.Line != "" || named == "" && !t.has("tests/") {
		return finding{}
	}
	test := Command{Line: pytestLine, Why: named + " names pytest"} // which also finds tests beside the code
	if t.has("tests/") {
		test = discover(t, why+" and the folder tests are there", " -s tests")
	}
	_, _, run := locked(t)
	test.Line = run + test.Line
	return finding{test: test}
}
