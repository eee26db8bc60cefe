package testrun

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// npmFiles returns the files from which npm installs dependencies, the first of which is package.json with the given
// text, and a hash of all that decides what it installs. A link is left out: it leads to a file that may say anything.
func npmFiles(tree Files, about []byte, read ReadFile) (names []string, state string) {
	var b bytes.Buffer
	add := func(name string, text []byte) {
		names = append(names, name)
		fmt.Fprintf(&b, "%s %d\n%s", name, len(text), text)
	}
	add("package.json", withoutKeys(about))
	for _, name := range []string{"package-lock.json", "npm-shrinkwrap.json", ".npmrc"} {
		if text, err := read(name); err == nil {
			add(name, withoutVersion(text))
		} else if f, is := tree[name]; is && !f.Link { // it is too large to read
			add(name, []byte(f.ID))
		}
	}
	return names, gitops.BlobID(int64(b.Len()), &b)
}

// inertKeys are the keys of package.json that often change and mean nothing to the installation of dependencies. All
// others count: workspaces, for example, may add the dependencies of any folder.
var inertKeys = []string{"version", "scripts", "description", "keywords", "license", "author", "contributors",
	"homepage", "repository", "bugs", "main", "module", "types", "exports", "files"}

// withoutKeys removes inertKeys from the text of package.json.
func withoutKeys(about []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(about, &all) != nil {
		return about
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return slices.Contains(inertKeys, key) })
	out, _ := json.Marshal(all) // it was read from JSON
	return out
}

// nodeMajor matches a version, or a range that starts with one, and captures its compatible part.
var nodeMajor = lazyregexp.New(`^[~^>=v ]*(0\.\d+|[1-9]\d*)(?:[.\w+-]*)$`)

// majors returns a hash of a package's dependencies by name and major version.
func (f packageFile) majors() string {
	var b bytes.Buffer
	for _, list := range []map[string]string{f.Dependencies, f.DevDependencies, f.PeerDependencies,
		f.OptionalDependencies} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			version := list[name]
			if m := nodeMajor.FindStringSubmatch(version); m != nil {
				version = m[1]
			}
			fmt.Fprintf(&b, "%s %s\n", name, version)
		}
		b.WriteByte('\n')
	}
	b.Write(f.Overrides)
	return gitops.BlobID(int64(b.Len()), &b)
}

// withoutVersion removes the package's own version from a lock file.
func withoutVersion(lock []byte) []byte {
	var all map[string]json.RawMessage
	if json.Unmarshal(lock, &all) != nil {
		return lock
	}
	delete(all, "version")
	var packages map[string]json.RawMessage
	if json.Unmarshal(all["packages"], &packages) == nil {
		delete(packages, "")                        // a copy of package.json
		all["packages"], _ = json.Marshal(packages) // it was read from JSON
	}
	out, _ := json.Marshal(all) // as above
	return out
}

// nodeMarks adds the programs of dependencies to PATH, and makes node_modules a writable folder of links: Vite writes
// its configuration there.
const nodeMarks = `export PATH="$PWD/node_modules/.bin:$PATH"
: >/tmp/built
if [ -L node_modules ]; then
rm node_modules && mkdir node_modules
ln -s ` + depsAt + `/node_modules/* ` + depsAt + `/node_modules/.bin node_modules/
fi
`

// nodeScriptCall matches a command that runs another script of package.json.
var nodeScriptCall = lazyregexp.New(`^(?:npm|yarn|pnpm)\s+(?:run(?:-script)?\s+)?(?:-s\s+|--silent\s+)?([\w:.-]+)$`)

// nodeBuilds matches names of build scripts, and nodeSpares parts of a build that tests don't need.
var (
	nodeBuilds = lazyregexp.New(`^(?:pre)?(?:build|compile|bundle|transpile|prepare|prepack|tsc|rollup)\b`)
	nodeSpares = lazyregexp.New(`\b(?:lint|eslint|prettier|format|docs?|man|types?|typings?|dts|clean|reset|size|` +
		`minify|watch|test|check|rimraf|publish|husky)\b`)
)

// built returns the shell commands that build the files that tests load: those of the scripts that "test" calls before
// a runner, or of "build" if a test loads a file that the tree does not have. "": none.
func (f packageFile) built(tree Files, tests []string, read ReadFile) string {
	var commands []string
	for _, name := range []string{"pretest", "test"} {
		for _, one := range nodeCommand.Split(f.Scripts[name], -1) {
			m := nodeScriptCall.FindStringSubmatch(strings.TrimSpace(one))
			switch {
			case m != nil && nodeBuilds.MatchString(m[1]):
				commands = f.leaves(m[1], commands, 0)
			case m == nil && name == "pretest" && !nodeSpares.MatchString(one) && strings.TrimSpace(one) != "":
				commands = append(commands, strings.TrimSpace(one))
			}
		}
	}
	if len(commands) == 0 && f.loadsBuilt(tree, tests, read) {
		for _, name := range []string{"build", "compile", "prepare"} {
			if commands = f.leaves(name, commands, 0); len(commands) > 0 {
				break
			}
		}
	}
	if len(commands) == 0 {
		return ""
	}
	return fmt.Sprintf("limited sh -c %s </dev/null >/tmp/built 2>&1\n", quoteShell(strings.Join(commands, " && ")))
}

// leaves returns the commands that a script runs, directly or through other scripts, without duplicates.
func (f packageFile) leaves(name string, to []string, depth int) []string {
	for _, one := range strings.Split(f.Scripts[name], "&&") {
		one = strings.TrimSpace(one)
		m := nodeScriptCall.FindStringSubmatch(one)
		switch {
		case m != nil && f.Scripts[m[1]] != "":
			if depth < 4 {
				to = f.leaves(m[1], to, depth+1)
			}
		case one != "" && !nodeSpares.MatchString(strings.ReplaceAll(name, ":", " ")) && !nodeSpares.MatchString(one) &&
			!slices.Contains(to, one):
			to = append(to, one)
		}
	}
	return to
}

// nodeLoads matches a file that a test loads by its path.
var nodeLoads = lazyregexp.New(`(?:from|import|require)\s*\(?\s*["'](\.{1,2}(?:/[^"'\n]*)?)["']`)

// loadsBuilt reports whether a test loads a file from a folder that the tree does not have.
func (f packageFile) loadsBuilt(tree Files, tests []string, read ReadFile) bool {
	folders := map[string]bool{".": true}
	for p := range tree {
		for d := path.Dir(p); !folders[d]; d = path.Dir(d) {
			folders[d] = true
		}
	}
	for _, t := range tests {
		text, err := read(t)
		if err != nil {
			continue
		}
		for _, m := range nodeLoads.FindAllSubmatch(text, -1) {
			at := path.Join(path.Dir(t), string(m[1]))
			if at == "." && f.Main != "" { // the package itself
				at = path.Clean(f.Main)
			}
			if !strings.HasPrefix(at, "..") && !folders[at] && !folders[path.Dir(at)] {
				return true
			}
		}
	}
	return false
}
