package secret

import (
	"encoding/base64"
	"strings"
)

// Limits on reading encoded text.
const (
	minWide   = MinKnown // minimum characters of a run in UTF-16 or UTF-32: no credential is shorter
	minBase64 = 24       // minimum characters of a run in base64: no sure credential is shorter
	readFirst = 6        // groups of four characters by which a run is recognised as text
)

// eachDecoded calls f for the encoded parts of a text, decoded, with a function that maps each decoded byte to its
// offset in the text. It decodes one encoding, or a wide one and base64 in either order. Deeper encoding is deliberate
// hiding and not decoded.
func eachDecoded(text string, f func(decoded string, at func(i int) int)) {
	eachWide(text, func(narrow string, at func(int) int) {
		f(narrow, at)
		eachBase64(narrow, func(plain string, in func(int) int) {
			f(plain, func(i int) int { return at(in(i)) })
		})
	})
	eachBase64(text, func(plain string, at func(int) int) {
		f(plain, at)
		eachWide(plain, func(narrow string, in func(int) int) {
			f(narrow, func(i int) int { return at(in(i)) })
		})
	})
}

// eachWide calls f for runs of characters of two or four bytes in which only the first or only the last byte is not
// zero: Latin text in UTF-16 or UTF-32, with or without a byte order mark, at any offset.
func eachWide(text string, f func(narrow string, at func(i int) int)) {
	for at := 0; ; {
		zero := strings.IndexByte(text[at:], 0)
		if zero < 0 {
			return
		}
		from := at + zero
		if zero > 0 {
			from-- // the character before the zeros
		} else if from += len(text[from:]) - len(strings.TrimLeft(text[from:], "\x00")); from == len(text) {
			return // no character after the zeros
		}
		size, n := 4, wideRun(text, from, 4)
		if n < minWide {
			size, n = 2, wideRun(text, from, 2)
		}
		if at = from + 1; n < minWide {
			continue
		}
		at = min(len(text), from+n*size)
		narrow := make([]byte, n, n+1)
		for k := range narrow {
			narrow[k] = text[from+k*size]
		}
		where := func(k int) int { return min(len(text), from+k*size) }
		f(string(narrow), where)
		if at < len(text) && text[at] != 0 {
			// In big-endian text, zeros precede characters, so the last character has none after it.
			f(string(append(narrow, text[at])), where)
		}
	}
}

// wideRun returns the number of consecutive characters with zeros after them, starting at from.
func wideRun(text string, from, size int) (n int) {
	for at := from; at < len(text) && text[at] != 0; at += size {
		for _, c := range []byte(text[at+1 : min(len(text), at+size)]) {
			if c != 0 {
				return n
			}
		}
		n++
	}
	return n
}

// inBase64 is the set of base64 characters, including the URL-safe ones.
var inBase64 = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		is[c] = true
	}
	return is
}()

// eachBase64 calls f for runs of base64 that decode to text.
func eachBase64(text string, f func(plain string, at func(i int) int)) {
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && inBase64[text[i]] {
			i++
		}
		if i-from < minBase64 {
			continue
		}
		run := text[from:i]
		encoding := base64.RawStdEncoding
		if strings.ContainsAny(run, "-_") {
			encoding = base64.RawURLEncoding
		}
		phases := 1
		if from == 0 {
			phases = 4 // the text may be part of a longer one
		}
		for skip := range phases {
			groups := run[skip:]
			if len(groups)%4 == 1 {
				groups = groups[:len(groups)-1]
			}
			first, err := encoding.DecodeString(groups[:min(len(groups), 4*readFirst)])
			if err != nil || !isText(first) {
				continue
			}
			if plain, err := encoding.DecodeString(groups); err == nil {
				// Four characters are three bytes.
				f(string(plain), func(k int) int { return min(i, from+skip+k/3*4+k%3) })
			}
		}
	}
}

// isText reports whether bytes are mostly Latin text, with one or more bytes per character.
func isText(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < 0x7f && (c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0) {
			n++
		}
	}
	return n >= len(b)*3/4
}
