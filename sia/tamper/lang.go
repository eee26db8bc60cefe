package tamper

import "github.com/sia-bot/sia/sia/lazyregexp"

// lang is how tests look in one language. The expressions are matched against
// one line: [scanned.bare] unless said otherwise.
type lang struct {
	syntax syntax

	group     *lazyregexp.Regexp // what holds tests: a class, a describe block; code; group 1 is its name
	test      *lazyregexp.Regexp // a test's declaration; code; the first group that matched is its name
	annotates *lazyregexp.Regexp // an annotation, decorator or attribute of the declaration below
	marked    *lazyregexp.Regexp // an annotation that makes a test of the function below
	function  *lazyregexp.Regexp // a function's declaration; with marked, group 1 is the test's name

	assertion *lazyregexp.Regexp // what asserts without a call whose name says so
	fails     *lazyregexp.Regexp // a call that fails the test, asserting what the condition around it says (Go)
	logs      *lazyregexp.Regexp // a statement that only says something
	row       bool               // lines that begin with a bracket are rows of a table of cases
	data      *lazyregexp.Regexp // a statement that holds cases or an expected value; code
	condition *lazyregexp.Regexp // the header of what runs only sometimes
	swallows  *lazyregexp.Regexp // the header of what may hide a failure
	handler   *lazyregexp.Regexp // what begins the handling of what a try block hides

	skips []*lazyregexp.Regexp // what keeps a test from running or from counting; code
	only  *lazyregexp.Regexp   // what keeps every other test from running; code
	hush  *lazyregexp.Regexp   // a comment or annotation that turns a check off; the raw line
	leave *lazyregexp.Regexp   // a bare return
	early *lazyregexp.Regexp   // a conditional bare return on one line
	raw   *lazyregexp.Regexp   // a skip that is written as a comment; the raw line
}

func res(patterns ...string) []*lazyregexp.Regexp {
	out := make([]*lazyregexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = lazyregexp.New(p)
	}
	return out
}

// never matches nothing.
var never = lazyregexp.New(`[^\s\S]`)

