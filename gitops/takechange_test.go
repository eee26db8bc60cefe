package gitops

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// farAway is a cache on a machine without access to the server, with a taken commit.
func farAway(t *testing.T, f *fixture, sha string) *Repo {
	t.Helper()
	var base bytes.Buffer
	must0(t, f.repo.WriteCommit(t.Context(), sha, &base))
	far := openCache(t, t.TempDir(), CacheOptions{}).Repo(Remote{Key: "far", URL: "https://nowhere.invalid"})
	if far.HasCommit(sha) {
		t.Error("it has the commit before it was taken")
	}
	if err := far.TakeCommit(t.Context(), sha, bytes.NewReader(base.Bytes()), int64(base.Len())-1); !errors.Is(err,
		ErrTooLarge) {
		t.Errorf("larger than may be: %v", err)
	}
	must0(t, far.TakeCommit(t.Context(), sha, &base, 1<<20))
	if !far.HasCommit(sha) {
		t.Error("it does not have the commit")
	}
	return far
}

// A change that another machine made on top of a commit sent to it is applied here, and commits to the same tree.
func TestChangeFromAnotherMachine(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	must0(t, os.Symlink("README.md", filepath.Join(f.work, "lnk")))
	base := commitAll(t, f.work, "with a link")
	far := farAway(t, f, base)
	there := must[*Workspace](t)(far.Workspace(ctx, "", base))
	write(t, there.Dir(), map[string]string{"src/main.go": "package main // changed\n", "new/a/b.txt": "b\n",
		"x.log": "left out"})
	for _, gone := range []string{"src/lib/lib.go", "src/lib/data.in", "lnk", "empty"} {
		must0(t, os.Remove(filepath.Join(there.Dir(), gone)))
	}
	must0(t, os.Remove(filepath.Join(there.Dir(), "src/lib")))
	write(t, there.Dir(), map[string]string{"src/lib": "a file now\n", "empty/folder": "a folder now\n"})
	must0(t, os.Symlink("../src/main.go", filepath.Join(there.Dir(), "new/link")))
	must0(t, os.Chmod(filepath.Join(there.Dir(), "README.md"), 0o755))
	made := must[string](t)(there.Commit(ctx, testSpec("there")))
	packed := must[[]PackedCommit](t)(far.PackMade(ctx, made, 1<<20, base))
	if len(packed) != 1 {
		t.Fatalf("%d commits packed", len(packed))
	}

	here := must[*Workspace](t)(f.repo.Workspace(ctx, "", base))
	must0(t, here.TakeChange(ctx, made, packed[0].Pack))
	mine := must[string](t)(here.Commit(ctx, testSpec("there")))
	if mine != made {
		t.Errorf("another commit than there: %s", must[Diff](t)(here.Diff(ctx)).Patch)
	}
	write(t, here.Dir(), map[string]string{"src/other.go": "package main\n"})
	must0(t, here.Reset(ctx))
	if d := must[Diff](t)(here.Diff(ctx)); len(d.Files) != 0 {
		t.Errorf("after Reset:\n%s", d.Patch)
	}
}

// Taking commits for one attempt keeps the base commit of another: this machine can't fetch it again.
func TestBaseOutlivesARestart(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	far := farAway(t, f, f.main)
	w := must[*Workspace](t)(far.Workspace(ctx, "", f.main))
	before := fillMirror(t, far, maxPacks)
	write(t, f.work, map[string]string{"new": "1"})
	other := commitAll(t, f.work, "other")
	var pack bytes.Buffer
	must0(t, f.repo.WriteCommit(ctx, other, &pack))
	must0(t, far.TakeCommit(ctx, other, &pack, 1<<20))
	if now := must[generation](t)(far.mirror.current(ctx)); now == before {
		t.Error("the mirror was not restarted")
	}
	write(t, w.Dir(), map[string]string{"README.md": "changed\n"})
	sha := must[string](t)(w.Commit(ctx, testSpec("there")))
	if pack := must[[]byte](t)(w.Pack(ctx, sha, 1<<20)); len(pack) == 0 {
		t.Error("no pack")
	}
}

// hostilePack is a pack of a commit by a stranger: its tree has these entries in addition to those of base; "" is a
// tree.
func hostilePack(t *testing.T, base string, trees [][]treeEntry, blobs map[string]string) (sha string, pack []byte) {
	t.Helper()
	var objs []newObject
	ids := map[string]plumbing.Hash{}
	for name, text := range blobs {
		blob := inMemory(plumbing.BlobObject, []byte(text))
		ids[name] = blob.id
		objs = append(objs, blob)
	}
	var top plumbing.Hash
	for _, entries := range trees { // from the lowest; a folder without an id holds the previous one
		for i := range entries {
			if entries[i].isDir() {
				entries[i].id = top
			} else if id, ok := ids[entries[i].name]; ok {
				entries[i].id = id
			}
		}
		tree := inMemory(plumbing.TreeObject, encodeTree(entries))
		top = tree.id
		objs = append(objs, tree)
	}
	commit, err := testSpec("hostile").encode(top, []plumbing.Hash{plumbing.NewHash(base)})
	must0(t, err)
	var out bytes.Buffer
	if _, _, err := writePack(&out, append(objs, commit)); err != nil {
		t.Fatal(err)
	}
	return commit.id.String(), out.Bytes()
}

