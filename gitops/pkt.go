package gitops

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A pkt-line is four hexadecimal digits of length, themselves included, and a payload; lengths 0 to 2 are marks
// (https://git-scm.com/docs/protocol-common, /protocol-v2). go-git's reader supports only the first mark.
type pktMark int

const (
	pktLine  pktMark = iota
	pktFlush         // 0000: end of message
	pktDelim         // 0001: end of section
	pktEnd           // 0002: end of response
)

// maxPkt is the longest payload that git sends.
const maxPkt = 65520 - 4

var errPkt = errors.New("malformed pkt-line")

// pktReader reads pkt-lines. What read returns is valid until the next read.
type pktReader struct {
	r   *bufio.Reader
	buf []byte
}

func newPktReader(r io.Reader) *pktReader {
	return &pktReader{r: bufio.NewReaderSize(r, 32<<10)}
}

// read returns the next line; io.EOF is a clean end between lines.
func (p *pktReader) read() ([]byte, pktMark, error) {
	var head [4]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return nil, 0, err // io.EOF, or io.ErrUnexpectedEOF within the length
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 32)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%w: length %q", errPkt, head[:])
	case n < 3:
		return nil, pktFlush + pktMark(n), nil
	case n < 4 || n > maxPkt+4:
		return nil, 0, fmt.Errorf("%w: length %d", errPkt, n)
	}
	n -= 4
	if uint64(cap(p.buf)) < n {
		p.buf = make([]byte, maxPkt)
	}
	line := p.buf[:n]
	if _, err := io.ReadFull(p.r, line); err != nil {
		return nil, 0, noEOF(err)
	}
	return line, pktLine, nil
}

// text calls read for a line of text: it drops the newline at the end and turns an "ERR" line into an error.
func (p *pktReader) text() (string, pktMark, error) {
	line, mark, err := p.read()
	if err != nil {
		return "", mark, noEOF(err)
	}
	s := string(bytes.TrimSuffix(line, []byte("\n")))
	if msg, ok := strings.CutPrefix(s, "ERR "); ok {
		return "", mark, &remoteError{msg: msg}
	}
	return s, mark, nil
}

// remoteError is an error that a git server sent in place of an answer.
type remoteError struct{ msg string }

func (e *remoteError) Error() string { return "the server says: " + cleanText(e.msg, 500) }

// pktBuffer builds a request.
type pktBuffer struct{ bytes.Buffer }

func (b *pktBuffer) linef(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	fmt.Fprintf(&b.Buffer, "%04x%s", len(s)+4, s)
}

func (b *pktBuffer) delim() { b.WriteString("0001") }
func (b *pktBuffer) flush() { b.WriteString("0000") }

// sidebandReader reads band 1 of pkt-lines that begin with a band number. Band 2 is progress and the output of hooks;
// its end is kept. Band 3 is a fatal error (https://git-scm.com/docs/gitprotocol-pack).
type sidebandReader struct {
	pkts *pktReader
	rest []byte
	said []byte
	done bool
}

// maxSaid bounds the progress messages that are kept, in bytes.
const maxSaid = 4 << 10

func (s *sidebandReader) Read(b []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.done {
			return 0, io.EOF
		}
		line, mark, err := s.pkts.read()
		if err != nil {
			return 0, noEOF(err)
		}
		if mark != pktLine {
			s.done = true
			continue
		}
		if len(line) == 0 {
			continue
		}
		switch line[0] {
		case 1:
			s.rest = line[1:]
		case 2:
			s.said = append(s.said, line[1:]...)
			if extra := len(s.said) - maxSaid; extra > 0 {
				s.said = append(s.said[:0], s.said[extra:]...)
			}
		case 3:
			return 0, &remoteError{msg: string(line[1:])}
		default:
			return 0, fmt.Errorf("%w: band %d", errPkt, line[0])
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// noEOF turns io.EOF into io.ErrUnexpectedEOF, where more data must follow.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
