package gitops

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// However many files are removed, few are read to find renames, and none if no file was added.
func TestRemovalsAreNotRead(t *testing.T) {
	text := strings.Repeat("a line of a removed file\n", 5000)
	opened := 0
	open := func(plumbing.Hash) (io.ReadCloser, int64, error) {
		opened++
		return io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
	}
	file := func(name string) treeEntry { return treeEntry{name, filemode.Regular, blobID(name)} }
	var changes []treeChange
	for i := range maxRenamePairs {
		name := fmt.Sprint(i)
		changes = append(changes, treeChange{path: name, old: file(name)})
	}
	got := must[[]comparison](t)(pairRenames(t.Context(), changes, open, open))
	if opened > 0 || len(got) != len(changes) {
		t.Errorf("removals alone: %d files were opened, %d are left", opened, len(got))
	}
	changes = append(changes, treeChange{path: "new", new: file("new")})
	got = must[[]comparison](t)(pairRenames(t.Context(), changes, open, open))
	if most := 2 * (maxRenameBytes/len(text) + 1); opened > most || len(got) != len(changes) {
		t.Errorf("with one that came: %d opened, at most %d should be; %d are left", opened, most, len(got))
	}
	two := changes[len(changes)-2:]
	if got := must[[]comparison](t)(pairRenames(t.Context(), two, open, open)); len(got) != 1 ||
		got[0].Status != FileRenamed {
		t.Errorf("two that are alike: %+v", got)
	}
}
