package testrun

import (
	_ "embed"
	"fmt"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

//go:embed node_cover.cjs
var nodeCover string

//go:embed vitest_cover.mjs
var vitestCover string

// nodeCoverAt is the folder of the coverage hooks. It is in node_modules, so that they find the packages of runners.
const nodeCoverAt = "node_modules/sia-cover"

// nodeCoverRun runs one file, %[1]s, with a command, %[2]s.
const nodeCoverRun = "mark run %[1]s\nrm -f /tmp/ran\nlimited %[2]s </dev/null >/dev/null 2>&1\n" +
	"cat /tmp/ran 2>/dev/null\nmark end 0\n"

// Cover runs the files of the tests, with V8's coverage around each test.
// https://chromedevtools.github.io/devtools-protocol/tot/Profiler/#method-startPreciseCoverage
func (l Node) Cover(tree Files, tests []locate.Test, read ReadFile) (Suite, bool) {
	files, which := wantedTests(tests)
	begin := "mkdir -p " + nodeCoverAt + "\ncat >" + nodeCoverAt + "/cover.cjs <<'END'\n" + nodeCover + "END\n" +
		"cat >" + nodeCoverAt + "/vitest.mjs <<'END'\n" + vitestCover + "END\n" +
		"export SIA_WANTED=" + quoteShell(which) + "\n"
	if len(which) > maxPattern {
		return Suite{}, false
	}
	return l.suite(tree, files, read, begin, nodeCoverRun, true)
}

// vitestConfig matches the option for the configuration file.
var vitestConfig = lazyregexp.New(`\s(?:-c|--config)[\s=](\S+)`)

// coverCommand returns the start of a runner's command. Vitest accepts a single configuration file, so the project's is
// passed to ours.
func coverCommand(name, command, options string) string {
	m := vitestConfig.FindStringSubmatchIndex(options)
	if name != "vitest" || m == nil {
		return fmt.Sprintf(command, options)
	}
	return "env SIA_CONFIG=" + options[m[2]:m[3]] + " " + fmt.Sprintf(command, options[:m[0]]+options[m[1]:])
}
