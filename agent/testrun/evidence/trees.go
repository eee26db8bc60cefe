package evidence

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/testrun"
	"github.com/sia-bot/sia/gitops"
)

// treeName is one of the four trees.
type treeName string

const (
	atBase treeName = "base"
	atHead treeName = "head"
	atOver treeName = "over" // the head with the base's tests
	// the base with the head's tests: only if tests may replace others
	atUnder treeName = "under"
)

// trees are the contents of the four trees.
type trees map[treeName]testrun.Files

// change is the difference between base and head.
type change struct {
	files []gitops.HistoryChange
	trees trees
}

// Limits of a change.
const (
	maxChanged = 400  // files that may have to do with tests
	maxFiles   = 5000 // all files, also of documentation
)

// readChange reads a change. why is the reason if it can't be checked.
func readChange(ctx context.Context, h *gitops.History, base, head string) (c change, why string, err error) {
	if c.files, err = h.Changes(ctx, base, head, maxFiles); err != nil {
		return c, "", err
	}
	near := 0
	for _, f := range c.files {
		if slices.ContainsFunc(testrun.Languages(), func(l testrun.Language) bool {
			return l.IsTest(f.Path) || l.IsCode(f.Path) || l.IsManifest(f.Path)
		}) {
			near++
		}
	}
	if near > maxChanged || len(c.files) > maxFiles {
		return c, fmt.Sprintf("the change touches more than %d files of code or tests, or %d in all", maxChanged,
			maxFiles), nil
	}
	c.trees = trees{}
	if c.trees[atBase], err = h.Files(ctx, base); err != nil {
		return c, "", err
	}
	c.trees[atHead], err = h.Files(ctx, head)
	return c, "", err
}

// overlay creates the trees of one side with the other's tests, for a language: isTest selects the replaced files.
// changed reports whether the new trees differ from the originals.
func (c *change) overlay(isTest func(path string) bool) (changed bool) {
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

// folders are the work trees on disk.
type folders map[treeName]*testrun.WorkTree

func newFolders(dir string, h *gitops.History) folders {
	out := folders{}
	for _, n := range []treeName{atBase, atHead, atOver, atUnder} {
		out[n] = testrun.NewWorkTree(filepath.Join(dir, string(n)), h)
	}
	return out
}

// below reports whether a path is a folder or below it.
func below(p, dir string) bool { return dir == "." || p == dir || strings.HasPrefix(p, dir+"/") }
