package technique

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// Limits on reading and showing examples.
const (
	maxRead         = 24        // files
	maxFileRead     = 128 << 10 // bytes; larger files are not used
	maxExampleLines = 80
	maxExampleBytes = 4000
)

var (
	notExample = lazyregexp.New(`(^|/)(vendor|node_modules|third_party|dist|build|target|\.git|__pycache__|testdata|` +
		`fixtures)/|\.min\.|_generated|\.pb\.|\.lock$|(^|/)(go\.sum|package-lock\.json|LICENSE[^/]*|CHANGELOG[^/]*)$`)
	sourceExt = strings.Fields(`.go .py .js .jsx .ts .tsx .java .kt .rb .rs .c .h .cc .cpp .hpp .cs .php .swift .scala
		.ex .exs .sh .sql .html .css .tmpl .yml .yaml .json .toml .md`)
	interfaceDecl = lazyregexp.New(`(?m)^\s*(type\s+\w+\s+interface\b|(export\s+|public\s+)?interface\s+\w+|` +
		`class\s+\w+\((abc\.)?(ABC|Protocol)|(pub\s+)?trait\s+\w+|protocol\s+\w+|abstract\s+class\s+\w+)`)
)

// repositoryExamples returns example files: those named by the diagnosis first, then those most related to the task and
// to the touched files.
func repositoryExamples(in Input) []sia.Example {
	var found []sia.Example
	for _, p := range in.Examples {
		if p = path.Clean(p); slices.Contains(in.Files, p) {
			if ex, ok := readExample(in, p, "named by the diagnosis as the shape to follow"); ok {
				found = append(found, ex)
			}
		}
	}
	for _, c := range nearestFiles(in) {
		if len(found) >= maxExamples {
			break
		}
		if ex, ok := readExample(in, c.path, c.why); ok {
			found = addExamples(found, []sia.Example{ex})
		}
	}
	return found[:min(len(found), maxExamples)]
}

// interfaceExamples returns at most one file that already declares an interface.
func interfaceExamples(in Input) []sia.Example {
	for i, c := range nearestFiles(in) {
		if i == maxRead {
			break
		}
		content, ok := readText(in, c.path)
		if !ok {
			continue
		}
		at := interfaceDecl.FindIndex(content)
		if at == nil {
			continue
		}
		// Include the comment above the declaration.
		start := bytes.LastIndex(content[:at[0]], []byte("\n\n")) + 1
		return []sia.Example{{Path: c.path, Why: "how this repository declares an interface",
			Text: fileExcerpt(string(content[start:]))}}
	}
	return nil
}

// addExamples appends examples with new paths, up to the limit.
func addExamples(to, more []sia.Example) []sia.Example {
	for _, ex := range more {
		if len(to) < maxExamples && !slices.ContainsFunc(to, func(t sia.Example) bool { return t.Path == ex.Path }) {
			to = append(to, ex)
		}
	}
	return to
}

type scoredFile struct {
	path, why string
	score     int
}

// nearestFiles ranks the repository's files by what they have in common with the task and the touched files: directory,
// kind of file, words of the path.
func nearestFiles(in Input) []scoredFile {
	about := in.Title + " " + in.Body
	for _, f := range in.Failures {
		about += " " + strings.Join(f.Tests, " ")
	}
	want := wordsOf(about)
	exts, dirs := map[string]bool{}, map[string]bool{}
	for _, p := range in.Touched {
		exts[path.Ext(p)] = true
		dirs[path.Dir(p)] = true
		for w := range wordsOf(p) {
			want[w] = true
		}
	}
	named := map[string]bool{}
	for _, p := range namedFiles(in) {
		named[p] = true
	}
	var all []scoredFile
	for _, p := range in.Files {
		ext := path.Ext(p)
		if notExample.MatchString(p) || !slices.Contains(sourceExt, ext) || slices.Contains(in.Touched, p) {
			continue
		}
		c := scoredFile{path: p, why: "the same kind of file"}
		if exts[ext] {
			c.score += 3
		}
		if n := countShared(want, wordsOf(p)); n > 0 {
			c.score += 2 * min(n, 4)
			c.why = "about the same things"
		}
		if dirs[path.Dir(p)] {
			c.score += 3
			c.why = "from the directory that the last attempt changed"
		}
		if named[p] {
			c.score += 2
			c.why = "the failure names it"
		}
		if c.score > 0 {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b scoredFile) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	return all[:min(len(all), maxRead)]
}

func readExample(in Input, p, why string) (sia.Example, bool) {
	content, ok := readText(in, p)
	if !ok {
		return sia.Example{}, false
	}
	return sia.Example{Path: p, Why: why, Text: fileExcerpt(string(content))}, true
}

// readText reads a file and reports whether it is UTF-8 text of at most maxFileRead bytes.
func readText(in Input, p string) ([]byte, bool) {
	if in.Read == nil {
		return nil, false
	}
	b, err := in.Read(p)
	if err != nil || len(bytes.TrimSpace(b)) == 0 || len(b) > maxFileRead || !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return nil, false
	}
	return b, true
}

