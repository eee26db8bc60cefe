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

// treeName says which of the three trees.
type treeName string

const (
	atBase treeName = "base"
	atHead treeName = "head"
	atOver treeName = "over" // the head with the base's tests
)

// trees are the contents of the three.
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

// layOver makes the third tree for a language: isTest tells what of the base is laid over. changed reports whether it
// differs from the head.
func (c *change) layOver(isTest func(path string) bool) (over testrun.Files, changed bool) {
	over = maps.Clone(c.trees[atHead])
	for _, f := range c.files {
		if !isTest(f.Path) {
			continue
		}
		changed = true
		if f.Was.ID == "" {
			delete(over, f.Path)
		} else {
			over[f.Path] = f.Was
		}
	}
	return over, changed
}

// folders hold the trees on disk.
type folders map[treeName]*testrun.WorkTree

func newFolders(dir string, h *gitops.History) folders {
	out := folders{}
	for _, n := range []treeName{atBase, atHead, atOver} {
		out[n] = testrun.NewWorkTree(filepath.Join(dir, string(n)), h)
	}
	return out
}

// below reports whether a path lies in a folder, or in one below it.
func below(p, dir string) bool { return dir == "." || p == dir || strings.HasPrefix(p, dir+"/") }
