package tamper

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// configRule says which lines of which files decide what checks do.
type configRule struct {
	files   *lazyregexp.Regexp // base names, in lower case
	added   *lazyregexp.Regexp // must not come in
	touched *lazyregexp.Regexp // must not come in, change or go
	gone    *lazyregexp.Regexp // must not change or go
	why     string
}

const (
	uncovered  = "what must be covered by tests was changed"
	lookedAway = "a linter was told to look away"
)

// neverRuns is a line that no program runs, or no test could.
var neverRuns = lazyregexp.New(`^\s*["']?(?:if (?:\w+\.)?TYPE_CHECKING|@(?:\w+\.)?(?:overload|abstractmethod)|` +
	`raise NotImplementedError)\b:?["']?,?\s*$`)

var testCommand = lazyregexp.New(`\b(?:go (?:test|vet)|pytest|py\.test|tox|nox|` +
	`(?:npm|yarn|pnpm|bun)(?: run)? (?:test|lint|check)|jest|vitest|mocha|playwright test|cypress run|` +
	`cargo (?:test|clippy|nextest)|mvnw?|gradlew?|rspec|rake|bundle exec|ctest|make (?:test|check|lint)|golangci-lint|` +
	`staticcheck|eslint|tsc|flake8|ruff|mypy|pylint|rubocop|phpunit|` +
	`dotnet test|unittest|bazel test|mix test|swift test|gotestsum)\b`)

