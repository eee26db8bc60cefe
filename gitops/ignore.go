package gitops

import (
	"strings"
)

// ignoreRule is one line of a .gitignore file
// (https://git-scm.com/docs/gitignore#_pattern_format).
type ignoreRule struct {
	prefix  string   // the path, relative to the file's folder, begins with it
	glob    []string // what must follow, by folder; nil is nothing
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

// byteOrderMark is at the start of files that some editors of Windows write. git passes over it since 2.4.1.
const byteOrderMark = "\ufeff"

// maxPattern bounds a pattern that is obeyed, in bytes.
const maxPattern = 4096

func parseIgnore(dir string, content []byte) ignoreFile {
	f := ignoreFile{dir: dir}
	for line := range strings.Lines(strings.TrimPrefix(string(content), byteOrderMark)) {
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

// isIgnored reports whether the path of an untracked file or folder is ignored by
// the files, outermost first. The last rule that matches decides. That a
// folder above may be ignored is the caller's business.
func isIgnored(files []ignoreFile, path string, isDir bool) bool {
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
			if (isDir || !r.dirOnly) && r.matches(subject) {
				return !r.negated
			}
		}
	}
	return false
}

func (r ignoreRule) matches(path string) bool {
	rest, ok := strings.CutPrefix(path, r.prefix)
	if !ok || r.glob == nil {
		return ok && rest == ""
	}
	return matchPath(r.glob, strings.Split(rest, "/"))
}
