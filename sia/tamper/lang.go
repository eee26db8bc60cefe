package tamper

import "regexp"

// lang is how tests look in one language. The expressions are matched against
// one line: [scanned.bare] unless said otherwise.
type lang struct {
	syntax syntax

	group     *regexp.Regexp // what holds tests: a class, a describe block; code; group 1 is its name
	test      *regexp.Regexp // a test's declaration; code; the first group that matched is its name
	annotates *regexp.Regexp // an annotation, decorator or attribute of the declaration below
	marked    *regexp.Regexp // an annotation that makes a test of the function below
	function  *regexp.Regexp // a function's declaration; with marked, group 1 is the test's name

	assertion *regexp.Regexp // what asserts without a call whose name says so
	fails     *regexp.Regexp // a call that fails the test, asserting what the condition around it says (Go)
	logs      *regexp.Regexp // a statement that only says something
	row       bool           // lines that begin with a bracket are rows of a table of cases
	data      *regexp.Regexp // a statement that holds cases or an expected value; code
	condition *regexp.Regexp // the header of what runs only sometimes
	swallows  *regexp.Regexp // the header of what may hide a failure
	handler   *regexp.Regexp // what begins the handling of what a try block hides

	skips []*regexp.Regexp // what keeps a test from running or from counting; code
	only  *regexp.Regexp   // what keeps every other test from running; code
	hush  *regexp.Regexp   // a comment or annotation that turns a check off; the raw line
	leave *regexp.Regexp   // a bare return
	early *regexp.Regexp   // a conditional bare return on one line
	raw   *regexp.Regexp   // a skip that is written as a comment; the raw line
}

func res(patterns ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(patterns))
	for i, p := range patterns {
		out[i] = regexp.MustCompile(p)
	}
	return out
}

// never matches nothing.
var never = regexp.MustCompile(`[^\s\S]`)

var golang = lang{
	syntax:    syntax{line: []string{"//"}, block: true, many: "`"},
	group:     never,
	test:      regexp.MustCompile("^func (?:\\([^)]*\\) )?((?:Test|Benchmark|Fuzz|Example)\\w*)\\(|^\\s*\\w+\\.Run\\((\"[^\"]*\"|`[^`]*`|[\\w.]+)\\s*,\\s*func|^\\s*(?:_ = )?[FPX]?(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\\(\\s*\"([^\"]*)\""),
	annotates: never, marked: never,
	function:  regexp.MustCompile(`^func `),
	assertion: never,
	fails:     regexp.MustCompile(`^\s*(?:\w+\.)*(?:t|b|f|tb|tt|T\(\))\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|^\s*panic\(|^\s*(?:\w+\.)?Fail\(`),
	logs:      regexp.MustCompile(`^\s*(?:\w+\.)*(?:Log|Logf|Print|Println|Printf)\(`),
	row:       true,
	data:      regexp.MustCompile("^\\s*(?:const |var )?\"?(?i:want|wanted|expected?|exp|golden)\\w*\"?\\s*(?:,\\s*\\w+\\s*)?(?:\\[\\]?\\w+|\\w+)?\\s*(?::=|=|:)\\s*\\S|^\\s*\"[^\"]*\":\\s|^\\s*//\\s*(?:Unordered )?[oO]utput:"),
	condition: regexp.MustCompile(`^\s*(?:\}\s*else\s+)?(?:if|switch|case|else)\b|^\s*\}\s*else\b`),
	swallows:  never, handler: never,
	skips: res(`\b(?:t|b|f|tb|tt|s|suite|T\(\))\.(?:Skip|Skipf|SkipNow)\(`, `\btesting\.Short\(\)`,
		`\bos\.Exit\(0\)|\bruntime\.Goexit\(\)`,
		`^\s*(?:if|for)\s+(?:false|!true|1 == 0|0 == 1)\b`,
		`^\s*(?:_ = )?[XP](?:It|Describe|Context|When|Specify|DescribeTable|Entry)\(`, `\brecover\(\)`, `\.ignore\(`),
	only:  regexp.MustCompile(`^\s*(?:_ = )?F(?:It|Describe|Context|When|Specify|DescribeTable|Entry)\(\s*"`),
	hush:  regexp.MustCompile(`//\s*(?:nolint|#nosec|lint:ignore|lint:file-ignore|revive:disable|exhaustive:ignore)`),
	leave: regexp.MustCompile(`^\s*return\s*$`),
	early: regexp.MustCompile(`^\s*if\b.*\{\s*return\s*\}\s*$`),
	raw:   regexp.MustCompile(`^//\s*(?:go:build|\+build)\s`),
}