var configRules = []configRule{
	{
		files: lazyregexp.New(`.`),
		added: lazyregexp.New(`\|\|\s*(?:true|:|exit 0|echo)|;\s*true\b|\bexit 0\b|&&\s*exit 0|continue-on-error|` +
			`allow[_-]failure|--passWithNoTests|passWithNoTests['"]?\s*:\s*true|--no-fail\b|--forceExit`),
		why: "a failure of checks is let pass",
	},
	{
		files: lazyregexp.New(`pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|noxfile\.py|makefile|` +
			`.*\.mk|justfile|taskfile.*|.*\.sh|package\.json|rakefile`),
		added: lazyregexp.New(`--(?:ignore|ignore-glob|deselect|skip|exclude|no-cov|testPathIgnorePatterns|` +
			`testNamePattern|grep|invert|co|collect-only|dry-run)(?:[\s="',]|$)|pytest.*\s-[km][ =]|` +
			`\baddopts\b.*[\s"',\[]-[km]["' =,]|^\s+["']?-[km](?:["' =,]|$)|` +
			`go test.*\s-(?:run|skip|short|list)\b|\s-DskipTests|` +
			`maven\.test\.skip|xfail_strict\s*=\s*false|-x test\b`),
		touched: lazyregexp.New(`^\s*(?:norecursedirs|testpaths|python_files|python_functions|python_classes|` +
			`collect_ignore\w*|ignore_glob|xfail_strict|markers_strict)\b`),
		gone: lazyregexp.New(`--(?:cov-fail-under|strict|strict-markers|runInBand|ci|coverage|max-warnings)\b|--fail-under`),
		why:  "tests are left out, or selected in another way",
	},
	{
		files: lazyregexp.New(`tox\.ini|noxfile\.py|makefile|gnumakefile|.*\.mk|justfile|\.justfile|` +
			`taskfile.*|.*\.sh|rakefile|.*\.rake|magefile\.go|guardfile`),
		gone: lazyregexp.New(testCommand.String() +
			`|^\s*(?:envlist|env_list|commands)\b|^\s*(?:@nox|session\.run)|^(?:test|check|lint|ci|verify|cover\w*)[\w-]*\s*:`),
		why: "the commands that run checks were changed",
	},
	{
		files: lazyregexp.New(`jest.*|vitest.*|vite\..*|karma.*|playwright.*|cypress.*|wdio.*|ava.*|\.mocharc.*|` +
			`\.taprc|package\.json|deno\.jsonc?|project\.json|bunfig\.toml|lerna\.json`),
		touched: lazyregexp.New(`['"]?\b(?:testPathIgnorePatterns|modulePathIgnorePatterns|testMatch|testRegex|testIgnore|` +
			`grepInvert|testNamePattern|excludeSpecPattern|specPattern|dangerouslyIgnoreUnhandledErrors|` +
			`retries|retryTimes|bail|forbidOnly|allowOnly|testDir|roots)['"]?\s*[:=]`),
		why: "tests are left out, or selected in another way",
	},
	{
		files: lazyregexp.New(`jest.*|vitest.*|vite\..*|karma.*|cypress.*|wdio.*|ava.*|\.mocharc.*|\.taprc`),
		added: lazyregexp.New(`['"]?\b(?:exclude|ignore|ignores|spec|grep|invert|exit|typecheck|silent)['"]?\s*[:=]`),
		why:   "tests are left out, or selected in another way",
	},
	{
		files: lazyregexp.New(`package\.json`),
		gone: lazyregexp.New(`^\s*"(?:pre|post)?(?:tests?|lint|check|ci|coverage|typecheck|type-check|verify)` +
			`(?:[A-Z\d_:.-][\w:.-]*)?"\s*:`),
		why: "a script that runs checks was changed",
	},
	{
		files: lazyregexp.New(`\.coveragerc|pyproject\.toml|setup\.cfg|tox\.ini|\.nycrc.*|\.c8rc.*|jest.*|vitest.*|` +
			`vite\..*|package\.json|sonar.*|\.?codecov.*|\.coveralls.*|` +
			`\.simplecov|rakefile|pom\.xml|build\.gradle.*|nyc.*|karma.*`),
		added: lazyregexp.New(`\b(?:omit|exclude_lines|exclude_also|coveragePathIgnorePatterns|add_filter|` +
			`informational\s*:\s*true|sonar\.(?:coverage\.)?exclusions|skip_covered)\b|COVERAGE_SKIP`),
		gone: lazyregexp.New(`(?i)\b(?:fail[_-]under|coverageThreshold|thresholds?|check-coverage|` +
			`minimum(?:_coverage)?|jacocoTestCoverageVerification)\b`),
		why: uncovered,
	},
	{
		files:   lazyregexp.New(`\.eslintrc.*|eslint\.config.*|biome\.jsonc?|tslint\.json|\.stylelintrc.*|package\.json`),
		added:   lazyregexp.New(`['"]off['"]|['"]warn['"]|:\s*\[?\s*0\b`),
		touched: lazyregexp.New(`\b(?:ignorePatterns|ignores|eslintIgnore|linterOptions)\b|\bglobalIgnores\(`),
		gone:    lazyregexp.New(`['"]error['"]|:\s*\[?\s*2\b|['"]?extends['"]?\s*:`),
		why:     lookedAway,
	},
	{files: lazyregexp.New(`\.eslintignore|\.rubocop_todo\.yml|detekt-baseline.*|\.secrets\.baseline`),
		added: lazyregexp.New(`\S`), why: lookedAway},
	{
		files: lazyregexp.New(`tsconfig.*`),
		added: lazyregexp.New(`"(?:strict\w*|no[A-Z]\w*|exactOptional\w*|alwaysStrict)"\s*:\s*false|` +
			`"skipLibCheck"\s*:\s*true`),
		touched: lazyregexp.New(`"exclude"\s*:`),
		gone:    lazyregexp.New(`"(?:strict\w*|noImplicit\w*|noUnused\w*|noUnchecked\w*|noFallthrough\w*)"\s*:\s*true`),
		why:     "the compiler was told to look away",
	},
	{
		files: lazyregexp.New(`\.flake8|setup\.cfg|tox\.ini|pyproject\.toml|` +
			`\.?mypy\.ini|\.?ruff\.toml|\.?pylintrc.*|\.bandit`),
		added: lazyregexp.New(`(?i)^\s*(?:strict|disallow\w*|warn_\w+|check_untyped_defs|no_implicit\w*)\s*=\s*false|` +
			`ignore_errors\s*=\s*true|ignore_missing_imports\s*=\s*true|follow_imports\s*=\s*["']?skip`),
		touched: lazyregexp.New(`^\s*(?:ignore|extend-ignore|extend_ignore|per-file-ignores|extend-per-file-ignores|` +
			`disable|exclude|extend-exclude|force-exclude|max-line-length|max-complexity|unfixable|skips)\b\s*[=:]|` +
			`^\s*"[^"]+"\s*=\s*\["[A-Z]+\d+`),
		gone: lazyregexp.New(`(?i)^\s*(?:strict|disallow\w*|warn_\w+|check_untyped_defs)\s*=\s*true|` +
			`^\s*(?:select|extend-select|enable)\b`),
		why: lookedAway,
	},
	{
		files: lazyregexp.New(`\.?golangci.*|staticcheck\.conf|\.?clippy\.toml|checkstyle.*|` +
			`pmd.*|spotbugs.*|detekt.*|phpstan.*|cargo\.toml`),
		added: lazyregexp.New(`=\s*"allow"|(?i)\b(?:exclude|excludes|skip-dirs|skip-files|disable|disable-all|` +
			`exclude-rules|exclusions|new|tests|ignoreErrors|suppress\w*|issues-exit-code|active)\b['"]?\s*[:=]|<suppress`),
		touched: lazyregexp.New(`^\s*(?:max-\w[\w-]*|min-\w[\w-]*)\s*[:=]`),
		gone:    lazyregexp.New(`\b(?:enable|enable-all|checks)\b|=\s*"(?:deny|forbid|warn)"|<(?:module|rule)\b`),
		why:     lookedAway,
	},
	{
		files: lazyregexp.New(`\.rubocop.*`),
		added: lazyregexp.New(`Enabled:\s*false|\bExclude:|DisabledByDefault:\s*true|\bMax:`),
		gone:  lazyregexp.New(`Enabled:\s*true|\bMax:`),
		why:   lookedAway,
	},
	{
		files: lazyregexp.New(`pom\.xml|build\.gradle.*|settings\.gradle.*|gradle\.properties|` +
			`build\.xml|junit-platform\.properties|testng.*`),
		added: lazyregexp.New(`skipTests?\b|skipITs|maven\.test\.skip|testFailureIgnore|ignoreFailures|` +
			`<exclude>[^<]*(?:[tT]ests?|IT|Spec|\*)\.(?:java|class|kt)|\bexcludeTestsMatching|` +
			`\bexclude\s*(?:\(\s*)?['"][^'"]*(?:[tT]est|IT\b|Spec)|\benabled\s*=\s*false|\bonlyIf\b|excludeTags|` +
			`excludeCategories|excludedGroups|<groups>|failIfNo(?:Specified)?Tests>false|rerunFailingTestsCount|maxRetries|` +
			`<skip>\s*true|failOnViolation>false|failOnError>false|junit\.jupiter\.conditions|execution\.timeout`),
		gone: lazyregexp.New(`useJUnitPlatform|surefire|failsafe|maven-checkstyle|jacoco|` +
			`<class name=|<package name=|includeTags|<includes?>`),
		why: "tests are left out, or their failure is let pass",
	},
	{
		files: lazyregexp.New(`\.npmrc|\.yarnrc(?:\.yml)?|config(?:\.toml)?`),
		added: lazyregexp.New(`(?i)^\s*(?:script-?shell|shell|node-options|yarnPath|runner|` +
			`rustc-wrapper|rustc-workspace-wrapper|linker|test)\s*[=:]`),
		why: "tests are run by another program",
	},
	{
		files: lazyregexp.New(`(?:maven|jvm)\.config|gradle\.properties`),
		added: lazyregexp.New(`(?i)skip|-Dtest=|ignore|fail-never|-fn\b|-javaagent|-x\s*test`),
		why:   "tests are left out, or their failure is let pass",
	},
	{files: lazyregexp.New(`go\.(?:mod|work)`), added: lazyregexp.New(`=>`),
		why: "code that tests are built with is replaced"},
	{files: lazyregexp.New(`(?:site|user)customize\.py|.*\.pth`), added: lazyregexp.New(`\S`),
		why: "every run of Python begins with this code"},
	{
		files: lazyregexp.New(`cargo\.toml|nextest\.toml|config\.toml`),
		added: lazyregexp.New(`^\s*(?:test|doctest|harness|autotests|autobenches|bench)\s*=\s*false|` +
			`^\s*(?:exclude|default-members|retries|default-filter)\s*=`),
		gone: lazyregexp.New(`^\s*\[\[test\]\]`),
		why:  "tests are left out",
	},
	{
		files: lazyregexp.New(`\.rspec.*|rakefile|.*\.rake|guardfile`),
		touched: lazyregexp.New(`--(?:tag|exclude-pattern|pattern|dry-run|fail-fast|default-path)\b|` +
			`^-t |\bt\.(?:pattern|test_files|rspec_opts|exclude_pattern)\b`),
		why: "tests are left out, or selected in another way",
	},
	{
		files:   lazyregexp.New(`cmakelists\.txt|build\.bazel|\.bazelrc|ctestcustom\.cmake|phpunit\.xml.*`),
		added:   lazyregexp.New(`DISABLED\s+(?:TRUE|ON|1)|WILL_FAIL|--test_tag_filters|<exclude>|<group>|manual`),
		gone:    lazyregexp.New(`add_test\(|gtest_discover_tests|_test\(|<directory`),
		touched: lazyregexp.New(`CTEST_CUSTOM_TESTS_IGNORE|<testsuite\b|flaky\s*=`),
		why:     "tests are left out",
	},
}

