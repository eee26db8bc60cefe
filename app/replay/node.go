package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// node runs tests of JavaScript and TypeScript, with the runner that the project's package.json says: node's
// own, Jest, Vitest or Mocha. Each changed test file is run by itself.
type node struct{}

func (node) name() string    { return "node" }
func (node) program() string { return "node" }

var nodeTestName = regexp.MustCompile(`([._-]|^)(test|spec)s?\.[cm]?[jt]sx?$`)

func (node) isTest(p string) bool {
	return nodeTestName.MatchString(path.Base(p)) || hasFolder(p, "test", "tests", "__tests__", "spec", "__snapshots__")
}

func (node) isManifest(p string) bool {
	switch path.Base(p) {
	case "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml":
		return true
	}
	return false
}

var nodeSource = regexp.MustCompile(`\.[cm]?[jt]sx?$`)

func (l node) isCode(p string) bool { return nodeSource.MatchString(p) && !l.isTest(p) }

// nodeRunners are the commands of runners, for one file %s. Each leaves its report in /tmp/report.
var nodeRunners = []struct{ name, command string }{
	{"vitest", "node_modules/.bin/vitest run --reporter=junit --outputFile=/tmp/report %s"},
	{"jest", "node_modules/.bin/jest --ci --json --outputFile=/tmp/report --runTestsByPath %s"},
	{"mocha", "node_modules/.bin/mocha --reporter xunit --reporter-option output=/tmp/report %s"},
	{"node", "node --test --test-reporter=junit --test-reporter-destination=/tmp/report %s"},
}

// packageFile is what of package.json matters here.
type packageFile struct {
	Scripts              map[string]string `json:"scripts"`
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
}

// runner is the command that runs one file; "": it is not known.
func (f packageFile) runner() string {
	for _, r := range nodeRunners {
		_, has := f.DevDependencies[r.name]
		_, has2 := f.Dependencies[r.name]
		if has || has2 || r.name == "node" && strings.Contains(f.Scripts["test"], "node --test") {
			return r.command
		}
	}
	return ""
}

func (l node) suite(tree files, tests []string, read readFile) (suite, bool) {
	text, err := read("package.json")
	var about packageFile
	if err != nil || json.Unmarshal(text, &about) != nil {
		return suite{}, false
	}
	command := about.runner()
	var script strings.Builder
	for _, t := range tests {
		if !nodeSource.MatchString(t) || hasFolder(t, "fixtures", "__snapshots__") || command == "" {
			continue
		}
		fmt.Fprintf(&script, "for n in 1 2; do\nrm -f /tmp/report; mark run %[1]s\n"+
			"%[2]s </dev/null >/tmp/printed 2>&1; status=$?\n"+
			"if [ -s /tmp/report ]; then cat /tmp/report; else tail -c 4000 /tmp/printed; fi\nmark end $status\n"+
			"[ $status = 0 ] && [ -n \"$ONCE\" ] && break\ndone\n", quoteShell(t), fmt.Sprintf(command, quoteShell(t)))
	}
	if script.Len() == 0 {
		return suite{}, false
	}
	s := suite{script: script.String(), deps: "node"}
	if len(about.Dependencies)+len(about.DevDependencies)+len(about.PeerDependencies)+len(about.OptionalDependencies) > 0 {
		s.deps = "node-" + cmp.Or(tree["package-lock.json"].ID, tree["npm-shrinkwrap.json"].ID, tree["package.json"].ID)
		s.eager, s.hosts = true, []string{"registry.npmjs.org"}
		s.prepare = "cp package.json package-lock.json npm-shrinkwrap.json .npmrc " + depsAt + "/ 2>/dev/null\ncd " + depsAt +
			" && export npm_config_cache=/tmp/npm && { npm ci --ignore-scripts || npm install --ignore-scripts; }"
		s.links = map[string]string{"node_modules": depsAt + "/node_modules"}
	}
	return s, true
}

// jestReport is what Jest writes with --json: https://jestjs.io/docs/cli#--json
type jestReport struct {
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		AssertionResults []struct {
			FullName string `json:"fullName"`
			Status   string `json:"status"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// results reads Jest's JSON, or the XML of the others.
func (node) results(out []byte) results {
	if i := bytes.Index(out, []byte(`{"num`)); i >= 0 && !bytes.Contains(out[:i], []byte("<testsuite")) {
		var rep jestReport
		if err := json.NewDecoder(bytes.NewReader(out[i:])).Decode(&rep); err != nil {
			return results{}
		}
		found := results{}
		for _, file := range rep.TestResults {
			if len(file.AssertionResults) == 0 && file.Status == "failed" {
				found[unloaded] = failed
			}
			for _, a := range file.AssertionResults {
				switch a.Status {
				case "passed":
					if found[a.FullName] != failed {
						found[a.FullName] = passed
					}
				case "failed":
					found[a.FullName] = failed
				default:
					found[a.FullName] = skipped
				}
			}
		}
		return found
	}
	found := junitResults(out)
	if len(found) == 0 {
		found[unloaded] = failed
	}
	return found
}

// broken: files are loaded one by one, and what can't be loaded is a result.
func (node) broken(string, string) []string { return nil }

func (node) lacks(string) bool { return false }

// unloaded is the name under which a file fails that can't be loaded at all.
const unloaded = "(the file itself)"

// testFiles are those of tests that a runner takes, by name.
func testFiles(tests []string, name *regexp.Regexp) []string {
	return slices.DeleteFunc(slices.Clone(tests), func(p string) bool { return !name.MatchString(path.Base(p)) })
}
