package testrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Node runs tests of JavaScript and TypeScript, with the runner in the project's package.json: node's own, Jest, Vitest
// or Mocha. It runs each changed test file separately.
type Node struct{}

func (Node) Name() string    { return "node" }
func (Node) Program() string { return "node" }

var nodeTestName = lazyregexp.New(`([._-]|^)(test|spec)s?\.[cm]?[jt]sx?$`)

func (Node) IsTest(p string) bool {
	return nodeTestName.MatchString(path.Base(p)) || HasFolder(p, "test", "tests", "__tests__", "spec", "__snapshots__")
}

// Runs excludes files with names of helpers.
func (Node) Runs(p string) bool {
	return nodeSource.MatchString(p) && !nodeHelper.MatchString(p) &&
		(nodeTestName.MatchString(path.Base(p)) || HasFolder(p, "test", "tests", "__tests__", "spec"))
}

// nodeHelper matches files in folders of tests that are not tests.
var nodeHelper = lazyregexp.New(`(^|/)(fixtures?|helpers?|support|utils?|mocks?|types|__\w*snapshots__|__mocks__|` +
	`node_modules)(/|\.[^/]*$)|\.d\.[cm]?ts$`)

func (Node) IsManifest(p string) bool {
	switch path.Base(p) {
	case "package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml":
		return true
	}
	return false
}

var nodeSource = lazyregexp.New(`\.[cm]?[jt]sx?$`)

func (l Node) IsCode(p string) bool { return nodeSource.MatchString(p) && !l.IsTest(p) }

// nodeRunners are the commands of runners, with %s for the project's options and for one file. Scripts in package.json
// call a runner by its name. report makes it write its report to /tmp/report, and cover the lines of each test to
// /tmp/ran.
var nodeRunners = []struct{ name, command, report, cover string }{
	{"vitest", "node_modules/.bin/vitest run%s", " --reporter=junit --outputFile=/tmp/report %s",
		" --config=" + nodeCoverAt + "/vitest.mjs %s"},
	{"jest", "node_modules/.bin/jest%s --ci --watchman=false --coverage=false --cacheDirectory=" + buildAt + "/jest",
		" --json --outputFile=/tmp/report --runTestsByPath %s",
		" --runInBand --testRunner=\"$PWD\"/" + nodeCoverAt + "/cover.cjs --runTestsByPath %s"},
	{"mocha", "node_modules/.bin/mocha%s", " --reporter xunit --reporter-option output=/tmp/report %s",
		" --require ./" + nodeCoverAt + "/cover.cjs %s"},
	{"node", "node%s", " --test --test-reporter=junit --test-reporter-destination=/tmp/report %s",
		" --require ./" + nodeCoverAt + "/cover.cjs --test %s"},
}

// nodeOption matches an option of a script that affects loading of tests. Options that select tests or reports are
// excluded.
var nodeOption = lazyregexp.New(`(?:^|\s)((?:-r|--require|--import|--loader|--experimental-loader|-u|--ui|` +
	`--extension|-c|--config|--file)(?:\s+|=)[\w@./:-]+|--(?:experimental|no-experimental)-[\w-]+)(?:\s|$)`)

// nodeCommand separates the commands of a script.
var nodeCommand = lazyregexp.New(`[&|;]+`)

// packageFile holds the required fields of package.json.
type packageFile struct {
	Main                 string            `json:"main"`
	Scripts              map[string]string `json:"scripts"`
	Dependencies         map[string]string `json:"dependencies"`
	DevDependencies      map[string]string `json:"devDependencies"`
	PeerDependencies     map[string]string `json:"peerDependencies"`
	OptionalDependencies map[string]string `json:"optionalDependencies"`
	Overrides            json.RawMessage   `json:"overrides"`
}

var nodeTestCall = lazyregexp.New(`\bnode\s(?:[^&|;]*\s)?--test\b`)

// runsNode reports whether any script runs node's own runner, since "test" may call another script.
func (f packageFile) runsNode() bool {
	for _, s := range f.Scripts {
		if nodeTestCall.MatchString(s) {
			return true
		}
	}
	return false
}

// runner returns the command that runs one file, for its report or for its coverage; "": unknown.
func (f packageFile) runner(cover bool) string {
	for _, r := range nodeRunners {
		_, has := f.DevDependencies[r.name]
		_, has2 := f.Dependencies[r.name]
		if has || has2 || r.name == "node" && f.runsNode() {
			options := f.options(r.name)
			if cover {
				return coverCommand(r.name, r.command, options) + r.cover
			}
			return fmt.Sprintf(r.command, options) + r.report
		}
	}
	return ""
}

// options returns the loading options that the project's scripts give to a runner, each after a space.
func (f packageFile) options(runner string) string {
	call := regexp.MustCompile(`(?:^|[\s/])` + runner + `(?:\s+(?:run|--test))?(\s.*|$)`)
	for _, name := range slices.Sorted(maps.Keys(f.Scripts)) {
		if !strings.HasPrefix(name, "test") {
			continue
		}
		for _, one := range nodeCommand.Split(f.Scripts[name], -1) {
			m := call.FindStringSubmatch(one)
			if m == nil {
				continue
			}
			var found []string
			for rest := m[1]; ; {
				at := nodeOption.FindStringSubmatchIndex(rest)
				if at == nil {
					break
				}
				found, rest = append(found, rest[at[2]:at[3]]), rest[at[3]:]
			}
			if len(found) > 0 {
				return " " + strings.Join(found, " ")
			}
		}
	}
	return ""
}