var (
	// threshold is a number that checks must reach.
	threshold = lazyregexp.New(`(?i)\b((?:cov-)?fail[_-]under|branches|functions|lines|statements|perfile|` +
		`minimum(?:_coverage(?:_by_file)?)?|target|threshold|coveredratio|level)\b\D{0,20}?(\d+(?:\.\d+)?)`)
	checkable = lazyregexp.New(`(?i)^(?:test|check|lint|ci|verify|cover|spec)`)
	target    = lazyregexp.New(`^([\w.\-/%]+)\s*:(?:[^=]|$)`)
	purely    = lazyregexp.New(`(?i)^(?:pytest\.ini|tox\.ini|noxfile\.py|\.coveragerc|\.?mypy\.ini|\.flake8|` +
		`\.?ruff\.toml|\.?pylintrc.*|(?:jest|vitest|karma|playwright|cypress|nyc)\..*|\.mocharc.*|\.nycrc.*|\.eslintrc.*|` +
		`eslint\.config\..*|biome\.jsonc?|\.stylelintrc.*|\.rspec|\.rubocop\.yml|\.?golangci\..*|` +
		`\.?clippy\.toml|\.?codecov\.ya?ml|phpunit\.xml.*|phpstan.*|checkstyle.*|testng.*)$`)
	// shown is what stands below a folder of examples, which are projects of their own.
	shown = lazyregexp.New(`(?i)(?:^|/)_?(?:examples?|samples?|demos?|website)/`)
	note  = lazyregexp.New(`^\s*(?:#|//|;|<!--|\*|/\*)`)
)

