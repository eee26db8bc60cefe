package secret

import "strings"

// assignedValue finds the value assigned to a name. text[start:end] is a word in that name, such as "token" in
// API_TOKEN="…", token: … or "secret" => "…". It implements gitleaks' generic expression without a regexp search, which
// would cost more than all other rules together.
func assignedValue(text string, start, end int) (value, match byteSpan, ok bool) {
	for start > 0 && isNameByte(text[start-1]) && end-start < 60 {
		start--
	}
	i := skipBytes(text, end, 20, func(c byte) bool { return isNameByte(c) || c == ' ' || c == '\t' })
	i = skipBytes(text, i, 3, func(c byte) bool { return isSpaceByte(c) || c == '\'' || c == '"' })
	operator := skipBytes(text, i, 4, func(c byte) bool { return strings.IndexByte("=>:|?,", c) >= 0 })
	if operator == i {
		return value, match, false
	}
	i = skipBytes(text, operator, 5, func(c byte) bool { return isSpaceByte(c) || strings.IndexByte("`'\"=", c) >= 0 })
	e := skipBytes(text, i, maxAssigned+1, func(c byte) bool { return isNameByte(c) || c == '=' || c == '/' || c == '+' })
	ended := e == len(text) || isSpaceByte(text[e]) || strings.IndexByte("`'\";,)}\\&<", text[e]) >= 0
	if e-i < minAssigned || e-i > maxAssigned || !ended || followsChecksum(text[:i]) {
		return value, match, false
	}
	return byteSpan{i, e}, byteSpan{start, e}, true
}

// followsChecksum reports whether before ends with the prefix of a checksum, as go.sum, docker and ssh write them.
func followsChecksum(before string) bool {
	for _, p := range []string{"h1:", "sha256:", "sha512:"} {
		if n := len(before) - len(p); n >= 0 && strings.EqualFold(before[n:], p) {
			return true
		}
	}
	return false
}

// Minimum and maximum length of values in [assignedValue], the same as in gitleaks.
const (
	minAssigned = 10
	maxAssigned = 150
)

// userPassword finds the password in a URL such as https://user:password@host. text[start:end] is the URL's "://".
func userPassword(text string, start, end int) (value, match byteSpan, ok bool) {
	if start == 0 || !isWordByte(text[start-1]) {
		return value, match, false
	}
	part := func(c byte) bool { return !isSpaceByte(c) && strings.IndexByte("/@\"'`<>[]\\", c) < 0 }
	colon := skipBytes(text, end, 100, func(c byte) bool { return part(c) && c != ':' })
	if colon == len(text) || text[colon] != ':' {
		return value, match, false
	}
	at := skipBytes(text, colon+1, maxPassword, part)
	for more := at; more < len(text) && text[more] == '@'; { // the last @ ends the password
		at = more
		more = skipBytes(text, at+1, maxPassword-(at-colon), func(c byte) bool {
			return part(c) && strings.IndexByte("?#,;&", c) < 0
		})
	}
	if at == len(text) || text[at] != '@' || at-colon < 3 || strings.IndexByte("${(%*", text[colon+1]) >= 0 {
		return value, match, false // no password, or a variable
	}
	return byteSpan{colon + 1, at}, byteSpan{end, at}, true
}

// maxPassword is the maximum length of a password in a URL, in bytes.
const maxPassword = 250

// skipBytes returns the index after at most most bytes from i that satisfy in.
func skipBytes(text string, i, most int, in func(byte) bool) int {
	for ; i < len(text) && most > 0 && in(text[i]); most-- {
		i++
	}
	return i
}

func isNameByte(c byte) bool { return isWordByte(c) || c == '.' || c == '-' }

func isSpaceByte(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
