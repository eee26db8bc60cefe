package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// role is what a file is to validation; the zero role is nothing.
type role struct {
	lang    *lang // of test code; nil: not test code, or in no language that is read
	test    bool  // test code
	named   bool  // a test by the file's own name, not only by its folder
	maybe   bool  // may hold tests among other code, as sources of Rust and files below a folder called testing do
	ci      bool  // configuration of a CI system
	config  bool  // configuration of tests, coverage or linters
	golden  bool  // expected output: any change of one changes an expectation
	fixture bool  // data of tests
}

// languages by file extension.
var languages = map[string]*lang{
	".go": &golang, ".py": &python, ".pyi": &python, ".rb": &ruby, ".rs": &rust,
	".js": &script, ".jsx": &script, ".ts": &script, ".tsx": &script, ".mjs": &script, ".cjs": &script, ".mts": &script,
	".cts": &script,
	".vue": &script, ".svelte": &script, ".coffee": &script,
	".java": &java, ".kt": &java, ".kts": &java, ".groovy": &java, ".scala": &java,
	".cs": &other, ".php": &other, ".swift": &other, ".dart": &other, ".ex": &other, ".exs": &other, ".c": &other,
	".cc":  &other,
	".cpp": &other, ".m": &other, ".sh": &other, ".bats": &other, ".lua": &other, ".hs": &other, ".clj": &other,
	".erl": &other, ".r": &other,
	".jl": &other, ".pl": &other, ".t": &other, ".ml": &other, ".feature": &other,
}

// testNames are the file names by which each language's usual runner finds tests.
var testNames = map[*lang]*lazyregexp.Regexp{
	&golang: lazyregexp.New(`^[^_.].*_test\.go$`),
	&python: lazyregexp.New(`^(test_.*|.*_tests?|tests?|conftest)\.pyi?$`),
	&script: lazyregexp.New(`[.\-_](test|tests|spec|e2e|cy|unit)\.[a-z]+$|^(test|tests|spec)\.[a-z]+$`),
	&java:   lazyregexp.New(`(Tests?|TestCase|IT|ITCase|Spec|Suite)\.[a-z]+$|^Test[A-Z].*\.[a-z]+$`),
	&ruby:   lazyregexp.New(`^(test_.*|.*_(test|spec)|(spec|test|rails)_helper)\.rb$`),
	&rust:   lazyregexp.New(`^(test_.*|.*_tests?|tests?)\.rs$`),
	&other: lazyregexp.New(`(?i)(^test[_.\-]|(^|[_.\-])(tests?|spec)\.[a-z]+$|\.(bats|feature|t)$)|` +
		`(Tests?|Spec)\.[a-z]+$`),
}

// testFolders hold tests, and what supports them, whatever the files are called. Of
// Go's, those whose names begin with test and are not just that hold support.
var testFolders = map[string]bool{
	"test": true, "tests": true, "__tests__": true, "spec": true, "specs": true, "e2e": true, "cypress": true,
	"integration_tests": true,
	"testutil":          true, "testutils": true, "test-utils": true, "test_utils": true, "testhelper": true,
	"testhelpers": true, "test_helpers": true, "test-helpers": true, "testsupport": true, "testlib": true,
	"integrationtest": true, "androidtest": true, "testing": false, "it": false, "features": true, "playwright": true,
}

