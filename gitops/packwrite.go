package gitops

import (
	"bufio"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// packWriter writes a pack of whole objects, without deltas, as a stream, and
// keeps what its index needs.
type packWriter struct {
	out *bufio.Writer
	sum hash.Hash
	z   *zlib.Writer
	idx idxfile.Writer
	at  uint64
	crc uint32
}

func newPackWriter(out io.Writer, count int) (*packWriter, error) {
	w := &packWriter{sum: sha1.New()}
	w.out = bufio.NewWriterSize(io.MultiWriter(out, w.sum), 64<<10)
	w.z = zlib.NewWriter(w)
	if err := w.idx.OnHeader(uint32(count)); err != nil {
		return nil, err
	}
	_, err := w.Write(binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(count)))
	return w, err
}

// Write adds raw bytes.
func (w *packWriter) Write(b []byte) (int, error) {
	n, err := w.out.Write(b)
	w.at += uint64(n)
	w.crc = crc32.Update(w.crc, crc32.IEEETable, b[:n])
	return n, err
}

// add adds an object of size bytes. It fails when the content does not have the hash id.
func (w *packWriter) add(id plumbing.Hash, kind plumbing.ObjectType, size int64, content io.Reader) error {
	start := w.at
	w.crc = 0
	head := make([]byte, 0, 10)
	c, rest := byte(kind)<<4|byte(size&15), size>>4
	for ; rest > 0; rest >>= 7 {
		head = append(head, c|0x80)
		c = byte(rest & 0x7f)
	}
	if _, err := w.Write(append(head, c)); err != nil {
		return err
	}
	w.z.Reset(w)
	sum := newHasher(kind, size)
	n, err := io.Copy(io.MultiWriter(w.z, sum), content)
	if err != nil {
		return err
	}
	if n != size || sum.sum() != id {
		return fmt.Errorf("%w: object %s", errChanged, id)
	}
	if err := w.z.Close(); err != nil {
		return err
	}
	w.idx.Add(id, start, w.crc)
	return nil
}

// finish writes the checksum and returns it.
func (w *packWriter) finish() (id plumbing.Hash, err error) {
	if err := w.out.Flush(); err != nil {
		return id, err
	}
	w.sum.Sum(id[:0])
	if _, err := w.out.Write(id[:]); err != nil {
		return id, err
	}
	return id, w.out.Flush()
}

// writeFile writes a file atomically: it has its name only when it is complete and on disk.
func writeFile(path string, perm os.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	err = write(f)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return nil
}
