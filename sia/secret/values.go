package secret

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// knownValues holds secrets known by value, in every encoding. It is read-only.
type knownValues struct {
	begins [1 << 10]uint64        // set of hashes of the forms' first bytes
	forms  map[string][]valueForm // first bytes → forms that begin with them
}

// valueForm is one encoding of one piece of a secret.
type valueForm struct{ rule, text string }

func newNamedSecret(rule, value string) namedSecret {
	n := namedSecret{rule: rule, value: strings.TrimSpace(value)}
	for _, piece := range valuePieces(n.value) {
		n.forms = append(n.forms, writtenForms(piece)...)
	}
	return n
}

// leadBytes is the length of the prefix by which a form is looked up.
const leadBytes = MinKnown

// pieceLength is the length of the pieces into which a long value is split, in bytes. A quoted part of a key, or a key
// with other line breaks, still contains some whole pieces.
const pieceLength = 32

func newKnownValues(all []namedSecret) *knownValues {
	v := &knownValues{forms: map[string][]valueForm{}}
	for _, n := range all {
		for _, text := range n.forms {
			v.add(valueForm{n.rule, text})
		}
	}
	return v
}

func (v *knownValues) add(f valueForm) {
	if len(f.text) < leadBytes || slices.Contains(v.forms[f.text[:leadBytes]], f) {
		return
	}
	v.forms[f.text[:leadBytes]] = append(v.forms[f.text[:leadBytes]], f)
	h := shortHash(f.text)
	v.begins[h>>6] |= 1 << (h & 63)
}

// shortHash hashes the first four bytes of s into sixteen bits.
func shortHash(s string) uint16 {
	h := (uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24) * 2654435761 // Knuth, TAOCP 3, 6.4
	return uint16(h >> 16)
}

// find returns the values in a text; of several with the same start, the longest.
func (v *knownValues) find(text string) []Finding {
	if v == nil {
		return nil
	}
	var out []Finding
	for i := 0; i+leadBytes <= len(text); i++ {
		h := shortHash(text[i:])
		if v.begins[h>>6]&(1<<(h&63)) == 0 {
			continue
		}
		best := Finding{Start: i}
		for _, f := range v.forms[text[i:i+leadBytes]] {
			if strings.HasPrefix(text[i:], f.text) && i+len(f.text) > best.End {
				best = Finding{Rule: f.rule, Start: i, End: i + len(f.text), Sure: true}
			}
		}
		if best.End > 0 {
			out = append(out, best)
			i = best.End - 1
		}
	}
	return out
}

// valuePieces returns the parts of a value to search for: its lines, with long lines split. The header and footer of a
// PEM key are not secret.
func valuePieces(value string) []string {
	var out []string
	for line := range strings.Lines(value) {
		line = strings.TrimSpace(line)
		if len(line) < MinKnown || strings.HasPrefix(line, "-----") {
			continue
		}
		if len(line) < 2*pieceLength {
			out = append(out, line)
			continue
		}
		for len(line) >= 2*pieceLength {
			out = append(out, line[:pieceLength])
			line = line[pieceLength:]
		}
		out = append(out, line)
	}
	return out
}

// writtenForms returns the encodings of a value: verbatim, escaped for a URL and for JSON, in hexadecimal, and in
// base64 at any offset within a longer encoded text.
func writtenForms(value string) []string {
	lower := hex.EncodeToString([]byte(value))
	out := []string{value, url.QueryEscape(value), url.PathEscape(value), lower, strings.ToUpper(lower)}
	if b, err := json.Marshal(value); err == nil {
		out = append(out, strings.Trim(string(b), `"`))
	}
	for skip := range 3 {
		// The first characters depend on the skip bytes before the value, the last ones on the bytes after it: both are
		// left out.
		b := append(make([]byte, skip), value...)
		first := (skip*8 + 5) / 6
		last := len(b) * 8 / 6
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, e.EncodeToString(b)[first:last])
		}
	}
	return out
}