var (
	sourceSet = lazyregexp.New(`(^|/)src/([a-zA-Z]*[tT]est[a-zA-Z]*|it)/`) // Gradle's and Maven's
	mainSet   = lazyregexp.New(`(^|/)src/[a-zA-Z]*[mM]ain/`)
	ciFile    = lazyregexp.New(`(?i)^(\.github/(workflows|actions)/.+|(.*/)?action\.ya?ml|\.travis\.ya?ml|` +
		`\.gitlab-ci\.ya?ml|\.gitlab/ci/.+|(.*/)?jenkinsfile([.\-].*)?|\.?azure-pipelines.*\.ya?ml|\.azure-pipelines/.+|` +
		`\.circleci/.+|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.?appveyor\.ya?ml|\.buildkite/.+|\.cirrus\.(ya?ml|star)|` +
		`\.woodpecker(\.ya?ml|/.+)|\.semaphore/.+|wercker\.ya?ml|cloudbuild\.(ya?ml|json)|buildspec\.ya?ml|` +
		`\.teamcity/.+|\.forgejo/workflows/.+|\.gitea/workflows/.+|\.pre-commit-config\.ya?ml)$`)
	configFile = lazyregexp.New(
		`(?i)^(\.npmrc|\.yarnrc(\.yml)?|(maven|jvm)\.config|go\.(mod|work)|(site|user)customize\.py|.*\.pth|config|` +
			`pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|setup\.py|pyproject\.toml|conftest\.py|noxfile\.py|\.coveragerc|` +
			`mypy\.ini|\.mypy\.ini|\.flake8|\.?ruff\.toml|\.?pylintrc(\.toml)?|\.bandit|package\.json|(jest|vitest|vite|karma|` +
			`playwright|cypress|wdio|ava|nyc|stryker|web-test-runner|rollup|webpack)\.(conf|config|workspace|setup)(\..*)?|` +
			`vitest\.workspace\..*|cypress\.json|jest\..*|jest-.*|\.mocharc.*|\.nycrc.*|\.c8rc.*|\.taprc|deno\.jsonc?|` +
			`bunfig\.toml|\.eslintrc.*|\.eslintignore|eslint\.config\..*|biome\.jsonc?|tslint\.json|tsconfig.*\.json|` +
			`\.prettierignore|\.stylelintrc.*|lerna\.json|nx\.json|turbo\.json|project\.json|pom\.xml|build\.gradle(\.kts)?|` +
			`settings\.gradle(\.kts)?|gradle\.properties|build\.xml|junit-platform\.properties|testng.*\.xml|` +
			`checkstyle.*\.xml|pmd.*\.xml|spotbugs.*\.xml|detekt.*\.ya?ml|\.rspec.*|rakefile|.*\.rake|guardfile|\.simplecov|` +
			`\.rubocop.*\.ya?ml|cargo\.toml|\.?clippy\.toml|\.?rustfmt\.toml|nextest\.toml|config\.toml|\.?golangci\.(ya?ml|` +
			`toml|json)|staticcheck\.conf|\.?codecov\.ya?ml|\.coveralls\.ya?ml|sonar-project\.properties|` +
			`phpunit\.xml(\.dist)?|phpstan\.neon(\.dist)?|makefile|gnumakefile|.*\.mk|justfile|\.justfile|taskfile\.ya?ml|` +
			`magefile\.go|cmakelists\.txt|ctestcustom\.cmake|build\.bazel|` +
			`\.bazelrc|run_?tests?(\..*)?|tests?\.sh|ci\.sh|check\.sh)$`)
	goldenName = lazyregexp.New(`(?i)(\.snap|\.golden|\.approved|\.expected|\.stdout|\.stderr|` +
		`\.verified)(\.[a-z0-9]+)?$|(^|[_.\-])(golden|expected|snapshot)([_.\-]|s?\.)`)
	goldenDirs = []string{"__snapshots__", "__image_snapshots__", "__file_snapshots__", "snapshots", "golden", "goldens",
		"goldenfiles", "expected", "__golden__", "approvals"}
	fixtureDirs = []string{"testdata", "fixtures", "__fixtures__", "test_data", "test-data", "cassettes", "vcr_cassettes"}
	// goSystem is a system or processor at the end of a Go file's name, which
	// keeps the file from being built elsewhere (go help buildconstraint).
	goSystem = lazyregexp.New(`_(aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|` +
		`wasip1|windows|386|amd64|arm|arm64|loong64|mips|mipsle|mips64|mips64le|ppc64|ppc64le|riscv64|s390x|wasm)_test\.go$`)
)

// IsTest reports whether a file is part of tests, as far as its path tells: test code, what
// tests read, or expected output.
func IsTest(p string) bool {
	r := roleOf(p)
	return r.test || r.maybe || r.golden || r.fixture
}

// roleOf says what the file at a path is to validation.
func roleOf(p string) role {
	p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
	name := path.Base(p)
	dirs := strings.Split(path.Dir(strings.ToLower(p)), "/")
	l := languages[strings.ToLower(path.Ext(name))]
	r := role{lang: l, ci: ciFile.MatchString(p)}
	above := dirs
	if at := mainSet.FindStringIndex(p); at != nil { // below is production code, even a package of support for tests
		above = strings.Split(strings.ToLower(p[:at[0]]), "/")
	}
	folder := sourceSet.MatchString(p) || slices.ContainsFunc(above, func(d string) bool { return testFolders[d] })
	inData := slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(fixtureDirs, d) })
	r.config = configFile.MatchString(name) && !inData &&
		(name != "config.toml" && name != "config" || dirs[len(dirs)-1] == ".cargo")
	if l != nil {
		r.named = testNames[l].MatchString(name)
		switch {
		case l == &golang:
			// The go command leaves these folders out.
			r.test = r.named && !slices.ContainsFunc(dirs, func(d string) bool {
				return d == "testdata" || d == "vendor" || len(d) > 1 && (d[0] == '_' || d[0] == '.')
			})
			r.named = r.test
			r.test = r.test ||
				slices.ContainsFunc(dirs, func(d string) bool { return len(d) > len("tests") && testFolders[d] && d[0] == 't' })
		case inData:
		default:
			r.test = r.named || folder
		}
		r.maybe = (l == &rust || l == &python && slices.Contains(dirs, "testing") && !inData) && !r.test
		if r.test {
			return r
		}
	}
	if r.ci {
		return r
	}
	below := slices.ContainsFunc(dirs, func(d string) bool { return slices.Contains(goldenDirs, d) })
	switch {
	case strings.HasSuffix(name, ".snap"), below && (folder || inData || l == nil), (folder || inData) &&
		goldenName.MatchString(name),
		l == nil && goldenName.MatchString(name) && !r.config:
		r.golden = true
	case inData, folder && l == nil && !r.config && !prose(name):
		r.fixture = true
	}
	return r
}

// prose reports whether a file is for people.
func prose(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".rst", ".adoc", ".gitignore", ".gitkeep", ".gitattributes":
		return true
	}
	name, _, _ = strings.Cut(strings.ToUpper(name), ".")
	return name == "LICENSE" || name == "README"
}
