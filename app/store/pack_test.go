package store

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzPack: unpacking is the inverse of packing, and unpacking damaged data at worst returns an error.
func FuzzPack(f *testing.F) {
	for _, seed := range []string{"", "x", strings.Repeat("{}", 4000), "\x01\x28\xb5\x2f\xfd", "\x00raw", "\x07unknown"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		packed, err := pack(b)
		if err != nil {
			t.Fatal(err)
		}
		if len(packed) > len(b)+1 {
			t.Errorf("%d bytes became %d", len(b), len(packed))
		}
		if got, err := unpack(packed); err != nil || !bytes.Equal(got, b) {
			t.Errorf("came back as %q, %v", got, err)
		}
		if out, err := unpack(b); err == nil && len(out) > maxUnpackedSize {
			t.Errorf("unpacked to %d bytes", len(out))
		}
	})
}

func TestPackRefusesWhatIsTooLong(t *testing.T) {
	if _, err := pack(make([]byte, maxUnpackedSize+1)); err == nil {
		t.Error("more than the most was packed")
	}
	enc, _ := codec()
	bomb := enc.EncodeAll(make([]byte, maxUnpackedSize+1), []byte{zstandard})
	if _, err := unpack(bomb); err == nil {
		t.Error("more than the most was unpacked")
	}
}
