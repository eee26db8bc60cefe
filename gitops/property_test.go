package gitops

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"pgregory.net/rapid"
)

// Applying the changes to the old lines gives the new ones, and the number of changed lines is the least possible.
func TestDiffLinesProperty(t *testing.T) {
	line := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	rapid.Check(t, func(t *rapid.T) {
		old := rapid.SliceOfN(line, 0, 30).Draw(t, "old")
		new := rapid.SliceOfN(line, 0, 30).Draw(t, "new")
		spans := diffLines(old, new)
		var got []string
		at, edits := 0, 0
		for _, s := range spans {
			got = append(append(got, old[at:s.a]...), new[s.c:s.d]...)
			at = s.b
			edits += s.b - s.a + s.d - s.c
		}
		got = append(got, old[at:]...)
		if !slices.Equal(got, new) {
			t.Fatalf("spans %v give %q", spans, got)
		}
		if want := len(old) + len(new) - 2*common(old, new); edits != want {
			t.Fatalf("%d edits, %d would do", edits, want)
		}
	})
}

// common is the length of the longest common subsequence.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for i := range a {
		prev := 0
		for j := range b {
			old := row[j+1]
			if a[i] == b[j] {
				row[j+1] = prev + 1
			} else {
				row[j+1] = max(row[j+1], row[j])
			}
			prev = old
		}
	}
	return row[len(b)]
}

// Two large files with nothing in common are compared in a moment, not minutes.
//
//test:plain
func TestDiffLinesBounded(t *testing.T) {
	var old, new []string
	for i := range 50_000 {
		old = append(old, strings.Repeat("o", i%50)+string(rune(i)))
		new = append(new, strings.Repeat("n", i%50)+string(rune(i)))
	}
	n := 0
	for _, s := range diffLines(old, new) {
		n += s.b - s.a
	}
	if n < 49_000 {
		t.Errorf("%d lines deleted", n)
	}
}

// git apply accepts every patch, and its result is the new file.
func TestPatchProperty(t *testing.T) {
	text := rapid.Custom(func(t *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "", " x", "-y", "\\ z", "@@", "long line", "\r"}), 0,
			25).Draw(t, "lines")
		return strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end")
	})
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	count := 0
	rapid.Check(t, func(rt *rapid.T) {
		if count++; count > 25 {
			return // each one runs git
		}
		old, new := text.Draw(rt, "old"), text.Draw(rt, "new")
		if old == new {
			return
		}
		blobs := map[plumbing.Hash]string{}
		put := func(s string) treeEntry {
			h := newHasher(plumbing.BlobObject, int64(len(s)))
			h.Write([]byte(s))
			blobs[h.sum()] = s
			return treeEntry{"f", filemode.Regular, h.sum()}
		}
		open := func(id plumbing.Hash) (io.ReadCloser, int64, error) {
			return io.NopCloser(strings.NewReader(blobs[id])), int64(len(blobs[id])), nil
		}
		d, err := makeDiff(context.Background(), []treeChange{{"f", put(old), put(new)}}, open, open)
		if err != nil {
			rt.Fatal(err)
		}
		os.WriteFile(filepath.Join(dir, "f"), []byte(old), 0o644)
		os.WriteFile(filepath.Join(dir, "p"), []byte(d.Patch), 0o644)
		if out, err := gitTry(dir, "apply", "--whitespace=nowarn", "p"); err != nil {
			rt.Fatalf("git apply: %s\n%s", out, d.Patch)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "f")); string(got) != new {
			rt.Fatalf("got %q, want %q\n%s", got, new, d.Patch)
		}
	})
}

func TestSafeName(t *testing.T) {
	for _, bad := range []string{"", ".", "..", ".git", ".GIT", ".git ", ".git.", "git~1", ".g\u200cit",
		".git::$INDEX_ALLOCATION", "a/b", "a\x00"} {
		if safeName(bad) {
			t.Errorf("safeName(%q)", bad)
		}
	}
	for _, good := range []string{".github", ".gitignore", "git", "...", "a b", ".git~"} {
		if !safeName(good) {
			t.Errorf("!safeName(%q)", good)
		}
	}
}

func FuzzPkt(f *testing.F) {
	f.Add([]byte("000eversion 2\n0000"))
	f.Add([]byte("000dpackfile\n0008\x01abc0007\x02hi0000"))
	f.Add([]byte("0010shallow-info\n0001"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := os.CreateTemp(t.TempDir(), "p")
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		d := fetchedPack{pack: out}
		_ = d.read(newPktReader(bytes.NewReader(b)))
		a := refAdvertisement{caps: map[string]bool{}, refs: map[plumbing.Hash]bool{}}
		_ = a.read(newPktReader(bytes.NewReader(b)), "refs/heads/main")
		_ = new(pushReport).read(newPktReader(&sidebandReader{pkts: newPktReader(bytes.NewReader(b))}), "refs/heads/main")
	})
}

// FuzzPack indexes arbitrary packs; an accepted pack can be read.
func FuzzPack(f *testing.F) {
	var good bytes.Buffer
	if _, _, err := writePack(&good,
		[]newObject{inMemory(plumbing.BlobObject, []byte("hello"))}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte("PACK\x00\x00\x00\x02\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		in, err := os.Create(filepath.Join(dir, "in"))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		in.Write(b)
		x, err := indexPack(t.Context(), in, filepath.Join(dir, "out"), &packedObjects{}, packLimits{})
		if err != nil {
			return
		}
		p, err := openPack(x.base, &baseCache{})
		if err != nil {
			t.Fatalf("accepted and not readable: %v", err)
		}
		defer p.f.Close()
	})
}

// FuzzFiles parses arbitrary files of a repository.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("100644 a\x0001234567890123456789"), "src/a.log")
	f.Fuzz(func(t *testing.T, b []byte, p string) {
		if entries, err := parseTree(b); err == nil {
			for _, e := range entries {
				if !safeName(e.name) {
					t.Errorf("name %q", e.name)
				}
			}
		}
		_, _ = decodeIndex(b)
		_ = quotePath(p)
	})
}

// FuzzIndexFile reads a damaged index: the damage is reported or harmless.
func FuzzIndexFile(f *testing.F) {
	f.Add(uint16(0), byte(1))
	f.Fuzz(func(t *testing.T, at uint16, flip byte) {
		dir := t.TempDir()
		x, err := packNew(t.Context(), dir, []newObject{inMemory(plumbing.BlobObject, []byte("hello"))})
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(x.base + ".idx")
		if err != nil {
			t.Fatal(err)
		}
		b[int(at)%len(b)] ^= flip
		os.Remove(x.base + ".idx")
		os.WriteFile(x.base+".idx", b, 0o600)
		p, err := openPack(x.base, &baseCache{})
		if err != nil {
			return
		}
		defer p.f.Close()
		o := &packedObjects{packs: []*packFile{p}}
		if got, err := o.readObject(blobID("hello"), plumbing.BlobObject); err == nil && string(got) != "hello" {
			t.Errorf("read %q", got)
		}
		_, _, _ = o.readAny(blobID("hello"), maxInMemory)
	})
}
