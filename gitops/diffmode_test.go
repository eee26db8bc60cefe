package gitops

import (
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Text with a NUL byte is binary, as for git, but its differences are kept. A file that is no text has none. A lost
// executable bit is reported.
func TestDiffOfStrangeFiles(t *testing.T) {
	texts := map[plumbing.Hash]string{}
	entry := func(name string, mode filemode.FileMode, text string) treeEntry {
		texts[blobID(text)] = text
		return treeEntry{name, mode, blobID(text)}
	}
	open := func(h plumbing.Hash) (io.ReadCloser, int64, error) {
		return io.NopCloser(strings.NewReader(texts[h])), int64(len(texts[h])), nil
	}
	d := must[Diff](t)(makeDiff(t.Context(), []treeChange{
		{"a.py", entry("a.py", filemode.Regular, "x = 1\n"), entry("a.py", filemode.Regular, "x = 1\n# \x00\n")},
		{"b.png", treeEntry{}, entry("b.png", filemode.Regular, "\x89PNG\x00\n")},
		{"run", entry("run", filemode.Executable, "make\n"), entry("run", filemode.Regular, "make\n")},
		{"stays", entry("stays", filemode.Executable, "1\n"), entry("stays", filemode.Executable, "2\n")},
	}, open, open))
	a, b, run, stays := d.Files[0], d.Files[1], d.Files[2], d.Files[3]
	if !a.Binary || a.Hunks != nil || len(a.BinaryHunks) != 1 || a.BinaryHunks[0].Lines[1] != "+# \x00" ||
		!strings.Contains(d.Patch, "Binary files a/a.py and b/a.py differ") {
		t.Errorf("text with a NUL byte: %+v\n%s", a, d.Patch)
	}
	if !b.Binary || b.BinaryHunks != nil || b.LostExec {
		t.Errorf("a picture: %+v", b)
	}
	if !run.LostExec || stays.LostExec {
		t.Errorf("not executable any more: %t, %t", run.LostExec, stays.LostExec)
	}
}
