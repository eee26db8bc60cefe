package replay

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// python runs tests with pytest where the project speaks of it, and else with unittest. Each changed test file
// is run by itself.
type python struct{}

func (python) name() string    { return "python" }
func (python) program() string { return "python3" }

var pythonTestName = regexp.MustCompile(`^(test_.*|.*_tests?|tests?)\.py$`)

func (python) isTest(p string) bool {
	return pythonTestName.MatchString(path.Base(p)) || path.Base(p) == "conftest.py" ||
		hasFolder(p, "test", "tests", "testing")
}

var pythonManifest = regexp.MustCompile(`^(pyproject\.toml|setup\.(py|cfg)|tox\.ini|pytest\.ini|` +
	`requirements.*\.(txt|in)|poetry\.lock|uv\.lock|Pipfile(\.lock)?)$`)

func (python) isManifest(p string) bool {
	return pythonManifest.MatchString(path.Base(p)) || path.Ext(p) == ".txt" && hasFolder(p, "requirements")
}

func (l python) isCode(p string) bool { return path.Ext(p) == ".py" && !l.isTest(p) }

func (l python) suite(tree files, tests []string, read readFile) (suite, bool) {
	names := testFiles(tests, pythonTestName)
	if len(names) == 0 {
		return suite{}, false
	}
	manifests := []string{}
	speaks := false // of pytest
	for p := range tree {
		if path.Base(p) == "conftest.py" {
			speaks = true
		}
		if l.isManifest(p) && strings.Count(p, "/") <= 1 {
			manifests = append(manifests, p)
		}
	}
	slices.Sort(manifests)
	state := ""
	for _, p := range append(slices.Clone(manifests), names...) {
		text, err := read(p)
		speaks = speaks || err == nil && bytes.Contains(text, []byte("pytest"))
	}
	for _, p := range manifests {
		state += p + " " + tree[p].ID + "\n"
	}
	var script strings.Builder
	for _, t := range names {
		run := "python3 -m unittest -v " + quoteShell(t)
		if speaks {
			run = "python3 -m pytest -q -p no:cacheprovider -o addopts= -o junit_family=xunit1 --junitxml=/tmp/report " +
				quoteShell(t)
		}
		fmt.Fprintf(&script, "for n in 1 2; do\nrm -f /tmp/report; mark run %s\n%s </dev/null 2>&1; status=$?\n"+
			"cat /tmp/report 2>/dev/null\nmark end $status\n[ $status = 0 ] && [ -n \"$ONCE\" ] && break\ndone\n",
			quoteShell(t), run)
	}
	s := suite{script: script.String(), deps: "python",
		env: []string{"PYTHONPATH=/workspace/src:/workspace:" + depsAt + "/site", "PYTHONDONTWRITEBYTECODE=1"}}
	if speaks || len(manifests) > 0 {
		s.deps = "python-" + blobID(int64(len(state)), strings.NewReader(state))
		s.eager, s.hosts, s.prepare = true, []string{"pypi.org", "files.pythonhosted.org"}, l.fetch(tree, manifests, speaks)
	}
	return s, true
}

// fetch installs what the project and its tests need beside the work tree. The project itself comes along; the
// work tree's comes first.
func (python) fetch(tree files, manifests []string, pytest bool) string {
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
	if pytest {
		what = append(what, "pytest")
	}
	if len(what) == 0 {
		return ""
	}
	return "cp -r . /tmp/project && cd /tmp/project && python3 -m pip install --quiet --no-cache-dir --target " + depsAt +
		"/site " + strings.Join(what, " ")
}

// A test as `python -m unittest -v` prints it. With a docstring the verdict is on the next line; where parts of a
// test failed there is none, and the next test stands on its line. What failed is named again at the end.
var (
	unittestName    = regexp.MustCompile(`(?:^|^(FAIL|ERROR): | \.\.\. )(\w+) \(([\w.<>]+)\)`)
	unittestVerdict = regexp.MustCompile(` \.\.\. (ok|FAIL|ERROR|expected failure|unexpected success|skipped.*)$`)
)

func (python) results(out []byte) results {
	if found := junitResults(out); len(found) > 0 {
		return found
	}
	found := results{}
	name := ""
	for line := range bytes.Lines(out) {
		line = bytes.TrimRight(line, "\r\n")
		for _, m := range unittestName.FindAllSubmatch(line, -1) {
			name = string(m[3])
			if !strings.HasSuffix(name, "."+string(m[2])) { // before Python 3.11 the test is not part of it
				name += "." + string(m[2])
			}
			if len(m[1]) > 0 {
				found[name] = failed
			}
		}
		if m := unittestVerdict.FindSubmatch(line); m != nil && name != "" {
			switch verdict := string(m[1]); {
			case verdict == "ok" || verdict == "expected failure":
				found[name] = passed
			case strings.HasPrefix(verdict, "skipped"):
				found[name] = skipped
			default:
				found[name] = failed
			}
			name = ""
		}
	}
	return found
}

func (python) broken(string, string) []string { return nil }

func (python) lacks(string) bool { return false }
