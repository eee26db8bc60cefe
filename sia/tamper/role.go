package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// role is the part that a file has in validation; the zero role is none.
type role struct {
	lang    *lang // nil: an unknown language
	test    bool  // test code
	named   bool  // test code by the file's own name, not only by its folder
	maybe   bool  // may contain tests among other code, like Rust sources
	system  bool  // a test that is built only on one system
	ci      bool  // configuration of a CI system
	runner  bool  // configuration of a test runner only
	linter  bool  // configuration of linters and compilers
	config  bool  // configuration of tests, coverage or linters, possibly among other things
	golden  bool  // expected output: any change is a changed expectation
	fixture bool  // test data
}

// testFolders match folders of tests and their support code. In Go, only names longer than "tests" are support code.
var testFolders = lazyregexp.New(`^(?:tests?|__tests__|specs?|e2e|cypress|playwright|integration_?tests?|androidtest|` +
	`test[-_]?(?:utils?|helpers?)|testsupport|testlib)$`)

var (
	sourceSet = lazyregexp.New(`(^|/)src/([a-zA-Z]*[tT]est[a-zA-Z]*|it)/`) // Gradle's and Maven's
	mainSet   = lazyregexp.New(`(^|/)src/[a-zA-Z]*[mM]ain/`)
	project   = lazyregexp.New(`[._-]?(?:tests?|specs?)$`) // of .NET
	ciFile    = lazyregexp.New(`(?i)^(\.github/(workflows|actions)/.+|(.*/)?action\.ya?ml|\.travis\.ya?ml|` +
		`\.gitlab-ci\.ya?ml|\.gitlab/ci/.+|(.*/)?jenkinsfile([.\-].*)?|\.?azure-pipelines.*\.ya?ml|\.azure-pipelines/.+|` +
		`\.circleci/.+|bitbucket-pipelines\.ya?ml|\.drone\.ya?ml|\.?appveyor\.ya?ml|\.buildkite/.+|\.cirrus\.(ya?ml|star)|` +
		`\.woodpecker(\.ya?ml|/.+)|\.semaphore/.+|\.teamcity/.+|\.forgejo/workflows/.+|\.gitea/workflows/.+|` +
		`\.pre-commit-config\.ya?ml)$`)
	runnerFile = lazyregexp.New(`(?i)^(?:\.?pytest\.ini|tox\.ini|noxfile\.py|(?:jest|vitest|karma|playwright|cypress|` +
		`wdio|ava|nyc|stryker|web-test-runner)[.-].*|\.mocharc.*|\.nycrc.*|\.c8rc.*|\.taprc|\.rspec.*|\.coveragerc|` +
		`\.simplecov|\.?codecov\.ya?ml|phpunit\.xml.*|junit-platform\.properties|org\.junit\..+|testng.*|nextest\.toml|` +
		`ctestcustom\.cmake|.*\.runsettings|xunit\.runner\.json)$`)
	linterFile = lazyregexp.New(`(?i)^(?:\.?mypy\.ini|\.flake8|\.?ruff\.toml|\.?pylintrc.*|\.bandit|\.eslint.*|` +
		`eslint\.config\..*|biome\.jsonc?|tslint\.json|\.prettierignore|\.stylelintrc.*|checkstyle.*|pmd.*|spotbugs.*|` +
		`detekt.*|\.rubocop.*|\.?clippy\.toml|\.?golangci\..*|staticcheck\.conf|phpstan.*|psalm.*|` +
		`sonar-project\.properties|\.coveralls\.ya?ml|tsconfig.*\.json)$`)
	sharedFile = lazyregexp.New(`(?i)^(?:\.npmrc|\.yarnrc(\.yml)?|(maven|jvm)\.config|go\.(mod|work)|(site|` +
		`user)customize\.py|.*\.pth|setup\.cfg|setup\.py|pyproject\.toml|package\.json|composer\.json|(vite|rollup|` +
		`webpack)\.config\..*|deno\.jsonc?|bunfig\.toml|lerna\.json|nx\.json|turbo\.json|project\.json|pom\.xml|(build|` +
		`settings)\.gradle(\.kts)?|gradle\.properties|build\.xml|rakefile|.*\.rake|guardfile|cargo\.toml|(gnu)?makefile|` +
		`.*\.mk|\.?justfile|taskfile\.ya?ml|magefile\.go|cmakelists\.txt|build\.bazel|\.bazelrc|run_?tests?(\..*)?|` +
		`tests?\.sh|ci\.sh|check\.sh|directory\.build\.(props|targets))$`)
	goldenName = lazyregexp.New(`(?i)(\.snap|\.golden|\.approved|\.expected|\.stdout|\.stderr|\.verified)(\.[a-z0-9]+)?$` +
		`|(^|[_.\-])(golden|expected|snapshot)([_.\-]|s?\.)`)
	goldenDirs = lazyregexp.New(`^(?:__(?:image_|file_)?snapshots__|snapshots|golden(?:s|files)?|expected|__golden__|` +
		`approvals)$`)
	fixtureDirs = lazyregexp.New(`^(?:testdata|fixtures|__fixtures__|test[_-]data|(?:vcr_)?cassettes)$`)
	// goSystem matches a Go test file name with a system or processor, which excludes the file from other builds (go help
	// buildconstraint).
	goSystem = lazyregexp.New(`_(?:android|darwin|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|` +
		`windows|386|amd64|arm|arm64|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm)_test\.go$`)
	prose = lazyregexp.New(`(?i)\.(?:md|rst|adoc|gitignore|gitkeep|gitattributes)$|^(?:LICENSE|README)(?:\.|$)`)
)

