package diagnose

import (
	"fmt"
	"strings"

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

// locate finds a claimed line in a change: on the new side in preference to the old, and of several equal ones the
// nearest to the claimed number. ok is false when there is none.
func locate(files []ChangedFile, c claimed) (at sia.Place, ok bool) {
	code := firstLine(c.Code)
	if code == "" {
		return sia.Place{}, false
	}
	best := 0
	for _, f := range files {
		if f.Path != c.Path && (f.OldPath == "" || f.OldPath != c.Path) {
			continue
		}
		for _, h := range f.Hunks {
			for _, l := range h.lines() {
				away := distance(code, l.text, l.number, c.Line)
				if away < 0 {
					continue
				}
				if l.mark == '-' {
					away += 1 << 30
				}
				if !ok || away < best {
					best, ok = away, true
					at = sia.Place{Path: f.Path, Line: l.number, Old: l.mark == '-', Diff: true}
				}
			}
		}
	}
	return at, ok
}

// locateIn finds a claimed line in the content of a file.
func locateIn(content []byte, c claimed) (at sia.Place, ok bool) {
	whole := ChangedFile{Path: c.Path, Hunks: []Hunk{{NewStart: 1}}}
	for l := range strings.SplitSeq(string(content), "\n") {
		whole.Hunks[0].Lines = append(whole.Hunks[0].Lines, " "+l)
	}
	at, ok = locate([]ChangedFile{whole}, c)
	at.Diff = false
	return at, ok
}

// distance returns the distance between a line and the claimed one, in lines; -1 if the text differs.
func distance(code, line string, number, said int) int {
	line = text.OneLine(cleanText(line))
	away := max(number-said, said-number)
	switch {
	case line == code && (away == 0 || len([]rune(code)) >= minCode):
		return away
	case len([]rune(code)) >= 2*minCode && strings.Contains(line, code):
		return away
	}
	return -1
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
