package gitops

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Unresolved returns those of the files of a commit that still hold conflict markers, each
// at the start of a line: that of ours, and somewhere below it that in the middle and that
// of theirs. A path without a regular file is not among them.
func (r *Repo) Unresolved(ctx context.Context, sha string, paths []string) (marked []string, err error) {
	err = r.viewCommit(ctx, "look for conflict markers", sha, func(o *packedObjects, h plumbing.Hash) error {
		marked = nil
		c, err := o.readCommit(h)
		if err != nil {
			return err
		}
		tree := newTreeFolders(o, c.TreeHash)
		for _, p := range paths {
			if !fs.ValidPath(p) {
				return fmt.Errorf("path %q: %w", cleanText(p, 200), fs.ErrInvalid)
			}
			e, err := tree.entry(p)
			if err != nil {
				return err
			}
			if !isRegular(e.mode) {
				continue
			}
			in, _, err := o.openBlob(e.id)
			if err != nil {
				return err
			}
			found, err := hasMarkers(ctx, in)
			in.Close()
			if err != nil {
				return err
			}
			if found {
				marked = append(marked, p)
			}
		}
		return nil
	})
	return marked, err
}

// hasMarkers reports whether a text holds a conflict. Lines may be of any length.
func hasMarkers(ctx context.Context, in io.Reader) (bool, error) {
	lines := bufio.NewReader(in)
	var inOurs, inTheirs bool
	for begins := true; ; {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		part, more, err := lines.ReadLine()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		switch line := string(part); {
		case !begins:
		case !inOurs:
			inOurs = strings.HasPrefix(line, markerOurs)
		case !inTheirs:
			inTheirs = line == markerMiddle && !more
		case strings.HasPrefix(line, markerTheirs):
			return true, nil
		}
		begins = !more
	}
}
