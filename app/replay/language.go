package replay

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
)

// files are the files of a tree by path.
type files = map[string]gitops.HistoryFile

// language is how tests of one language are told, run and read. Its implementations hold no state.
type language interface {
	// name is what tasks and people call it.
	name() string
	// program is what has to be on the machine to run its tests.
	program() string
	// isTest reports whether a file is a test, or data that tests read: it is laid over the parent.
	isTest(path string) bool
	// isManifest reports whether a file says what the tests depend on: it is laid over where the
	// commit changes it, and makes no candidate by itself.
	isManifest(path string) bool
	// isCode reports whether a file is code: a change of one makes a candidate, together with tests.
	isCode(path string) bool
	// suite is what runs changed tests in a tree. ok is false where it is not known how.
	suite(tree files, tests []string, read readFile) (s suite, ok bool)
	// results reads what one run of one group printed.
	results(output []byte) results
	// broken are the files of tests that a build names as what stops it, as paths of the tree. Without
	// any it can't be told.
	broken(log string, group string) []string
	// lacks reports whether a log says that something it depends on was not fetched yet.
	lacks(log string) bool
}

// readFile reads a file of the tree; it has an error when there is none.
type readFile func(path string) ([]byte, error)

// suite is a shell script that runs tests, and what it needs. The script says with mark what it does:
//
//	mark run GROUP      the output of one run of a group's tests follows
//	mark build GROUP    the output of building them follows
//	mark end STATUS     it ended with this exit status
type suite struct {
	script  string
	prepare string            // shell commands that fetch what the tests depend on, with a network; "": nothing
	eager   bool              // fetch before the first run, and not only where something lacks
	hosts   []string          // registries that prepare may reach, without a port
	deps    string            // name of the folder that it fills: one for each state of the manifests
	env     []string          // NAME=value; the folder is mounted at depsAt, and buildAt is a cache that stays
	links   map[string]string // that are laid into the tree, and where they lead
}

// languages in the order in which they are asked whose a commit is.
var languages = []language{golang{}, rust{}, java{}, python{}, node{}}

// languageNamed is the language of that name; nil: there is none.
func languageNamed(name string) language {
	for _, l := range languages {
		if l.name() == name {
			return l
		}
	}
	return nil
}

// hasFolder reports whether one of the folders of a path has one of these names.
func hasFolder(p string, names ...string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(d string) bool { return slices.Contains(names, d) })
}

// quoteShell makes one word for a shell of any text.
func quoteShell(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// nearest is the folder at or above a file's that has one of the named files; false without any.
func nearest(tree files, p string, names ...string) (string, bool) {
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