var golang = lang{
	syntax: syntax{line: []string{"//"}, block: true, many: "`"},
	group:  never,
	test: lazyregexp.New("^func (?:\\([^)]*\\) )?((?:Test|Benchmark|Fuzz|Example)\\w*)\\(|" +
		"^\\s*\\w+\\.Run\\((\\S.*?)\\s*,\\s*func\\(|" +
		"^\\s*(?:_ = )?[FPX]?(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\\(\\s*\"([^\"]*)\""),
	annotates: never, marked: never,
	function:  lazyregexp.New(`^func `),
	assertion: never,
	fails: lazyregexp.New(`^\s*(?:\w+\.)*(?:t|b|f|tb|tt|T\(\))\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|` +
		`^\s*panic\(|^\s*(?:\w+\.)?Fail\(`),
	logs: lazyregexp.New(`^\s*(?:\w+\.)*(?:Log|Logf|Print|Println|Printf)\(`),
	row:  true,
	data: lazyregexp.New("^\\s*(?:const |var )?\"?(?i:want|wanted|expected?|exp|golden)\\w*\"?\\s*" +
		"(?:,\\s*\\w+\\s*)?(?:\\[\\]?\\w+|\\w+)?\\s*(?::=|=|:)\\s*\\S|" +
		"^\\s*\"[^\"]*\":\\s|" +
		"^\\s*//\\s*(?:Unordered )?[oO]utput:"),
	condition: lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|switch|case|else)\b|^\s*\}\s*else\b`),
	swallows:  never, handler: never,
	skips: res(`\b(?:t|b|f|tb|tt|s|suite|T\(\))\.(?:Skip|Skipf|SkipNow)\(`, `\btesting\.Short\(\)`,
		`\bos\.Exit\(0\)|\bruntime\.Goexit\(\)`,
		`^\s*(?:if|for)\s+(?:false|!true|1 == 0|0 == 1)\b`,
		`^\s*(?:_ = )?[XP](?:It|Describe|Context|When|Specify|DescribeTable|Entry)\(`, `\brecover\(\)`, `\.ignore\(`),
	only:  lazyregexp.New(`^\s*(?:_ = )?F(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\(\s*"`),
	hush:  lazyregexp.New(`//\s*(?:nolint|#nosec|lint:ignore|lint:file-ignore|revive:disable|exhaustive:ignore)`),
	leave: lazyregexp.New(`^\s*return\s*$`),
	early: lazyregexp.New(`^\s*if\b.*\{\s*return\s*\}\s*$`),
	raw:   lazyregexp.New(`^//\s*(?:go:build|\+build)\s`),
}

var python = lang{
	syntax:    syntax{line: []string{"#"}, triple: `"'`},
	group:     lazyregexp.New(`^\s*class\s+(\w+)`),
	test:      lazyregexp.New(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(`),
	annotates: lazyregexp.New(`^\s*@\w`),
	marked:    never,
	function:  lazyregexp.New(`^\s*(?:async\s+)?def\s+(\w+)`),
	assertion: lazyregexp.New(`^\s*(?:async\s+)?with\s+.*(?:raises|warns|deprecated_call)\b`),
	fails:     never,
	logs:      lazyregexp.New(`^\s*(?:print|log\w*\.\w+|warnings\.warn)\(`),
	row:       true,
	data: lazyregexp.New(`^\s*(?i:want|wanted|expected?|exp|golden)\w*\s*(?::[^=]+)?=\s*\S|` +
		`^\s*@pytest\.mark\.parametrize\b|^\s*@(?:parameterized|ddt|data|unpack|given)\b|` +
		`^\s*pytest\.param\(|^\s*['"](?i:want|expected?)\w*['"]\s*:`),
	condition: lazyregexp.New(`^\s*(?:if|elif|else|match|case)\b`),
	swallows:  lazyregexp.New(`^\s*try\s*:|^\s*with\s+.*\bsuppress\(`),
	handler:   lazyregexp.New(`^\s*except\b`),
	skips: res(`\bpytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip|exit)\b`,
		`\bunittest\.(?:skip\w*|expectedFailure|SkipTest)\b`,
		`^\s*@(?:skip|skipIf|skipUnless|expectedFailure|xfail|mark\.skip\w*|mark\.xfail)\b`, `\.skipTest\(`,
		`\braise\s+SkipTest\b`, `\b__test__\s*=\s*False`,
		`\bcollect_ignore`, `\b(?:sys\.exit|os\._exit|exit|quit)\(`, `^\s*(?:if|while)\s+(?:False|0|None|not True)\s*:`,
		`^\s*def\s+pytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|`+
			`pyfunc_call|sessionfinish|exception_interact|report_teststatus|deselected)\b`),
	only: never,
	hush: lazyregexp.New(`#\s*(?:noqa|type:\s*ignore|pylint:\s*disable|pragma:\s*no ?cover|` +
		`mypy:|pyright:|nosec|ruff:\s*noqa|flake8:\s*noqa)`),
	leave: lazyregexp.New(`^\s*return(?:\s+(?:None|True))?\s*$`),
	early: lazyregexp.New(`^\s*if\b.*:\s*return(?:\s+None)?\s*$`),
	raw:   never,
}

// script is JavaScript and TypeScript with the usual runners.
var script = lang{
	syntax: syntax{line: []string{"//"}, block: true, many: "`", regex: true},
	group: lazyregexp.New(
		"^\\s*(?:\\w+\\.)?(?:x|f)?(?:describe|context|suite|feature)(?:\\.\\w+)*(?:\\([^'\"`]*\\))?\\(\\s*['\"`]([^'\"`]*)"),
	test: lazyregexp.New(
		"^\\s*(?:await\\s+)?(?:\\w+\\.)?(?:x|f)?(?:it|test|specify|scenario)" +
			"(?:\\.(?:only|skip\\w*|run\\w*|todo|each|for|concurrent|sequential|serial|fail\\w*|fixme|slow|extend|step|" +
			"prop|cb))*(?:\\(.*\\))?\\(\\s*(?:'([^']*)|\"([^\"]*)|`([^`]*))|" +
			"^\\s*(?:await\\s+)?\\w+\\.test\\(\\s*['\"`]([^'\"`]*)|" +
			"^\\s*\\]\\s*\\)\\s*\\(\\s*['\"`]([^'\"`]*)"),
	annotates: never, marked: never,
	function:  lazyregexp.New(`^\s*(?:export\s+)?(?:async\s+)?function\b`),
	assertion: never,
	fails:     never,
	logs:      lazyregexp.New(`^\s*(?:console\.\w+|t\.log|cy\.log|logger\.\w+)\(`),
	row:       true,
	data: lazyregexp.New(
		"^\\s*(?:const|let|var)?\\s*" +
			"['\"]?(?i:want|wanted|expected?|exp|golden)\\w*['\"]?\\s*(?::\\s*\\w+)?\\s*[:=]\\s*[^=\\s]|" +
			"^\\s*(?:it|test|describe)\\.each`|" +
			"^\\s*\\$\\{"),
	condition: lazyregexp.New(`^\s*(?:\}\s*else\s+)?(?:if|switch|case|else)\b|^\s*\}\s*else\b`),
	swallows:  lazyregexp.New(`^\s*try\s*\{|^\s*await\s+Promise\.race\(`),
	handler:   lazyregexp.New(`^\s*\}?\s*catch\b`),
	skips: res(`\b(?:describe|context|suite|it|test|specify|scenario)(?:\.\w+)*\.(?:skip|`+
		`todo|fixme|fails|failing|fail|skipIf|runIf|slow)\b|\bt\.(?:skip|todo)\b`,
		`^\s*x(?:it|test|describe|context|specify|scenario)(?:\.\w+)*\s*\(`, `\bthis\.skip\(`, `\bpending\(`,
		`\b(?:skip|todo)\s*:\s*(?:true|['"])`, `\bprocess\.exit\(`,
		`^\s*(?:if|while)\s*\(\s*(?:false|0|!1|!true|null|undefined)\b`,
		`\bjest\.retryTimes\(|\bthis\.retries\(`),
	only: lazyregexp.New(`\b(?:describe|context|suite|it|test|specify)(?:\.\w+)*\.only\b|` +
		`^\s*f(?:it|describe|context)\s*\(|\bonly\s*:\s*true`),
	hush: lazyregexp.New(`(?:eslint-disable|@ts-ignore|@ts-nocheck|@ts-expect-error|tslint:disable|biome-ignore|` +
		`istanbul ignore|c8 ignore|v8 ignore|node:coverage|oxlint-disable|jshint ignore)`),
	leave: lazyregexp.New(`^\s*return\s*;?\s*$`),
	early: lazyregexp.New(`^\s*if\s*\(.*\)\s*(?:return\s*;?|\{\s*return\s*;?\s*\})\s*$`),
	raw:   lazyregexp.New(`^\s*(?:/\*\*|//|\*)\s*@(?:jest|vitest)-environment\s`),
}
