package secret

import "strings"

// assigned finds a value that stands where text[start:end], a word such as
// "token", or what begins with it, is given one: API_TOKEN="…", token: …,
// "secret" => "…". It is gitleaks' generic expression without its search, which
// costs more than all other rules together.
func assigned(text string, start, end int) (value, match span, ok bool) {
	for start > 0 && nameByte(text[start-1]) && end-start < 60 {
		start--
	}
	i := skip(text, end, 20, func(c byte) bool { return nameByte(c) || c == ' ' || c == '\t' })
	i = skip(text, i, 3, func(c byte) bool { return spaceByte(c) || c == '\'' || c == '"' })
	operator := skip(text, i, 4, func(c byte) bool { return strings.IndexByte("=>:|?,", c) >= 0 })
	if operator == i {
		return value, match, false
	}
	i = skip(text, operator, 5, func(c byte) bool { return spaceByte(c) || strings.IndexByte("`'\"=", c) >= 0 })
	e := skip(text, i, maxAssigned+1, func(c byte) bool { return nameByte(c) || c == '=' || c == '/' || c == '+' })
	ended := e == len(text) || spaceByte(text[e]) || strings.IndexByte("`'\";,)}\\&<", text[e]) >= 0
	if e-i < minAssigned || e-i > maxAssigned || !ended || checksum(text[:i]) {
		return value, match, false
	}
	return span{i, e}, span{start, e}, true
}

// checksum reports whether what follows is one as go.sum, docker and ssh write them.
func checksum(before string) bool {
	for _, p := range []string{"h1:", "sha256:", "sha512:"} {
		if n := len(before) - len(p); n >= 0 && strings.EqualFold(before[n:], p) {
			return true
		}
	}
	return false
}

// Lengths of values that [assigned] takes for random, as gitleaks does.
const (
	minAssigned = 10
	maxAssigned = 150
)

// userPassword finds the password in an address, whose "://" is
// text[start:end]: https://user:password@host.
func userPassword(text string, start, end int) (value, match span, ok bool) {
	if start == 0 || !wordByte(text[start-1]) {
		return value, match, false
	}
	part := func(c byte) bool { return !spaceByte(c) && strings.IndexByte("/@\"'`<>[]\\", c) < 0 }
	colon := skip(text, end, 100, func(c byte) bool { return part(c) && c != ':' })
	if colon == len(text) || text[colon] != ':' {
		return value, match, false
	}
	at := skip(text, colon+1, 250, part)
	if at == len(text) || text[at] != '@' || at-colon < 3 || strings.IndexByte("${(%*", text[colon+1]) >= 0 {
		return value, match, false // none, or a variable in its place
	}
	return span{colon + 1, at}, span{end, at}, true
}

// skip gives the index after at most most bytes from i that are in a set.
func skip(text string, i, most int, in func(byte) bool) int {
	for ; i < len(text) && most > 0 && in(text[i]); most-- {
		i++
	}
	return i
}

func nameByte(c byte) bool { return wordByte(c) || c == '.' || c == '-' }

func spaceByte(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
