package gitops

import (
	"bytes"

	"github.com/go-git/go-git/v5/plumbing/format/index"
)

// encodeIndex writes an index that git can read. It sorts the entries.
func encodeIndex(entries []*index.Entry) ([]byte, error) {
	var b bytes.Buffer
	err := index.NewEncoder(&b).Encode(&index.Index{Version: 2, Entries: entries})
	return b.Bytes(), err
}

// decodeIndex reads the output of encodeIndex.
func decodeIndex(b []byte) ([]*index.Entry, error) {
	var idx index.Index
	err := index.NewDecoder(bytes.NewReader(b)).Decode(&idx)
	return idx.Entries, err
}

// sameStat reports whether two entries have the same stat fields, so that the file need not be read.
func sameStat(a, b index.Entry) bool {
	return a.CreatedAt.Equal(b.CreatedAt) && a.ModifiedAt.Equal(b.ModifiedAt) && a.Dev == b.Dev && a.Inode == b.Inode &&
		a.UID == b.UID && a.GID == b.GID && a.Size == b.Size
}
