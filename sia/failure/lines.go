package failure

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Bounds that keep memory flat whatever the log is.
const (
	maxLine   = 16 << 10  // bytes of a line that are looked at; the rest is skipped
	readAhead = 256 << 10 // buffer of the reader
)

// lineReader splits a log at line feeds. It keeps at most maxLine bytes of a
// line, so that an endless line costs no more memory than any other.
type lineReader struct {
	r   *bufio.Reader
	buf []byte
	n   int // lines returned
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, readAhead)}
}

// next returns the next line without its line feed, valid until the next call,
// and its 1-based number. At the end of the log it returns io.EOF; the empty
// string after a last line feed is not a line.
func (l *lineReader) next() ([]byte, int, error) {
	b, err := l.r.ReadSlice('\n')
	if err == nil {
		l.n++
		return clip(b[:len(b)-1]), l.n, nil
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		l.buf = append(l.buf[:0], clip(b)...)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.r.ReadSlice('\n')
		}
		b = l.buf
	}
	if err != nil && err != io.EOF {
		return nil, l.n, fmt.Errorf("read log after line %d: %w", l.n, err)
	}
	if err == io.EOF && len(b) == 0 {
		return nil, l.n, io.EOF
	}
	l.n++
	return clip(b), l.n, nil
}

func clip(b []byte) []byte {
	if len(b) > maxLine {
		return b[:maxLine]
	}
	return b
}