// fileExcerpt returns the beginning of a file and notes how many lines were left out.
func fileExcerpt(file string) string {
	file = strings.Trim(file, "\n")
	lines := strings.Split(file, "\n")
	n, size := 0, 0
	for n < len(lines) && n < maxExampleLines && size+len(lines[n]) < maxExampleBytes {
		size += len(lines[n]) + 1
		n++
	}
	switch {
	case n == len(lines):
		return file
	case n == 0:
		return text.Clip(lines[0], maxExampleBytes)
	}
	return strings.Join(lines[:n], "\n") + fmt.Sprintf("\n… %d more lines", len(lines)-n)
}

// contextFiles returns the relevant files: those named by the diagnosis, then those named by the failures. Touched
// files are added while the list is short. Without any of these, the files most related to the task are used.
func contextFiles(in Input) []string {
	var files []string
	add := func(ps ...string) {
		for _, p := range ps {
			if len(files) < maxContext && !slices.Contains(files, p) {
				files = append(files, p)
			}
		}
	}
	known := func(p string) bool { return slices.Contains(in.Files, p) || slices.Contains(in.Touched, p) }
	for _, p := range in.Context {
		if p = path.Clean(p); known(p) {
			add(p)
		}
	}
	add(namedFiles(in)...)
	if len(files) < maxContext/2 {
		add(in.Touched...)
	}
	if len(files) == 0 {
		nearest := nearestFiles(in)
		for _, c := range nearest[:min(len(nearest), 3)] {
			add(c.path)
		}
	}
	return files
}

// namedFiles returns the repository's files that the failures name, then those that the task names. A name without its
// directory counts when only one file has it.
func namedFiles(in Input) []string {
	var files []string
	texts := make([]string, 0, len(in.Failures)+1)
	for _, f := range in.Failures {
		texts = append(texts, f.Excerpt)
	}
	touched, all := byBase(in.Touched), byBase(in.Files)
	for _, from := range append(texts, in.Title+"\n"+in.Body) {
		for _, p := range pathsIn(from) {
			if q, ok := locateFile(p, touched, all); ok && !slices.Contains(files, q) {
				files = append(files, q)
			}
		}
	}
	return files
}

// byBase groups paths by their last element.
func byBase(paths []string) map[string][]string {
	groups := map[string][]string{}
	for _, p := range paths {
		groups[path.Base(p)] = append(groups[path.Base(p)], p)
	}
	return groups
}

// locateFile finds the file of the repository for a path in a log. Logs print paths with other roots: absolute, or
// relative to a package.
func locateFile(p string, touched, all map[string][]string) (string, bool) {
	base := path.Base(p)
	if slices.Contains(all[base], p) || slices.Contains(touched[base], p) {
		return p, true
	}
	tail, found := "/"+p, ""
	for _, list := range [][]string{touched[base], all[base]} {
		for _, f := range list {
			if f == found || !strings.HasSuffix(f, tail) && !strings.HasSuffix(p, "/"+f) {
				continue
			}
			if found != "" {
				return "", false
			}
			found = f
		}
		if found != "" {
			return found, true
		}
	}
	return "", false
}

// stopWords are common in issues and carry no information about a file.
var stopWords = strings.Fields(`the and for with when that this from should must are not add fix make use test tests
	file src internal main index lib pkg into has have will can all com github`)

// wordsOf returns the words of a text or path in lower case, split at case changes and punctuation, without a plural's
// s.
func wordsOf(s string) map[string]bool {
	words := map[string]bool{}
	var b strings.Builder
	flush := func() {
		w := strings.ToLower(b.String())
		b.Reset()
		if len(w) >= 3 && !slices.Contains(stopWords, w) {
			words[strings.TrimSuffix(w, "s")] = true
		}
	}
	lower := false
	for _, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
		case unicode.IsUpper(r) && lower:
			flush()
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
		lower = unicode.IsLower(r)
	}
	flush()
	return words
}

// countShared returns the number of common words.
func countShared(a, b map[string]bool) (n int) {
	for w := range b {
		if a[w] {
			n++
		}
	}
	return n
}
