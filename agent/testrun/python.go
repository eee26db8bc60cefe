package testrun

import (
	"bytes"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Python runs tests with pytest if the project mentions it or a test does not mention unittest, and else with unittest.
// It runs each changed test file separately. If the index can't be reached, it uses the packages installed on this
// machine.
type Python struct{}

func (Python) Name() string    { return "python" }
func (Python) Program() string { return "python3" }

var pythonTestName = lazyregexp.New(`^(test_.*|.*_tests?|tests?)\.py$`)

func (Python) IsTest(p string) bool {
	return pythonTestName.MatchString(path.Base(p)) || path.Base(p) == "conftest.py" ||
		HasFolder(p, "test", "tests", "testing")
}

// Runs reports whether a file is named like a test.
func (Python) Runs(p string) bool { return pythonTestName.MatchString(path.Base(p)) }

var pythonManifest = lazyregexp.New(`^(pyproject\.toml|setup\.(py|cfg)|tox\.ini|pytest\.ini|` +
	`requirements.*\.(txt|in)|poetry\.lock|uv\.lock|Pipfile(\.lock)?)$`)

func (Python) IsManifest(p string) bool {
	return pythonManifest.MatchString(path.Base(p)) || path.Ext(p) == ".txt" && HasFolder(p, "requirements")
}

func (l Python) IsCode(p string) bool { return path.Ext(p) == ".py" && !l.IsTest(p) }

func (l Python) Suite(tree Files, tests []string, read ReadFile) (Suite, bool) {
	names := testFiles(tests, pythonTestName)
	if len(names) == 0 {
		return Suite{}, false
	}
	manifests := []string{}
	speaks := false // the project mentions pytest
	for p := range tree {
		if path.Base(p) == "conftest.py" {
			speaks = true
		}
		if l.IsManifest(p) && strings.Count(p, "/") <= 1 {
			manifests = append(manifests, p)
		}
	}
	slices.Sort(manifests)
	state := ""
	var needs []string
	for _, p := range manifests {
		text, err := read(p)
		if p == "pyproject.toml" && err == nil {
			needs = pythonGroup(text)
		}
		speaks = speaks || err == nil && bytes.Contains(text, []byte("pytest"))
	}
	for _, p := range names { // unittest runs only its own tests
		text, err := read(p)
		speaks = speaks || err == nil && (bytes.Contains(text, []byte("pytest")) || !bytes.Contains(text, []byte("unittest")))
	}
	for _, p := range manifests {
		state += p + " " + tree[p].ID + "\n"
	}
	var script strings.Builder
	if speaks {
		script.WriteString(pythonWithPytest)
	}
	for _, t := range names {
		run := "python3 -m unittest -v " + quoteShell(t)
		if speaks {
			run = "$py -m pytest $plugin -q -p no:cacheprovider -o addopts= -o required_plugins= " +
				"-o junit_family=xunit1 --junitxml=/tmp/report " + quoteShell(t)
		}
		fmt.Fprintf(&script, "for n in 1 2; do\nrm -f /tmp/report; mark run %s\nlimited %s </dev/null 2>&1\n"+
			"cat /tmp/report 2>/dev/null\nmark end $status\n[ $status -le 0 ] && [ -n \"$ONCE\" ] && break\ndone\n",
			quoteShell(t), run)
	}
	s := Suite{Script: pythonMarks + script.String(), Deps: "python",
		Env: []string{"PYTHONPATH=" + pythonPath(tree, names), "PYTHONDONTWRITEBYTECODE=1"}}
	if speaks || len(manifests) > 0 {
		s.Deps = "python-" + gitops.BlobID(int64(len(state)), strings.NewReader(state))
		s.Eager, s.Executes, s.Hosts = true, true, []string{"pypi.org", "files.pythonhosted.org"}
		s.Prepare = l.fetch(tree, manifests, needs, speaks)
		s.Installed = "python3 - " + depsAt + "/site <<'END'\n" + pythonInstalled + "END\n"
	}
	return s, true
}

// pythonPath returns the module search path: as in an editable install, the work tree is first.
func pythonPath(tree Files, tests []string) string {
	dirs := []string{}
	add := func(dir string) {
		for _, sub := range []string{"src", "lib", ""} {
			if at := path.Join("/workspace", dir, sub); !slices.Contains(dirs, at) {
				dirs = append(dirs, at)
			}
		}
	}
	for _, t := range tests { // in a repository with several projects, the test's own
		if dir, ok := Nearest(tree, t, "pyproject.toml", "setup.py", "setup.cfg"); ok {
			add(dir)
		}
	}
	add(".")
	return strings.Join(append(dirs, depsAt+"/site"), ":")
}

// pythonInstalled registers the project with the machine's Python, as an editable install would: its name, version and
// entry points. It builds nothing.
//
//go:embed python_installed.py
var pythonInstalled string

// pythonWithPytest finds the Python that has pytest, since a machine may have several. It removes the project's minimum
// version, so that an older pytest is tried.
const pythonWithPytest = `py=
for one in python3 /usr/local/bin/python3 /usr/bin/python3; do
"$one" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pytest") is None)' 2>/dev/null || continue
py=$one
break
done
[ -n "$py" ] || { mark build pytest; echo "No module named pytest"; mark end 1; exit; }
[ -d ` + depsAt + `/site/pytest ] ||
  sed -i '/^ *minversion *=/d' pyproject.toml pytest.ini setup.cfg tox.ini 2>/dev/null
`

// pythonMarks makes pytest remove its variables from the environment during a test, if UNMARKED is set.
const pythonMarks = `plugin=
if [ -n "$UNMARKED" ]; then
mkdir -p /tmp/unmarked
cat >/tmp/unmarked/sia_unmarked.py <<'END'
import os
import pytest

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    os.environ.pop("PYTEST_CURRENT_TEST", None)
    os.environ.pop("PYTEST_VERSION", None)
END
export PYTHONPATH="$PYTHONPATH:/tmp/unmarked"
plugin="-p sia_unmarked"
fi
`

// pythonGroup returns the requirements of the first dependency group for tests, including nested groups. pip supports
// groups only since 25.1.
func pythonGroup(pyproject []byte) (needs []string) {
	var p struct {
		Groups map[string][]any `toml:"dependency-groups"`
	}
	if toml.Unmarshal(pyproject, &p) != nil {
		return nil
	}
	var added []string
	var add func(group string)
	add = func(group string) {
		if slices.Contains(added, group) {
			return
		}
		added = append(added, group)
		for _, one := range p.Groups[group] {
			switch one := one.(type) {
			case string:
				if !strings.HasPrefix(one, "-") { // otherwise an option
					needs = append(needs, one)
				}
			case map[string]any:
				if other, ok := one["include-group"].(string); ok {
					add(other)
				}
			}
		}
	}
	for _, group := range []string{"test", "tests", "testing", "dev"} {
		if _, has := p.Groups[group]; has {
			add(group)
			break
		}
	}
	return needs
}

// fetch installs the dependencies of the project and of its tests outside the work tree. It includes the project
// itself, but the work tree has precedence.
func (Python) fetch(tree Files, manifests, needs []string, pytest bool) string {
	var what []string
	for _, p := range manifests {
		if path.Ext(p) == ".txt" {
			what = append(what, "-r "+quoteShell(p))
		}
	}
	_, project := tree["pyproject.toml"]
	_, setup := tree["setup.py"]
	if project || setup {
		what = append(what, "'.[test,tests,testing,dev]'")
	}
	for _, one := range needs {
		what = append(what, quoteShell(one))
	}
	if pytest {
		what = append(what, "pytest")
	}
	if len(what) == 0 {
		return ""
	}
	// pip passes the environment, but not its options, to its subprocesses that fetch build dependencies.
	return "export PIP_RETRIES=1 PIP_DEFAULT_TIMEOUT=15 && cp -r . /tmp/project && cd /tmp/project && " +
		"python3 -m pip install --quiet --no-cache-dir --target " + depsAt + "/site " + strings.Join(what, " ")
}

// A test in the output of `python -m unittest -v`. With a docstring the verdict is on the next line, and after output
// of the test on its own line; if subtests failed there is no verdict, and the next test is on the same line. Failed
// tests are listed again at the end.
var (
	unittestName    = lazyregexp.New(`(?:^|^(FAIL|ERROR): | \.\.\. )(\w+) \(([\w.<>]+)\)`)
	unittestVerdict = lazyregexp.New(`(?:^| \.\.\. )(ok|FAIL|ERROR|expected failure|unexpected success|skipped .*)$`)
)

func (Python) Results(out []byte) Results {
	if found := JUnit(out); len(found) > 0 {
		return found
	}
	found := Results{}
	name := ""
	for line := range bytes.Lines(out) {
		line = bytes.TrimRight(line, "\r\n")
		for _, m := range unittestName.FindAllSubmatch(line, -1) {
			name = string(m[3])
			if !strings.HasSuffix(name, "."+string(m[2])) { // the case before Python 3.11
				name += "." + string(m[2])
			}
			if len(m[1]) > 0 {
				found[name], name = Failed, "" // its traceback follows
			}
		}
		if m := unittestVerdict.FindSubmatch(line); m != nil && name != "" {
			switch verdict := string(m[1]); {
			case verdict == "ok" || verdict == "expected failure":
				found[name] = Passed
			case strings.HasPrefix(verdict, "skipped"):
				found[name] = Skipped
			default:
				found[name] = Failed
			}
			name = ""
		}
	}
	return found
}

// unittestLastWord matches unittest's last line.
var unittestLastWord = lazyregexp.New(`(?m)^Ran \d+ tests? in `)

// LastWord looks for unittest's number of tests, or for the end of pytest's report: plugins change the wording of
// pytest's summary.
func (Python) LastWord(out []byte) bool { return junitClosed(out) || unittestLastWord.Match(out) }

// Lacks reports whether pytest is missing, which is checked before any run.
func (Python) Lacks(log string) bool { return strings.Contains(log, "No module named pytest") }