// An untrusted machine sends changes that no work tree may have. Each is refused with a reason, nothing of it is
// written, and the mirror and the workspace remain usable.
//
//test:plain
func TestHostileChange(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	base := must[string](t)(f.repo.Fetch(ctx, "main"))
	space := must[*Workspace](t)(f.repo.Workspace(ctx, "", base))
	file := func(name string) treeEntry { return treeEntry{name: name, mode: filemode.Regular} }
	link := func(name string) treeEntry { return treeEntry{name: name, mode: filemode.Symlink} }
	folder := func(name string) treeEntry { return treeEntry{name: name, mode: filemode.Dir} }
	many := make([]treeEntry, 100_000)
	same := objectID(plumbing.BlobObject, []byte("x"))
	for i := range many {
		many[i] = treeEntry{fmt.Sprintf("f%06d", i), filemode.Regular, same}
	}
	deep := [][]treeEntry{{file("x")}}
	for range maxDepth + 2 {
		deep = append(deep, []treeEntry{folder("d")})
	}
	for name, c := range map[string]struct {
		trees [][]treeEntry
		blobs map[string]string
		on    string // the parent; "": the base
		is    error
		says  string
	}{
		"symlink to a place of the machine's": {trees: [][]treeEntry{{link("l")}},
			blobs: map[string]string{"l": "/etc/passwd"}, says: "leads out"},
		"symlink out": {trees: [][]treeEntry{{link("l")}}, blobs: map[string]string{"l": "../x"},
			says: "leads out"},
		"symlink out by steps": {trees: [][]treeEntry{{link("l")}},
			blobs: map[string]string{"l": "src/../../x"}, says: "leads out"},
		"symlink into .git": {trees: [][]treeEntry{{link("l")}},
			blobs: map[string]string{"l": ".git/config"}, says: "leads out"},
		"a hook": {trees: [][]treeEntry{{file("x")}, {folder("hooks")}, {folder(".git")}},
			blobs: map[string]string{"x": "x"}, says: `".git"`},
		"a hook on other systems": {trees: [][]treeEntry{{file("x")}, {folder("GIT~1")}},
			blobs: map[string]string{"x": "x"}, says: "GIT~1"},
		"the folder above": {trees: [][]treeEntry{{file("x")}, {folder("..")}},
			blobs: map[string]string{"x": "x"}, says: `".."`},
		"a path for a name": {trees: [][]treeEntry{{file("../../x")}}, says: "not allowed"},
		"a path on Windows": {trees: [][]treeEntry{{file(`..\x`)}}, blobs: map[string]string{`..\x`: "x"},
			says: "not allowed"},
		"a submodule": {trees: [][]treeEntry{{{"s", filemode.Submodule, same}}}, says: "submodule"},
		"100,000 files": {trees: [][]treeEntry{many}, blobs: map[string]string{"x": "x"},
			says: "files are changed"},
		"deep folders":             {trees: deep, blobs: map[string]string{"x": "x"}, says: "deeper"},
		"a file that is not there": {trees: [][]treeEntry{{{"gone", filemode.Regular, same}}}, says: "unfit tree"},
		"on top of something else": {trees: [][]treeEntry{{file("x")}}, blobs: map[string]string{"x": "x"},
			on: strings.Repeat("1", 40), says: "does not stand on"},
	} {
		on := base
		if c.on != "" {
			on = c.on
		}
		sha, pack := hostilePack(t, on, c.trees, c.blobs)
		err := space.TakeChange(ctx, sha, pack)
		if !errors.Is(err, ErrTree) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}

	sha, pack := hostilePack(t, base, [][]treeEntry{{file("x")}}, map[string]string{"x": strings.Repeat("x", 4096)})
	broken := bytes.Clone(pack)
	broken[len(broken)/2] ^= 1
	if err := space.TakeChange(ctx, sha, broken); !errors.Is(err, ErrTree) {
		t.Errorf("a damaged pack: %v", err)
	}
	if err := space.TakeChange(ctx, base, pack); !errors.Is(err, ErrTree) {
		t.Errorf("a pack without the commit: %v", err)
	}
	if d := must[Diff](t)(space.Diff(ctx)); len(d.Files) != 0 {
		t.Errorf("something was written:\n%s", d.Patch)
	}
	if strings.Contains(f.logs.String(), "broken") {
		t.Errorf("the mirror was made anew: %s", f.logs)
	}
	must0(t, space.TakeChange(ctx, sha, pack))
}

