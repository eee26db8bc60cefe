package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	improving "github.com/sia-bot/sia/app/improve"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/cmd/internal/localgit"
	"github.com/sia-bot/sia/sia/improve"
)

// sourceModule is the first line of SIA's go.mod.
const sourceModule = "module github.com/sia-bot/sia\n"

// embedded lists the files of SIA's source that control its decisions.
var embedded = [...]string{"agent/prompts/*.md", "sia/diagnose/prompts/*.tmpl", "sia/technique/library/*.md",
	"policies/defaults/*.yml"}

// sourceCheckout is a checkout of SIA's source.
type sourceCheckout struct {
	root  string
	head  string   // commit that is checked out
	files []string // files that may be improved, sorted
}

// openCheckout finds the checkout that contains a folder. It refuses files with uncommitted changes: an improvement
// would include them.
func openCheckout(ctx context.Context, dir string) (c sourceCheckout, err error) {
	found, err := localgit.At(dir).Line(ctx, "rev-parse", "--show-toplevel", "HEAD")
	if err != nil {
		return c, fmt.Errorf("--repo %s is no checkout of SIA's source: %w", dir, err)
	}
	c.root, c.head, _ = strings.Cut(found, "\n")
	mod, err := os.ReadFile(filepath.Join(c.root, "go.mod"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	for _, pattern := range embedded {
		found, err := fs.Glob(os.DirFS(c.root), pattern) // the root may contain pattern characters
		if err != nil {
			return c, err
		}
		c.files = append(c.files, found...)
	}
	if !bytes.HasPrefix(mod, []byte(sourceModule)) || len(c.files) == 0 {
		return c, fmt.Errorf("--repo %s is no checkout of SIA's source; clone https://github.com/sia-bot/sia and name that",
			dir)
	}
	changed, err := localgit.At(c.root).Run(ctx, append([]string{"status", "--porcelain", "--"}, c.files...)...)
	if err != nil {
		return c, err
	}
	if len(changed) > 0 {
		return c, fmt.Errorf("--repo %s has prompts, techniques or policies that are not committed; commit them first:\n%s",
			dir, bytes.TrimRight(changed, "\n"))
	}
	return c, nil
}

// commit creates a branch with one commit of the kept changes. It touches neither the work tree nor its index, and runs
// no hook.
func (c sourceCheckout) commit(
	ctx context.Context, branch string, changes []improve.Change, cycles []improve.Cycle, mask func(string) string,
) (p improving.Promotion, err error) {
	defer func() {
		if err != nil {
			p.Why, err = err.Error(), fmt.Errorf("commit what was kept: %w", err)
		}
	}()
	p.Branch = branch
	dir, err := os.MkdirTemp("", "sia-index-")
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	git := localgit.At(c.root)
	var entries strings.Builder
	for _, change := range changes {
		blob, err := git.RunWith(ctx, nil, change.After.Text, "hash-object", "-w", "--stdin")
		if err != nil {
			return p, err
		}
		fmt.Fprintf(&entries, "100644 blob %s\t%s\x00", bytes.TrimSpace(blob), change.Name)
	}
	message := mask(render.ImprovementTitle(cycles) + "\n\n" + render.ImprovementBody(cycles, nil))
	p.Commit, err = git.CommitEntries(ctx, filepath.Join(dir, "index"), c.head, entries.String(), message)
	if err != nil {
		return p, err
	}
	const none = "0000000000000000000000000000000000000000" // the branch must not exist yet
	if _, err = git.Run(ctx, "update-ref", "-m", "sia improve self", "refs/heads/"+branch, p.Commit, none); err != nil {
		return p, err
	}
	p.Promoted, p.RestartRequired = true, true
	p.Notes = []string{"to work by it: merge " + branch + ", build SIA and start it again"}
	return p, nil
}
