package tamper

import (
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// chooses matches a setting that selects tests, or hides their failures.
	chooses = lazyregexp.New(`\b(?:norecursedirs|testpaths|python_(?:files|functions|classes)|collect_ignore\w*|` +
		`ignore_glob|xfail_strict|addopts|(?:test|module)PathIgnorePatterns|testMatch|testRegex|testIgnore|grepInvert|` +
		`testNamePattern|\w*[sS]pecPattern|dangerouslyIgnoreUnhandledErrors|retryTimes|forbidOnly|allowOnly|setupFiles\w*|` +
		`globalSetup|testRunner|skipTests?|skipITs|maven\.test\.skip|exclude(?:TestsMatching|Tags|Categories)|` +
		`excludedGroups|failIfNo(?:Specified)?Tests|rerunFailingTestsCount|maxRetries|junit\.jupiter\.conditions|` +
		`execution\.timeout|default-filter|autotests|harness|doctest|exclude_pattern|rspec_opts|test_files|CTEST_CUSTOM_TES` +
		`TS_IGNORE|WILL_FAIL|test_tag_filters|default-test\w*)\b|<include>.*[tT]est|<test(?:SourceDir|Exclu|Inclu)|` +
		`<exclude>|<group>|<phase>\s*none|<packaging>\s*pom|\bDISABLED\s+(?:TRUE|ON|1)|^\s*(?:test|bench)\s*=\s*false|` +
		`\bonlyIf\b|<skip>\s*(?:[^\sf]|f[^a])|\bexclude\s*(?:\(\s*)?['"][^'"]*(?:[tT]est|` +
		`IT\b|Spec)|\benabled\s*=\s*false|^--(?:tag|exclude-pattern|pattern|dry-run|default-path|require)\b`)
	// chosen matches the same in a file that configures only a runner.
	chosen = lazyregexp.New(`^\s*["']?(?:exclude|ignore|spec|grep|invert|roots|testDir|file|require|import|env|retries|` +
		`runner)["']?\s*[:=]`)
	// within matches a runner's settings in a file with other content.
	within = lazyregexp.New(`\b(?:test|jest|ava|mocha|vitest)["']?\s*:\s*\{(?:[^{}]|\{[^{}]*\})*?\b(?:include|files?|` +
		`require|import|exclude|ignore|spec|grep|invert|roots)["']?\s*:`)
	// leavesOut matches a setting that makes less run, includes one that makes more run.
	leavesOut = lazyregexp.New(`(?i)ignore|exclude|invert|norecurse|skip|retries|false|disabled`)
	includes  = lazyregexp.New(`useJUnitPlatform|surefire|failsafe|jacocoTestCoverageVerification|<class name=|` +
		`<package name=|includeTags|<includes?>|^\s*\[\[test\]\]|add_test\(|gtest_discover_tests|_test\(|<directory|` +
		`<testsuite\b|xfail_strict\s*=\s*true|--strict|^\s*<groupId>(?:junit|org\.(?:junit[\w.]*|testng))</groupId>\s*$`)
	// covers matches settings of coverage and linters, among others.
	covers = lazyregexp.New(`\b(?:omit|exclude_lines|exclude_also|coveragePathIgnorePatterns|add_filter|informational|` +
		`skip_covered|per-file-ignores|extend[-_]ignore|disable_error_code|ignore_errors|ignore_missing_imports|` +
		`follow_imports|skipLibCheck|eslintIgnore|eslintConfig|(?:cov-)?fail[_-]under|minimum_coverage\w*|check-coverage|` +
		`(?:coverage)?[tT]hresholds?|module(?:NameMapper|Paths|Directories)|pythonpath|alias|libs|check_untyped_defs|` +
		`disallow_\w+|warn_\w+|NoWarn|TreatWarningsAsErrors)\b|=\s*"allow"|^\s*(?:"imports"\s*:\s*\{)?\s*"(?:#[\w/*-]+|` +
		`(?:\w+\\\\)+)"\s*:|<suppress|^\s*(?:ignore|disable|select|exclude|extend-exclude|strict)\s*=`)
	// replacesRunner matches a line, prefixed with its file's name, that replaces the program that runs the tests or
	// their dependencies; shadow matches the path of a new file that does so, or that is loaded automatically.
	replacesRunner = lazyregexp.New(`(?i)^(?:\.npmrc:\s*(?:script-?shell|shell|node-options)\s*=|go\.(?:mod|work):.*=>|` +
		`cargo\.toml:\[(?:patch|replace)\b|\.yarnrc.*:\s*(?:yarn-?path|plugins|script-shell)\b|config(?:\.toml)?:(?:.*\.)?` +
		`\s*(?:runner|rustc-(?:workspace-)?wrapper|linker|test)\s*=|(?:pyproject\.toml|setup\.(?:cfg|py)):.*\bpytest11\b|` +
		`bunfig\.toml:\s*preload|(?:maven\.config|jvm\.config|gradle\.properties):.*(?:skip|-Dtest=|ignore|fail-never|` +
		`-fn\b|-javaagent)|package\.json:\s*"(?:(?:pre|post)test\w*"\s*:|(?:jest|mocha|vitest|ava)"\s*:\s*"(?:file|link|` +
		`portal|git|http))|pom\.xml:.*<(?:scope>\s*system|systemPath)|.*(?:customize\.py|\.pth):|org\.(?:junit|testng)\.)`)
	shadow = lazyregexp.New(`(?i)^(?:(?:src|lib|tests?)/)?(?:_?pytest|unittest|pluggy|nose2?|coverage|tox|mocha|jest|` +
		`vitest|rspec|minitest|phpunit|junit|xunit)(?:\.(?:py|[cm]?js|ts|rb|php|sh)|/__(?:init|main)__\.py|/(?:index|` +
		`package)\.\w+|/autorun\.rb)$|(?:^|/)(?:(?:site|user)customize\.py|\.?pytest\.ini|junit-platform\.properties|` +
		`xunit\.runner\.json|nextest\.toml|phpunit\.xml|(?:jest|vitest)\.(?:setup|config|workspace)\..+|\.(?:mocharc.*|` +
		`rspec(?:-local)?|taprc)|(?-i:(?:GNU)?makefile))$|\.pth$|(?:^|/)(?:node_modules|org/(?:junit|testng))/`)
	// vendored matches third-party code in the repository, lists a file that lists it.
	vendored = lazyregexp.New(`(?:^|/)(?:vendor/.+\.go|node_modules/.+)$`)
	lists    = lazyregexp.New(`(?:^|/)(?:go\.(?:mod|sum|work)|modules\.txt|package\.json|npm-shrinkwrap\.json|` +
		`(?:[\w.\-]*[.\-])?lock(?:b|file|\.json|\.ya?ml)?)$`)
	target      = lazyregexp.New(`^([\w.\-/%]+)\s*:(?:[^=]|$)`)
	checkable   = lazyregexp.New(`(?i)^\.?(?:test|check|lint|ci|verify|cover|spec)`)
	checkScript = lazyregexp.New(`^\s*"(?:pre|post)?(?:tests?|lint|check|ci|coverage|type-?check|verify|spec|unit|` +
		`e2e)(?:[A-Z\d_:.-][\w:.-]*)?"\s*:`)
	commandFile = lazyregexp.New(`^(?:tox\.ini|noxfile\.py|.*\.sh|taskfile.*|rakefile|.*\.rake|magefile\.go)$`)
	makefile    = lazyregexp.New(`^(?:(?:gnu)?makefile|.*justfile|.*\.mk)$`)
	// makesAll matches a line of a makefile that changes how all its commands run, but for usualShell; passesOver a
	// command in a recipe with a failure that does not count.
	makesAll = lazyregexp.New(`^\.IGNORE\b|^MAKEFLAGS\b.*(?:\s-[a-z]*[iknqt][a-z]*\b|--(?:ignore-errors|keep-going|` +
		`dry-run|just-print|recon|touch|question))|^SHELL\s*[:?]?=|^set\s+shell\b|^(?:export\s+)?` +
		`\w*FLAGS\b.*\s-(?:run|short|skip|exec|toolexec|list)\b`)
	usualShell = lazyregexp.New(`=\s*(?:\[\s*["'])?(?:/usr/bin/env\s+|/(?:usr/)?bin/)?(?:ba|da|z|k)?sh\b`)
	passesOver = lazyregexp.New(`^[\t ]+@?-\s?\w`)
	// stopsAtFailure matches the option of a shell script without which a failed command does not end it.
	stopsAtFailure = lazyregexp.New(`^\s*set\s+-\w*e|\bpipefail\b|^#!.*sh\s+-\w*e`)
	// exampleFolder matches paths in a folder of examples, which are projects of their own.
	exampleFolder = lazyregexp.New(`(?i)(?:^|/)_?(?:examples?|samples?|demos?|website|docs?|benchmarks?|fixtures)/`)
	note          = lazyregexp.New(`^\s*(?:#|//|;|<!--|\*|/\*)`)
)

