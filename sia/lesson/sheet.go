package lesson

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// maxSheet is the maximum size of a lessons.md, in bytes.
const maxSheet = 8 << 20

// MarkdownFile is a parsed lessons.md.
type MarkdownFile struct {
	Lessons  []Lesson  // lessons with a section, in order; Kind is "" outside the sections of the kinds
	New      []Lesson  // lessons from bullets that users added; the caller sets the dates
	Problems []Problem // unreadable sections; they are kept unchanged

	parts  []filePart
	broken map[ID]bool // lessons with an unreadable section
}

// filePart is a part of the file: the lines from one heading to the next.
type filePart struct {
	heading string // of the section that it begins; "" if it begins none
	lines   []string
	bullets []bullet
	lesson  *Lesson  // nil unless it is a lesson's; then lines are users' notes on it
	all     []string // of a lesson's part: its lines with the fields
}

// bullet is a user's bullet in the lines of a part, and the lesson that it becomes.
type bullet struct {
	from, to int
	id       ID
}

// Problem is an unreadable section. Line is 1-based.
type Problem struct {
	Line int
	Err  error
}

// String returns "lessons.md:line: error".
func (p Problem) String() string { return fmt.Sprintf("%s:%d: %v", Path, p.Line, p.Err) }

// BrokenFile is the error for a lessons.md that cannot be parsed at all. The file must be kept.
type BrokenFile struct{ Problem }

func (e *BrokenFile) Error() string { return e.String() }

// Unwrap returns the cause.
func (e *BrokenFile) Unwrap() error { return e.Err }

var (
	headingMark  = lazyregexp.New(`^(#{1,6})[ \t]+(.*?)[ \t]*$`)
	lessonTitle  = lazyregexp.New(`^(?i)lesson[ \t]+(\S+)$`)
	fieldMark    = lazyregexp.New(`^- \*\*([A-Za-z ]+):\*\*(?:[ \t]+(.*))?$`)
	bulletMark   = lazyregexp.New(`^[-*+][ \t]+(\S.*)$`)
	conflictMark = lazyregexp.New(`^(<{7}|>{7}) `)
)

// Parse parses a repository's lessons.md. An error is a *[BrokenFile] and means that the whole file is unreadable: it
// is too large or not text, it has a merge conflict, or a code block or HTML comment has no end and would hide the
// sections after it.
func Parse(repo int64, file []byte) (MarkdownFile, error) {
	broken := func(line int, format string, args ...any) (MarkdownFile, error) {
		return MarkdownFile{}, &BrokenFile{Problem{line, fmt.Errorf(format, args...)}}
	}
	if len(file) > maxSheet {
		return broken(1, "%d bytes; at most %d are read", len(file), maxSheet)
	}
	if !utf8.Valid(file) {
		return broken(1, "the file is not UTF-8 text")
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(file), "\ufeff"))
	p := &markdownParser{repo: repo, lines: strings.Split(text, "\n"), seen: map[ID]bool{},
		out: MarkdownFile{broken: map[ID]bool{}}}
	starts := []int{0}
	for i := 0; i < len(p.lines); {
		if conflictMark.MatchString(p.lines[i]) {
			return broken(i+1, "a merge conflict is left in the file; resolve it")
		}
		if m := headingMark.FindStringSubmatch(p.lines[i]); m != nil && i > 0 && beginsPart(m) {
			starts = append(starts, i)
		}
		end, ok := skipOpaque(p.lines, i)
		if !ok {
			return broken(i+1, "what is opened here has no end; close it")
		}
		i = end
	}
	for n, from := range starts {
		to := len(p.lines)
		if n+1 < len(starts) {
			to = starts[n+1]
		}
		p.part(from, to)
	}
	return p.out, nil
}

// keep makes the sections of lessons unreadable, so that they are kept unchanged.
func (f *MarkdownFile) keep(ids []ID) {
	kept := make(map[ID]bool, len(ids))
	for _, id := range ids {
		kept[id] = true
	}
	for i, p := range f.parts {
		if p.lesson != nil && kept[p.lesson.ID] {
			f.parts[i], f.broken[p.lesson.ID] = filePart{lines: p.all}, true
		}
	}
}

// beginsPart reports whether a heading begins a part of the file: a section, or a lesson.
func beginsPart(heading []string) bool {
	return len(heading[1]) == 2 || lessonTitle.MatchString(heading[2])
}