// config reports changes of lines by which tests are chosen, thresholds set and
// linters configured. Lines that moved to the configuration from another file, or
// from it to another, are left out.
func (c *Change) config(around configAround) []Finding {
	was, is := roleOf(c.before()), roleOf(c.Path)
	if !is.config && !was.config || is.test && c.Status != "deleted" || was.ci || is.ci || shown.MatchString(c.before()) {
		return nil
	}
	name := strings.ToLower(path.Base(c.before()))
	if c.Status == "deleted" && purely.MatchString(name) {
		return []Finding{{Kind: DisabledCheck, Path: c.Path, Why: "the configuration of a check was deleted"}}
	}
	if c.Status == "renamed" && purely.MatchString(name) && !sameSettings(path.Base(c.OldPath), path.Base(c.Path)) {
		return []Finding{{Kind: DisabledCheck, Path: c.Path, Why: "the configuration of a check was renamed",
			Text: c.OldPath + " → " + c.Path}}
	}
	if c.Opaque {
		return []Finding{{Kind: DisabledCheck, Path: c.Path, Why: "the configuration of checks was changed, and its lines " +
			"can't be compared"}}
	}
	old, new := c.sides()
	d := configDiff{change: c, name: name, old: old, new: new}
	for _, side := range [][]row{d.old, d.new} {
		for i := range side {
			side[i].indent = indentOf(side[i].raw)
			side[i].code = configLine(side[i].raw)
		}
	}
	d.judge(around)
	return d.findings
}

