package failure

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
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
	if head, _ := s.r.Peek(2); string(head) == "\xff\xfe" || string(head) == "\xfe\xff" {
		utf16 := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		s.r = bufio.NewReader(utf16.Reader(s.r))
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
