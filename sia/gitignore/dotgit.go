package gitignore

import "strings"

// IsDotGit reports whether some file system treats the name of a file or folder as ".git" (CVE-2014-9390). Git itself
// refuses the same spellings: core.protectNTFS and core.protectHFS in https://git-scm.com/docs/git-config.
func IsDotGit(name string) bool {
	name = strings.Map(func(c rune) rune {
		switch { // HFS+ ignores these
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
	name, _, _ = strings.Cut(name, ":") // a stream of NTFS
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
