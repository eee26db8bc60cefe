package tamper

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

var (
	// runnerMark matches names that only a test runner sets, defines or loads.
	runnerMark = lazyregexp.New(`\btesting\.Testing\(\)|\.Lookup\(\s*"test\.|os\.Args.*test\b|["'](?:_?pytest|` +
		`unittest|nose)["']\s*(?:not\s+)?in\s+sys\.(?:modules|argv)|sys\.(?:modules|argv).*(?:pytest|unittest)|` +
		`pytest.*sys\.argv|\bPYTEST_\w+|\bJEST_WORKER_ID\b|\bVITEST\w*\b|\bMOCHA_\w+|\bNODE_TEST_CONTEXT\b|\btypeof\s+(?:je` +
		`st|vi|describe|it|test|expect|mocha|jasmine|__karma__)\b|\bimport\.meta\.vitest\b|\b(?:global|globalThis|` +
		`window)\.(?:jest|vi|describe|it|expect|__karma__|jasmine)\b|["'](?:jest|vi|describe|it|test|expect|mocha|` +
		`__karma__|jasmine)["']\s+in\s+(?:global|globalThis|window)\b|(?:NODE_ENV|\bMODE)\b.*['"]test|process\.argv.*(?:jes` +
		`t|mocha|vitest|test)|\bexecArgv\b.*test|\brequire\.main\b.*(?:jest|mocha|vitest|test)|["']\w*test["'].*\bsys\.` +
		`modules\b|npm_lifecycle_event|current_exe\(.*deps|env::var(?:_os)?\(\s*"CARGO|\bcfg!\(\s*test\b|` +
		`cfg(?:_attr)?\(\s*not\(\s*test\b|\bdefined\?\(\s*:{0,2}(?:RSpec|Minitest|Test::Unit|MiniTest)\b|const_defined\?\(` +
		`\s*[:'"](?:RSpec|Minitest)|\bRails\.env\.test\?|\$(?:0|PROGRAM_NAME)\b.*(?:rspec|test)|caller.*(?:rspec|minitest|` +
		`_test)|\bPHPUNIT_\w+|(?:class_exists|defined)\(.*PHPUnit|runningUnitTests\(|\bargv\b.*phpunit|PHP_SAPI.*phpunit|` +
		`(?:forName|loadClass|findClass|getResource)\w*\(.*(?:junit|testng|mockito|kotest)|["'].*org[./]junit|\bsurefire\.|` +
		`org\.gradle\.test|(?i:stackTrace).*(?i:test|[jxn]unit)|\btesthost\b|GetAssemblies\(\).*(?i:[xn]unit|test)|` +
		`["'](?:xunit|nunit|mstest)[\w.]*["']|\bXCTestConfigurationFilePath\b|NSClassFromString\(\s*@?"XCTest|\b(?:GTEST|` +
		`BATS|RUST_TEST|NEXTEST|GO_TEST)_\w+|endsWith\(\s*["'][._]?[tT]est|\b(?:is|in|running)_?(?:under_?)?(?i:(?:running_` +
		`?|unit_?)?tests?|testing|ci)(?:_?[mM]ode|_?[eE]nv\w*)?\s*\(\s*\)`)
	// testVariable matches an environment variable that indicates tests or CI.
	testVariable = lazyregexp.New(`(?:^|[^A-Za-z0-9])(?:[A-Z0-9]+_)*(?:TESTS?|TESTING|CI|SPEC|UNITTEST|GITHUB_ACTIONS|` +
		`TRAVIS|CIRCLECI|BUILDKITE|JENKINS_URL|TEAMCITY_VERSION|TF_BUILD|APPVEYOR|NEXTEST)(?:_[A-Z0-9]+)*(?:[^A-Za-z0-9]|` +
		`$)|["'](?:ci|is_?test|tests?|testing)["']|\b[A-Z]+_ENV\b.*['"]:?test|java\.class\.path|sun\.java\.command`)
	// profile matches conditions that mostly distinguish test builds from release builds,
	// and code that looks at its own program, as which tests have another name.
	profile = lazyregexp.New(`\bdebug\.ReadBuildInfo\(|/proc/self/(?:cmdline|comm|exe)\b|\bthread::current\(\)\.name\(|` +
		`\bcfg\w*!?\(.*\bdebug_assertions\b|\bvar(?:_os)?\(\s*"PROFILE"|\b__(?:vitest|jest)_\w+`)
	// stack matches code that inspects its callers, testWord a string that it would look for there.
	stack = lazyregexp.New(`\bruntime\.Callers?\(|\bdebug\.Stack\(|\binspect\.(?:stack|currentframe)\(|` +
		`\bsys\._getframe\(|\b(?:extract|format|walk)_stack\(|\bError\(\)\.stack\b|\bcaptureStackTrace\(|\bBacktrace::|` +
		`\bgetStackTrace\(|\bcaller(?:_locations)?\b|\bdebug_backtrace\(`)
	testWord = lazyregexp.New(`["'\x60/][^"'\x60]*(?i:test|spec)`)
	// reaches matches code that loads a runner, or replaces parts of it or of its assertions.
	reaches = lazyregexp.New(`^\s*(?:import|from)\s+(?:_?pytest|unittest|pluggy)\b|\bfrom\s+['"](?:node:test|vitest|` +
		`mocha|@jest/\w+)['"]|\brequire\(\s*['"](?:node:test|vitest|mocha|@jest/\w+)['"]|\b(?:unittest|_?pytest|assert|` +
		`expect|chai)(?:\.\w+)+\s*=[^=>]|\bsetattr\(\s*(?:unittest|_?pytest)\b|\brequire\(\s*['"](?:node:)?assert\S*['"]\)` +
		`\.\w+\s*=[^=]|\b(?:global|globalThis)\.(?:test|it|describe|expect|assert)\s*=[^=]`)
	// equals matches the declaration of an equality method. same matches a body that always returns true.
	equals = lazyregexp.New(`\bdef\s+(?:__(?:eq|contains)__|==)|\bboolean\s+equals\(|\bbool\s+Equals\(|\bfn\s+eq\(`)
	// coerced matches the methods that JavaScript calls to compare an object with another value.
	coerced = lazyregexp.New(`(?:^|[{,.\s])(?:valueOf|toString)(?:\s*[:=]|\s*\(\)\s*(?::\s*\w+\s*)?\{)|` +
		`\bSymbol\.toPrimitive\b`)
	returnsTrue = lazyregexp.New(`^\s*(?:return\s+)?(?:[tT]rue)\b;?\s*\}?\s*$|\{\s*(?:return\s+)?true;?\s*\}\s*$`)
	// exitsNow matches code that ends the process immediately.
	exitsNow = lazyregexp.New(`\b(?:syscall|unix)\.Exit\(|\bos\._exit\b|\bprocess\.reallyExit\(|\.halt\(\s*0|` +
		`\b_exit\(\s*0|\bexit!|\bexitCode\s*=\s*0`)
	// runsBeforeMain matches the start of code that Go runs before main.
	runsBeforeMain = lazyregexp.New(`^func\s+init\(\)|^var\s+\w+.*=\s*func\(`)
	// writes matches a call that changes files, literal a path in quotes.
	writes = lazyregexp.New(`(?i)(?:write|remove|unlink|rename|delete|rmtree|truncate|create|copy|move)\w*(?:\s*\(|` +
		`\s+['"])|\bopen\([^)]*,\s*(?:mode=)?["'][wax]|<(?:delete|copy|move|replace)\b`)
	literal = lazyregexp.New(`["'\x60]([\w./*{}$@\-]+)["'\x60]`)
	// programs matches folders of separate programs, which tests don't load.
	programs = lazyregexp.New(`(?i)(?:^|/)(?:bin|scripts?|tools?|examples?|docs?|bench(?:es|marks?)?|build|ci|hack|` +
		`\.github)/`)
)