// nodeRun runs one file, %[1]s, twice with a command, %[2]s.
const nodeRun = "for n in 1 2; do\nrm -f /tmp/report; mark run %[1]s\n" +
	"limited %[2]s </dev/null >/tmp/printed 2>&1\n" +
	"if [ -s /tmp/report ]; then cat /tmp/report; else cat /tmp/built /tmp/printed | tail -c 4000; fi\n" +
	"mark end $status\n" +
	"[ $status -le 0 ] && [ -n \"$ONCE\" ] && break\ndone\n"

func (l Node) Suite(tree Files, tests []string, read ReadFile) (Suite, bool) {
	return l.suite(tree, tests, read, "", nodeRun, false)
}

// suite runs each test file by the shell code run, after begin.
func (Node) suite(tree Files, tests []string, read ReadFile, begin, run string, cover bool) (Suite, bool) {
	text, err := read("package.json")
	var about packageFile
	if err != nil || json.Unmarshal(text, &about) != nil {
		return Suite{}, false
	}
	command := about.runner(cover)
	var script strings.Builder
	for _, t := range tests {
		if !nodeSource.MatchString(t) || HasFolder(t, "fixtures", "__snapshots__") || command == "" {
			continue
		}
		fmt.Fprintf(&script, run, quoteShell(t), fmt.Sprintf(command, quoteShell(t)))
	}
	if script.Len() == 0 {
		return Suite{}, false
	}
	s := Suite{Script: nodeMarks + about.built(tree, tests, read) + begin + script.String(), Deps: "node"}
	if len(about.Dependencies)+len(about.DevDependencies)+len(about.PeerDependencies)+len(about.OptionalDependencies) > 0 {
		names, state := npmFiles(tree, text, read)
		s.Deps, s.Near = "node-"+state, "node-near-"+about.majors()
		s.Eager, s.Hosts = true, []string{"registry.npmjs.org"}
		// Programs that .npmrc names are not run.
		s.Prepare = "cp " + strings.Join(names, " ") + " " + depsAt + "/ && cd " + depsAt +
			" && export npm_config_cache=" + buildAt + "/npm npm_config_prefer_offline=true " +
			"npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=1000 npm_config_fetch_timeout=60000 && " +
			"set -- --ignore-scripts --git=git --node-options= && " +
			"{ { [ ! -d node_modules ] && npm ci \"$@\"; } || npm install \"$@\" || " +
			"npm install \"$@\" --legacy-peer-deps; }" // npm suggests it if peers conflict
		s.Whole = "node_modules/.package-lock.json"
		s.Links = map[string]string{"node_modules": depsAt + "/node_modules"}
	}
	return s, true
}

// jestReport is Jest's output for --json: https://jestjs.io/docs/cli#--json
type jestReport struct {
	Total       *int `json:"numTotalTests"`
	TestResults []struct {
		Name             string `json:"name"`
		Status           string `json:"status"`
		AssertionResults []struct {
			FullName string `json:"fullName"`
			Status   string `json:"status"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// Results parses Jest's JSON, or the XML of the others.
func (Node) Results(out []byte) Results {
	if text, ok := jestOutput(out); ok {
		var rep jestReport
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&rep); err != nil {
			return Results{}
		}
		found := Results{}
		for _, file := range rep.TestResults {
			if len(file.AssertionResults) == 0 && file.Status == "failed" {
				found[unloaded] = Failed
			}
			for _, a := range file.AssertionResults {
				outcome, known := map[string]Outcome{"passed": Passed, "failed": Failed}[a.Status]
				if !known {
					outcome = Skipped
				}
				found.add(a.FullName, outcome)
			}
		}
		return found
	}
	found := JUnit(out)
	if len(found) == 0 {
		found[unloaded] = Failed
	}
	return found
}

// LastWord looks for the end of the report, which runners write at the end.
func (Node) LastWord(out []byte) bool {
	if text, ok := jestOutput(out); ok {
		var rep jestReport
		return json.NewDecoder(bytes.NewReader(text)).Decode(&rep) == nil && rep.Total != nil
	}
	return junitClosed(out)
}

// jestOutput returns Jest's report; false if it is another runner's.
func jestOutput(out []byte) ([]byte, bool) {
	i := bytes.Index(out, []byte(`{"num`))
	if i < 0 || bytes.Contains(out[:i], []byte("<testsuite")) {
		return nil, false
	}
	return out[i:], true
}

func (Node) Lacks(string) bool { return false }

// unloaded is the name of the failed test of a file that can't be loaded.
const unloaded = "(the file itself)"

// testFiles returns the tests with a matching base name.
func testFiles(tests []string, name *lazyregexp.Regexp) []string {
	return slices.DeleteFunc(slices.Clone(tests), func(p string) bool { return !name.MatchString(path.Base(p)) })
}
