package gitops

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"sort"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// fileStat is what git's index keeps of a file; times in nanoseconds since 1970.
type fileStat struct {
	ctime, mtime       int64
	dev, ino, uid, gid uint32
	size               uint32 // modulo 2^32
}

// indexEntry is one file of a checkout.
type indexEntry struct {
	path string
	mode filemode.FileMode
	id   plumbing.Hash
	stat fileStat
}

// A file's entry in an index of version 2 is 62 bytes and its name, padded with
// one to eight zeros (https://git-scm.com/docs/gitformat-index).
const indexEntryHead = 62

var errIndex = errors.New("malformed index")

// encodeIndex writes an index that git reads too. It sorts the entries.
func encodeIndex(entries []indexEntry) []byte {
	sort.Slice(entries, func(i, j int) bool { return entries[i].path < entries[j].path })
	b := make([]byte, 0, 12+len(entries)*100)
	b = append(b, "DIRC\x00\x00\x00\x02"...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		for _, t := range []int64{e.stat.ctime, e.stat.mtime} {
			b = binary.BigEndian.AppendUint32(b, uint32(t/1e9))
			b = binary.BigEndian.AppendUint32(b, uint32(t%1e9))
		}
		for _, v := range []uint32{e.stat.dev, e.stat.ino, uint32(e.mode), e.stat.uid, e.stat.gid, e.stat.size} {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		b = append(b, e.id[:]...)
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(e.path), 0xfff)))
		b = append(b, e.path...)
		b = append(b, make([]byte, 8-(indexEntryHead+len(e.path))%8)...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

// decodeIndex reads what encodeIndex wrote.
func decodeIndex(b []byte) ([]indexEntry, error) {
	if len(b) < 32 || !bytes.HasPrefix(b, []byte("DIRC\x00\x00\x00\x02")) {
		return nil, errIndex
	}
	body, sum := b[:len(b)-20], sha1.Sum(b[:len(b)-20])
	if !bytes.Equal(sum[:], b[len(b)-20:]) {
		return nil, errIndex
	}
	n := int(binary.BigEndian.Uint32(body[8:]))
	body = body[12:]
	entries := make([]indexEntry, 0, min(n, len(body)/indexEntryHead+1))
	for range n {
		if len(body) < indexEntryHead {
			return nil, errIndex
		}
		u := func(at int) uint32 { return binary.BigEndian.Uint32(body[at:]) }
		e := indexEntry{
			mode: filemode.FileMode(u(24)), id: plumbing.Hash(body[40:60]),
			stat: fileStat{
				ctime: int64(u(0))*1e9 + int64(u(4)), mtime: int64(u(8))*1e9 + int64(u(12)),
				dev: u(16), ino: u(20), uid: u(28), gid: u(32), size: u(36),
			},
		}
		end := bytes.IndexByte(body[indexEntryHead:], 0)
		if end < 0 {
			return nil, errIndex
		}
		e.path = string(body[indexEntryHead : indexEntryHead+end])
		size := indexEntryHead + end
		size += 8 - size%8
		if size > len(body) {
			return nil, errIndex
		}
		body = body[size:]
		entries = append(entries, e)
	}
	return entries, nil
}
