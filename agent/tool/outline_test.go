package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/agent/tool"
)

func TestOutline(t *testing.T) {
	env := tree(t, map[string]string{
		"a.go": "package a\n\nfunc A() {}\n\ntype T struct{}\n", "lib/b.py": "class B:\n    def run(self):\n        pass\n",
		"README.md":           "# x\n",
		"node_modules/x/i.js": "function no() {}\n", "broken.go": "package a\nfunc (", ".gitignore": "gen.go\n",
		"gen.go": "package a\nfunc Gen() {}\n",
	})
	for args, want := range map[string]string{
		`{}`: "a.go\n     3: func A()\n     5: type T struct\nlib/b.py\n     1: class B\n     2:   " +
			"def run(self)\n",
		`{"path":"lib"}`:          "lib/b.py\n     1: class B\n     2:   def run(self)\n",
		`{"path":"a.go"}`:         "a.go\n     3: func A()\n     5: type T struct\n",
		`{"match":"^run$"}`:       "lib/b.py\n     2:   def run(self)\n",
		`{"skip":3}`:              "lib/b.py\n     2:   def run(self)\n",
		`{"skip":9}`:              "[no more definitions]\n",
		`{"match":"^nothing$"}`:   "[no definition found]\n",
		`{"path":"lib","skip":0}`: "lib/b.py\n     1: class B\n     2:   def run(self)\n",
	} {
		if r := ok(t, env, tool.OutlineTool(), args); r.Text != want {
			t.Errorf("%s:\n%s\nwant\n%s", args, r.Text, want)
		}
	}
	for args, want := range map[string]string{
		`{"path":"README.md"}`: "does not know the language", `{"path":"../x"}`: "..", `{"path":"no"}`: "no such file",
		`{"match":"("}`: "match:", `{"skip":-1}`: "skip",
	} {
		refused(t, env, tool.OutlineTool(), args, want)
	}
	var many strings.Builder
	many.WriteString("package a\n")
	for i := range 700 {
		fmt.Fprintf(&many, "func F%d() {}\n", i)
	}
	env = tree(t, map[string]string{"many.go": many.String()})
	seen := 0
	for skip := 0; ; {
		r := ok(t, env, tool.OutlineTool(), fmt.Sprintf(`{"skip":%d}`, skip))
		n := strings.Count(r.Text, ": func F")
		seen += n
		if !strings.Contains(r.Text, "[more definitions; go on with skip") {
			break
		}
		skip += n
	}
	if seen != 700 {
		t.Errorf("all pages together have %d definitions", seen)
	}
}
