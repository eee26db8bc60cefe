package evidence

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// treeName says which of the four trees.
type treeName string

const (
	atBase treeName = "base"
	atHead treeName = "head"
	atOver treeName = "over" // the head with the base's tests
	// the base with the head's tests: only where tests came in the place of others
	atUnder treeName = "under"
)

// trees are the contents of the four.
type trees map[treeName]testrun.Files

// change is what differs between base and head.
type change struct {
	files []gitops.HistoryChange
	trees trees
}

// maxChanged bounds the files of a change that is looked at.
const maxChanged = 400

// readChange reads what differs. why says what keeps it from being looked at.
func readChange(ctx context.Context, h *gitops.History, base, head string) (c change, why string, err error) {
	if c.files, err = h.Changes(ctx, base, head, maxChanged); err != nil {
		return c, "", err
	}
	if len(c.files) > maxChanged {
		return c, fmt.Sprintf("the change touches more than %d files", maxChanged), nil
	}
	c.trees = trees{}
	if c.trees[atBase], err = h.Files(ctx, base); err != nil {
		return c, "", err
	}
	c.trees[atHead], err = h.Files(ctx, head)
	return c, "", err
}

// layOver makes the trees of one end with the other's tests, for a language: isTest tells what is laid over. changed
// reports whether they differ from the ends.
func (c *change) layOver(isTest func(path string) bool) (changed bool) {
	over, under := maps.Clone(c.trees[atHead]), maps.Clone(c.trees[atBase])
	lay := func(in testrun.Files, p string, f gitops.HistoryFile) {
		if f.ID == "" {
			delete(in, p)
		} else {
			in[p] = f
		}
	}
	for _, f := range c.files {
		if isTest(f.Path) {
			changed = true
			lay(over, f.Path, f.Was)
			lay(under, f.Path, f.Now)
		}
	}
	c.trees[atOver], c.trees[atUnder] = over, under
	return changed
}

// folders hold the trees on disk.
type folders map[treeName]*testrun.WorkTree

func newFolders(dir string, h *gitops.History) folders {
	out := folders{}
	for _, n := range []treeName{atBase, atHead, atOver, atUnder} {
		out[n] = testrun.NewWorkTree(filepath.Join(dir, string(n)), h)
	}
	return out
}

// below reports whether a path lies in a folder, or in one below it.
func below(p, dir string) bool { return dir == "." || p == dir || strings.HasPrefix(p, dir+"/") }
