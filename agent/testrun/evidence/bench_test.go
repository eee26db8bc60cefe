//test:plain
//test:thorough
package evidence_test

import (
	"fmt"
	"testing"

	"golang.org/x/tools/txtar"
)

// BenchmarkLook measures a change of one package, imported by ten others, in a Go repository with 5,000 files in 500
// packages. Caches are warm from another change.
func BenchmarkLook(b *testing.B) {
	box := newBox(b)
	c := newClone(b)
	a := &txtar.Archive{}
	add := func(name, format string, args ...any) {
		a.Files = append(a.Files, txtar.File{Name: name, Data: fmt.Appendf(nil, format, args...)})
	}
	add("base/go.mod", "module example.com/large\n\ngo 1.21\n")
	for p := range 500 {
		dir := fmt.Sprintf("base/p%d", p)
		for f := range 8 {
			add(fmt.Sprintf("%s/f%d.go", dir, f), "package p%d\n\nfunc F%d() int { return %d }\n", p, f, f)
		}
		more := ""
		if p%50 == 1 { // ten import the changed one
			more = "import \"example.com/large/p0\"\n\nvar _ = p0.F0\n\n"
		}
		add(dir+"/more.go", "package p%d\n\n%sfunc More() int { return 1 }\n", p, more)
		add(dir+"/p_test.go", "package p%d\n\nimport \"testing\"\n\n"+
			"func TestF(t *testing.T) {\n\tif F1()+More() != 2 {\n\t\tt.Error()\n\t}\n}\n", p)
	}
	base := c.commit(a, "base/")
	change := func(n int) string {
		return c.commit(&txtar.Archive{Files: []txtar.File{
			{Name: "p0/f0.go", Data: fmt.Appendf(nil, "package p0\n\nfunc F0() int { return %d }\n", n)},
			{Name: "p0/p_test.go", Data: fmt.Appendf(nil, "package p0\n\nimport \"testing\"\n\n"+
				"func TestF(t *testing.T) {\n\tif F1()+More() != 2 {\n\t\tt.Error(%d)\n\t}\n}\n", n)}}}, "")
	}
	c.look(box, base, change(-1))
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		head := change(n + 100)
		b.StartTimer()
		e := c.look(box, base, head)
		if e.NotRun != "" || e.Tests < 2 {
			b.Fatalf("%+v", e)
		}
	}
}