// choice reports whether a line selects tests.
func (d *setting) choice(line string) bool {
	return chooses.MatchString(line) || d.runner && d.name != "tox.ini" && chosen.MatchString(line)
}

// chosenWithin reports whether a line below these headers selects tests in a runner's settings.
func chosenWithin(line string, above []string) bool {
	for _, header := range above {
		line = header + " " + line
	}
	return within.MatchString(line)
}

func (d *setting) configAdded(i int, r *row) {
	above, in := headers(d.new, i), section(d.new, i)
	stands := func(line string) bool { return replacesRunner.MatchString(d.name + ":" + line) }
	switch {
	case stands(r.raw), stands(in), slices.ContainsFunc(above, stands):
		d.report(DisabledCheck, r, "tests are run by another program, or with other code")
	case d.Status != "added" && makefile.MatchString(d.name) && (d.needsLess(r) ||
		makesAll.MatchString(r.raw) && !usualShell.MatchString(r.raw)):
		d.report(DisabledCheck, r, "the commands of checks run in another way")
	case d.Status != "added" && makefile.MatchString(d.name) && d.checks(d.new, i) &&
		(ignoresFailure.MatchString(r.raw) || passesOver.MatchString(r.raw)),
		d.Status != "added" && !makefile.MatchString(d.name) && ignoresFailure.MatchString(r.raw):
		d.report(DisabledCheck, r, "failures of checks are ignored")
	case d.linter:
		d.report(ChangedUpkeep, r, "what linters look at was changed")
	case d.name == "cargo.toml" && (in == "[[bench]]" || in == "[[example]]"): // no tests
	case d.choice(r.code), slices.ContainsFunc(above, d.choice), chosenWithin(r.code, above):
		d.report(DisabledCheck, r, "tests are left out, or selected in another way")
	case d.runner, covers.MatchString(r.code), slices.ContainsFunc(above, covers.MatchString),
		strings.HasPrefix(in, "[profile.test"), strings.HasPrefix(in, "[profile.dev"): // one inherits the other
		d.report(ChangedUpkeep, r, "the configuration of checks was changed")
	}
}

