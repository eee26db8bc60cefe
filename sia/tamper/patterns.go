package tamper

import "github.com/sia-bot/sia/sia/lazyregexp"

// Patterns for lines of tests in all languages.
var (
	// asserts matches a call with the name of an assertion, or an assertion of a language or library.
	asserts = lazyregexp.New(`(?i:assert|expect|should|verif(?:y|ie)|require|check|ensure|must|refute|` +
		`validat)\w*[!?]?\s*(?:<[^()]*>)?\s*[({!]|\b(?:assert|expect|require|should|check|verify|(?:Assert|Expect|Should|` +
		`Verify|Check)\w*)\.\w|^\s*(?:assert|refute|check|expect|verify|ensure|flunk)(?:_\w+)?[!?]?\s+(?:[^\s=:]|:\w)|` +
		`\.(?:to|not_to|to_not|should|(?:must|wont)_\w+|should[A-Z]\w*|to(?:Be|Equal|Throw|Have|Match|Contain)\w*)\b|` +
		`\bis_expected\b|\b\w*eq\w*!\(|^\s*(?:\w+\.)*\w+\(t[bt]?,|\S\s+should[A-Z]?\w*\s|^\s*(?:await\s+)?t\.(?:is|not|` +
		`true|false|truthy|falsy|deepEqual|like|notDeepEqual|throws\w*|notThrows\w*|regex|notRegex|snapshot|same|notSame|` +
		`ok|notOk|equal|notEqual|match|plan|end|fail|pass|rejects|resolves|strictEqual|error|ifError)\(|\b(?:raises|warns|` +
		`deprecated_call|throws)\(|^\s*#\[should_panic|@(?:\w+\.)*Test\s*\(.*(?:expected|timeout)|^\s*(?:is|ok|like|cmp_ok|` +
		`is_deeply|isa_ok|done_testing|plan)\b\s*[( ]\s*[$@%\w"']|^\s*(?:Then|And|But)\s|^\s*\[\[?\s`)
	// loads matches parts of lines that look like assertions, but load or build something.
	loads = lazyregexp.New(`^\s*(?:import|from|use|using|include|package|class|interface|struct)\b.*|` +
		`^\s*#!?\[\w*(?:allow|derive|[rR]equires).*|\b(?:Must\w*|checkout\w*|require|import)\(|\bcheckout\b`)
	// fails matches a statement that fails a test, usually under a condition.
	fails = lazyregexp.New(`\b(?:t|b|f|tb|tt|T\(\))\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|^\s*(?:panic!?|fail|` +
		`flunk|Fail|XCTFail|ADD_FAILURE|FAIL|unreachable!|bail!|raise|throw)\b`)
	// data matches rows of a test table and expected values.
	data = lazyregexp.New(`^\s*&?[A-Za-z][\w.]*[{(].*[)}],$|^\s*[{(\["'\d\x60-].*[,})\]]\s*,?$|^\s*\W*\w*(?i:want|` +
		`expect|golden)\w*["']?\s*(?::=|=>|[=:])\s*\S|^\s*(?:@(?:CsvSource|ValueSource|EnumSource|MethodSource|` +
		`pytest\.mark\.parametrize)|\[(?:InlineData|TestCase|DataRow)|#\[(?:case|test_case|values)|pytest\.param\(|` +
		`(?:Arguments\.)?(?:of|arguments)\()`)
	// output matches the start of a Go example's expected output.
	output = lazyregexp.New(`^\s*//\s*(?:Unordered )?[oO]utput:`)
	// always matches an assertion that always holds.
	always = lazyregexp.New(`^\s*assert\s+(?:True|true|1|not False)\s*(?:,.*)?;?$|\bor\s+(?:True|true|1)\b|\|\|` +
		`\s*(?:true|!0|1)\b|&&\s*false\b|\band\s+False\b|\b\w*(?i:assert|expect|check|require)\w*!?\(\s*(?:t,\s*)?(?:true|` +
		`True|!false|1 == 1)\s*(?:,[^,]*)?\)(?:\.to\w*[( ]+(?:true|be_truthy|be true|eq\(?\s*true)?.*)?;?$`)
	// condition matches the start of a conditional block.
	condition = lazyregexp.New(`^\s*(?:\}\s*)?(?:if|unless|elif|elsif|else|switch|case|when|match|guard)\b`)
	// skips matches code that skips a test or ignores its failure.
	skips = lazyregexp.New(`\.(?:Skip|Skipf|SkipNow|skipTest|skip|todo|fixme|fails|failing)\b|\btesting\.Short\(\)|` +
		`\b(?:runtime\.Goexit|recover|catch_unwind)\(|^\s*(?:_ = )?[XP](?:It|Describe|Context|When|Specify|Entry)\(|` +
		`\bpytest\.(?:mark\.)?(?:xfail|exit)\b|\badd_marker\(\s*["'](?:skip|xfail)["']|^\s*@(?:unittest\.)?(?:skip\b|` +
		`expectedFailure|xfail|mark\.(?:skip|xfail))|\braise\s+\w*Skip\w*|\b__test__\s*=\s*False|\bcollect_ignore|` +
		`\bdef\s+pytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|pyfunc_call|sessionfinish|` +
		`exception_interact|report_teststatus|deselected)\b|^\s*(?:RSpec\.)?x(?:it|test|describe|context|specify|scenario|` +
		`should|example|feature)(?:\.\w+)*\b\s*[( '"]|\b(?:skip|pending|todo)(?::|\s*=>)\s*(?:true|['"])|\bthis\.retries\(|` +
		`@(?:\w+\.)*(?:Disabled|Ignore|PendingFeature)\b|\benabled\s*=\s*false\b|\bthrow\s+(?:new\s+)?(?:SkipException|` +
		`TestAbortedException)\b|^\s*(?:skip|pending|omit|pend)\b\s*(?:[('"]|do\b|if\b|unless\b|$)|,\s*:(?:skip|pending|` +
		`disabled)\b|\bfilter_run|\bexclude_pattern\b|^\s*#\[(?:\w+::)?ignore\b|\[\s*(?:\w+\.)*(?:Ignore|Explicit|Skip)\b|` +
		`\bSkip\s*=\s*["n]|\bAssert\.(?:Ignore|Inconclusive|Skip|Pass)\b|\bmarkTest(?:Skipped|Incomplete)\(|->(?:skip|` +
		`todo)\(|\bexpectNotToPerformAssertions\(|\bXCTSkip\b|\bGTEST_SKIP\b|\bDISABLED_\w+|^\s*SKIP\(|\[!(?:mayfail|` +
		`shouldfail)\]|"\[\.|@(?:tag\s*:?skip|disabled|ignore)\b|\b(?:currentTest|runnable)\.\w+\s*=[^=]|\b(?:Runnable|` +
		`Runner|Test)\.prototype\.\w+\s*=[^=]`)
	// reachesAll matches code that affects all tests from any place.
	reachesAll = lazyregexp.New(`\bdef pytest_|\bcollect_ignore|\b(?:currentTest|runnable|Runnable|Runner|Test)\.\w`)
	// marksAll matches code that affects all tests of a folder, in a conftest.py.
	marksAll = lazyregexp.New(`\bmark\.(?:skip|xfail)\b|\badd_marker\(\s*["'](?:skip|xfail)["']`)
	// autouse matches a fixture that all tests use.
	autouse = lazyregexp.New(`\bautouse\s*=\s*True\b`)
	// patches matches code that replaces other code; patchesOwn code that only changes objects of the runner or the test.
	patches = lazyregexp.New(`\bsetattr\(|\bpatch(?:\.object|\.multiple)?\(|^\s*(?:\w+\.)+\w+\s*=\s*(?:lambda\b|func|` +
		`.*=>|.*\bfn\(|\w*(?i:fake|mock|stub|patched)\w*)|\bsys\.(?:modules\[|path\b)`)
	patchesOwn = lazyregexp.New(`\bsetattr\(\s*(?:self|cls|item|config|session|request|report|rep)\b|^\s*(?:self|cls)\.`)
	// sometimes matches a conditional skip.
	sometimes = lazyregexp.New(`(?i)skip_?(?:if|unless)|\brunIf\b|importorskip|@(?:\w+\.)*(?:Enabled|Disabled)(?:If|On|` +
		`For)\w*|\bassum(?:e\w*|ption\w*|ing\w*)\s*[(.]|#\[(?:\w+\\)*Requires\w+|\[Platform|\.disabled\s*=|Skip\.If|` +
		`#!?\[cfg(?:_attr)?\(|^//go:build\s|^//\s*\+build\s`)
	// only matches code that excludes all other tests.
	only = lazyregexp.New(`^\s*(?:RSpec\.)?f(?:it|describe|context|specify|example|test|should)\b\s*[( '"]|` +
		`\b(?:describe|context|suite|it|test|specify)(?:\.\w+)*\.only\b|->only\(|\bonly\s*:\s*true|^\s*focus\b|\bfocus(?::|` +
		`\s*=>)\s*true|,\s*:focus\b|^\s*(?:_ = )?F(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\(\s*"`)
	// returnsEarly matches a return from a test without failure.
	returnsEarly = lazyregexp.New(`^\s*(?:(?:if|unless|when)\b.*[:){]\s*)?(?:return|next|break|continue|yield break)` +
		`(?:@\w+)?(?:\s+(?:nil|None|undefined|null|true|True|0|Ok\(\(\)\)|(?:Value)?Task\.CompletedTask|void 0|Unit|` +
		`done\(\)))?\s*;?\s*\}?\s*(?:(?:if|unless)\b.*)?$`)
	// tries matches the start of a block that may hide a failure.
	tries = lazyregexp.New(`^\s*(?:(?:try|begin|do)\s*[:{]?\s*$|try\s*\{|with\s+.*\bsuppress\(|suppress\b|` +
		`.*\brunCatching\b|.*\b(?:DoesNotThrow|assert(?:Raises|Throws)|pytest\.raises)\b.*\b(?:Assertion\w*Error|Throwable|` +
		`(?:Base)?Exception)\b)|\bPromise\.race\(`)
	// never matches the start of a block that does not run.
	never = lazyregexp.New(`^\s*(?:if|while|for|unless)\b\W*(?:false|False|0|nil|None|null|!1|not True|true|True|` +
		`1 == 0)\W*(?:\{|:|then|$)|^\s*for\s+\w+\s+in\s+(?:\[\]|range\(0\)|\(\))|^\s*#\s*(?:if|ifdef|ifndef)\b|^(?:=begin|` +
		`__END__)\b`)
	// environment matches code that reads its environment.
	environment = lazyregexp.New(`\b(?i:getenv|lookupenv|environ|getprop)\b|\b(?:process|import\.meta|Deno|Bun)\.env\b|` +
		`\bENV(?:\[|\.fetch|\.key)|\benv::var\b|\bvar_os\(|\boption_env!|\bGetEnvironmentVariable\b|\$_(?:ENV|SERVER)\b|` +
		`\bSystem\.getProperty\b|\benvironment\[|\bcfg!\(`)
	// swallows matches code that hides a failure on one line.
	swallows = lazyregexp.New(`\.catch\(\s*(?:\(?\s*\w*\s*\)?\s*=>\s*(?:\{\s*\}|null|undefined|void 0|0|true)|` +
		`function\s*\(\w*\)\s*\{\s*\}|noop)|\bcatch\b[^{]*\{\s*\}|\bexcept\b[^:]*:\s*(?:pass|\.\.\.|continue)\b|` +
		`\brescue\s+(?:nil|true|false)\b|\bset \+e\b|\|\|\s*true\b`)
	// exits matches code that ends the process with success.
	exits = lazyregexp.New(`\b(?:os|syscall|unix)\.Exit\(\s*0\s*\)|\b(?:syscall|unix)\.Exec\(|^raise\s+SystemExit\b|` +
		`\bsys\.exit\s*=|\bprocess\.(?:exit\(\s*0?\s*\)|(?:reallyExit|kill|abort)\()|\bsys\.exit\(\s*0?\s*\)|` +
		`\bos\.(?:_exit|kill)\(|\b(?:_exit|_Exit|quick_exit|exit)\(\s*0\s*\)|^\s*(?:quit|(?:Kernel\.|Process\.)?exit)\b!?` +
		`\s*(?:\(?\s*(?:0|true)?\s*\)?)\s*;?\s*(?:(?:if|unless)\b.*)?$|\bSystem\.exit\(\s*0\s*\)|\bexitProcess\(\s*0\s*\)` +
		`|\.halt\(\s*0\s*\)|\bEnvironment\.(?:Exit\(\s*0|FailFast)|^\s*(?:exit|die)\s*(?:\(\s*0?\s*\))?\s*;`)
	// atEnd matches code that registers a handler for the end of the process.
	atEnd = lazyregexp.New(`\batexit\b|\bprocess\.(?:on|once|addListener|prependListener)\(\s*['"](?:exit|beforeExit)|` +
		`\bprocess\.exitCode\s*=|\bat_exit\b|\baddShutdownHook\b|\bregister_shutdown_function\b|\bProcessExit\s*\+=`)
	// suppresses matches code that suppresses a check or subverts it: a panic counted as success, or a mock of the code
	// under test.
	suppresses = lazyregexp.New(`//\s*(?:nolint|#nosec|lint:ignore|lint:file-ignore|NOSONAR|NOPMD|CHECKSTYLE|NOLINT|` +
		`swiftlint:disable)|#\s*(?:noqa|type:\s*ignore|pylint:\s*disable|pyright:|nosec|ruff:\s*noqa|rubocop\s*:\s*(?:disab` +
		`le|todo)|:nocov:)|eslint-disable|@ts-ignore|@ts-nocheck|@ts-expect-error|tslint:disable|biome-ignore|` +
		`istanbul ignore|c8 ignore|@Suppress(?:Warnings)?\b|#!?\[(?:allow|expect)\(|@phpstan-ignore|#pragma warning disable` +
		`|^\s*#\[should_panic|\b(?:vi|jest)\.(?:doMock|mock|unstable_mockModule|setMock)\(\s*(?:import\(\s*)?["'\x60][./~@#]`)
)
