package testrun

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
)

// Files are the files of a tree by path.
type Files = map[string]gitops.HistoryFile

// Language defines how to find, run and parse tests of one language. Implementations are stateless.
type Language interface {
	// Name is the name for tasks and users.
	Name() string
	// Program is the program required to run its tests.
	Program() string
	// IsTest reports whether a file is a test, or data for tests: it is laid over the parent.
	IsTest(path string) bool
	// Runs reports whether the runner runs a test file, by its path. Others are helpers and data.
	Runs(path string) bool
	// IsManifest reports whether a file declares dependencies of tests: it is laid over if the commit changes it, and
	// makes no candidate on its own.
	IsManifest(path string) bool
	// IsCode reports whether a file is code: a change of code and tests makes a candidate.
	IsCode(path string) bool
	// Suite returns the suite that runs changed tests in a tree. ok is false if they can't be run.
	Suite(tree Files, tests []string, read ReadFile) (s Suite, ok bool)
	// Results parses the output of one run of one group.
	Results(output []byte) Results
	// LastWord reports whether the output of one run ends with the runner's last line after all tests have run. It is
	// missing if the process ended early. Code under test can forge it, like any output.
	LastWord(output []byte) bool
	// Lacks reports whether a log shows that a dependency was not fetched yet.
	Lacks(log string) bool
}

// Environment variables for a suite's script.
const (
	Once     = "ONCE=1"     // run a group only once if it passes or does not end, otherwise twice
	Unmarked = "UNMARKED=1" // hide from the code that it is tested, if the language supports that
)

// ReadFile reads a file of the tree. It returns an error if the file does not exist.
type ReadFile func(path string) ([]byte, error)

// Suite is a shell script that runs tests, with its requirements. The script structures its output with mark:
//
//	mark run GROUP      the output of one run of a group's tests follows
//	mark build GROUP    the output of building them follows
//	mark end STATUS     it ended with this exit status
type Suite struct {
	Script  string
	Prepare string   // shell commands that fetch dependencies, with a network; "": none
	Eager   bool     // fetch before the first run, instead of only when a dependency is missing
	Hosts   []string // registries for Prepare, without ports; the first one is contacted first
	Deps    string   // name of the dependencies folder; with Eager, one for each state of the manifests
	// Executes means that Prepare or Installed may run code of the tree, which can write what it wants into that folder.
	Executes bool
	apart    bool // Deps is the folder of one head
	// Near is the name of a folder for similar dependencies; "": none.
	Near string
	// Whole is the file that such a folder contains once it is complete.
	Whole string
	// Installed are shell commands, run without a network, that replace Prepare if the registries can't be reached. They
	// set up the dependencies installed on this machine; "": unsupported.
	Installed string
	Stdlib    bool              // initialize empty build caches with Go's compiled standard library
	Env       []string          // NAME=value; the dependencies are mounted at depsAt, and a persistent cache at buildAt
	Links     map[string]string // links to create in the tree, by name, with their targets
}

// Languages returns the supported languages, in the order in which they are tried for a commit.
func Languages() []Language { return []Language{Golang{}, Rust{}, Java{}, Python{}, Node{}} }

// HasFolder reports whether one of the folders in a path has one of these names.
func HasFolder(p string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(d string) bool { return slices.Contains(names, d) })
}

// quoteShell quotes a text as one word for a shell.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Nearest returns the nearest folder at or above a file's that has one of the named files; false if there is none.
func Nearest(tree Files, p string, names ...string) (string, bool) {
	for dir := path.Dir(p); ; dir = path.Dir(dir) {
		for _, n := range names {
			if _, ok := tree[path.Join(dir, n)]; ok {
				return dir, true
			}
		}
		if dir == "." || dir == "/" {
			return "", false
		}
	}
}
