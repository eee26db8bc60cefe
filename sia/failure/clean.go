package failure

import "bytes"

// line is one line of a log as the rules see it.
type line struct {
	n       int     // 1-based
	text    []byte  // without timestamp, colours and overwritten progress
	indent  int     // width of leading white space; -1 when the line is blank
	red     bool    // some of it is printed in red
	group   uint64  // hash of job and step, where each line names them
	frame   ciFrame // what the CI system says with it
	actions bool    // the frame is GitHub Actions'
	script  bool    // in the colour in which GitHub Actions shows a step's script
}

// blank reports whether nothing is on the line.
func (l *line) blank() bool { return l.indent < 0 }

// lineCleaner turns raw lines into lines. It reuses its buffer: a line's text is
// valid until the next call.
type lineCleaner struct{ buf []byte }

// clean strips what a CI system and a terminal put around a line's text.
func (c *lineCleaner) clean(raw []byte, n int) line {
	l := line{n: n}
	raw = bytes.TrimSuffix(raw, []byte("\r"))
	raw = withoutRelay(stripStamp(raw, &l))
	l.script = bytes.HasPrefix(raw, scriptColour) || bytes.HasPrefix(raw, caretScript)
	if bytes.IndexByte(raw, 0x1b) >= 0 || bytes.IndexByte(raw, '\r') >= 0 || bytes.Contains(raw, caretEscape) {
		c.plain(raw, &l)
		raw = c.buf
		raw = withoutRelay(stripStamp(raw, &l))
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

// indentOf is the width of a line's leading white space, a tab counting as 8
// and a no-break space, as mocha and rspec print it, as 1; -1 for a blank line.
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

// caretEscape is how some systems write the beginning of a colour sequence.
var caretEscape = []byte("^[[")

// scriptColour begins the lines of a step's script under its heading, caretScript where caretEscape is written.
var scriptColour, caretScript = []byte("\x1b[36;1m"), []byte("^[[36;1m")

// plain copies raw into the buffer without escape sequences, and without the
// text that a carriage return lets later text overwrite. It notes whether
// anything was printed in red.
func (c *lineCleaner) plain(raw []byte, l *line) {
	c.buf = c.buf[:0]
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
			if rest := raw[i+1:]; showsAnything(rest) {
				c.buf = c.buf[:0]
			}
			i++
		default:
			c.buf = append(c.buf, ch)
			i++
		}
	}
}

// showsAnything reports whether anything of b would show on a terminal.
func showsAnything(b []byte) bool {
	for i := 0; i < len(b); {
		switch {
		case b[i] == 0x1b:
			end, _ := escapeLength(b[i:])
			i += end
		case b[i] <= ' ':
			i++
		default:
			return true
		}
	}
	return false
}

// isTrailing reports whether a byte at the end of a line shows nothing.
func isTrailing(c byte) bool { return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == 0 }
