package failure

import "bytes"

// line is one line of a log after cleaning.
type line struct {
	n       int     // 1-based
	text    []byte  // without timestamp, colours and overwritten progress
	indent  int     // width of leading white space; -1 when the line is blank
	red     bool    // part of it is printed in red
	group   uint64  // hash of job and step, where each line names them; 0 elsewhere
	frame   ciFrame // its meaning to the CI system
	actions bool    // the frame is GitHub Actions'
	script  bool    // printed in the colour that GitHub Actions uses for a step's script
}

// blank reports whether the line is blank.
func (l *line) blank() bool { return l.indent < 0 }

// lineCleaner turns raw lines into lines. It reuses its buffer, so a line's text is valid until the next call.
type lineCleaner struct{ buf []byte }

// clean strips the timestamps, markers and escape sequences around a line's text.
func (c *lineCleaner) clean(raw []byte, n int) line {
	l := line{n: n}
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	raw = stripRelay(stripStamp(raw, &l))
	l.script = bytes.HasPrefix(raw, scriptColour) || bytes.HasPrefix(raw, caretScript)
	if bytes.IndexByte(raw, 0x1b) >= 0 || bytes.IndexByte(raw, '\r') >= 0 || bytes.Contains(raw, caretEscape) {
		c.plain(raw, &l)
		raw = c.buf
		raw = stripRelay(stripStamp(raw, &l))
	}
	l.text = raw
	for n := len(raw); n > 0 && (isTrailing(raw[n-1])); n-- {
		l.text = raw[:n-1]
	}
	if bytes.HasPrefix(l.text, goJSON) {
		c.unwrap(&l)
	}
	l.frame = frameOf(&l)
	l.indent = indentOf(l.text)
	return l
}

// indentOf returns the width of a line's leading white space; -1 for a blank line. A tab counts as 8, a no-break space,
// which mocha and rspec print, as 1.
func indentOf(b []byte) int {
	w := 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == ' ':
			w++
		case b[i] == '\t':
			w += 8
		case b[i] == 0xc2 && i+1 < len(b) && b[i+1] == 0xa0:
			w++
			i++
		default:
			return w
		}
	}
	return -1
}

// caretEscape is the beginning of a colour sequence as some systems write it.
var caretEscape = []byte("^[[")

// scriptColour begins the lines of a step's script under its heading, caretScript where caretEscape is written.
var scriptColour, caretScript = []byte("\x1b[36;1m"), []byte("^[[36;1m")

// plain copies raw into the buffer without escape sequences, and without the text that a carriage return lets later
// text overwrite. It notes whether any text is printed in red.
func (c *lineCleaner) plain(raw []byte, l *line) {
	c.buf = c.buf[:0]
	last := -1 // index of the last visible byte; found at the first carriage return
	for i := 0; i < len(raw); {
		switch ch := raw[i]; ch {
		case 0x1b:
			end, red := escapeLength(raw[i:])
			l.red = l.red || red
			i += end
		case '^':
			if bytes.HasPrefix(raw[i:], caretEscape) {
				end, red := escapeLength(raw[i+1:])
				l.red = l.red || red
				i += 1 + end
				continue
			}
			c.buf = append(c.buf, ch)
			i++
		case '\r':
			if last < 0 {
				last = i + lastVisible(raw[i:])
			}
			if i < last {
				c.buf = c.buf[:0]
			}
			i++
		default:
			c.buf = append(c.buf, ch)
			i++
		}
	}
}

// lastVisible returns the index of the last byte of b that a terminal would show; 0 if it would show none after the
// first.
func lastVisible(b []byte) (last int) {
	for i := 0; i < len(b); {
		switch {
		case b[i] == 0x1b:
			end, _ := escapeLength(b[i:])
			i += end
		case b[i] <= ' ':
			i++
		default:
			last = i
			i++
		}
	}
	return last
}

// isTrailing reports whether a byte is invisible at the end of a line.
func isTrailing(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0 }
