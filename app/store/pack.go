package store

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Packed bytes begin with a byte that says how the rest is written.
const (
	asIs       = 0
	zstandard  = 1
	packFrom   = 512      // bytes; shorter texts are stored as they are
	unpackMost = 64 << 20 // bytes; GitHub's webhooks end at 25 MiB
)

// codec is an encoder and a decoder, which are safe for concurrent use when whole buffers are given to them.
var codec = sync.OnceValues(func() (*zstd.Encoder, *zstd.Decoder) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	dec, errDec := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(unpackMost))
	if err := errors.Join(err, errDec); err != nil {
		panic(err) // the options are wrong
	}
	return enc, dec
})

// pack compresses what is worth compressing.
func pack(b []byte) ([]byte, error) {
	if len(b) > unpackMost {
		return nil, fmt.Errorf("compress %d bytes: more than the %d that are kept", len(b), unpackMost)
	}
	if len(b) >= packFrom {
		out := append(make([]byte, 0, len(b)/4+64), zstandard)
		enc, _ := codec()
		if out = enc.EncodeAll(b, out); len(out) <= len(b) {
			return out, nil
		}
	}
	return append([]byte{asIs}, b...), nil
}

// unpacked has Scan read what pack made.
type unpacked struct{ to *[]byte }

// Scan implements sql.Scanner.
func (u unpacked) Scan(v any) (err error) {
	var packed sql.Null[[]byte] // a copy: v is the driver's
	if err := packed.Scan(v); err != nil {
		return err
	}
	*u.to, err = unpack(packed.V)
	return err
}

// unpack reads what pack made.
func unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("decompress: no bytes")
	}
	switch b[0] {
	case asIs:
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