// settings are files of settings by their names: what they are of, and the forms that tools read.
var settings = lazyregexp.New(`(?i)^(.+?)(?:\.(?:[cm]?[jt]s|json5?c?|ya?ml|toml|xml|neon))?(?:\.dist)?$`)

// sameSettings reports whether two names are of the same settings, in whatever form.
func sameSettings(old, new string) bool {
	return settings.FindStringSubmatch(old)[1] == settings.FindStringSubmatch(new)[1]
}

// configAround is what else a change set did that tells what a line of configuration does.
type configAround struct {
	moved map[string]int // how often a line goes in one file and comes in another
	added []string       // files
}

// path is what names a file in a line of configuration.
var configPath = lazyregexp.New(`[\w.*@+-]*(?:/[\w.*@+-]+)+`)

// onlyAdded reports whether a line of what is left out names files that the change set
// added, and nothing else: they were never looked at.
func (a configAround) onlyAdded(line string) bool {
	paths := configPath.FindAllString(line, -1)
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool {
		end, anywhere := strings.CutPrefix(strings.TrimPrefix(p, "./"), "**/")
		end = strings.TrimSuffix(end, ".class")
		return strings.Contains(end, "*") || !slices.ContainsFunc(a.added, func(f string) bool {
			return f == end || anywhere && strings.TrimSuffix(path.Base(f), path.Ext(f)) == end
		})
	})
}

func around(changes []Change) configAround {
	came, went := map[string]int{}, map[string]int{}
	var added []string
	for _, c := range changes {
		if c.Status == "added" {
			added = append(added, c.Path)
		}
		if !roleOf(c.Path).config && !roleOf(c.before()).config {
			continue
		}
		for _, h := range c.Hunks {
			for _, l := range h.Lines {
				switch {
				case strings.HasPrefix(l, "+"):
					came[configLine(l[1:])]++
				case strings.HasPrefix(l, "-"):
					went[configLine(l[1:])]++
				}
			}
		}
	}
	for l, n := range came {
		came[l] = min(n, went[l])
	}
	return configAround{came, added}
}

// configLine is a line without surplus blanks and without the comment behind it.
func configLine(raw string) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(uncommented(raw)), " "), ",")
}

// uncommented is a line without the comment behind it.
func uncommented(raw string) string {
	line, _, _ := strings.Cut(raw, " # ")
	return line
}

var (
	// versioned is a line that says which version of something is used.
	versioned = lazyregexp.New(`(?i)\bversion\b`)
)

func listWords(code string) []string {
	return strings.FieldsFunc(code, func(r rune) bool { return strings.ContainsRune(" ,[](){}", r) })
}

type configDiff struct {
	change   *Change
	name     string
	old, new []row // code is the line without surplus blanks
	findings []Finding
}

