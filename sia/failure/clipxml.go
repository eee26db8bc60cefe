package failure

import (
	"bytes"
	"io"
)

// Bounds of one piece of XML, in bytes. An XML decoder holds a tag, and a text between tags, as a
// whole, and tools write all that a test printed into one text.
const (
	maxXMLText = 32 << 10
	maxXMLTag  = 64 << 10
)

// clippedXML passes XML on without the rest of texts and tags that are too long. A tag that was
// clipped may be broken XML then; a text never is.
type clippedXML struct {
	r io.Reader

	in    xmlPlace
	size  int      // bytes of the piece that is passed on so far
	tail  [3]byte  // the last bytes of it, also those that were left out
	lines int      // line feeds that were passed on
	lost  []lostLF // where line feeds were left out, ascending
}

// xmlPlace is where in XML the reader is.
type xmlPlace uint8

const (
	xmlText xmlPlace = iota
	xmlTag
	xmlCDATA
	xmlComment
)

// lostLF says that so many line feeds, all in all, were left out before a line of what was passed on.
type lostLF struct{ line, n int }

// maxLost bounds how many places are remembered. Line numbers after that are too small.
const maxLost = 1 << 14

// line is the line of the report that a line of what was passed on stands on.
func (c *clippedXML) line(n int) int {
	for i := len(c.lost) - 1; i >= 0; i-- {
		if c.lost[i].line < n {
			return n + c.lost[i].n
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

// clip moves what is passed on of p to its beginning, and returns how much that is.
func (c *clippedXML) clip(p []byte) int {
	kept := 0
	for i := 0; i < len(p); {
		if n := c.plain(p[i:]); n > 0 {
			lines := bytes.Count(p[i:i+n], []byte("\n"))
			if c.size < maxXMLText {
				kept += copy(p[kept:], p[i:i+n])
				c.lines += lines
			} else if lines > 0 {
				c.lose(lines)
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
			c.lose(1)
		}
	}
	return kept
}

// plain is the length of what b begins with that is of one piece for sure, and passed on or left out
// as a whole: most of a report.
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
		n -= 2 // what may be the beginning of the end is taken byte by byte
	}
	if c.size < maxXMLText {
		n = min(n, maxXMLText-c.size)
	}
	return n
}

// step takes the next byte and reports whether it is passed on. What ends a piece always is.
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
		// What may be the end's beginning goes on, so that the end is whole.
		return c.size <= maxXMLText || b == end[0]
	}
	return true
}

func (c *clippedXML) enter(in xmlPlace) {
	c.in, c.size = in, 0
	c.tail = [3]byte{}
}

// lose notes line feeds that are left out.
func (c *clippedXML) lose(lines int) {
	last := len(c.lost) - 1
	switch {
	case last >= 0 && c.lost[last].line == c.lines+1:
		c.lost[last].n += lines
	case last+1 < maxLost:
		if last >= 0 {
			lines += c.lost[last].n
		}
		c.lost = append(c.lost, lostLF{c.lines + 1, lines})
	}
}