// skipOpaque returns the line after the code block or HTML comment that begins on line i, or i+1 when none begins
// there. ok is false when it has no end.
func skipOpaque(lines []string, i int) (next int, ok bool) {
	l := strings.TrimLeft(lines[i], " ")
	if strings.HasPrefix(l, "<!--") {
		for j := i; j < len(lines); j++ {
			if strings.Contains(lines[j], "-->") {
				return j + 1, true
			}
		}
		return 0, false
	}
	if fence := text.OpensFence(l); fence != "" {
		for j := i + 1; j < len(lines); j++ {
			if text.ClosesFence(lines[j], fence) {
				return j + 1, true
			}
		}
		return 0, false
	}
	return i + 1, true
}

// continuesBullet reports whether line i is a wrapped line of the bullet above it. Nested lists and code blocks are
// not.
func continuesBullet(lines []string, i int) bool {
	t := strings.TrimLeft(lines[i], " ")
	next, _ := skipOpaque(lines, i)
	return len(t) < len(lines[i]) && strings.TrimSpace(t) != "" && !bulletMark.MatchString(t) && next == i+1
}

// markdownParser parses a file part by part.
type markdownParser struct {
	repo  int64
	lines []string
	kind  Kind // of the current section
	seen  map[ID]bool
	out   MarkdownFile
}

// part parses the lines from one heading to the next.
func (p *markdownParser) part(from, to int) {
	part := filePart{lines: p.lines[from:to]}
	heading := headingMark.FindStringSubmatch(p.lines[from])
	switch {
	case heading == nil || !beginsPart(heading):
		part.bullets = p.bullets(part.lines)
	case lessonTitle.MatchString(heading[2]):
		part = p.lesson(from, to, ID(strings.ToLower(lessonTitle.FindStringSubmatch(heading[2])[1])))
	default:
		part.heading, p.kind = heading[2], kindUnder(heading[2])
		if p.kind != "" || part.heading == addHeading {
			part.bullets = p.bullets(part.lines)
		}
	}
	p.out.parts = append(p.out.parts, part)
}

// kindUnder returns the kind whose section a heading begins; "" if none.
func kindUnder(heading string) Kind {
	for k, title := range kindHeadings {
		if title == heading {
			return k
		}
	}
	return ""
}

// bullets returns the bullets that users added.
func (p *markdownParser) bullets(lines []string) (all []bullet) {
	for i := 0; i < len(lines); {
		next, _ := skipOpaque(lines, i)
		if m := bulletMark.FindStringSubmatch(lines[i]); m != nil && next == i+1 && !fieldMark.MatchString(lines[i]) {
			words := []string{m[1]}
			for next < len(lines) && continuesBullet(lines, next) {
				words = append(words, lines[next])
				next++
			}
			all = append(all, bullet{i, next, p.added(strings.Join(words, " "))})
		}
		i = next
	}
	return all
}

// added records a bullet as a user's lesson and returns its id. The same words are the same lesson.
func (p *markdownParser) added(text string) ID {
	text = plainLine(unescapeMarkdown(text))
	id := NewID(p.repo, Path+"\x00"+text)
	if p.seen[id] || text == "" {
		return id
	}
	p.seen[id] = true
	l := NewTaught(p.repo, "", text, sia.Actor{}, sia.Task{}, time.Time{})
	l.ID = id
	if p.kind != "" {
		l.Kind = p.kind
	}
	p.out.New = append(p.out.New, l)
	return id
}

// lesson parses one lesson's section.
func (p *markdownParser) lesson(from, to int, id ID) filePart {
	l, notes, problem := p.fields(from, to, id)
	if problem == nil && p.seen[id] {
		problem = &Problem{from + 1, fmt.Errorf("lesson %s stands here a second time", id)}
	}
	if problem != nil {
		p.out.Problems = append(p.out.Problems, *problem)
		if id.Valid() && !p.seen[id] {
			p.out.broken[id] = true
		}
		return filePart{lines: p.lines[from:to]}
	}
	p.seen[id] = true
	p.out.Lessons = append(p.out.Lessons, l)
	return filePart{lines: notes, bullets: p.bullets(notes), lesson: &l, all: p.lines[from:to]}
}