func (d *configDiff) judge(around configAround) {
	was, is, rules := texts(d.old), texts(d.new), d.rules()
	for i, r := range d.new {
		if r.fixed || r.code == "" || note.MatchString(r.raw) || was[r.code] > 0 || around.moved[r.code] > 0 {
			continue
		}
		above, text := headers(d.new, i), uncommented(r.raw)
		for _, rule := range rules {
			if around.onlyAdded(text) || rule.why == uncovered && neverRuns.MatchString(text) ||
				rule.why == lookedAway && (d.stood(r) || ofLooks(r.raw, above)) {
				break
			}
			if matches(rule.added, text) && !d.had(rule.added, text) || matches(rule.touched, text) ||
				listed(rule.touched, above) || listed(rule.added, above) {
				d.report(r, rule.why)
				break
			}
		}
		if d.recipe(d.new, i) && len(d.old) > 0 && d.replaces(i) {
			d.report(r, "the commands that run checks were changed")
		}
	}
	for i, r := range d.old {
		if r.fixed || r.code == "" || note.MatchString(r.raw) || is[r.code] > 0 || around.moved[r.code] > 0 {
			continue
		}
		d.lowered(r)
		for _, rule := range rules {
			text := uncommented(r.raw)
			if rule.why == lookedAway && (leftOut.MatchString(text) || ofLooks(r.raw, headers(d.old, i))) {
				continue
			}
			if (matches(rule.gone, text) && !d.grew(r) && !versioned.MatchString(text) ||
				matches(rule.touched, text)) &&
				!numberOnly(rule, r) {
				d.report(r, rule.why)
				break
			}
		}
		if d.recipe(d.old, i) {
			d.report(r, "the commands that run checks were changed")
		}
	}
}

// numberOnly leaves thresholds to be judged by their numbers, when they have some.
func numberOnly(rule configRule, r row) bool {
	return rule.why == uncovered && threshold.MatchString(r.code)
}

func (d *configDiff) rules() []configRule {
	var out []configRule
	for _, r := range configRules {
		if m := r.files.FindString(d.name); m == d.name || r.files.String() == "." {
			out = append(out, r)
		}
	}
	return out
}

func (d *configDiff) report(r row, why string) {
	d.findings = append(d.findings,
		Finding{Kind: DisabledCheck, Path: d.change.Path, Line: r.n, Text: quoted(r.raw), Why: why})
}

// had reports whether what a rule finds in an added line was in a removed one.
func (d *configDiff) had(re *lazyregexp.Regexp, line string) bool {
	m := re.FindString(line)
	return slices.ContainsFunc(d.old, func(r row) bool { return !r.fixed && strings.Contains(r.raw, m) })
}

// environments begins a list of what checks run in.
var environments = lazyregexp.New(`^\s*env_?list\s*=`)

// grew reports whether a line that is gone has only got longer: all its words are
// in an added list, on one line or several.
func (d *configDiff) grew(gone row) bool {
	if strings.HasPrefix(gone.raw, "\t") {
		return false
	}
	words := listWords(gone.code)
	for i, n := range d.new {
		list := environments.MatchString(n.code) || strings.ContainsAny(n.code, "[{") && !testCommand.MatchString(n.code)
		if n.fixed || !list {
			continue
		}
		now := listWords(n.code)
		for _, below := range d.new[i+1:] {
			if !strings.HasSuffix(n.code, "[") || below.indent <= n.indent {
				break
			}
			now = append(now, listWords(below.code)...)
		}
		if !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(now, w) }) {
			return true
		}
	}
	return false
}

// lowered reports a number to be reached that is lower now, or gone.
func (d *configDiff) lowered(r row) {
	for _, m := range threshold.FindAllStringSubmatch(r.code, -1) {
		level := m[1] == "level"
		if level != strings.HasPrefix(d.name, "phpstan") || strings.Contains(d.name, "eslint") {
			continue
		}
		before, _ := strconv.ParseFloat(m[2], 64)
		found := false
		for _, n := range d.new {
			if now := threshold.FindAllStringSubmatch(n.code, -1); !n.fixed && len(now) > 0 {
				for _, k := range now {
					after, err := strconv.ParseFloat(k[2], 64)
					if err == nil && strings.EqualFold(k[1], m[1]) {
						found = true
						if after < before || strings.EqualFold(m[1], "threshold") && after > before {
							d.report(n, "a threshold was lowered")
						}
					}
				}
			}
		}
		if !found && (strings.Contains(strings.ToLower(m[1]), "under") ||
			strings.HasPrefix(strings.ToLower(m[1]), "minimum") || d.name == "codecov.yml" ||
			level && !slices.ContainsFunc(d.new, func(n row) bool { return n.code == "level: max" })) {
			d.report(r, "a threshold was removed")
		}
	}
}

