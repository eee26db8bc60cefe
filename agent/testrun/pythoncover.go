package testrun

import (
	_ "embed"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
)

//go:embed python_cover.py
var pythonCover string

// Cover runs the tests one after another in one process, without any additional package.
func (l Python) Cover(tree Files, tests []locate.Test, read ReadFile) (Suite, bool) {
	files, which := wantedTests(tests)
	s, ok := l.Suite(tree, files, read)
	if !ok || len(which) > maxPattern {
		return Suite{}, false
	}
	start, run := "", "python3 /tmp/cover/sia_cover.py"
	if strings.Contains(s.Script, pythonWithPytest) {
		start, run = pythonWithPytest, "$py -m pytest -p sia_cover -q -p no:cacheprovider -o addopts= -o required_plugins="
	}
	for _, f := range files {
		run += " " + quoteShell(f)
	}
	s.Script = start + "mkdir -p /tmp/cover\ncat >/tmp/cover/sia_cover.py <<'END'\n" + pythonCover + "END\n" +
		"export PYTHONPATH=\"$PYTHONPATH:/tmp/cover\" SIA_WANTED=" + quoteShell(which) + "\n" +
		"mark run cover\nlimited " + run + " </dev/null >/dev/null 2>&1\ncat /tmp/ran 2>/dev/null\nmark end $status\n"
	return s, true
}
