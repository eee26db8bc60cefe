package store

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// The first byte of packed data is the encoding of the rest.
const (
	uncompressed    = 0
	zstandard       = 1
	minCompressSize = 512      // minimum size of compressed texts, in bytes
	maxUnpackedSize = 64 << 20 // maximum size, in bytes; GitHub's webhooks have at most 25 MiB
)

// codec returns an encoder and a decoder. Their methods EncodeAll and DecodeAll are safe for concurrent use.
var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	dec, errDec := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxUnpackedSize))
	if err := errors.Join(err, errDec); err != nil {
		panic(err) // the options are wrong
	}
	return enc, dec
})

// pack encodes b, and compresses it if that makes it smaller.
func pack(b []byte) ([]byte, error) {
	if len(b) > maxUnpackedSize {
		return nil, fmt.Errorf("compress %d bytes: more than the %d that are kept", len(b), maxUnpackedSize)
	}
	if len(b) >= minCompressSize {
		out := append(make([]byte, 0, len(b)/4+64), zstandard)
		enc, _ := codec()
		if out = enc.EncodeAll(b, out); len(out) <= len(b) {
			return out, nil
		}
	}
	return append([]byte{uncompressed}, b...), nil
}

// packedColumn is a sql.Scanner that decodes the output of pack.
type packedColumn struct{ to *[]byte }

// Scan implements sql.Scanner.
func (u packedColumn) Scan(v any) (err error) {
	var packed sql.Null[[]byte] // copies v, which belongs to the driver
	if err := packed.Scan(v); err != nil {
		return err
	}
	*u.to, err = unpack(packed.V)
	return err
}

// unpack decodes the output of pack.
func unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("decompress: no bytes")
	}
	switch b[0] {
	case uncompressed:
		return b[1:], nil
	case zstandard:
		_, dec := codec()
		out, err := dec.DecodeAll(b[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("decompress: unknown compression %d", b[0])
	}
}
