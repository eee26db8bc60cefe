package testrun

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
)

// Files are the files of a tree by path.
type Files = map[string]gitops.HistoryFile

// Language is how tests of one language are told, run and read. Its implementations hold no state.
type Language interface {
	// Name is what tasks and people call it.
	Name() string
	// Program is what has to be on the machine to run its tests.
	Program() string
	// IsTest reports whether a file is a test, or data that tests read: it is laid over the parent.
	IsTest(path string) bool
	// Runs reports whether the runner takes a test file, as far as its path tells. Others are helpers and data.
	Runs(path string) bool
	// IsManifest reports whether a file says what the tests depend on: it is laid over where the
	// commit changes it, and makes no candidate by itself.
	IsManifest(path string) bool
	// IsCode reports whether a file is code: a change of one makes a candidate, together with tests.
	IsCode(path string) bool
	// Suite is what runs changed tests in a tree. ok is false where it is not known how.
	Suite(tree Files, tests []string, read ReadFile) (s Suite, ok bool)
	// Results reads what one run of one group printed.
	Results(output []byte) Results
	// LastWord reports whether the output of one run ends with what the runner prints when it has run all that it
	// was to run. A process that ends before leaves none. Code under test can forge it as it can any output.
	LastWord(output []byte) bool
	// Lacks reports whether a log says that something it depends on was not fetched yet.
	Lacks(log string) bool
}

// What a suite's script heeds in its environment.
const (
	Once     = "ONCE=1"     // a group that passes, or does not end, is run once, and else twice
	Unmarked = "UNMARKED=1" // where the language knows how, nothing tells the code that it is tested
)

// ReadFile reads a file of the tree; it has an error when there is none.
type ReadFile func(path string) ([]byte, error)

// Suite is a shell script that runs tests, and what it needs. The script says with mark what it does:
//
//	mark run GROUP      the output of one run of a group's tests follows
//	mark build GROUP    the output of building them follows
//	mark end STATUS     it ended with this exit status
type Suite struct {
	Script  string
	Prepare string   // shell commands that fetch what the tests depend on, with a network; "": nothing
	Eager   bool     // fetch before the first run, and not only where something lacks
	Hosts   []string // registries that prepare may reach, without a port; first the one that it asks first
	Deps    string   // name of the folder that it fills; of one that is eager, one for each state of the manifests
	// Near is the name of a folder for other versions of nearly the same; "": there is none.
	Near string
	// Whole is the file that such a folder has when all of it was fetched.
	Whole string
	// Installed are the shell commands in place of Prepare where the registries can't be reached, without a network. They
	// make what is installed on the machine do; "": nothing can.
	Installed string
	Stdlib    bool              // empty build caches begin with Go's compiled standard library
	Env       []string          // NAME=value; the folder is mounted at depsAt, and buildAt is a cache that stays
	Links     map[string]string // that are laid into the tree, and where they lead
}

// Languages are those with tests that can be run, in the order in which they are asked whether a commit is theirs.
func Languages() []Language { return []Language{Golang{}, Rust{}, Java{}, Python{}, Node{}} }

// HasFolder reports whether one of the folders of a path has one of these names.
func HasFolder(p string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(d string) bool { return slices.Contains(names, d) })
}

// quoteShell makes one word for a shell of any text.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Nearest is the folder at or above a file's that has one of the named files; false without any.
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
