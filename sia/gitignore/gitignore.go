// Package gitignore tells what .gitignore files name, as git does
// (https://git-scm.com/docs/gitignore#_pattern_format). Strangers write the files, so what they cost is bounded. It
// imports nothing of ours.
package gitignore

import "strings"

// MaxFile bounds a .gitignore that is obeyed, in bytes.
const MaxFile = 1 << 20

// maxRules bounds the rules that hold in one folder. Those beyond it are not obeyed.
const maxRules = 10_000

// maxPattern bounds a pattern that is obeyed, in bytes.
const maxPattern = 4096

// byteOrderMark is at the start of files that some editors of Windows write. git passes over it since 2.4.1.
const byteOrderMark = "\ufeff"

// Rules are those of the .gitignore files that hold in one folder, outermost first. nil is none.
type Rules []file

// file is the rules of one .gitignore.
type file struct {
	dir   string // its folder, "" for the root
	rules []rule
	above int // rules of the files before it
}

// rule is one line of a .gitignore.
type rule struct {
	prefix  string   // the path, relative to the file's folder, begins with it
	glob    []string // what must follow, by folder; nil is nothing
	negated bool
	dirOnly bool
	byName  bool // no slash in the pattern but behind a leading "**": any depth, by the last name
}

// With returns the rules of a folder, "" for the root, which has a .gitignore; r are those of its parents, and stay as
// they are.
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
		// git compares what comes before the first special byte separately, so
		// that "**" right after it is at the start of a pattern.
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
// that matches decides. That a folder above may be ignored is the caller's business.
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