// IsTest reports whether a file is part of tests according to its path: test code, test data, or expected output.
func IsTest(p string) bool {
	r := roleOf(p)
	return r.test || r.maybe || r.golden || r.fixture
}

// validates reports whether a file takes part in validation.
func (r role) validates() bool { return r.test || r.ci || r.config || r.golden || r.fixture }

// runs reports whether a runner finds tests in a file with this role.
func (r role) runs() bool { return r.test && !r.system || r.maybe }

// roleOf returns the role of the file at a path.
func roleOf(p string) role {
	p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
	name := path.Base(p)
	dirs := strings.Split(path.Dir(strings.ToLower(p)), "/")
	above := dirs
	if at := mainSet.FindStringIndex(p); at != nil { // below is production code, even a test support package
		above = strings.Split(strings.ToLower(p[:at[0]]), "/")
	}
	l := languages[strings.ToLower(path.Ext(name))]
	folder := sourceSet.MatchString(p) || slices.ContainsFunc(above, testFolders.MatchString) ||
		l == &csharp && slices.ContainsFunc(above, project.MatchString)
	inData := slices.ContainsFunc(dirs, fixtureDirs.MatchString)
	r := role{lang: l, ci: ciFile.MatchString(p), runner: runnerFile.MatchString(name) && !inData,
		linter: linterFile.MatchString(name) && !inData}
	r.config = r.runner || r.linter || !inData && (sharedFile.MatchString(name) || dirs[len(dirs)-1] == ".cargo")
	if l != nil {
		r.named = l.names.MatchString(name)
		r.test = (r.named || folder) && !inData
		if l == &golang {
			// The go command ignores these folders.
			r.named = r.named && !slices.ContainsFunc(dirs, func(d string) bool {
				return d == "testdata" || d == "vendor" || len(d) > 1 && (d[0] == '_' || d[0] == '.')
			})
			r.test = r.named || slices.ContainsFunc(dirs, func(d string) bool {
				return len(d) > len("tests") && d[0] == 't' && testFolders.MatchString(d)
			})
			r.system = goSystem.MatchString(name)
		}
		r.maybe = l == &rust && !r.test && !inData
	}
	below := slices.ContainsFunc(dirs, goldenDirs.MatchString)
	switch {
	case r.test, r.ci:
	case strings.HasSuffix(name, ".snap"), below && (folder || inData || l == nil),
		(folder || inData || l == nil && !r.config) && goldenName.MatchString(name):
		r.golden = true
	case inData, folder && l == nil && !r.config && !prose.MatchString(name):
		r.fixture = true
	}
	return r
}
