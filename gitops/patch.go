package gitops

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// patch renders the file as `git diff` does
// (https://git-scm.com/docs/diff-generate-patch).
func (f *comparison) patch() string {
	// A change of kind, such as a file that became a symlink, is a removal and
	// an addition.
	if f.old.mode != filemode.Empty && f.new.mode != filemode.Empty && kindOfMode(f.old.mode) != kindOfMode(f.new.mode) {
		return f.halfPatch(f.old, treeEntry{}, '-') + f.halfPatch(treeEntry{}, f.new, '+')
	}
	var b strings.Builder
	from := f.Path
	if f.OldPath != "" {
		from = f.OldPath
	}
	f.header(&b, from, f.old, f.new)
	f.body(&b, from, f.old, f.new, f.Hunks)
	return b.String()
}

// kindOfMode is the part of a mode that distinguishes a file, a symlink and a submodule.
func kindOfMode(m filemode.FileMode) filemode.FileMode { return m &^ 0o777 }

// halfPatch renders one side of a change of kind.
func (f *comparison) halfPatch(old, new treeEntry, sign byte) string {
	var b strings.Builder
	f.header(&b, f.Path, old, new)
	var h Hunk
	for _, hunk := range f.Hunks {
		for _, l := range hunk.Lines {
			if l[0] == sign {
				h.Lines = append(h.Lines, l)
			}
		}
	}
	if sign == '-' {
		h.OldStart, h.OldLines = 1, len(h.Lines)
	} else {
		h.NewStart, h.NewLines = 1, len(h.Lines)
	}
	f.body(&b, f.Path, old, new, []Hunk{h})
	return b.String()
}

func (f *comparison) header(b *strings.Builder, from string, old, new treeEntry) {
	fmt.Fprintf(b, "diff --git %s %s\n", quotePath("a/"+from), quotePath("b/"+f.Path))
	switch {
	case old.mode == filemode.Empty:
		fmt.Fprintf(b, "new file mode %06o\n", uint32(new.mode))
	case new.mode == filemode.Empty:
		fmt.Fprintf(b, "deleted file mode %06o\n", uint32(old.mode))
	case old.mode != new.mode:
		fmt.Fprintf(b, "old mode %06o\nnew mode %06o\n", uint32(old.mode), uint32(new.mode))
	}
	if from != f.Path {
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", quotePath(from), quotePath(f.Path))
	}
	if old.id != new.id {
		fmt.Fprintf(b, "index %s..%s", old.id, new.id)
		if old.mode == new.mode {
			fmt.Fprintf(b, " %06o", uint32(old.mode))
		}
		b.WriteByte('\n')
	}
}

func (f *comparison) body(b *strings.Builder, from string, old, new treeEntry, hunks []Hunk) {
	a, z := quotePath("a/"+from), quotePath("b/"+f.Path)
	if old.mode == filemode.Empty {
		a = "/dev/null"
	}
	if new.mode == filemode.Empty {
		z = "/dev/null"
	}
	if f.Binary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", a, z)
		return
	}
	if len(hunks) == 0 || len(hunks[0].Lines) == 0 {
		return
	}
	fmt.Fprintf(b, "--- %s%s\n+++ %s%s\n", a, nameEnd(a), z, nameEnd(z))
	for _, h := range hunks {
		fmt.Fprintf(b, "@@ -%d,%d +%d,%d @@\n", h.OldStart, h.OldLines, h.NewStart, h.NewLines)
		oldAt, newAt := h.OldStart-1, h.NewStart-1
		for _, l := range h.Lines {
			b.WriteString(l)
			b.WriteByte('\n')
			bare := false
			if l[0] != '+' {
				oldAt++
				bare = oldAt == f.oldLen && !f.oldNL
			}
			if l[0] != '-' {
				newAt++
				bare = bare || newAt == f.newLen && !f.newNL
			}
			if bare {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
}

// nameEnd is the tab that git writes after a name with spaces, to mark the end of the name.
func nameEnd(name string) string {
	if strings.Contains(name, " ") {
		return "\t"
	}
	return ""
}

// quotePath writes a path as git does: in C's notation when it has bytes that would break the patch.
func quotePath(p string) string {
	plain := true
	for i := range len(p) {
		if c := p[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			plain = false
		}
	}
	if plain {
		return p
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(p) {
		switch c := p[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
