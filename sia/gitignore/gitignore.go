// Package gitignore matches paths with .gitignore files, as git does
// (https://git-scm.com/docs/gitignore#_pattern_format). The files are untrusted, so their cost is bounded.
package gitignore

import "strings"

// MaxFile is the maximum size of a .gitignore that is used, in bytes.
const MaxFile = 1 << 20

// maxRules is the maximum number of rules for one folder. Further rules are ignored.
const maxRules = 10_000

// maxPattern is the maximum length of a pattern that is used, in bytes.
const maxPattern = 4096

// byteOrderMark begins files that some Windows editors write. git ignores it since 2.4.1.
const byteOrderMark = "\ufeff"

// Rules are the rules of the .gitignore files for one folder, outermost first; nil: none.
type Rules []file

// file contains the rules of one .gitignore.
type file struct {
	dir   string // its folder, "" for the root
	rules []rule
	above int // number of rules of the files before it
}

// rule is one line of a .gitignore.
type rule struct {
	prefix  string   // literal prefix of the path relative to the file's folder
	glob    []string // pattern after the prefix, split at slashes; nil: none
	negated bool
	dirOnly bool
	byName  bool // the pattern has no slash except after a leading "**": it matches the last name at any depth
}

// With returns the rules of a folder, "" for the root, with the given .gitignore content; r are the rules of its
// parent, and are not modified.
func (r Rules) With(dir string, content []byte) Rules {
	f := file{dir: dir}
	if len(r) > 0 {
		last := r[len(r)-1]
		f.above = last.above + len(last.rules)
	}
	for line := range strings.Lines(strings.TrimPrefix(string(content), byteOrderMark)) {
		if f.above+len(f.rules) == maxRules {
			break
		}
		if one, ok := parse(strings.TrimRight(line, "\r\n")); ok {
			f.rules = append(f.rules, one)
		}
	}
	return append(r[:len(r):len(r)], f)
}

func parse(line string) (rule, bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	var r rule
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	if name := strings.TrimPrefix(line, "**/"); !strings.Contains(name, "/") {
		r.byName, line = true, name
	}
	line = strings.TrimPrefix(line, "/")
	if !r.byName {
		// git compares the part before the first special byte separately, so
		// that "**" directly after it is at the start of a pattern.
		n := strings.IndexAny(line, `*?[\`)
		if n < 0 {
			n = len(line)
		}
		r.prefix, line = line[:n], line[n:]
	}
	if line != "" {
		r.glob = splitGlob(line)
	}
	return r, len(r.prefix)+len(line) > 0 && len(line) <= maxPattern
}

// Ignore reports whether the path of an untracked file or folder is ignored. The last rule
// that matches decides. The caller must check whether a parent folder is ignored.
func (r Rules) Ignore(path string, isDir bool) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r) - 1; i >= 0; i-- {
		f := r[i]
		rel := path
		if f.dir != "" {
			rel = strings.TrimPrefix(path, f.dir+"/")
		}
		for j := len(f.rules) - 1; j >= 0; j-- {
			one := f.rules[j]
			if (isDir || !one.dirOnly) && (one.byName && matchName(one.glob[0], name) || !one.byName && one.matches(rel)) {
				return !one.negated
			}
		}
	}
	return false
}

func (r rule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.prefix)
	if !ok || r.glob == nil {
		return ok && rest == ""
	}
	return matchPath(r.glob, strings.Split(rest, "/"))
}
