package tamper

import "github.com/sia-bot/sia/sia/lazyregexp"

// java is Java, and what else runs on JUnit, TestNG and Kotest.
var java = lang{
	syntax: syntax{line: []string{"//"}, block: true, triple: `"`},
	group:  lazyregexp.New(`^\s*(?:[\w@]+\s+)*(?:class|object|interface)\s+(\w+)`),
	test: lazyregexp.New(
		"^\\s*public\\s+void\\s+(test\\w*)\\s*\\(|" +
			"^\\s*(?:@\\w+\\s+)*fun\\s+(test\\w*)\\s*\\(|" +
			"^\\s*(?:def\\s+)?(?:test|it|should|feature|scenario)\\s*\\(\\s*\"([^\"]*)\"|" +
			"^\\s*def\\s+\"([^\"]*)\"\\s*\\("),
	annotates: lazyregexp.New(`^\s*@\w`),
	marked: lazyregexp.New(`@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|` +
		`TestTemplate|Property|Theory|ArchTest|Example)\b`),
	function: lazyregexp.New(
		"^\\s*(?:@[\\w.]+(?:\\([^)]*\\))?\\s+)*" +
			"(?:(?:public|protected|private|internal|static|final|abstract|synchronized|default|suspend|override|open|" +
			"inline)\\s+)*(?:<[^>]*>\\s*)?" +
			"(?:fun\\s+(?:<[^>]*>\\s*)?(?:`([^`]*)`|(\\w+))|[\\w<>\\[\\].,?]+(?:\\s*<[^>]*>)?\\s+(\\w+))\\s*\\([^;]*$"),
	assertion: lazyregexp.New(`^\s*assert\b|\S\s+should[A-Z]?\w*\s+[^\s({]|^\s*\.(?:statusCode|body)\(|` +
		`@(?:\w+\.)*Test\s*\(.*(?:expected|timeout|expectedExceptions)`),
	fails: never,
	logs:  lazyregexp.New(`^\s*(?:System\.(?:out|err)\.print\w*|log(?:ger)?\.\w+|println)\(`),
	row:   false,
	data: lazyregexp.New(`^\s*(?:(?:final|static|private|public|val|var|const)\s+)*(?:[\w<>\[\].]+\s+)?(?i:want|` +
		`wanted|expected?|golden)\w*\s*=\s*\S|^\s*@(?:CsvSource|ValueSource|EnumSource|CsvFileSource|NullSource|JsonSource|` +
		`DataProvider|Parameters|Timeout|RepeatedTest)\b|^\s*(?:Arguments\.)?(?:of|arguments|argumentSet)\(|^\s*Arguments\.`),
	condition: lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|switch|case|else|when)\b|^\s*\}\s*else\b`),
	swallows:  lazyregexp.New(`^\s*try\b|\brunCatching\b`),
	handler:   lazyregexp.New(`^\s*\}?\s*catch\b`),
	skips: res(`@(?:\w+\.)*(?:Disabled\w*|Ignore\w*|Enabled(?:If|On|For)\w*|DisabledIf\w*|EnabledIf\w*)\b`,
		`\bassum(?:e\w*|ption\w*|ing\w*)\s*\(|\bAssum(?:e|ptions?)\.`,
		`@Test\b.*\benabled\s*=\s*false\b|^\s*enabled\s*=\s*false\b`,
		`\bthrow\s+(?:new\s+)?(?:SkipException|TestAbortedException|AssumptionViolatedException)\b`, `\bSystem\.exit\(`,
		`^\s*(?:if|while)\s*\(\s*false\s*\)`, `\bx(?:test|it|should|describe|context)\s*\(`,
		`^\s*@(?:Ignore|IgnoreIf|Requires|PendingFeature)\b`,
		`\bassertThrows\(\s*(?:AssertionError|Throwable|AssertionFailedError)\b`),
	only: lazyregexp.New(`\bf(?:test|it|should|describe)\s*\(\s*"`),
	hush: lazyregexp.New(`@(?:\w+\.)*(?:SuppressWarnings|SuppressFBWarnings|Suppress)\b|` +
		`//\s*(?:NOSONAR|NOPMD|CHECKSTYLE|noinspection)`),
	leave: lazyregexp.New(`^\s*return(?:@\w+)?\s*;?\s*$`),
	early: lazyregexp.New(`^\s*if\s*\(.*\)\s*(?:return\s*;?|\{\s*return\s*;?\s*\})\s*$`),
	raw:   never,
}

var ruby = lang{
	syntax: syntax{line: []string{"#"}, begin: true, regex: true, heredoc: true},
	group: lazyregexp.New(`^\s*(?:RSpec\.)?(?:x|f)?(?:describe|context|feature|shared_examples\w*|` +
		`shared_context)\b\s*\(?\s*(.*?)(?:\s+do\b.*)?$|^\s*class\s+([\w:]+)`),
	test: lazyregexp.New(`^\s*(?:x|f)?(?:it|specify|example|scenario|its)\b(?:\s*\(?\s*(?:'([^']*)'|"([^"]*)")|` +
		`(?:\s+(\S.*?))?\s*(?:\bdo\b|\{).*$)|^\s*(?:pending|skip|focus)\s*\(?\s*['"]([^'"]*)['"].*\bdo\b|` +
		`^\s*def\s+(test_\w+[?!]?)|^\s*(?:test|should)\s*\(?\s*['"]([^'"]*)['"]`),
	annotates: never, marked: never,
	function:  lazyregexp.New(`^\s*def\s+([\w.]+[?!]?)`),
	assertion: lazyregexp.New(`^\s*(?:end|\})\s*\.(?:to|not_to|to_not)\b|\b(?:is|are)_expected\b|\.(?:must|wont)_\w+`),
	fails:     never,
	logs:      lazyregexp.New(`^\s*(?:puts|p|warn|pp|logger\.\w+|Rails\.logger\.\w+)\b`),
	row:       true,
	data:      lazyregexp.New(`^\s*(?i:want|wanted|expected?|golden)\w*\s*=\s*\S|^\s*let!?\(:(?i:want|expected?)\w*\)`),
	condition: lazyregexp.New(`^\s*(?:if|unless|elsif|else|case|when)\b`),
	swallows:  lazyregexp.New(`^\s*begin\b|^\s*(?:Timeout|suppress)\b`),
	handler:   lazyregexp.New(`^\s*rescue\b`),
	skips: res(`^\s*(?:RSpec\.)?x(?:it|describe|context|specify|example|scenario|feature)\b`,
		`^\s*(?:skip|pending|omit|pend)\b`, `\b(?:skip|pending|disabled|broken)(?::|\s*=>)\s*(?:true|['"\w])`,
		`:(?:skip|pending|xit|disabled)\b`,
		`\brescue\s+nil\b|\brescue\s*$`, `^\s*(?:if|while)\s+(?:false|nil)\b|^\s*unless\s+true\b`, `^\s*exit!?\b`,
		`\bfilter_run_excluding\b|\bfilter_run_when_matching\b|\bconfig\.(?:exclude_pattern|filter_run)\b`, `^\s*__END__`),
	only: lazyregexp.New(`^\s*(?:RSpec\.)?f(?:it|describe|context|specify|example)\b|` +
		`^\s*focus\b|\bfocus(?::|\s*=>)\s*true|,\s*:focus\b`),
	hush: lazyregexp.New(`#\s*(?:rubocop\s*:\s*(?:disable|todo)|:nocov:|standard:disable|` +
		`steep:ignore|typed:\s*(?:ignore|false)|brakeman:ignore|reek:)`),
	leave: lazyregexp.New(`^\s*(?:return|next|break)(?:\s+nil)?\s*$`),
	early: lazyregexp.New(`^\s*(?:return|next|break)(?:\s+nil)?\s+(?:if|unless)\b`),
	raw:   lazyregexp.New(`^__END__`),
}

var rust = lang{
	syntax:    syntax{line: []string{"//"}, block: true, many: `"`, char: true},
	group:     lazyregexp.New(`^\s*(?:pub\s+)?mod\s+(\w+)\s*\{`),
	test:      lazyregexp.New(`^\s*\w*test\w*!\s*[({]\s*(\w*)`),
	annotates: lazyregexp.New(`^\s*#!?\[`),
	marked: lazyregexp.New(`#\[(?:\w+::)*(?:test|rstest|test_case|case|proptest|quickcheck|` +
		`bench|wasm_bindgen_test|test_log|sqlx_test|traced_test)\b`),
	function: lazyregexp.New(
		`^\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?(?:const\s+)?(?:async\s+)?(?:unsafe\s+)?fn\s+(\w+)`),
	assertion: lazyregexp.New(`^\s*(?:panic|unreachable|bail)!\s*\(|^\s*#\[should_panic`),
	fails:     never,
	logs:      lazyregexp.New(`^\s*(?:e?println|dbg|log::\w+|info|warn|debug)!`),
	row:       true,
	data: lazyregexp.New(`^\s*(?:let|const|static)\s+(?:mut\s+)?(?i:want|wanted|expected?|` +
		`golden)\w*\s*(?::[^=]+)?=\s*\S|^\s*#\[(?:case|test_case|values|timeout)\b`),
	condition: lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|match|else)\b|^\s*\}\s*else\b`),
	swallows:  lazyregexp.New(`\bcatch_unwind\(`),
	handler:   never,
	skips: res(`^\s*#\[(?:\w+::)?ignore\b`,
		`#!?\[cfg\(\s*(?:any\(\s*\)|not\(\s*(?:test|any|all)|feature|target_|FALSE|disabled|never|unix|windows|all\(|any\()`,
		`#!?\[cfg_attr\(.*\bignore\b`,
		`^\s*if\s+(?:false|!true)\b`, `\b(?:std::)?process::exit\(`, `\bcatch_unwind\(`),
	only:  never,
	hush:  lazyregexp.New(`#!?\[(?:allow|expect)\(|//\s*(?:tarpaulin|grcov|GRCOV_EXCL|cargo-mutants)`),
	leave: lazyregexp.New(`^\s*return(?:\s+Ok\(\(\)\))?\s*;\s*$`),
	early: lazyregexp.New(`^\s*if\b.*\{\s*return(?:\s+Ok\(\(\)\))?\s*;?\s*\}\s*$`),
	raw:   never,
}

// other is any language that is not read by itself: assertions go by their names.
var other = lang{
	syntax: syntax{line: []string{"//", "# "}, block: true},
	group:  lazyregexp.New(`^\s*(?:[\w@]+\s+)*class\s+(\w+)`),
	test: lazyregexp.New(`^\s*(?:(?:public|static|async|final)\s+)*(?:void|function|func|def)\s+(test\w*)\s*\(|` +
		`^\s*@test\s+"([^"]*)"|^\s*(?:TYPED_)?TEST(?:_[FP])?\(([^)]*)\)|` +
		`^\s*(?:\w+_)?(?:TEST_CASE\w*|SCENARIO)\(\s*"?([^"(),]*)|^\s*(?:x?it|x?test|testWidgets)\s*\(\s*['"]([^'"]*)|` +
		`^\s*test\s+"([^"]*)"|^\s*Scenario(?: Outline)?:\s*(.*)`),
	annotates: lazyregexp.New(`^\s*(?:@\w|#\[|\[\w)`),
	marked:    lazyregexp.New(`\[(?:Fact|Theory|Test|TestMethod|TestCase)\b|@[tT]est\b|#\[(?:\w+\\)*Test\b`),
	function: lazyregexp.New(`^\s*(?:(?:public|protected|private|internal|static|async|` +
		`override|final)\s+)*[\w<>\[\]?]+\s+(\w+)\s*\([^;]*$`),
	assertion: lazyregexp.New(`^\s*(?:assert|refute|is|ok|cmp_ok)\b|^\s*(?:Then|And|But)\s|^\s*\[\s`),
	fails:     never, logs: lazyregexp.New(`^\s*(?:print\w*|echo|Console\.\w+|fmt\.\w+)\b`),
	data: lazyregexp.New(`^\s*(?:(?:final|var|let|const|auto|\$)\s*)*\$?(?i:want|wanted|expected?|` +
		`golden)\w*\s*=\s*\S|^\s*\[(?:InlineData|TestCase|DataRow)\b`),
	condition: lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|switch|else)\b`),
	swallows:  lazyregexp.New(`^\s*(?:try|do)\b`), handler: lazyregexp.New(`^\s*\}?\s*(?:catch|rescue)\b`),
	skips: res(`\[(?:Ignore|Skip)\b|\bSkip\s*=\s*"`, `\bmarkTest(?:Skipped|Incomplete)\(`, `\bXCTSkip\w*\b`,
		`@(?:Skip|tag\s*:?skip|disabled|ignore)\b`, `\b(?:GTEST_SKIP|DISABLED_\w+)\b`,
		`^\s*x(?:it|test|describe)\s*\(`, `\bskip:\s*(?:true|['"])`, `^\s*skip\b`, `^\s*exit 0\b`, `@tag\s+:skip`,
		`^\s*#\s*if\s+(?:0|false)\b`),
	only: never, leave: lazyregexp.New(`^\s*return\s*(?:0|\(\))?\s*;?\s*$`), early: never, raw: never,
	hush: lazyregexp.New(`//\s*(?:NOLINT|NOSONAR|swiftlint:disable)|@phpstan-ignore|#pragma warning disable|` +
		`#\s*shellcheck disable|//\s*ignore(?:_for_file)?:`),
}
