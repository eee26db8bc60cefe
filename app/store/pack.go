package store

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Packed bytes begin with a byte that says how the rest is written.
const (
	asIs       = 0
	zstandard  = 1
	packFrom   = 512      // bytes; shorter texts are stored as they are
	unpackMost = 64 << 20 // bytes; GitHub's webhooks end at 25 MiB
)

// codec is a zstd encoder and decoder; both are safe for concurrent use when
// whole buffers are given to them.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

func newCodec() (codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
	if err != nil {
		return codec{}, fmt.Errorf("set up compression: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(unpackMost))
	if err != nil {
		return codec{}, fmt.Errorf("set up compression: %w", err)
	}
	return codec{enc, dec}, nil
}

// pack compresses what is worth compressing.
func (c codec) pack(b []byte) ([]byte, error) {
	if len(b) > unpackMost {
		return nil, fmt.Errorf("compress %d bytes: more than the %d that are kept", len(b), unpackMost)
	}
	if len(b) >= packFrom {
		out := append(make([]byte, 0, len(b)/4+64), zstandard)
		if out = c.enc.EncodeAll(b, out); len(out) <= len(b) {
			return out, nil
		}
	}
	return append([]byte{asIs}, b...), nil
}

// unpacked has Scan read what pack made.
type unpacked struct {
	codec codec
	to    *[]byte
}

// Scan implements sql.Scanner.
func (u unpacked) Scan(v any) (err error) {
	var packed sql.Null[[]byte] // a copy: v is the driver's
	if err := packed.Scan(v); err != nil {
		return err
	}
	*u.to, err = u.codec.unpack(packed.V)
	return err
}

// unpack reads what pack made.
func (c codec) unpack(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, errors.New("decompress: no bytes")
	}
	switch b[0] {
	case asIs:
		return b[1:], nil
	case zstandard:
		out, err := c.dec.DecodeAll(b[1:], nil)
		if err != nil {
			return nil, fmt.Errorf("decompress: %w", err)
		}
		return out, nil
	default:
		return nil, fmt.Errorf("decompress: unknown compression %d", b[0])
	}
}
