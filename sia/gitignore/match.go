package gitignore

import "strings"

// The patterns come from the repository, so no pattern may make matching take
// exponential time. Paths are matched with a table of folders. Names are matched
// with backtracking to the last star only.

// splitGlob splits a pattern at its slashes, except those in a class.
func splitGlob(p string) []string {
	var parts []string
	start := 0
	for i := 0; i < len(p); {
		n := 1
		switch p[i] {
		case '\\':
			if n = 2; strings.HasPrefix(p[i:], `\/`) {
				if part := p[start:i]; len(part) > 1 && strings.Trim(part, "*") == "" {
					parts = append(parts, "*") // in git "**" before an escaped slash matches at least one folder
				}
				parts = append(parts, p[start:i])
				start = i + 2
			}
		case '[':
			if class, _ := matchClass(p[i:], 0); class > 0 {
				n = class
			}
		case '/':
			parts = append(parts, p[start:i])
			start = i + 1
		}
		i += n
	}
	parts = append(parts, p[start:])
	for i, part := range parts {
		if len(part) > 2 && strings.Trim(part, "*") == "" {
			parts[i] = "**" // more stars mean the same
		}
	}
	return parts
}

// matchPath reports whether a pattern matches a path, both split at slashes. A
// part "**" matches any number of folders, and at the end at least one part.
func matchPath(pattern, path []string) bool {
	// can[j] reports whether the pattern so far matches the first j parts of path.
	can, next := make([]bool, len(path)+1), make([]bool, len(path)+1)
	can[0] = true
	for i, part := range pattern {
		any := false
		for j := range next {
			switch {
			case part == "**" && i == len(pattern)-1:
				next[j] = any // something came before this part
				any = any || can[j]
			case part == "**":
				any = any || can[j]
				next[j] = any
			default:
				next[j] = j > 0 && can[j-1] && matchName(part, path[j-1])
			}
		}
		can, next = next, can
	}
	return can[len(path)]
}

// matchName matches one name byte by byte, as git's wildmatch does: * ? [a-z]
// [!a-z] [[:alpha:]] and a backslash that escapes the next byte. A malformed
// pattern matches nothing.
func matchName(p, s string) bool {
	star, mark := -1, 0 // the last star, and the end of its match in s
	i, j := 0, 0
	for j < len(s) {
		if i < len(p) && p[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		n, ok := matchByte(p[i:], s[j])
		if n < 0 {
			return false
		}
		if ok {
			i, j = i+n, j+1
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	return strings.Trim(p[i:], "*") == ""
}

// matchByte matches the first element of a pattern, of n bytes; n is negative
// if it is malformed.
func matchByte(p string, c byte) (n int, ok bool) {
	if p == "" {
		return 0, false
	}
	switch p[0] {
	case '?':
		return 1, true
	case '\\':
		if len(p) == 1 {
			return -1, false
		}
		return 2, p[1] == c
	case '[':
		return matchClass(p, c)
	}
	return 1, p[0] == c
}

// matchClass matches a class in brackets.
func matchClass(p string, c byte) (n int, ok bool) {
	i := 1
	negated := i < len(p) && (p[i] == '!' || p[i] == '^')
	if negated {
		i++
	}
	for first := true; ; first = false {
		if i >= len(p) {
			return -1, false
		}
		if p[i] == ']' && !first {
			return i + 1, ok != negated
		}
		if strings.HasPrefix(p[i:], "[:") {
			if name, rest, found := strings.Cut(p[i+2:], ":]"); found {
				in, known := byteClass[name]
				if !known {
					return -1, false
				}
				ok = ok || in(c)
				i = len(p) - len(rest)
				continue
			}
		}
		lo, at := classByte(p, i)
		hi := lo
		if at+1 < len(p) && p[at] == '-' && p[at+1] != ']' {
			hi, at = classByte(p, at+1)
		}
		ok = ok || c == lo || lo <= c && c <= hi // lo counts even in a reversed range
		i = at
	}
}

// classByte returns one byte of a class and the index of the next.
func classByte(p string, i int) (byte, int) {
	if p[i] == '\\' && i+1 < len(p) {
		i++
	}
	return p[i], i + 1
}

// byteClass contains the named classes of POSIX, for ASCII.
var byteClass = map[string]func(byte) bool{
	"alnum":  func(c byte) bool { return isLetter(c) || isDigit(c) },
	"alpha":  isLetter,
	"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
	"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
	"digit":  isDigit,
	"graph":  func(c byte) bool { return c > ' ' && c < 0x7f },
	"lower":  func(c byte) bool { return c >= 'a' && c <= 'z' },
	"print":  func(c byte) bool { return c >= ' ' && c < 0x7f },
	"punct":  func(c byte) bool { return c > ' ' && c < 0x7f && !isLetter(c) && !isDigit(c) },
	"space":  func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' },
	"upper":  func(c byte) bool { return c >= 'A' && c <= 'Z' },
	"xdigit": func(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' },
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
