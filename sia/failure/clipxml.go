package failure

import (
	"bytes"
	"io"
)

// Maximum sizes of one piece of XML, in bytes. An XML decoder holds each tag and each text between tags in memory, and
// tools write a test's whole output into one text.
const (
	maxXMLText = 32 << 10
	maxXMLTag  = 64 << 10
)

// clippedXML is a reader of XML that truncates long texts and tags. A truncated tag may be invalid XML; a truncated
// text never is.
type clippedXML struct {
	r io.Reader

	in      xmlPlace
	size    int         // bytes of the current piece so far
	tail    [3]byte     // last bytes of the current piece, dropped ones included
	lines   int         // line feeds passed on
	dropped []droppedLF // where line feeds were dropped, ascending
}

// xmlPlace is the kind of XML piece that the reader is in.
type xmlPlace uint8

const (
	xmlText xmlPlace = iota
	xmlTag
	xmlCDATA
	xmlComment
)

// droppedLF is the total number of line feeds dropped before a line of the output.
type droppedLF struct{ line, n int }

// maxDropped is the maximum number of places remembered. Line numbers after the last of them are too small.
const maxDropped = 1 << 14

// line returns the line of the original report for a line of the output.
func (c *clippedXML) line(n int) int {
	for i := len(c.dropped) - 1; i >= 0; i-- {
		if c.dropped[i].line < n {
			return n + c.dropped[i].n
		}
	}
	return n
}

func (c *clippedXML) Read(p []byte) (int, error) {
	for {
		n, err := c.r.Read(p)
		if kept := c.clip(p[:n]); kept > 0 || err != nil {
			return kept, err
		}
	}
}

// clip moves the bytes of p that are passed on to its beginning and returns their number.
func (c *clippedXML) clip(p []byte) int {
	kept := 0
	for i := 0; i < len(p); {
		if n := c.plain(p[i:]); n > 0 {
			lines := bytes.Count(p[i:i+n], []byte("\n"))
			if c.size < maxXMLText {
				kept += copy(p[kept:], p[i:i+n])
				c.lines += lines
			} else if lines > 0 {
				c.drop(lines)
			}
			c.size += n
			i += n
			continue
		}
		b := p[i]
		i++
		if c.step(b) {
			p[kept] = b
			kept++
			if b == '\n' {
				c.lines++
			}
		} else if b == '\n' {
			c.drop(1)
		}
	}
	return kept
}

// plain returns the length of a prefix of b that certainly belongs to one piece and is passed on or dropped as a whole.
// That is the fast path for most of a report.
func (c *clippedXML) plain(b []byte) int {
	end := byte('>')
	switch c.in {
	case xmlText:
		end = '<'
	case xmlTag:
		if c.size < maxXMLTag {
			return 0
		}
	}
	n := bytes.IndexByte(b, end)
	if n < 0 {
		n = len(b)
	}
	if c.in == xmlCDATA || c.in == xmlComment {
		n -= 2 // a possible beginning of the end marker is read byte by byte
	}
	if c.size < maxXMLText {
		n = min(n, maxXMLText-c.size)
	}
	return n
}

// step processes the next byte and reports whether it is passed on. The end of a piece always is.
func (c *clippedXML) step(b byte) bool {
	c.size++
	c.tail = [3]byte{c.tail[1], c.tail[2], b}
	switch c.in {
	case xmlText:
		if b == '<' {
			c.enter(xmlTag)
			return true
		}
		return c.size <= maxXMLText
	case xmlTag:
		switch {
		case b == '>':
			c.enter(xmlText)
			return true
		case b == '[' && c.size <= len("![CDATA["):
			c.enter(xmlCDATA)
			return true
		case c.size == len("!--") && string(c.tail[:]) == "!--":
			c.enter(xmlComment)
			return true
		}
		return c.size <= maxXMLTag
	case xmlCDATA, xmlComment:
		end := "]]>"
		if c.in == xmlComment {
			end = "-->"
		}
		if string(c.tail[:]) == end {
			c.enter(xmlText)
			return true
		}
		// A possible beginning of the end marker is passed on, so that the marker stays whole.
		return c.size <= maxXMLText || b == end[0]
	}
	return true
}

func (c *clippedXML) enter(in xmlPlace) {
	c.in, c.size = in, 0
	c.tail = [3]byte{}
}

// drop records dropped line feeds.
func (c *clippedXML) drop(lines int) {
	last := len(c.dropped) - 1
	switch {
	case last >= 0 && c.dropped[last].line == c.lines+1:
		c.dropped[last].n += lines
	case last+1 < maxDropped:
		if last >= 0 {
			lines += c.dropped[last].n
		}
		c.dropped = append(c.dropped, droppedLF{c.lines + 1, lines})
	}
}
