package diagnose

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// ChangedFile is one file of a change for a reviewer, with secrets masked.
type ChangedFile struct {
	Path, OldPath string // OldPath: the old path of a renamed file; else empty
	Status        string // added, deleted, modified or renamed
	Hunks         []Hunk // empty: the content is not shown
}

// Hunk is a run of lines around a change. Starts are 1-based; Lines come after ' ', '+' or '-'.
type Hunk struct {
	OldStart, NewStart int
	Lines              []string
}

// diffLine is one line of a hunk with its number on the old or new side.
type diffLine struct {
	number int
	mark   byte   // ' ', '+' or '-'
	text   string // without mark
}

// lines returns a hunk's lines with their numbers: of the old side for deleted ones, else of the new.
func (h Hunk) lines() []diffLine {
	old, head := h.OldStart, h.NewStart
	all := make([]diffLine, 0, len(h.Lines))
	for _, l := range h.Lines {
		if l == "" {
			l = " "
		}
		d := diffLine{number: head, mark: l[0], text: l[1:]}
		if d.mark == '-' {
			d.number = old
		}
		if d.mark != '+' {
			old++
		}
		if d.mark != '-' {
			head++
		}
		all = append(all, d)
	}
	return all
}

// changeText formats a change with line numbers.
func changeText(files []ChangedFile) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "=== %s (%s", text.OneLine(f.Path), f.Status)
		if f.OldPath != "" {
			fmt.Fprintf(&b, ", from %s", text.OneLine(f.OldPath))
		}
		b.WriteString(")\n")
		if len(f.Hunks) == 0 {
			b.WriteString("(the content is not shown: it is binary, too large, or the same)\n")
		}
		for i, h := range f.Hunks {
			if i > 0 {
				b.WriteString("...\n")
			}
			for _, l := range h.lines() {
				fmt.Fprintf(&b, "%5d %c %s\n", l.number, l.mark, l.text)
			}
		}
	}
	return b.String()
}

// minCode is the minimum length of a quoted line that is not exactly at the claimed line, in characters. Shorter ones,
// such as "}", are everywhere.
const minCode = 6

// claimed is a line that a reviewer refers to.
type claimed struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Code string `json:"code"` // text of the line
}

// finder finds claimed lines in a change and, if read is set, in files at the head. It cleans each line once, however
// many claims there are. It is not safe for concurrent use.
type finder struct {
	files   []ChangedFile
	read    Reader
	changed map[string][]foundLine // by path, new and old
	whole   map[string][]foundLine // by path; nil for a file that can't be read
}

// foundLine is a line in one line of cleaned text, and its place.
type foundLine struct {
	text string
	at   sia.Place
}

func newFinder(files []ChangedFile, read Reader) *finder {
	return &finder{files, read, map[string][]foundLine{}, map[string][]foundLine{}}
}

// find finds a claimed line. The quote may include the mark of a changed line.
func (f *finder) find(c claimed) (sia.Place, bool) {
	c.Path = strings.TrimPrefix(strings.TrimSpace(c.Path), "./")
	at, ok := f.findLine(c)
	if code := strings.TrimSpace(c.Code); !ok && len(code) > 1 && strings.ContainsAny(code[:1], "+-") {
		c.Code = code[1:]
		return f.findLine(c)
	}
	return at, ok
}

// findLine finds a claimed line in the change, else in the file at the head.
func (f *finder) findLine(c claimed) (sia.Place, bool) {
	code := firstLine(c.Code)
	if code == "" {
		return sia.Place{}, false
	}
	at, ok := nearest(f.inChange(c.Path), code, c.Line)
	if ok || f.read == nil || c.Path == "" || len(c.Path) > maxAskedPath {
		return at, ok
	}
	return nearest(f.inFile(c.Path), code, c.Line)
}

// inChange returns the lines of a file's change.
func (f *finder) inChange(path string) []foundLine {
	lines, known := f.changed[path]
	if known {
		return lines
	}
	for _, file := range f.files {
		if file.Path != path && (file.OldPath == "" || file.OldPath != path) {
			continue
		}
		for _, h := range file.Hunks {
			for _, l := range h.lines() {
				at := sia.Place{Path: file.Path, Line: l.number, Old: l.mark == '-', Diff: true}
				lines = append(lines, foundLine{text.OneLine(cleanText(l.text)), at})
			}
		}
	}
	f.changed[path] = lines
	return lines
}

// inFile returns the lines of a file at the head.
func (f *finder) inFile(path string) []foundLine {
	lines, known := f.whole[path]
	if known {
		return lines
	}
	if content, err := f.read(path); err == nil {
		number := 0
		for l := range strings.SplitSeq(string(content), "\n") {
			number++
			lines = append(lines, foundLine{text.OneLine(cleanText(l)), sia.Place{Path: path, Line: number}})
		}
	}
	f.whole[path] = lines
	return lines
}

// nearest finds a line by its text: on the new side in preference to the old, and of several equal ones the nearest to
// the claimed number. ok is false when there is none.
func nearest(lines []foundLine, code string, said int) (at sia.Place, ok bool) {
	best, length := 0, utf8.RuneCountInString(code)
	for _, l := range lines {
		away := max(l.at.Line-said, said-l.at.Line)
		same := l.text == code && (away == 0 || length >= minCode)
		if !same && (length < 2*minCode || !strings.Contains(l.text, code)) {
			continue
		}
		if l.at.Old {
			away += 1 << 30
		}
		if !ok || away < best {
			best, ok, at = away, true, l.at
		}
	}
	return at, ok
}

// lineMark matches the line number and mark that a quote may include.
var lineMark = lazyregexp.New(`^\s*\d+ [-+ ] `)

// firstLine returns the first non-blank line, with white space collapsed.
func firstLine(code string) string {
	for line := range strings.Lines(cleanText(code)) {
		if line = text.OneLine(lineMark.ReplaceAllString(line, "")); line != "" {
			return line
		}
	}
	return ""
}