// A pack is refused by its claimed size before it is inflated, and inflated no further than it claims.
func TestPacksOfStrangersAreBounded(t *testing.T) {
	blob := strings.Repeat("x", 1<<20)
	_, pack := hostilePack(t, strings.Repeat("1", 40), [][]treeEntry{{{name: "x", mode: filemode.Regular}}},
		map[string]string{"x": blob})
	name := filepath.Join(t.TempDir(), "p.pack")
	must0(t, os.WriteFile(name, pack, 0o600))
	in := must[*os.File](t)(os.Open(name))
	defer in.Close()
	for limits, fits := range map[packLimits]bool{
		{whole: true, objects: 3, bytes: 2 << 20}: true, {objects: 2}: false, {bytes: 1 << 20}: false,
	} {
		if _, err := scanPack(t.Context(), in, &limits); (err == nil) != fits || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	l := packLimits{whole: true}
	if err := l.admit(plumbing.OFSDeltaObject, 1); !errors.Is(err, errDelta) {
		t.Errorf("a delta: %v", err)
	}
	var lies bytes.Buffer
	lies.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x01" + string([]byte{byte(plumbing.BlobObject)<<4 | 3}))
	z := zlib.NewWriter(&lies)
	must[int](t)(z.Write([]byte(blob)))
	must0(t, z.Close())
	sum := sha1.Sum(lies.Bytes())
	must0(t, os.WriteFile(name+"2", append(lies.Bytes(), sum[:]...), 0o600))
	lying := must[*os.File](t)(os.Open(name + "2"))
	defer lying.Close()
	if _, err := scanPack(t.Context(), lying, &packLimits{}); !errors.Is(err, packfile.ErrInflatedSizeMismatch) {
		t.Errorf("more than was claimed is inflated: %v", err)
	}
}

// deltaPack makes a pack of a blob and a chain of deltas; each adds a byte to the one before, beside which another is
// made of the same base. The last claims to make so many bytes.
func deltaPack(t *testing.T, blob []byte, depth int, claimed uint64) *os.File {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("PACK")
	must0(t, binary.Write(&out, binary.BigEndian, [2]uint32{2, uint32(1 + 2*depth)}))
	entry := func(kind plumbing.ObjectType, content, base []byte) (offset int) {
		offset = out.Len()
		size := len(content)
		head := []byte{byte(kind)<<4 | byte(size&15)}
		for size >>= 4; size > 0; size >>= 7 {
			head[len(head)-1] |= 0x80
			head = append(head, byte(size&0x7f))
		}
		out.Write(append(head, base...))
		z := zlib.NewWriter(&out)
		must[int](t)(z.Write(content))
		must0(t, z.Close())
		return offset
	}
	delta := func(from int, makes uint64, added byte) []byte {
		d := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(from)), makes)
		return append(d, 0x80|0x10|0x20, byte(from), byte(from>>8), 1, added) // copies the base, and inserts a byte
	}
	away := func(base int) []byte {
		n := out.Len() - base
		b := []byte{byte(n & 0x7f)}
		for n >>= 7; n > 0; n >>= 7 {
			n--
			b = append([]byte{0x80 | byte(n&0x7f)}, b...)
		}
		return b
	}
	base := entry(plumbing.BlobObject, blob, nil)
	for i := range depth {
		from := len(blob) + i
		makes := uint64(from + 1)
		if i == depth-1 && claimed > 0 {
			makes = claimed
		}
		next := entry(plumbing.OFSDeltaObject, delta(from, uint64(from+1), 'n'), away(base))
		entry(plumbing.OFSDeltaObject, delta(from, makes, 'b'), away(base))
		base = next
	}
	sum := sha1.Sum(out.Bytes())
	name := filepath.Join(t.TempDir(), "deltas")
	must0(t, os.WriteFile(name, append(out.Bytes(), sum[:]...), 0o600))
	f := must[*os.File](t)(os.Open(name))
	t.Cleanup(func() { f.Close() })
	return f
}

// A small pack of a stranger takes neither all memory nor hours.
func TestDeltasOfStrangersAreBounded(t *testing.T) {
	const size, depth = 60_000, 40
	blob := bytes.Repeat([]byte("x"), size)
	for _, tt := range []struct {
		claimed uint64
		limits  packLimits
		want    error
	}{
		{0, packLimits{held: 2*size + 2*depth, bytes: 3 * depth * size}, nil},
		{0, packLimits{bytes: depth * size}, ErrTooLarge},
		{0, packLimits{held: size - 1}, ErrTooLarge},
		{maxInMemory + 1, packLimits{}, ErrTooLarge},
	} {
		x, err := indexPack(t.Context(), deltaPack(t, blob, depth, tt.claimed), filepath.Join(t.TempDir(), "whole"),
			&packedObjects{}, tt.limits)
		if !errors.Is(err, tt.want) || err == nil && x.count != 1+2*depth {
			t.Errorf("%+v: %d objects, %v", tt, x.count, err)
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err := indexPack(stopped, deltaPack(t, blob, depth, 0), filepath.Join(t.TempDir(), "whole"), &packedObjects{},
		packLimits{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
