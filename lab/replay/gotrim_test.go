package replay

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/testrun"
)

const trimmed = `package a

import (
	"fmt" // for Helper
	yaml "gopkg.in/yaml.v2"
	"github.com/acme/go-retry/v3"
	"odd.org/unlike"
)

const (
	one = iota
	two
)

var (
	// limit is far.
	limit = 3
	_     = limit
	_     = yaml.New()
)

// Suite is one.
type Suite[T any] struct{}

func (s *Suite[T]) TestPart() { fmt.Println(two) }

func init() {}

func init() { other.Name() }

func TestA(t *T) {
	retry.Do()
}

func helper() {}
`

// TestCutAt cuts a file at lines that a compiler names.
func TestCutAt(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  []string
		at   []string // the beginning of each line
		want []string // nil: it can't be
	}{
		{"an import by its path", nil, []string{"\tretry.Do"}, []string{`import "github.com/acme/go-retry/v3"`, "TestA"}},
		{"a second of one name, an import by its own name", nil, []string{"\t_     = yaml"},
			[]string{`import "gopkg.in/yaml.v2"`, "_#2"}},
		{"a method of a generic type", nil, []string{"func (s *"}, []string{`import "fmt"`, "Suite.TestPart"}},
		{"a group of constants whole", nil, []string{"\ttwo"}, []string{"one"}},
		{"a second init, and what was cut before", []string{"helper"}, []string{"func init() { "},
			[]string{"init#2", "helper"}},
		{"no test is left", []string{"Suite.TestPart"}, []string{"\tretry.Do"}, nil},
		{"the package clause", nil, []string{"package"}, nil},
		{"a comment between", nil, []string{"// Suite"}, nil},
		{"what is cut already", []string{"helper"}, []string{"func helper"}, nil},
	} {
		var lines []int
		for _, at := range c.at {
			lines = append(lines, 1+strings.Count(trimmed[:strings.Index(trimmed, at)], "\n"))
		}
		got, ok := (goSieve{}).cutAt([]byte(trimmed), c.cut, lines)
		if ok != (c.want != nil) {
			t.Errorf("%s: possible: %t", c.name, ok)
		}
		if diff := cmp.Diff(c.want, got); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if !ok {
			continue
		}
		out, err := (goSieve{}).without([]byte(trimmed), got)
		if err != nil || strings.Count(string(out), "\n") != strings.Count(trimmed, "\n") {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
		for _, at := range c.at {
			if strings.Contains(string(out), at) {
				t.Errorf("%s: %q is still there", c.name, at)
			}
		}
	}
	if _, ok := (goSieve{}).cutAt([]byte("package a\nfunc {"), nil, []int{2}); ok {
		t.Error("a file that can't be read was cut")
	}
}

// TestWithoutRefuses: a task that names what a file does not have, or what can't be cut, is refused.
func TestWithoutRefuses(t *testing.T) {
	const src = "package a\n\nvar (a = 1; b = 2)\n\nfunc TestA() {}\n"
	for _, names := range [][]string{{"TestB"}, {"TestA", "TestA"}, {"a"}} {
		if out, err := (goSieve{}).without([]byte(src), names); err == nil {
			t.Errorf("without %q:\n%s", names, out)
		}
	}
	if _, err := cutFile(testrun.Python{}, []byte("a = 1"), []string{"a"}); err == nil {
		t.Error("declarations of Python were left out")
	}
}

// TestAdds: what is left of a file is worth running where something of it is new or changed.
func TestAdds(t *testing.T) {
	const was = "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { a() }\n\nfunc TestB(t *testing.T) {}\n"
	for now, want := range map[string]bool{
		was: false,
		"package a\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestB(t *testing.T) {}\n": false,
		strings.Replace(was, "a()", "a(1)", 1):                                                true,
		was + "\nfunc TestC(t *testing.T) {}\n":                                               true,
		strings.Replace(was, "TestB", "TestC", 1):                                             true,
		"package a\n\nfunc {":                                                                 true,
	} {
		if got := (goSieve{}).adds([]byte(now), []byte(was)); got != want {
			t.Errorf("adds: %t, want %t, of\n%s", got, want, now)
		}
	}
	if !(goSieve{}).adds([]byte(was), []byte("package {")) {
		t.Error("against a file that can't be read nothing is new")
	}
}