func (d *setting) configGone(i int, r *row) {
	switch was := command(r.raw); {
	case d.linter:
		d.report(ChangedUpkeep, r, "what linters look at was changed")
	case d.script && stopsAtFailure.MatchString(r.raw):
		d.report(DisabledCheck, r, "failures of checks are ignored")
	case makefile.MatchString(d.name) && d.needsLess(r):
		d.report(DisabledCheck, r, "a target that checks something needs less")
	case d.checks(d.old, i):
		if was != nil && !replaced(was, d.pool.commands) {
			d.report(DisabledCheck, r, "a command that checks something was removed, or runs less")
		}
	case includes.MatchString(r.code), d.runner && d.choice(r.code) && !leavesOut.MatchString(r.code) &&
		!slices.ContainsFunc(headers(d.old, i), leavesOut.MatchString):
		d.report(DisabledCheck, r, "tests are left out, or selected in another way")
	case d.runner, covers.MatchString(r.code):
		d.report(ChangedUpkeep, r, "the configuration of checks was changed")
	}
}

// checks reports whether a row is a command that runs checks: a recipe of a check target, a script with such a name, or
// any command in a command file.
func (d *setting) checks(rows []row, i int) bool {
	switch {
	case d.name == "package.json":
		return checkScript.MatchString(rows[i].raw)
	case d.script:
		return !strings.HasSuffix(rows[i].code, ":")
	}
	for j := i - 1; j >= 0 && makefile.MatchString(d.name) && rows[i].indent > 0; j-- {
		if m := target.FindStringSubmatch(rows[j].raw); m != nil {
			return checkable.MatchString(m[1]) || slices.ContainsFunc(rows, func(r row) bool {
				name, needs := prerequisites(r.raw)
				return checkable.MatchString(name) && slices.Contains(needs, m[1])
			})
		}
	}
	return false
}