// ignoring are ESLint's names for what it leaves out.
var ignoring = lazyregexp.New(`^\W*(?:ignores|globalIgnores|ignorePatterns|eslintIgnore)\b`)

// leftOut begins a list of what linters don't look at: without it, they see more.
var leftOut = lazyregexp.New(`^\W*(?:(?:extend[-_]|per-file-|extend-per-file-|force-)?(?:ignores?|exclude)|skips|` +
	`disable|globalIgnores|ignorePatterns|eslintIgnore)\b`)

// stood reports whether an added line is a list that is gone, or a part of it.
func (d *configDiff) stood(added row) bool {
	words := listWords(added.code)
	return strings.ContainsAny(added.code, `"'`) && slices.ContainsFunc(d.old, func(o row) bool {
		was := listWords(o.code)
		named := ignoring.MatchString(o.code) && ignoring.MatchString(added.code)
		return !o.fixed && !slices.ContainsFunc(words, func(w string) bool {
			return !slices.Contains(was, w) && !(named && ignoring.MatchString(w))
		})
	})
}

// key is what a line of configuration sets.
var key = lazyregexp.New(`^\s*['"]?([@\w/-]+)['"]?\s*:`)

// ofLooks reports whether a line, or the one above that it belongs to, is about a rule on what code looks like.
func ofLooks(line string, above []string) bool {
	for _, l := range append([]string{line}, above...) {
		m := key.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		words := nameWords(m[1])
		if slices.ContainsFunc(words, func(w string) bool { return telling[w] }) {
			return false
		}
		if slices.ContainsFunc(words, func(w string) bool { return looks[w] }) {
			return true
		}
	}
	return false
}

// recipe reports whether row i is a command of a make target that runs checks.
func (d *configDiff) recipe(side []row, i int) bool {
	if d.name != "makefile" && d.name != "gnumakefile" && d.name != "justfile" && !strings.HasSuffix(d.name, ".mk") ||
		!strings.HasPrefix(side[i].raw, "\t") && !strings.HasPrefix(side[i].raw, "  ") {
		return false
	}
	for j := i - 1; j >= 0 && j > i-maxJoined; j-- {
		if m := target.FindStringSubmatch(side[j].raw); m != nil {
			return checkable.MatchString(m[1])
		}
	}
	return false
}

// replaces reports whether the target of an added command was there before.
func (d *configDiff) replaces(i int) bool {
	for j := i - 1; j >= 0 && j > i-maxJoined; j-- {
		if target.MatchString(d.new[j].raw) {
			return d.new[j].fixed && testCommand.MatchString(d.new[i].raw) ||
				d.new[j].fixed && strings.HasPrefix(strings.TrimLeft(d.new[i].raw, "\t "), "-")
		}
	}
	return false
}

func texts(rows []row) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[r.code]++
	}
	return out
}

func matches(re *lazyregexp.Regexp, line string) bool { return re != nil && re.MatchString(line) }

// listed reports whether a list that an added line stands in is one that a rule
// watches. Only an assignment or key makes a list.
func listed(re *lazyregexp.Regexp, above []string) bool {
	return re != nil && slices.ContainsFunc(above, re.MatchString)
}

// headers are the next lines above row i that stand further to the left, up to
// three of them, from the inside.
func headers(rows []row, i int) []string {
	var out []string
	indent := rows[i].indent
	for j := i - 1; j >= 0 && j > i-maxJoined && len(out) < 3 && indent > 0; j-- {
		if r := rows[j]; r.code != "" && r.indent < indent && !note.MatchString(r.raw) {
			out = append(out, r.raw)
			indent = r.indent
		}
	}
	return out
}
