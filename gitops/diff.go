package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

const (
	// maxPatch bounds Diff.Patch, in bytes.
	maxPatch = 1 << 20
	// maxHunks bounds the total text of a Diff's hunks, in bytes.
	maxHunks = 16 << 20
	// maxDiffFile bounds a file that is compared by lines, in bytes.
	maxDiffFile = 4 << 20
	// contextLines surround a change, as in git.
	contextLines = 3
)

// FileStatus says what happened to a file.
type FileStatus string

// The statuses of a file.
const (
	FileAdded    FileStatus = "added"
	FileDeleted  FileStatus = "deleted"
	FileModified FileStatus = "modified" // content, mode or kind
	FileRenamed  FileStatus = "renamed"  // and possibly modified
)

// Diff is the difference between two trees.
type Diff struct {
	Files     []FileDiff // by path
	Patch     string     // unified, as `git apply` takes it unless Truncated; at most 1 MiB
	Truncated bool       // Patch or some Hunks were cut: the change is larger than the bounds
	Added     int        // lines
	Deleted   int        // lines
}

// FileDiff is one file that differs.
type FileDiff struct {
	Path    string
	OldPath string // the former path of a renamed file; else ""
	Status  FileStatus
	Added   int // lines; 0 for a binary file, or one larger than 4 MiB or made from one larger than 32 MiB
	Deleted int
	Binary  bool // there is a NUL byte near the start, or it is a submodule
	Hunks   []Hunk
	// differences of a binary file that is UTF-8 but for its NUL bytes: code that tools don't read
	BinaryHunks []Hunk
	LostExec    bool // the file was executable, and is not any more
}

// FirstLines returns the first lines of the file if the change shows them, in the format of [Hunk], and none otherwise.
func (f FileDiff) FirstLines() []string {
	if len(f.Hunks) == 0 || f.Hunks[0].NewStart > 1 {
		return nil
	}
	return f.Hunks[0].Lines
}

// comparison is a FileDiff under construction.
type comparison struct {
	FileDiff
	old, new       treeEntry
	oldNL, newNL   bool // the text ends in a newline
	oldLen, newLen int  // lines
}

// Hunk is a run of changed lines with three lines of context around it.
type Hunk struct {
	OldStart, OldLines int // 1-based, as in the patch: 0 when there are none
	NewStart, NewLines int
	Lines              []string // without newline, after ' ', '+' or '-'
}

// Diff compares two commits, which are fetched when the mirror lacks them.
func (r *Repo) Diff(ctx context.Context, from, to string) (d Diff, err error) {
	err = r.viewCommits(ctx, "diff", []string{from, to}, func(o *packedObjects, at []plumbing.Hash) error {
		d, _, err = o.diffCommits(ctx, at[0], at[1], math.MaxInt)
		return err
	})
	return d, err
}

// DiffHere compares two commits in the mirror without fetching: a mirror that lacks objects is [ErrNotHere]. It
// compares at most files of the files that differ; more counts the rest.
func (r *Repo) DiffHere(ctx context.Context, from, to string, files int) (d Diff, more int, err error) {
	commits, err := r.hashes("diff", from, to)
	if err != nil {
		return d, 0, err
	}
	g, ok := r.mirror.present()
	for _, h := range commits {
		ok = ok && (g.isMarked("fetched", h) || g.isMarked("made", h))
	}
	if !ok {
		return d, 0, fmt.Errorf("diff: %w", ErrNotHere)
	}
	objs, err := openObjects(g.dir)
	if err == nil {
		d, more, err = objs.diffCommits(ctx, commits[0], commits[1], files)
		objs.close()
	}
	switch {
	case errors.Is(err, errNoObject), errors.Is(err, errBroken): // the next fetch repairs it
		return Diff{}, 0, fmt.Errorf("diff: %w: %w", ErrNotHere, err)
	case err != nil:
		return Diff{}, 0, fmt.Errorf("diff: %w", err)
	}
	return d, more, nil
}

// diffCommits compares the first files that differ between two commits.
func (o *packedObjects) diffCommits(
	ctx context.Context, from, to plumbing.Hash, files int,
) (d Diff, more int, err error) {
	trees, err := o.treesOf([]plumbing.Hash{from, to})
	if err != nil {
		return d, 0, err
	}
	changes, err := o.compareTrees(ctx, trees[0], trees[1])
	if err != nil {
		return d, 0, err
	}
	more = max(0, len(changes)-files)
	d, err = makeDiff(ctx, changes[:len(changes)-more], o.openToCompare, o.openToCompare)
	return d, more, err
}

// blobOpener streams a blob and returns its size.
type blobOpener func(plumbing.Hash) (io.ReadCloser, int64, error)