// fields parses the fields of a lesson; notes are the other lines.
func (p *markdownParser) fields(from, to int, id ID) (l Lesson, notes []string, problem *Problem) {
	l = Lesson{ID: id, Repo: p.repo, State: Active, Kind: p.kind}
	if !id.Valid() {
		return l, nil, &Problem{from + 1, fmt.Errorf("%q is no lesson's id, which has 12 hexadecimal digits; to add a "+
			"lesson, write a bullet under “## %s”", id, addHeading)}
	}
	had := map[string]bool{}
	for i := from + 1; i < to; {
		key, value, ok := fieldOn(p.lines[i])
		if !ok || had[key] {
			end, _ := skipOpaque(p.lines, i)
			end = min(end, to)
			notes = append(notes, p.lines[i:end]...)
			i = end
			continue
		}
		had[key] = true
		line := i + 1
		for i++; i < to && continuesBullet(p.lines, i); i++ {
			value += " " + p.lines[i]
		}
		if set := fieldSetters[key]; set != nil {
			if err := set(&l, plainLine(unescapeMarkdown(value))); err != nil && problem == nil {
				problem = &Problem{line, fmt.Errorf("%s: %w", key, err)}
			}
		}
	}
	if l.Text == "" && problem == nil {
		problem = &Problem{from + 1, errors.New("the field “" + keyText + "” is missing; to have the lesson " +
			"forgotten, delete its whole section")}
	}
	return l, notes, problem
}

// fieldOn returns the field that begins on a line.
func fieldOn(line string) (key, value string, ok bool) {
	m := fieldMark.FindStringSubmatch(line)
	if m == nil {
		return "", "", false
	}
	return m[1], m[2], fieldSetters[m[1]] != nil || slices.Contains(figureKeys, m[1])
}

// fieldSetters parse the values of the fields.
var fieldSetters = map[string]func(*Lesson, string) error{
	keyText:       func(l *Lesson, v string) error { l.Text = v; return nil },
	keyContext:    func(l *Lesson, v string) error { l.Context = v; return nil },
	keyCorrection: func(l *Lesson, v string) error { l.Correction = v; return nil },
	keyAction:     func(l *Lesson, v string) error { l.Action = v; return nil },
	keyOutcome:    func(l *Lesson, v string) error { l.Outcome = v; return nil },
	keyTags:       func(l *Lesson, v string) error { l.Tags = splitNames(v); return nil },
	keyTools:      func(l *Lesson, v string) error { l.Tools = splitNames(v); return nil },
	keyState: func(l *Lesson, v string) error {
		l.State = State(strings.ToLower(v))
		if !slices.Contains([]State{Active, Promoted, Archived, Forgotten}, l.State) {
			return fmt.Errorf("%q is none of active, promoted, archived, forgotten", v)
		}
		return nil
	},
	// Origin and evidence are SIA's; what doesn't parse, or is edited, is no problem ([Edits]).
	keyEvidence: func(l *Lesson, v string) error {
		if m := evidenceForm.FindStringSubmatch(v); m != nil {
			good, err := strconv.ParseFloat(m[1], 64)
			bad, berr := strconv.ParseFloat(m[2], 64)
			at, terr := time.Parse(time.RFC3339, m[3])
			if errors.Join(err, berr, terr) == nil {
				l.Good, l.Bad, l.CountedAt = good, bad, at.UTC()
			}
		}
		return nil
	},
	keyFrom: func(l *Lesson, v string) error {
		if m := fromForm.FindStringSubmatch(v); m != nil {
			l.From = Provenance{Source: Source(m[1]), Task: sia.TaskID(m[2]), By: sia.Actor{Login: m[5]}}
			l.From.Issue, _ = strconv.Atoi(m[3])
			l.From.Attempt, _ = strconv.Atoi(m[4])
			l.From.By.ID, _ = strconv.ParseInt(m[6], 10, 64)
		}
		return nil
	},
}

var (
	evidenceForm = lazyregexp.New(`^([0-9.]+) for, ([0-9.]+) against, counted (\S+)$`)
	fromForm     = lazyregexp.New(`^(outcome|person|pattern|organisation)(?:, task (\S+?))?(?:, issue #([0-9]+))?` +
		`(?:, attempt ([0-9]+))?(?:, by @(.*) \((-?[0-9]+)\))?$`)
)

func splitNames(v string) []string {
	var out []string
	for n := range strings.SplitSeq(v, ",") {
		if n = plainLine(n); n != "" {
			out = append(out, n)
		}
	}
	return out
}

// trimBlank removes blank lines at both ends.
func trimBlank(lines []string) []string {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	return lines
}