// removed returns the removed lines of code under test, by their spelling, as they may have moved, and the functions
// that they declare and code under test does not declare again, after "func ".
func removed(changes []Change) map[string]bool {
	out, added := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		was, is := roleOf(c.before()), roleOf(c.Path)
		for _, h := range c.Hunks {
			for _, l := range h.Lines {
				if gone, ok := strings.CutPrefix(l, "-"); ok && !was.validates() {
					out[spelling(gone)], out["func "+firstGroup(function, gone)] = true, true
				} else if came, ok := strings.CutPrefix(l, "+"); ok && !is.validates() {
					added["func "+firstGroup(function, came)] = true
				}
			}
		}
	}
	maps.DeleteFunc(out, func(key string, _ bool) bool { return added[key] })
	return out
}

// product reports code under test that detects tests or ends the process.
func (c *Change) product(moved map[string]bool) []Finding {
	r := roleOf(c.Path)
	if r.lang == nil || r.validates() || c.Status == "deleted" || programs.MatchString(c.Path) {
		return nil
	}
	had := removed([]Change{*c})
	_, rows := c.sides()
	s := newSide(r.lang, rows, nil)
	var out []Finding
	asksStack := slices.ContainsFunc(s.rows, func(r row) bool { return !r.unchanged && stack.MatchString(r.code) })
	for i, early := 0, false; i < len(s.rows); i++ {
		row := &s.rows[i]
		if row.indent == 0 && strings.TrimSpace(row.bare) != "}" && !row.empty() {
			early = runsBeforeMain.MatchString(row.code)
		}
		if row.unchanged || row.empty() || row.scope != nil && r.maybe || had[spelling(row.raw)] {
			continue
		}
		top := early || row.indent == 0 && r.lang != &golang && !condition.MatchString(row.code)
		kind, why := SkippedTest, ""
		switch {
		case runnerMark.MatchString(row.code), environment.MatchString(row.code) && testVariable.MatchString(row.code):
			why = "the code asks whether it is being tested"
		case asksStack && testWord.MatchString(row.code):
			why = "the code asks whether a test calls it"
		case !r.maybe && reaches.MatchString(row.code):
			why = "the code reaches into what runs the tests"
		case returnsTrue.MatchString(row.code) &&
			(equals.MatchString(row.code) || i > 0 && equals.MatchString(s.rows[i-1].code)):
			why = "all values are the same to an assertion"
		case equals.MatchString(row.code), r.lang == &script && coerced.MatchString(row.code):
			kind, why = ChangedExpectation, "the code says which values are the same to an assertion"
		case exitsNow.MatchString(row.code), (top || atEnd.MatchString(row.code)) && exits.MatchString(row.code):
			why = "the process ends as if all was well"
		case profile.MatchString(row.code), slices.ContainsFunc(stack.FindAllString(row.code, -1),
			func(m string) bool { return m != "caller" || r.lang == &ruby }): // else an ordinary word
			kind, why = ChangedExpectation, "the code asks what calls it, or how it was built"
		}
		if why != "" && !(strings.HasPrefix(why, "the code asks") && moved[spelling(row.raw)]) {
			out = append(out, Finding{kind, c.Path, row.n, quoted(row.raw), why})
		}
	}
	return out
}

// writesTests reports code that changes test files. Such code may run before the tests, like build scripts and
// conftest.py.
func (c *Change) writesTests(moved map[string]bool) []Finding {
	r := roleOf(c.Path)
	if r.lang == nil && !r.config || r.test && path.Base(c.Path) != "conftest.py" || exampleFolder.MatchString(c.Path) {
		return nil
	}
	var at *row
	named := false
	_, rows := c.sides()
	for i := range rows {
		n := &rows[i]
		if n.unchanged || note.MatchString(n.raw) || moved[spelling(n.raw)] {
			continue
		}
		changes := writes.MatchString(n.raw)
		if changes && at == nil {
			at = n
		}
		for _, m := range literal.FindAllStringSubmatch(n.raw, -1) {
			// A folder name counts only on the line of the call, because many things have such names.
			folder := changes && path.Ext(m[1]) == "" && roleOf(path.Join(m[1], "x.py")).test
			named = named || folder || roleOf(m[1]).test
		}
	}
	if at == nil || !named {
		return nil
	}
	return []Finding{{SkippedTest, c.Path, at.n, quoted(at.raw), "the code changes files, and names tests"}}
}
