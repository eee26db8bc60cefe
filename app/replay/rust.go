package replay

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// rust runs integration tests of Cargo packages: the files in a package's folder tests. Tests inside of the
// sources can't be told from the code, and are not laid over.
type rust struct{}

func (rust) name() string    { return "rust" }
func (rust) program() string { return "cargo" }

func (rust) isTest(p string) bool { return hasFolder(p, "tests") }

func (rust) isManifest(p string) bool {
	return path.Base(p) == "Cargo.toml" || path.Base(p) == "Cargo.lock"
}

func (l rust) isCode(p string) bool { return path.Ext(p) == ".rs" && !l.isTest(p) }

func (rust) suite(tree files, tests []string, _ readFile) (suite, bool) {
	var script strings.Builder
	var done []string
	for _, t := range tests {
		dir, ok := nearest(tree, t, "Cargo.toml")
		if !ok {
			continue
		}
		rest := strings.TrimPrefix(t, strings.TrimPrefix(dir+"/", "./"))
		name, inside, _ := strings.Cut(strings.TrimPrefix(rest, "tests/"), "/")
		main := path.Join(dir, "tests", name)
		if inside != "" { // tests/NAME/main.rs, with modules beside it
			main = path.Join(main, "main.rs")
		}
		if _, there := tree[main]; !there || !strings.HasPrefix(rest, "tests/") || path.Ext(main) != ".rs" ||
			slices.Contains(done, main) {
			continue
		}
		done = append(done, main)
		fmt.Fprintf(&script, `(
cd %[1]s || exit
mark build %[2]s
cargo test --offline --color never --test %[3]s --no-run 2>&1; status=$?
mark end $status
[ $status = 0 ] || exit
for n in 1 2; do
mark run %[2]s
cargo test --offline --color never --test %[3]s </dev/null 2>&1; status=$?
mark end $status
[ $status = 0 ] && [ -n "$ONCE" ] && break
done
)
`, quoteShell("./"+dir), quoteShell(main), quoteShell(strings.TrimSuffix(name, ".rs")))
	}
	if script.Len() == 0 {
		return suite{}, false
	}
	// Cargo tells what to build again by the files' times, so each tree has results of its own.
	target := "export CARGO_TARGET_DIR=" + buildAt + "/cargo-$SLOT\n"
	return suite{script: target + script.String(), prepare: "cargo fetch", deps: "rust",
		hosts: []string{"index.crates.io", "static.crates.io"},
		env:   []string{"CARGO_HOME=" + depsAt}}, true
}

// rustVerdict is a test as libtest prints it: https://doc.rust-lang.org/rustc/tests
var rustVerdict = regexp.MustCompile(`(?m)^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)

func (rust) results(out []byte) results {
	found := results{}
	for _, m := range rustVerdict.FindAllSubmatch(out, -1) {
		found[string(m[1])] = map[string]outcome{"ok": passed, "FAILED": failed, "ignored": skipped}[string(m[2])]
	}
	return found
}

// rustError is where a compiler's message points.
var rustError = regexp.MustCompile(`(?m)^ *--> ([^:\s]+\.rs):\d+`)

func (rust) broken(log, _ string) (out []string) {
	for _, m := range rustError.FindAllStringSubmatch(log, -1) {
		if p := path.Clean(m[1]); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

var rustLacks = regexp.MustCompile(`you're using offline mode|--offline was specified|` +
	`attempting to make an HTTP request|` +
	`[Cc]ouldn't resolve host|failed to download|no matching package named|unable to update|perhaps a crate was updated`)

func (rust) lacks(log string) bool { return rustLacks.MatchString(log) }
