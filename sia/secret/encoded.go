package secret

import (
	"encoding/base64"
	"strings"
)

// Bounds of text that is read as encoded.
const (
	minWide   = MinKnown // characters of a run in UTF-16 or UTF-32: no credential is shorter
	minBase64 = 24       // characters of a run in base64: shorter ones are no credential for sure
	readFirst = 6        // groups of four by which a run is recognised as text
)

// eachDecoded calls f for what stands in a text in another encoding, with where in the text each byte of it begins.
// Only one encoding is taken off, or a wide one and base64 in either order: what is encoded further is hidden on
// purpose, and there is no end to that.
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

// eachWide calls f for runs of characters of two or four bytes that have no other byte than their last one, or first
// one: Latin in UTF-16 or UTF-32, with or without a byte order mark, at any place.
func eachWide(text string, f func(narrow string, at func(i int) int)) {
	for at := 0; ; {
		zero := strings.IndexByte(text[at:], 0)
		if zero < 0 {
			return
		}
		from := at + zero
		if zero > 0 {
			from-- // the character before its zeros
		} else if from += len(text[from:]) - len(strings.TrimLeft(text[from:], "\x00")); from == len(text) {
			return // the character behind its zeros
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
			// Where zeros stand before characters, those behind the last one are missing: it is another's.
			f(string(append(narrow, text[at])), where)
		}
	}
}

// wideRun counts the characters from a place that have zeros behind them, as far as the text goes.
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

// inBase64 are the characters of base64, for addresses too.
var inBase64 = func() (is [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		is[c] = true
	}
	return is
}()

// eachBase64 calls f for runs of base64 that hold text.
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
			phases = 4 // the text may be a piece of a longer one
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

// isText reports whether bytes are mostly text in Latin, of one byte for each character or of more.
func isText(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < 0x7f && (c >= ' ' || c == '\n' || c == '\r' || c == '\t' || c == 0) {
			n++
		}
	}
	return n >= len(b)*3/4
}
