package failure

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits on unpacking.
const (
	maxUnpacked = 256 << 20 // bytes of an unpacked gzip
	maxLayers   = 2         // nested gzips; some systems compress logs that already are
)

// source is a reader of a log's text: unpacked when it begins like gzip (RFC 1952, 2.3.1), and converted to UTF-8 when
// it begins with the byte order mark of UTF-16. It ends early where the gzip is damaged or too large; cut is the
// reason.
type source struct {
	ctx context.Context
	r   *bufio.Reader
	cut string // why it ended early; empty when it did not
}

// newSource returns a source that reads from r; a nil r is an empty log.
func newSource(ctx context.Context, r io.Reader) *source {
	if r == nil {
		r = strings.NewReader("")
	}
	s := &source{ctx: ctx, r: bufio.NewReaderSize(r, 64<<10)}
	for range maxLayers {
		if head, _ := s.r.Peek(2); len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
			break
		}
		s.r = bufio.NewReaderSize(&gunzip{s: s, packed: s.r, left: maxUnpacked}, 64<<10)
	}
	switch head, _ := s.r.Peek(2); string(head) {
	case "\xff\xfe":
		s.r = bufio.NewReader(&utf16Reader{r: s.r, order: binary.LittleEndian})
	case "\xfe\xff":
		s.r = bufio.NewReader(&utf16Reader{r: s.r, order: binary.BigEndian})
	}
	return s
}

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}

// shorten records why the text ends early. The first reason counts.
func (s *source) shorten(why string) {
	if s.cut == "" {
		s.cut = why
	}
}

// gunzip unpacks one layer.
type gunzip struct {
	s      *source
	packed *bufio.Reader
	z      *gzip.Reader
	left   int64
}

func (g *gunzip) Read(p []byte) (n int, err error) {
	if err := g.s.ctx.Err(); err != nil {
		return 0, err
	}
	if g.left < 0 {
		return 0, io.EOF
	}
	if g.z == nil {
		g.z, err = gzip.NewReader(g.packed)
	}
	if err == nil {
		n, err = g.z.Read(p[:min(int64(len(p)), g.left+1)])
	}
	if g.left -= int64(n); g.left < 0 {
		g.s.shorten(fmt.Sprintf("it unpacks to more than %d MiB; the rest was not read", int64(maxUnpacked)>>20))
		return n - 1, io.EOF
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &corrupt) {
		g.s.shorten(fmt.Sprintf("the gzip is damaged (%v); what came before was read", err))
		err = io.EOF
	}
	return n, err
}

// maxRun is the maximum length of a run of non-ASCII characters that is decoded together.
const maxRun = 1024

// utf16Reader turns UTF-16 into UTF-8, without its byte order mark.
type utf16Reader struct {
	r     *bufio.Reader
	order binary.ByteOrder
	out   []byte // text not yet returned
	run   []rune // non-ASCII characters after out
	high  rune   // the first half of a surrogate pair, or 0
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		var unit [2]byte
		for range len(p)/utf8.UTFMax + 1 {
			if _, err := io.ReadFull(u.r, unit[:]); err != nil {
				u.endRun()
				if len(u.out) > 0 {
					break
				}
				if errors.Is(err, io.ErrUnexpectedEOF) {
					err = io.EOF // half a character at the end
				}
				return 0, err
			}
			u.take(rune(u.order.Uint16(unit[:])))
		}
	}
	n := copy(p, u.out)
	u.out = append(u.out[:0], u.out[n:]...)
	return n, nil
}

// take processes the next 16 bits.
func (u *utf16Reader) take(c rune) {
	switch high := u.high; {
	case c == 0xfeff:
	case c >= 0xd800 && c < 0xdc00:
		u.high = c
	case high != 0:
		u.high = 0
		u.run = append(u.run, utf16.DecodeRune(high, c))
	case c >= utf8.RuneSelf:
		u.run = append(u.run, c)
	default:
		u.endRun()
		u.out = append(u.out, byte(c))
	}
	if len(u.run) == maxRun {
		u.endRun()
	}
}

// endRun ends a run of non-ASCII characters.
func (u *utf16Reader) endRun() {
	if len(u.run) > 0 {
		u.out = append(u.out, undoCodePage(u.run)...)
		u.run = u.run[:0]
	}
}
