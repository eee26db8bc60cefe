package secret

import (
	"bytes"
	"encoding/json"
)

// MaskJSON is [Masker.MaskJSON] without known values.
func MaskJSON(doc []byte) []byte { return (*Masker)(nil).MaskJSON(doc) }

// MaskJSON masks the string values of a JSON document, so that it remains valid. Everything else, including keys, is
// unchanged. Invalid JSON is masked as text.
func (m *Masker) MaskJSON(doc []byte) []byte {
	if !json.Valid(doc) {
		return []byte(m.Mask(string(doc)))
	}
	var out bytes.Buffer
	for {
		from := bytes.IndexByte(doc, '"')
		if from < 0 {
			out.Write(doc)
			return out.Bytes()
		}
		to := from + literalLen(doc[from:])
		out.Write(doc[:from])
		literal := doc[from:to]
		doc = doc[to:]
		if isKey := bytes.HasPrefix(bytes.TrimLeft(doc, " \t\r\n"), []byte(":")); !isKey {
			literal = m.maskLiteral(literal)
		}
		out.Write(literal)
	}
}

// literalLen returns the length of the string literal at the beginning of valid JSON, quotes included.
func literalLen(doc []byte) int {
	n := 1
	for doc[n] != '"' {
		if doc[n] == '\\' {
			n++
		}
		n++
	}
	return n + 1
}

// maskLiteral masks the text of a string literal; a literal without a secret is unchanged.
func (m *Masker) maskLiteral(literal []byte) []byte {
	var text string
	err := json.Unmarshal(literal, &text)
	masked := m.Mask(text)
	if err == nil && masked == text {
		return literal
	}
	out, encodeErr := json.Marshal(masked)
	if err != nil || encodeErr != nil { // impossible: it is a valid literal
		return []byte(m.Mask(string(literal)))
	}
	return out
}
