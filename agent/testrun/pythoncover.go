package testrun

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
)

//go:embed python_cover.py
var pythonCover string

// Cover runs the tests one after another in one process, which needs no package for that.
func (l Python) Cover(tree Files, tests []locate.Test, read ReadFile) (Suite, bool) {
	var files []string
	wanted := [][2]string{}
	for _, t := range tests {
		if !slices.Contains(files, t.File) && len(files) < mostFailing {
			files = append(files, t.File)
		}
		wanted = append(wanted, [2]string{t.File, t.Name})
	}
	s, ok := l.Suite(tree, files, read)
	which, err := json.Marshal(wanted)
	if !ok || err != nil || len(which) > maxPattern {
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
		"export PYTHONPATH=\"$PYTHONPATH:/tmp/cover\" SIA_WANTED=" + quoteShell(string(which)) + "\n" +
		"mark run cover\nlimited " + run + " </dev/null >/dev/null 2>&1\ncat /tmp/ran 2>/dev/null\nmark end $status\n"
	return s, true
}
