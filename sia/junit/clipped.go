package junit

import (
	"bufio"
	"io"
	"unicode/utf8"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// Maximum sizes of one piece of XML, in bytes. An XML decoder holds each tag and each text between tags in memory, and
// tools write a test's whole output into one text.
const (
	maxXMLText = 32 << 10
	maxXMLTag  = 64 << 10 // with at most maxText of each attribute's value
)

// clipped is a reader of XML that truncates long texts, attributes and tags, and leaves out comments. It replaces
// control characters, which XML does not allow, and references to them: some reporters copy them from a test's output,
// such as terminal colours, and Go's decoder stops there.
//
// A decoder calls ReadByte alone, so that it is never ahead of the line.
type clipped struct {
	*bufio.Reader
	line int // of the next byte

	in       xmlPlace
	size     int     // bytes of the current piece that were returned
	dropping bool    // the rest of the piece
	tail     [3]byte // last bytes of the piece
	quote    byte    // around the attribute's value
	tag      int     // bytes returned of the tag around the value
	owed     string  // the next bytes to return
}

// xmlPlace is the kind of XML piece that the reader is in.
type xmlPlace uint8

const (
	xmlText xmlPlace = iota
	xmlTag
	xmlValue // of an attribute
	xmlCDATA
	xmlComment
)

func newClipped(r io.Reader) *clipped {
	return &clipped{Reader: bufio.NewReader(transform.NewReader(r, runes.Map(allowed))), line: 1}
}

// allowed replaces a character that XML does not allow.
func allowed(r rune) rune {
	switch {
	case r < ' ' && r != '\t' && r != '\n' && r != '\r':
		return ' '
	case r == 0xfffe || r == 0xffff:
		return utf8.RuneError
	}
	return r
}

// controlReference matches a reference to a control character other than a tab or line break.
var controlReference = lazyregexp.New(`^&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bceBCEfF]|1[0-9a-fA-F]));`)

// maxReference is the maximum length of a reference, in bytes.
const maxReference = 12

// ReadByte returns the next byte of the clipped XML.
func (c *clipped) ReadByte() (byte, error) {
	for c.owed == "" {
		b, err := c.Reader.ReadByte()
		if err != nil {
			return 0, err
		}
		switch b {
		case '\n':
			c.line++
		case '&':
			more, _ := c.Peek(maxReference - 1) // as much as there is
			if controlReference.Match(append([]byte{b}, more...)) {
				b = '?'
			}
		}
		if c.keeps(b) {
			return b, nil
		}
	}
	b := c.owed[0]
	c.owed = c.owed[1:]
	return b, nil
}

// keeps reports whether a byte of the XML is returned.
func (c *clipped) keeps(b byte) bool {
	c.tail = [3]byte{c.tail[1], c.tail[2], b}
	switch c.in {
	case xmlText:
		if b == '<' {
			c.enter(xmlTag)
			return true
		}
		return c.fits(b, maxXMLText)
	case xmlTag:
		switch {
		case b == '>':
			c.enter(xmlText)
			return true
		case c.size == 1 && string(c.tail[1:]) == "![":
			c.enter(xmlCDATA)
			return true
		case c.size == 2 && string(c.tail[:]) == "!--":
			c.enter(xmlComment)
			return true
		case !c.fits(b, maxXMLTag):
			return false
		case b == '"' || b == '\'':
			c.quote, c.tag = b, c.size
			c.enter(xmlValue)
		}
		return true
	case xmlValue:
		if b == c.quote {
			size := c.tag + c.size + 1
			c.enter(xmlTag)
			c.size = size
			return true
		}
		return c.fits(b, min(maxText, maxXMLTag-c.tag))
	case xmlCDATA:
		if string(c.tail[:]) == "]]>" {
			if c.dropping {
				c.owed = "]]>"
			}
			kept := !c.dropping
			c.enter(xmlText)
			return kept
		}
		return c.fits(b, maxXMLText)
	case xmlComment:
		if string(c.tail[:]) == "-->" {
			c.owed = "-->"
			c.enter(xmlText)
		}
	}
	return false
}

// fits reports whether a byte is within the limit of the current piece. A character is returned whole or not at all.
func (c *clipped) fits(b byte, limit int) bool {
	c.dropping = c.dropping || c.size >= limit && utf8.RuneStart(b)
	if !c.dropping {
		c.size++
	}
	return !c.dropping
}

func (c *clipped) enter(in xmlPlace) { c.in, c.size, c.dropping, c.tail = in, 0, false, [3]byte{} }

// skipTo skips to the next tag that begins with a text. The error is [io.EOF] if there is none.
func (c *clipped) skipTo(tag string) error {
	if c.in == xmlTag && c.size == 0 {
		_ = c.UnreadByte() // the "<" that was just read may begin it
	}
	c.enter(xmlText)
	c.owed = ""
	for {
		head, err := c.Peek(len(tag))
		switch {
		case string(head) == tag:
			return nil
		case len(head) < len(tag):
			return err
		}
		if head[0] == '\n' {
			c.line++
		}
		_, _ = c.Discard(1)
	}
}