var python = lang{
	syntax:    syntax{line: []string{"#"}, triple: `"'`},
	group:     regexp.MustCompile(`^\s*class\s+(\w+)`),
	test:      regexp.MustCompile(`^\s*(?:async\s+)?def\s+(test\w*)\s*\(`),
	annotates: regexp.MustCompile(`^\s*@\w`),
	marked:    never,
	function:  regexp.MustCompile(`^\s*(?:async\s+)?def\s+(\w+)`),
	assertion: regexp.MustCompile(`^\s*(?:async\s+)?with\s+.*(?:raises|warns|deprecated_call)\b`),
	fails:     never,
	logs:      regexp.MustCompile(`^\s*(?:print|log\w*\.\w+|warnings\.warn)\(`),
	row:       true,
	data:      regexp.MustCompile(`^\s*(?i:want|wanted|expected?|exp|golden)\w*\s*(?::[^=]+)?=\s*\S|^\s*@pytest\.mark\.parametrize\b|^\s*@(?:parameterized|ddt|data|unpack|given)\b|^\s*pytest\.param\(|^\s*['"](?i:want|expected?)\w*['"]\s*:`),
	condition: regexp.MustCompile(`^\s*(?:if|elif|else|match|case)\b`),
	swallows:  regexp.MustCompile(`^\s*try\s*:|^\s*with\s+.*\bsuppress\(`),
	handler:   regexp.MustCompile(`^\s*except\b`),
	skips: res(`\bpytest\.(?:mark\.)?(?:skip|skipif|xfail|importorskip|exit)\b`,
		`\bunittest\.(?:skip\w*|expectedFailure|SkipTest)\b`,
		`^\s*@(?:skip|skipIf|skipUnless|expectedFailure|xfail|mark\.skip\w*|mark\.xfail)\b`, `\.skipTest\(`,
		`\braise\s+SkipTest\b`, `\b__test__\s*=\s*False`,
		`\bcollect_ignore`, `\b(?:sys\.exit|os\._exit|exit|quit)\(`, `^\s*(?:if|while)\s+(?:False|0|None|not True)\s*:`,
		`^\s*def\s+pytest_(?:collection_modifyitems|ignore_collect|collect_file|runtest_\w+|pyfunc_call|sessionfinish|exception_interact|report_teststatus|deselected)\b`),
	only:  never,
	hush:  regexp.MustCompile(`#\s*(?:noqa|type:\s*ignore|pylint:\s*disable|pragma:\s*no cover|mypy:|pyright:|nosec|ruff:\s*noqa|flake8:\s*noqa)`),
	leave: regexp.MustCompile(`^\s*return(?:\s+(?:None|True))?\s*$`),
	early: regexp.MustCompile(`^\s*if\b.*:\s*return(?:\s+None)?\s*$`),
	raw:   never,
}

// script is JavaScript and TypeScript with the usual runners.
var script = lang{
	syntax:    syntax{line: []string{"//"}, block: true, many: "`", regex: true},
	group:     regexp.MustCompile("^\\s*(?:\\w+\\.)?(?:x|f)?(?:describe|context|suite|feature)(?:\\.\\w+)*(?:\\([^'\"`]*\\))?\\(\\s*['\"`]([^'\"`]*)"),
	test:      regexp.MustCompile("^\\s*(?:await\\s+)?(?:\\w+\\.)?(?:x|f)?(?:it|test|specify|scenario)(?:\\.(?:only|skip\\w*|run\\w*|todo|each|for|concurrent|sequential|serial|fail\\w*|fixme|slow|extend|step|prop|cb))*(?:\\(.*\\))?\\(\\s*(?:'([^']*)|\"([^\"]*)|`([^`]*))|^\\s*(?:await\\s+)?\\w+\\.test\\(\\s*['\"`]([^'\"`]*)|^\\s*\\]\\s*\\)\\s*\\(\\s*['\"`]([^'\"`]*)"),
	annotates: never, marked: never,
	function:  regexp.MustCompile(`^\s*(?:export\s+)?(?:async\s+)?function\b`),
	assertion: never,
	fails:     never,
	logs:      regexp.MustCompile(`^\s*(?:console\.\w+|t\.log|cy\.log|logger\.\w+)\(`),
	row:       true,
	data:      regexp.MustCompile("^\\s*(?:const|let|var)?\\s*['\"]?(?i:want|wanted|expected?|exp|golden)\\w*['\"]?\\s*(?::\\s*\\w+)?\\s*[:=]\\s*[^=\\s]|^\\s*(?:it|test|describe)\\.each`|^\\s*\\$\\{"),
	condition: regexp.MustCompile(`^\s*(?:\}\s*else\s+)?(?:if|switch|case|else)\b|^\s*\}\s*else\b`),
	swallows:  regexp.MustCompile(`^\s*try\s*\{|^\s*await\s+Promise\.race\(`),
	handler:   regexp.MustCompile(`^\s*\}?\s*catch\b`),
	skips: res(`\b(?:describe|context|suite|it|test|specify|scenario)(?:\.\w+)*\.(?:skip|todo|fixme|fails|failing|fail|skipIf|runIf|slow)\b|\bt\.(?:skip|todo)\b`,
		`^\s*x(?:it|test|describe|context|specify|scenario)(?:\.\w+)*\s*\(`, `\bthis\.skip\(`, `\bpending\(`,
		`\b(?:skip|todo)\s*:\s*(?:true|['"])`, `\bprocess\.exit\(`,
		`^\s*(?:if|while)\s*\(\s*(?:false|0|!1|!true|null|undefined)\b`,
		`\bjest\.retryTimes\(|\bthis\.retries\(`),
	only:  regexp.MustCompile(`\b(?:describe|context|suite|it|test|specify)(?:\.\w+)*\.only\b|^\s*f(?:it|describe|context)\s*\(|\bonly\s*:\s*true`),
	hush:  regexp.MustCompile(`(?:eslint-disable|@ts-ignore|@ts-nocheck|@ts-expect-error|tslint:disable|biome-ignore|istanbul ignore|c8 ignore|v8 ignore|node:coverage|oxlint-disable|jshint ignore)`),
	leave: regexp.MustCompile(`^\s*return\s*;?\s*$`),
	early: regexp.MustCompile(`^\s*if\s*\(.*\)\s*(?:return\s*;?|\{\s*return\s*;?\s*\})\s*$`),
	raw:   regexp.MustCompile(`^\s*(?:/\*\*|//|\*)\s*@(?:jest|vitest)-environment\s`),
}