// makeDiff turns changes into a Diff, reading each side through its opener.
func makeDiff(ctx context.Context, changes []treeChange, old, new blobOpener) (Diff, error) {
	files, err := pairRenames(ctx, changes, old, new)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{}
	var patch strings.Builder
	hunks := 0
	for i := range files {
		if err := ctx.Err(); err != nil {
			return Diff{}, context.Cause(ctx)
		}
		f := &files[i]
		cut, err := f.compareSides(old, new)
		if err != nil {
			return Diff{}, fmt.Errorf("diff %s: %w", cleanText(f.Path, 200), err)
		}
		d.Added += f.Added
		d.Deleted += f.Deleted
		d.Truncated = d.Truncated || cut
		for _, h := range slices.Concat(f.Hunks, f.BinaryHunks) {
			for _, l := range h.Lines {
				hunks += len(l) + 1
			}
		}
		if hunks > maxHunks {
			f.Hunks, f.BinaryHunks, d.Truncated = nil, nil, true
		}
		if !d.Truncated {
			text := f.patch()
			if patch.Len()+len(text) > maxPatch {
				d.Truncated = true
				text = text[:strings.LastIndexByte(text[:maxPatch-patch.Len()], '\n')+1]
			}
			patch.WriteString(text)
		}
		d.Files = append(d.Files, f.FileDiff)
	}
	d.Patch = patch.String()
	return d, nil
}

// readText returns the content of a side. binary and large report why it is empty: it is no text, or too large to
// compare.
func readText(e treeEntry, open blobOpener) (b []byte, binary, large bool, err error) {
	if e.mode == filemode.Empty {
		return nil, false, false, nil
	}
	if e.mode == filemode.Submodule {
		return nil, true, false, nil
	}
	in, size, err := open(e.id)
	if errors.Is(err, ErrTooLarge) {
		return nil, false, true, nil
	} else if err != nil {
		return nil, false, false, err
	}
	defer in.Close()
	if size > maxDiffFile {
		head := make([]byte, 8000)
		n, err := io.ReadFull(in, head)
		return nil, bytes.IndexByte(head[:n], 0) >= 0, true, err
	}
	if b, err = io.ReadAll(in); err != nil {
		return nil, false, false, err
	}
	return b, bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0, false, nil
}

func splitLines(b []byte) (lines []string, newline bool) {
	if len(b) == 0 {
		return nil, true
	}
	text := string(b)
	newline = strings.HasSuffix(text, "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), newline
}

// compareSides compares the two sides; cut is true when one was too large.
func (f *comparison) compareSides(openOld, openNew blobOpener) (cut bool, err error) {
	f.LostExec = f.old.mode == filemode.Executable && isRegular(f.new.mode) && f.new.mode != filemode.Executable
	if f.old.id == f.new.id {
		return false, nil
	}
	a, binA, largeA, err := readText(f.old, openOld)
	if err != nil {
		return false, err
	}
	b, binB, largeB, err := readText(f.new, openNew)
	if err != nil {
		return false, err
	}
	if f.Binary = binA || binB; f.Binary && !(utf8.Valid(a) && utf8.Valid(b)) || largeA || largeB {
		return !f.Binary, nil
	}
	old, oldNL := splitLines(a)
	new, newNL := splitLines(b)
	f.oldNL, f.newNL, f.oldLen, f.newLen = oldNL, newNL, len(old), len(new)
	// A last line without newline differs from the same line with one.
	x, y := slices.Clone(old), slices.Clone(new)
	if !oldNL {
		x[len(x)-1] += "\n"
	}
	if !newNL {
		y[len(y)-1] += "\n"
	}
	spans := diffLines(x, y)
	if f.Binary {
		f.BinaryHunks = makeHunks(spans, old, new)
		return false, nil
	}
	for _, s := range spans {
		f.Deleted += s.b - s.a
		f.Added += s.d - s.c
	}
	f.Hunks = makeHunks(spans, old, new)
	return false, nil
}

// makeHunks puts changes that are near each other into one hunk.
func makeHunks(spans []lineSpan, old, new []string) []Hunk {
	var hunks []Hunk
	for i := 0; i < len(spans); {
		j := i + 1
		for j < len(spans) && spans[j].a-spans[j-1].b <= 2*contextLines {
			j++
		}
		first, last := spans[i], spans[j-1]
		a0, c0 := max(0, first.a-contextLines), max(0, first.c-contextLines)
		end := min(len(old), last.b+contextLines)
		h := Hunk{OldStart: a0 + 1, OldLines: end - a0, NewStart: c0 + 1, NewLines: last.d + (end - last.b) - c0}
		at := a0
		for _, s := range spans[i:j] {
			h.add(' ', old[at:s.a])
			h.add('-', old[s.a:s.b])
			h.add('+', new[s.c:s.d])
			at = s.b
		}
		h.add(' ', old[at:end])
		if h.OldLines == 0 {
			h.OldStart--
		}
		if h.NewLines == 0 {
			h.NewStart--
		}
		hunks = append(hunks, h)
		i = j
	}
	return hunks
}

func (h *Hunk) add(sign byte, lines []string) {
	for _, l := range lines {
		h.Lines = append(h.Lines, string(sign)+l)
	}
}