// prerequisites returns a target of a makefile with what it needs; name is empty for another line.
func prerequisites(line string) (name string, needs []string) {
	m := target.FindStringSubmatch(line)
	if m == nil {
		return "", nil
	}
	_, after, _ := strings.Cut(uncommented(line), ":")
	return m[1], strings.Fields(after)
}

// needsLess reports whether a target that checks something, declared on a changed row, needs less now or is declared
// twice: make runs the last recipe.
func (d *setting) needsLess(r *row) bool {
	name, needed := prerequisites(r.raw)
	var needs []string
	n := 0
	for i := range d.new {
		if other, more := prerequisites(d.new[i].raw); other == name {
			n, needs = n+1, append(needs, more...)
		}
	}
	lost := slices.ContainsFunc(needed, func(need string) bool { return !slices.Contains(needs, need) })
	return checkable.MatchString(name) && (n > 1 || lost)
}

var (
	// ignoresFailure matches text that hides the failure of a command.
	ignoresFailure = lazyregexp.New(`\|\|\s*(?:true|:|exit 0|echo|/bin/true|\()|;\s*(?:true|exit 0)\b|&&\s*exit 0|` +
		`^\s*exit 0\b|\bset \+e\b|continue-on-error['"]?\s*:\s*(?:true|\$)|allow[_-]failures?\b|--pass-?[wW]ith-?[nN]o-?[tT` +
		`]ests|--no-fail\b|--forceExit|passWithNoTests['"]?\s*[:=]\s*true|ignoreFailures|testFailureIgnore|test\.failure\.i` +
		`gnore>true|failOn\w+>\s*false|continueOnError:\s*true|catchError|soft_fail|--exit-zero|ignore_error\s*:\s*true|` +
		`\btrap\b.*\bexit 0|fail_ci_if_error:\s*false|^\t@?-\s?\w`)
	// checks matches a command that tests, checks or builds.
	checks = lazyregexp.New(`(?i)\b(?:\w*tests?|\w*spec|checks?|lint\w*|verify|tox|nox|jest|mocha|vitest|karma|cypress|` +
		`playwright|clippy|vet|rake|mypy|pyright|ruff|flake8|eslint|tsc|rubocop|phpstan|psalm|phpunit|pest|staticcheck|` +
		`golangci-lint|gradlew?|mvnw?|ctest|bazel|ava|tap|audit|coverage|fmt|make|miri|detekt|ktlint|pre-commit)\b`)
	// launchers match words that only start the program that follows.
	launchers = lazyregexp.New(`^(?:npm|pnpm|yarn|bun|npx|bunx|run|uv|uvx|poetry|pdm|pipenv|hatch|python[\d.]*|py|-m|` +
		`bundle|exec|sudo|time|env|xvfb-run|-a|--|\w+=(?:[^-]\S*)?|@\w*|[\d.]+|&&|-v+|--verbose|-q|--quiet|--color\S*|` +
		`--frozen|&)$`)
	keyed = lazyregexp.New(`^\s*(?:-\s+)?(?:["']?[\w.:-]+["']?\s*:\s+|@?-?)[>|'"]*`)
	// narrows matches an option that makes less run, or other code run before the tests; widens one that makes more run.
	narrows = lazyregexp.New(`^(?:-(?:run|skip|short|list|exec|toolexec|overlay|k|m|t|x|n|r|p)(?:=.*)?|--(?:ignore\S*|` +
		`deselect|skip\S*|exclude\S*|no-\S+|test\w*Pattern\S*|grep|fgrep|invert|co|collect-only|dry-run|lib|filter\S*|` +
		`only\S*|tests?-\S+|help|version|list\S*|tag\S*|pattern|max-?fail\S*|shard\S*|changed\S*|related\S*|` +
		`findRelatedTests|doc|bins?|spec|lf|last-failed|sw|if-present|passWithNoTests|require|import|loader|` +
		`bootstrap)(?:=.*)?|-D(?:skip|test=|maven\.test)\S*|\w+=-.*(?:import|require|loader)\S*)$`)
	widens = lazyregexp.New(`^(?:-race|--(?:all\S*|workspace|strict\S*|fail\S*|max-warnings\S*|cov\S*|check|tests|ci|` +
		`runInBand)|-[DW]\S*|-count\S*)$`)
)

