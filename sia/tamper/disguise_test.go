package tamper

import (
	"strings"
	"testing"
)

// A line of code with characters that hide what it does asks a person; data, strings and comments in other languages,
// line ends of Windows and page breaks don't.
func TestDisguised(t *testing.T) {
	added := func(path, line string) []Finding {
		return Find([]Change{{Path: path, Status: "modified", Hunks: []Hunk{{OldStart: 1, NewStart: 1,
			Lines: []string{" import sys", "+" + line}}}}}, nil)
	}
	for _, c := range []struct {
		path, line string
		asks       bool
	}{
		{"calc.py", "# exact\rreturn a + b", true},
		{"calc.js", "// exact\u2028return a + b", true},
		{"calc.go", "x := 1 // \x00", true},
		{"calc.rb", "x = 1 \x1b[8m", true},
		{"calc_test.go", "x := 1 // \x7f", true},
		{"calc.py", "if x in sys.ｍodules:", true},
		{"calc.py", "return 𝐞xec(x)", true},
		{"calc.py", "return sys.moduleˢ", true},
		{"calc.py", "return a + b\r", false},
		{"calc.py", "\x0c", false},
		{"calc.go", "\treturn a + b\r\r", false},
		{"calc.py", "x = 'ｍodules' # ｍodules", false},
		{"calc.py", "größe = naïve + été + ОК", false},
		{"calc.py", "The 1ª of CO₂, at 2ⁿ: Loading… ½ Foo™", false},
		{"calc.js", "const x = 'ｍodules'", false},
		{"calc.min.js", "x='\x1b'", false},
		{"testdata/calc.py", "x = '\x1b'", false},
		{"data.txt", "x\rx\x00", false},
	} {
		found := added(c.path, c.line)
		asks := len(found) > 0 && found[0].Asks() == Person && strings.Contains(found[0].Why, "hide what it does")
		if asks != c.asks || !c.asks && len(found) > 0 {
			t.Errorf("%s: %q: %v", c.path, c.line, found)
		}
	}
}

// A test, or what runs tests, that loses its executable bit asks a person, whatever runs show.
func TestLostExecutableBit(t *testing.T) {
	for path, want := range map[string]bool{
		"test/cases/add.sh": true, "test/cases/add": true, "tool": true, "lib.sh": false,
	} {
		found := Find([]Change{{Path: path, Status: "modified", LostExec: true, Runs: path == "tool"}}, nil)
		if asks := len(found) == 1 && found[0].Asks() == Person && !found[0].OfTests(); asks != want {
			t.Errorf("%s: %v", path, found)
		}
	}
}

// Code that is too large or too strange to be compared is still read for what it asks, and a new test file of that kind
// asks a person.
func TestOpaqueCodeIsRead(t *testing.T) {
	marks := []Hunk{{NewStart: 1, Lines: []string{"+import sys", "+TESTED = 'pytest' in sys.modules"}}}
	for path, want := range map[string]string{"calc.py": "whether it is being tested", "conftest.py": "beyond comparing"} {
		found := Find([]Change{{Path: path, Status: "added", Opaque: true, Hunks: marks}}, nil)
		if len(found) != 1 || found[0].Asks() != Person || !strings.Contains(found[0].Why, want) {
			t.Errorf("%s: %v", path, found)
		}
	}
}
