package gitops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// generation is one generation of a mirror: a bare repository. It holds
//
//	objects/pack/           packs only, no loose objects
//	shallow                 the commits with parents that we don't have
//	refs/sia/fetched/<sha>  commits that came from the server with all their files
//	refs/sia/made/<sha>     commits made here; their packs hold all that their parents lack
//
// Files appear complete and in the order objects, index, ref; nothing is changed in place. So a kill at any point
// leaves a valid repository.
type generation struct{ dir string }

func (g generation) packsDir() string { return filepath.Join(g.dir, "objects", "pack") }

func (g generation) refPath(kind, sha string) string {
	return filepath.Join(g.dir, "refs", "sia", kind, sha)
}

// isMarked reports whether a commit is complete and has the mark kind, "fetched" or "made".
func (g generation) isMarked(kind string, h plumbing.Hash) bool {
	_, err := os.Lstat(g.refPath(kind, h.String()))
	return err == nil
}

// markCommit marks a commit as complete. Its objects must be in place.
func (g generation) markCommit(kind, sha string) error {
	return writeFile(g.refPath(kind, sha), 0o600, func(w io.Writer) error {
		_, err := io.WriteString(w, sha+"\n")
		return err
	})
}

// addPack moves a pack into the generation.
func (g generation) addPack(x indexedPack) error {
	dst := filepath.Join(g.packsDir(), "pack-"+x.checksum.String())
	if err := errors.Join(os.Rename(x.base+".pack", dst+".pack"), os.Rename(x.base+".idx", dst+".idx")); err != nil {
		return err
	}
	syncDir(g.packsDir())
	return nil
}

func (g generation) shallowCommits() ([]plumbing.Hash, error) {
	b, err := os.ReadFile(filepath.Join(g.dir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	var out []plumbing.Hash
	for _, line := range strings.Fields(string(b)) {
		h, err := parseSHA(line)
		if err != nil {
			return nil, fmt.Errorf("%w: file shallow: %w", errBroken, err)
		}
		out = append(out, h)
	}
	return out, nil
}

func (g generation) addShallow(more []plumbing.Hash) error {
	have, err := g.shallowCommits()
	if err != nil {
		return err
	}
	n := len(have)
	for _, h := range more {
		if !slices.Contains(have, h) {
			have = append(have, h)
		}
	}
	if len(have) == n {
		return nil
	}
	return writeFile(filepath.Join(g.dir, "shallow"), 0o600, func(w io.Writer) error {
		for _, h := range have {
			if _, err := io.WriteString(w, h.String()+"\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// markedCommits lists the commits that were "fetched" or "made", newest first, and when each was marked.
func (g generation) markedCommits(kind string) ([]plumbing.Hash, map[plumbing.Hash]time.Time, error) {
	entries, err := os.ReadDir(g.refPath(kind, ""))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	at := map[plumbing.Hash]time.Time{}
	for _, e := range entries {
		h, err := parseSHA(e.Name())
		st, serr := e.Info()
		if err == nil && serr == nil {
			at[h] = st.ModTime()
		}
	}
	return slices.SortedFunc(maps.Keys(at), func(a, b plumbing.Hash) int { return at[b].Compare(at[a]) }), at, nil
}

// missingCommits lists the commits to fetch so that want is complete.
func (g generation) missingCommits(want plumbing.Hash) ([]plumbing.Hash, error) {
	var lacks []plumbing.Hash
	var objs *packedObjects
	defer func() {
		if objs != nil {
			objs.close()
		}
	}()
	seen := map[plumbing.Hash]bool{}
	for queue := []plumbing.Hash{want}; len(queue) > 0; {
		h := queue[0]
		queue = queue[1:]
		if seen[h] || g.isMarked("fetched", h) {
			continue
		}
		seen[h] = true
		if !g.isMarked("made", h) {
			lacks = append(lacks, h)
			continue
		}
		if objs == nil {
			var err error
			if objs, err = openObjects(g.dir); err != nil {
				return nil, err
			}
		}
		c, err := objs.readCommit(h)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBroken, err)
		}
		queue = append(queue, c.ParentHashes...)
	}
	return lacks, nil
}
