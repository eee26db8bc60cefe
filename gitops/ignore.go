package gitops

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreRule is one line of a .gitignore file
// (https://git-scm.com/docs/gitignore#_pattern_format).
type ignoreRule struct {
	glob    string // relative to the file's folder
	negated bool
	dirOnly bool
	byName  bool // no slash in the pattern: any depth, by the last name
}

// ignoreFile is the rules of one .gitignore.
type ignoreFile struct {
	dir   string // its folder, "" for the root
	rules []ignoreRule
}

// maxIgnoreFile bounds a .gitignore that is obeyed, in bytes.
const maxIgnoreFile = 1 << 20

func parseIgnore(dir string, content []byte) ignoreFile {
	f := ignoreFile{dir: dir}
	for line := range strings.Lines(string(content)) {
		if r, ok := parseIgnoreRule(strings.TrimRight(line, "\r\n")); ok {
			f.rules = append(f.rules, r)
		}
	}
	return f
}

func parseIgnoreRule(line string) (ignoreRule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return ignoreRule{}, false
	}
	var r ignoreRule
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.byName = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	// Everything inside, but not the folder itself.
	if inside, ok := strings.CutSuffix(line, "/**"); ok {
		line = inside + "/**/*"
	}
	r.glob = literalBraces(line)
	return r, line != "" && doublestar.ValidatePattern(r.glob)
}

// literalBraces quotes braces, which git's patterns give no meaning to.
func literalBraces(p string) string {
	if !strings.ContainsAny(p, "{}") {
		return p
	}
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\' && i+1 < len(p):
			b.WriteByte(c)
			i++
			b.WriteByte(p[i])
			continue
		case c == '[':
			class = true
		case c == ']':
			class = false
		case (c == '{' || c == '}') && !class:
			b.WriteByte('\\')
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// ignored reports whether the path of an untracked file or folder is ignored by
// the files, outermost first. The last rule that matches decides. That a
// folder above may be ignored is the caller's business.
func ignored(files []ignoreFile, path string, isDir bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(files) - 1; i >= 0; i-- {
		f := files[i]
		rel := path
		if f.dir != "" {
			rel = strings.TrimPrefix(path, f.dir+"/")
		}
		for j := len(f.rules) - 1; j >= 0; j-- {
			r := f.rules[j]
			subject := rel
			if r.byName {
				subject = name
			}
			if r.dirOnly && !isDir {
				continue
			}
			if doublestar.MatchUnvalidated(r.glob, subject) {
				return !r.negated
			}
		}
	}
	return false
}
