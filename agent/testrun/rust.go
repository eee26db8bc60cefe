package testrun

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Rust runs integration tests of Cargo packages: the files in a package's folder tests. Unit tests are part of source
// files and are not laid over.
type Rust struct{}

func (Rust) Name() string    { return "rust" }
func (Rust) Program() string { return "cargo" }

func (Rust) IsTest(p string) bool { return HasFolder(p, "tests") }

// Runs reports whether a file is an integration test, or part of one.
func (Rust) Runs(p string) bool { return HasFolder(p, "tests") && path.Ext(p) == ".rs" }

func (Rust) IsManifest(p string) bool {
	return path.Base(p) == "Cargo.toml" || path.Base(p) == "Cargo.lock"
}

func (l Rust) IsCode(p string) bool { return path.Ext(p) == ".rs" && !l.IsTest(p) }

func (Rust) Suite(tree Files, tests []string, _ ReadFile) (Suite, bool) {
	var script strings.Builder
	var done []string
	for _, t := range tests {
		dir, ok := Nearest(tree, t, "Cargo.toml")
		if !ok {
			continue
		}
		rest := strings.TrimPrefix(t, strings.TrimPrefix(dir+"/", "./"))
		name, inside, _ := strings.Cut(strings.TrimPrefix(rest, "tests/"), "/")
		main := path.Join(dir, "tests", name)
		if inside != "" { // tests/NAME/main.rs, with modules next to it
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
cargo test $profile --offline --color never --test %[3]s --no-run 2>&1; status=$?
mark end $status
[ $status = 0 ] || exit
set -- cargo test --offline --color never --test %[3]s
[ -z "$UNMARKED" ] || { unmarked %[3]s && set -- env -u CARGO_HOME -u CARGO_TARGET_DIR /tmp/released; }
for n in 1 2; do
mark run %[2]s
limited "$@" </dev/null 2>&1
mark end $status
[ $status -le 0 ] && [ -n "$ONCE" ] && break
done
)
`, quoteShell("./"+dir), quoteShell(main), quoteShell(strings.TrimSuffix(name, ".rs")))
	}
	if script.Len() == 0 {
		return Suite{}, false
	}
	// Cargo decides by file times what to rebuild, so each tree has its own build folder.
	target := "export CARGO_TARGET_DIR=" + buildAt + "/cargo-$SLOT\n"
	// Cargo's settings in the tree name programs, which "cargo fetch" runs.
	return Suite{Script: target + rustMarks + script.String(), Prepare: "cargo fetch", Deps: "rust", Executes: true,
		Hosts: []string{"index.crates.io", "static.crates.io"},
		Env:   []string{"CARGO_HOME=" + depsAt}, Installed: rustInstalled}, true
}

// rustInstalled makes Cargo use the crates of Debian's packages.
const rustInstalled = `[ ! -d /usr/share/cargo/registry ] || cat >"$CARGO_HOME/config.toml" <<'END'
[source.crates-io]
replace-with = "installed"
[source.installed]
directory = "/usr/share/cargo/registry"
END
`

// rustMarks builds tests in release mode, and runs them without Cargo from another folder, if UNMARKED is set.
const rustMarks = `profile=
if [ -n "$UNMARKED" ]; then
profile=--release
unmarked() {
cp "$(cargo test $profile --offline --test "$1" --no-run --message-format=json 2>/dev/null |
sed -n 's/.*"test":true.*"executable":"\([^"]*\)".*/\1/p')" /tmp/released
}
fi
`

// rustVerdict matches a test in libtest's output: https://doc.rust-lang.org/rustc/tests
var rustVerdict = lazyregexp.New(`(?m)^test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)

func (Rust) Results(out []byte) Results {
	found := Results{}
	for _, m := range rustVerdict.FindAllSubmatch(out, -1) {
		found[string(m[1])] = map[string]Outcome{"ok": Passed, "FAILED": Failed, "ignored": Skipped}[string(m[2])]
	}
	return found
}

// rustLastWord matches libtest's last line.
var rustLastWord = lazyregexp.New(`(?m)^test result: `)

// LastWord looks for the summary.
func (Rust) LastWord(out []byte) bool { return rustLastWord.Match(out) }

var rustLacks = lazyregexp.New(`you're using offline mode|--offline was specified|` +
	`attempting to make an HTTP request|` +
	`[Cc]ouldn't resolve host|failed to download|no matching package named|unable to update|perhaps a crate was updated`)

func (Rust) Lacks(log string) bool { return rustLacks.MatchString(log) }