// uncommented returns a line without its comment.
func uncommented(raw string) string {
	line, _, _ := strings.Cut(raw, " # ")
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return ""
	}
	return line
}

// command returns the words of a command line that checks something, without its key, launchers and irrelevant options;
// nil for any other line.
func command(line string) []string {
	line = keyed.ReplaceAllString(uncommented(line), "")
	if !checks.MatchString(line) {
		return nil
	}
	var out []string
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\"',\\", r) }) {
		if !launchers.MatchString(w) {
			out = append(out, strings.TrimPrefix(w, "./"))
		}
	}
	return out
}

// runsLess reports whether a command may run less than the one that it replaced.
func runsLess(was, is []string) bool {
	named := 0
	for _, w := range was {
		option := strings.HasPrefix(w, "-")
		if kept := slices.Contains(is, w); !kept && (!option || widens.MatchString(w)) {
			return true
		} else if kept && !option {
			named++
		}
	}
	return slices.ContainsFunc(is, func(w string) bool {
		// A path added to a command without one limits it to that path.
		return !slices.Contains(was, w) && (narrows.MatchString(w) ||
			named <= 1 && w[0] != '-' && strings.ContainsAny(w, "/.:"))
	})
}

// replaced reports whether one of the added commands checks at least as much as a removed one.
func replaced(was []string, came [][]string) bool {
	return slices.ContainsFunc(came, func(is []string) bool { return !runsLess(was, is) })
}

// shellScript matches the name of a script. Other files that a command names may be the code that it tests.
var shellScript = lazyregexp.New(`(?i)\.(?:sh|bash|zsh|bats|ps1)$|^[^.]+$`)

// RunBy reports whether commands name a script: by its path, or by the end of it, as after a change of folders. A bare
// word, such as a target of make, names no script in a folder.
func RunBy(commands, p string) bool {
	return shellScript.MatchString(path.Base(p)) && slices.ContainsFunc(strings.FieldsFunc(commands, func(c rune) bool {
		return strings.ContainsRune(" \t\n;&|()\"'", c)
	}), func(word string) bool {
		named := strings.TrimPrefix(path.Clean(word), "../")
		return p == named || strings.ContainsAny(word, "/.") && strings.HasSuffix(p, "/"+named)
	})
}
