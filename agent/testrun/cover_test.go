package testrun

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/locate"
)

// Forged coverage by code under test is limited to what it could have executed: guessed marks are meaningless lines,
// and the numbers of runs and blocks are limited.
func TestCoverReader(t *testing.T) {
	read := func(printed string) *coverReader {
		c := &coverReader{Coverer: Golang{}}
		r := newReportReader(c, "token")
		if _, err := io.WriteString(r, "\ntoken run 1\n"+printed+"\ntoken end 0\n"); err != nil {
			t.Fatal(err)
		}
		r.finish()
		return c
	}
	c := read("ran wanted 1\na.go:1,2\nguess run 2\n:1,2\nb.go:2,1\nb.go:-3,3\nb.go:x,1\nb.go\n" +
		"c:d.go:3,9999999999999999999\nc:d.go:3,4\nran near 1\na.go:1,2\nran other 0\na.go:1,2\nran wanted 0\nran near 0\n" +
		"a.go:5,5\n")
	if d := cmp.Diff([]locate.Run{{Failed: true, Blocks: []locate.Block{{Path: "a.go", From: 1, To: 2},
		{Path: "c:d.go", From: 3, To: 4}}}}, c.failing); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]locate.Run{{Blocks: []locate.Block{{Path: "a.go", From: 5, To: 5}}}}, c.passing); d != "" {
		t.Error(d)
	}
	var blocks strings.Builder
	for i := range 10 * maxBlocks {
		fmt.Fprintf(&blocks, "a.go:%d,%d\n", i+1, i+1)
	}
	c = read("ran wanted 1\n" + blocks.String())
	if n := len(c.failing[0].Blocks); n != maxBlocks {
		t.Errorf("%d blocks are kept", n)
	}
	c = read(strings.Repeat("ran wanted 1\na.go:1,1\nran near 0\na.go:1,1\n", 10*maxNear))
	if len(c.failing) != maxFailing || len(c.passing) != maxNear {
		t.Errorf("%d and %d runs are kept", len(c.failing), len(c.passing))
	}
}

// Failing tests are run by their own names, without groups of others, then tests of the same files, and then those of
// other files in the folder.
func TestGoCovered(t *testing.T) {
	text := map[string]string{
		"p/a_test.go": "func TestA(t *testing.T) {\n}\nfunc TestB(t *testing.T) {\n}\n",
		"p/z_test.go": "func TestZ(t *testing.T) {\n}\n", "q/q_test.go": "func TestQ(t *testing.T) {\n}\n",
	}
	tree := Files{"p/a.go": {}}
	for p := range text {
		tree[p] = tree["p/a.go"]
	}
	read := func(p string) ([]byte, error) { return []byte(text[p]), nil }
	wanted, near := Golang{}.covered(tree, leaves([]locate.Test{{File: "p/z_test.go", Name: "TestZ"},
		{File: "p/z_test.go", Name: "TestZ/a+b/'c'"}}), read)
	if d := cmp.Diff([][]string{{`^TestZ$/^a\+b$/^'c'$`}, {"^TestA$", "^TestB$"}}, [][]string{wanted, near}); d != "" {
		t.Error(d)
	}
	wanted, near = Golang{}.covered(tree, []locate.Test{{File: "p/a_test.go"}}, read)
	if d := cmp.Diff([][]string{{"^TestA$", "^TestB$"}, {"^TestZ$"}}, [][]string{wanted, near}); d != "" {
		t.Error(d)
	}
}
