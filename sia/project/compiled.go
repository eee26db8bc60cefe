package project

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	goRequires = regexp.MustCompile(`(?m)^\s*require\b`)
	goReplaces = regexp.MustCompile(`(?m)=>\s*"?\./`) // replaces a module by a subfolder
)

// goEach returns a command that runs a shell command in the folder of each module, because the go command does not
// descend into nested modules.
func goEach(command string) string {
	return "find . -name go.mod -not -path '*/testdata/*' -not -path '*/vendor/*' -not -path '*/[._]*/*' " +
		"-execdir sh -c '" + command + "' {} +"
}

// golang inspects go.work, or the go.mod of a repository without a workspace.
func golang(t top) finding {
	f := finding{language: Language{"Go", "go modules", t.first("go.mod", "go.work")}}
	hosts := []string{"proxy.golang.org", "sum.golang.org"}
	text, isModule := t.file("go.mod")
	switch {
	case t.has("go.work"):
		f.more = t.unusedModules()
		f.setup = []Command{{"go mod download", "go.work joins modules, which may require others", hosts}}
		f.test = Command{Line: "go list -m -f '{{.Dir}}/...' | xargs go test",
			Why: "go.work joins modules, and this tests each of them"}
	case !isModule:
		return finding{}
	case goReplaces.MatchString(text) || t.hasModuleBelow():
		f.setup = []Command{{goEach("go mod download"), "modules lie in folders, and each may require others", hosts}}
		f.test = Command{Line: goEach(`p=$(go list ./...) && { test -z "$p" || go test $p; }`),
			Why: "modules lie in folders, which go test ./... leaves out, and this tests each of them"}
	default:
		if goRequires.MatchString(text) {
			f.setup = []Command{{"go mod download", "go.mod requires other modules", hosts}}
		}
		f.test = Command{Line: "go test ./...", Why: "go.mod makes the whole folder one module"}
	}
	return f
}

// goUses matches a module of go.work: a line of a use directive.
// https://go.dev/ref/mod#go-work-file-use
var goUses = regexp.MustCompile(`(?m)^\s*(?:use\s+)?"?(\.[^\s"()=]*)"?\s*(?://.*)?$`)

// plainPath matches a path that a shell takes as it is.
var plainPath = regexp.MustCompile(`^[\w./-]+$`)

// maxUnused is the maximum number of modules outside of go.work that are tested.
const maxUnused = 10

// unusedModules returns commands that test the modules of names that go.work does not use. Each is tested by itself, as
// the go command does outside of a workspace.
func (t top) unusedModules() (all []Command) {
	text, _ := t.file("go.work")
	used := map[string]bool{}
	for _, m := range goUses.FindAllStringSubmatch(text, -1) {
		used[path.Clean(m[1])] = true
	}
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		folder, isModule := strings.CutSuffix(name, "/go.mod")
		if !isModule || used[folder] || ignoredByGo.MatchString(name) || !plainPath.MatchString(folder) ||
			len(all) == maxUnused {
			continue
		}
		all = append(all, Command{Line: "(cd ./" + folder + " && GOWORK=off go test ./...)",
			Why: "go.work does not use the module in " + folder})
	}
	return all
}

// maxFolders is the maximum number of folders that are inspected: each may cost a request to GitHub.
const maxFolders = 40

// ignoredByGo matches paths of modules that the go command ignores, as goEach does.
var ignoredByGo = regexp.MustCompile(`(^|/)([._][^/]*|vendor|testdata)/`)

// hasModuleBelow reports whether there is a separate Go module: a deeper go.mod file of names, or one in the first
// folders at the top. It skips folders that the go command ignores.
func (t top) hasModuleBelow() bool {
	left := maxFolders
	for _, name := range slices.Sorted(maps.Keys(t.names)) {
		if strings.HasSuffix(name, "/go.mod") && !ignoredByGo.MatchString(name) {
			return true
		}
		if !strings.HasSuffix(name, "/") || strings.ContainsAny(name[:1], "._") || name == "vendor/" || name == "testdata/" {
			continue
		}
		if left--; left < 0 {
			break
		}
		if _, is := t.read(name + "go.mod"); is {
			return true
		}
	}
	return false
}

var (
	cargoPackage   = regexp.MustCompile(`(?m)^\s*\[package\]`)
	cargoWorkspace = regexp.MustCompile(`(?m)^\s*\[workspace\]`)
	cargoDefaults  = regexp.MustCompile(`(?m)^\s*default-members\s*=`)
)

// rust inspects Cargo.toml. Tests run offline, because attempts run tests without a network. If a package is at the
// root of a workspace, cargo tests only that package without --workspace.
func rust(t top) finding {
	text, ok := t.file("Cargo.toml")
	if !ok {
		return finding{}
	}
	test := Command{Line: "cargo test --offline", Why: "Cargo.toml is there"}
	if cargoPackage.MatchString(text) && cargoWorkspace.MatchString(text) && !cargoDefaults.MatchString(text) {
		test = Command{Line: "cargo test --workspace --offline",
			Why: "Cargo.toml describes a package and a workspace, and this tests all of it"}
	}
	return finding{language: Language{"Rust", "cargo", "Cargo.toml"}, test: test,
		setup: []Command{{"cargo fetch", "Cargo.toml is there", []string{"index.crates.io", "static.crates.io"}}}}
}

// mavenFetches are arguments of Maven that fetch all that tests need. Surefire fetches what runs tests only when it
// begins to run them: so it begins, and ends after a second, for which they need a process of their own. If the code
// can't be built, only dependencies are fetched.
const mavenFetches = "-q -Dmaven.test.failure.ignore=true -DforkCount=1 -Dsurefire.timeout=1 test"

// maven inspects pom.xml, and uses the repository's wrapper if there is one.
func maven(t top) finding {
	if _, ok := t.file("pom.xml"); !ok {
		return finding{}
	}
	program := "mvn"
	if t.has("mvnw") {
		program = "./mvnw"
	}
	return finding{language: Language{"Java", "maven", "pom.xml"},
		setup: []Command{{program + " " + mavenFetches + " || " + program + " -q dependency:go-offline",
			"pom.xml is there", []string{"repo.maven.apache.org"}}},
		test: Command{Line: program + " -q -o test", Why: "pom.xml is there"}}
}

// cmakeTests matches a command that enables tests, outside of comments.
var cmakeTests = regexp.MustCompile(`(?im)^[^#\n]*\b(?:enable_testing\s*\(|include\s*\(\s*CTest\s*\))`)

// cmake inspects CMakeLists.txt. ctest builds nothing, so the command does. A project may enable its tests only
// by an option of its own: without tests ctest succeeds, so --no-tests=error makes it fail.
func cmake(t top) finding {
	text, _ := t.file("CMakeLists.txt")
	if !cmakeTests.MatchString(text) {
		return finding{}
	}
	return finding{language: Language{"C or C++", "cmake", "CMakeLists.txt"},
		test: Command{Line: "cmake -S . -B build && cmake --build build && " +
			"ctest --test-dir build --output-on-failure --no-tests=error", Why: "CMakeLists.txt enables tests"}}
}
