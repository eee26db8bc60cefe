package failure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits that keep memory use constant for any log.
const (
	maxLine   = 16 << 10  // bytes read of a line; the rest is skipped
	readAhead = 256 << 10 // buffer of the reader
)

// lineReader splits a log at line feeds. It keeps at most maxLine bytes of a line, so that an endless line costs no
// more memory than any other. A longer line is split at carriage returns into parts that share its number, because some
// systems store logs with carriage returns alone.
type lineReader struct {
	r    *bufio.Reader
	n    int    // number of the line begun last
	long bool   // the end of that line has not been read
	rest []byte // parts of it not yet returned
}

// newLineReader returns a lineReader that reads from r.
func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, readAhead)} }

// next returns the next line, or part of a long one, without its line feed,
// valid until the next call, and its 1-based number. At the end of the log it
// returns io.EOF; the empty string after a last line feed is not a line.
func (l *lineReader) next() ([]byte, int, error) {
	for {
		if len(l.rest) > 0 {
			part, rest, _ := bytes.Cut(l.rest, []byte{'\r'})
			l.rest = rest
			return clipLine(part), l.n, nil
		}
		b, err := l.r.ReadSlice('\n')
		begins := !l.long
		l.long = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case err == nil:
			b = b[:len(b)-1]
		case err == io.EOF && len(b) == 0:
			return nil, l.n, io.EOF
		case err != io.EOF && !l.long:
			return nil, l.n, fmt.Errorf("read log after line %d: %w", l.n, err)
		}
		if begins {
			l.n++
		}
		switch {
		case len(b) > maxLine && bytes.IndexByte(b[:len(b)-1], '\r') >= 0:
			l.rest = b
		case begins:
			return clipLine(b), l.n, nil
		}
	}
}

// skipBlank skips the empty lines at the beginning of the buffer and returns their number.
func (l *lineReader) skipBlank() int {
	if l.long || len(l.rest) > 0 {
		return 0
	}
	b, _ := l.r.Peek(l.r.Buffered())
	n := 0
	for n < len(b) && b[n] == '\n' {
		n++
	}
	_, _ = l.r.Discard(n)
	l.n += n
	return n
}

func clipLine(b []byte) []byte {
	if len(b) > maxLine {
		return b[:maxLine]
	}
	return b
}
