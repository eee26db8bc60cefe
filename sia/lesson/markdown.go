package lesson

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sia-bot/sia/sia"
)

// Path is the file of a repository's lessons on its memory branch.
const Path = ".sia/lessons.md"

// addHeading is the heading of the section where users add lessons, one per bullet.
const addHeading = "Add a lesson"

// goneHeading is the heading of the section for users' notes on lessons that are no longer shown.
const goneHeading = "Notes on lessons that are gone"

// kindHeadings are the headings of the kinds' sections.
var kindHeadings = map[Kind]string{
	Workaround: "What works instead",
	Success:    "What worked",
	Mistake:    "Mistakes to avoid",
	Discovery:  "Good to know",
	Tool:       "Tools",
	Model:      "Models",
}

// fileIntro is the introduction of the file. Quoted lines above the first section and in the section for additions are
// SIA's; all others are users'.
const fileIntro = `# Lessons

> What SIA learned in this repository, and tells the attempts at similar issues.
>
> Edit it, and SIA takes your word over its own. Change a text, and the lesson is yours. ` +
	`Delete a section, and the lesson is
> forgotten for good. Add a lesson as a bullet below. Evidence, confidence and dates are SIA's to count.
> Whatever else you write here is kept.

## ` + addHeading + `

> One bullet a lesson, in your own words. SIA makes a section of it when it has read it.
`

// hasSection reports whether a lesson has a section in the file. Forgotten and merged lessons are only in the
// machine-readable file, so that they don't reappear.
func (l Lesson) hasSection() bool {
	return l.State != Forgotten && l.State != Merged && l.ID.Valid() && kindHeadings[l.Kind] != "" &&
		plainLine(l.Text) != ""
}

// Markdown returns the new content of a repository's lessons.md, given its previous content or nil. Users' text is
// kept: their notes, their sections, bullets that are not among the lessons yet, and unreadable sections. If the
// previous content cannot be parsed at all, the error is a *[BrokenFile], and the file must not be overwritten.
func Markdown(repo int64, lessons []Lesson, previous []byte) ([]byte, error) {
	var kept MarkdownFile
	if len(bytes.TrimSpace(previous)) > 0 {
		var err error
		if kept, err = Parse(repo, previous); err != nil {
			return nil, err
		}
	}
	w := &markdownWriter{
		kept: kept, known: make(map[ID]bool, len(lessons)), done: map[ID]bool{}, notes: map[ID][]freeNote{},
	}
	by := make(map[ID]Lesson, len(lessons))
	for _, l := range lessons {
		w.known[l.ID], by[l.ID] = true, l
	}
	for _, l := range kept.Lessons {
		to := l.ID // notes on a merged lesson move to the one that replaces it
		for range len(lessons) {
			if by[to].State != Merged {
				break
			}
			to = by[to].Into
		}
		if !by[to].hasSection() {
			to = l.ID
		}
		w.notes[to] = append(w.notes[to], kept.lessonNotes[l.ID]...)
	}
	w.buf.WriteString(fileIntro)
	w.writeNotes(kept.notes[placeTop])
	w.writeNotes(kept.notes[placeAdd])
	for _, k := range Kinds {
		w.group(k, lessons)
	}
	w.writeForeign()
	return append(bytes.TrimRight(w.buf.Bytes(), "\n"), '\n'), nil
}

// markdownWriter writes the file.
type markdownWriter struct {
	buf   bytes.Buffer
	kept  MarkdownFile
	notes map[ID][]freeNote
	known map[ID]bool // all lessons, shown or not
	done  map[ID]bool // lessons with a written section
}

// gap ends the output with an empty line.
func (w *markdownWriter) gap() {
	if !bytes.HasSuffix(w.buf.Bytes(), []byte("\n\n")) {
		w.buf.WriteByte('\n')
	}
}

// writeNotes writes users' notes, without bullets that have become lessons.
func (w *markdownWriter) writeNotes(notes []freeNote) {
	for _, n := range w.unlearned(notes) {
		w.raw(n.lines)
	}
}

func (w *markdownWriter) raw(lines []string) {
	w.gap()
	for _, l := range lines {
		w.buf.WriteString(l)
		w.buf.WriteByte('\n')
	}
}

// group writes the lessons of one kind, oldest first.
func (w *markdownWriter) group(k Kind, lessons []Lesson) {
	var own []Lesson
	for _, l := range lessons {
		if l.Kind == k && l.hasSection() && !w.kept.broken[l.ID] {
			own = append(own, l)
		}
	}
	slices.SortFunc(own, func(a, b Lesson) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	notes := w.unlearned(w.kept.notes[k])
	if len(own)+len(notes)+len(w.kept.sections[k]) == 0 {
		return
	}
	w.gap()
	w.buf.WriteString("## " + kindHeadings[k] + "\n")
	w.writeNotes(notes)
	for _, l := range own {
		if w.done[l.ID] {
			continue
		}
		w.done[l.ID] = true
		w.gap()
		w.buf.WriteString(lessonSection(l))
		w.writeNotes(w.notes[l.ID])
	}
	for _, lines := range w.kept.sections[k] {
		w.raw(lines)
	}
}

// writeForeign writes users' sections, and their notes on lessons that no longer have a section.
func (w *markdownWriter) writeForeign() {
	gone := []string{"## " + goneHeading}
	for _, lines := range w.kept.foreign {
		if lines[0] == gone[0] {
			gone = append(gone, lines[1:]...)
			continue
		}
		w.raw(lines)
	}
	for _, l := range w.kept.Lessons {
		left := w.unlearned(w.notes[l.ID])
		if w.done[l.ID] || len(left) == 0 {
			continue
		}
		gone = append(gone, "", fmt.Sprintf("On lesson %s, “%s”:", l.ID, escapeMarkdown(l.Text)))
		for _, n := range left {
			gone = append(append(gone, ""), n.lines...)
		}
	}
	if len(gone) > 1 {
		w.raw(gone)
	}
}

// unlearned returns the notes without the bullets that have become lessons.
func (w *markdownWriter) unlearned(notes []freeNote) []freeNote {
	return slices.DeleteFunc(slices.Clone(notes), func(n freeNote) bool { return n.bullet != "" && w.known[n.bullet] })
}

// lessonSection returns the section of one lesson. Every value is on one line.
func lessonSection(l Lesson) string {
	var b strings.Builder
	field := func(key, value string) {
		if value = plainLine(value); value != "" {
			fmt.Fprintf(&b, "- **%s:** %s\n", key, escapeMarkdown(value))
		}
	}
	fmt.Fprintf(&b, "### Lesson %s\n\n", l.ID)
	field(keyText, l.Text)
	field(keyContext, l.Context)
	field(keyCorrection, l.Correction)
	field(keyAction, l.Action)
	field(keyOutcome, l.Outcome)
	if l.State != Active {
		field(keyState, string(l.State))
	}
	field(keyTags, joinNames(l.Tags))
	field(keyTools, joinNames(l.Tools))
	l.Good, l.Bad = roundWeight(l.Good), roundWeight(l.Bad) // so that the confidence is that of the evidence shown
	field(keyConfidence, fmt.Sprintf("%.2f", l.Confidence(l.CountedAt)))
	field(keyEvidence, fmt.Sprintf("%s for, %s against, counted %s", formatWeight(l.Good), formatWeight(l.Bad),
		formatTime(l.CountedAt)))
	field(keySeen, fmt.Sprintf("%d, first %s, last %s", l.Occurrences, formatTime(l.CreatedAt), formatTime(l.LastSeen)))
	field(keyFrom, provenanceText(l.From))
	ids := make([]string, len(l.Conflicts))
	for i, id := range l.Conflicts {
		ids[i] = string(id)
	}
	field(keyConflicts, joinNames(ids))
	return b.String()
}

// The fields of a section.
const (
	keyText       = "Lesson"
	keyContext    = "When"
	keyCorrection = "Corrects"
	keyAction     = "What was done"
	keyOutcome    = "Result"
	keyState      = "State"
	keyTags       = "Tags"
	keyTools      = "Tools"
	keyConfidence = "Confidence" // derived from the evidence; ignored when read
	keyEvidence   = "Evidence"
	keySeen       = "Seen"
	keyFrom       = "From"
	keyConflicts  = "Contradicts"
)

// provenanceText returns the provenance of a lesson in a format that can be parsed.
func provenanceText(p Provenance) string {
	parts := []string{string(p.Source)}
	if p.Task != "" {
		parts = append(parts, "task "+string(p.Task))
	}
	if p.Issue != 0 {
		parts = append(parts, "issue #"+strconv.Itoa(p.Issue))
	}
	if p.Attempt != 0 {
		parts = append(parts, "attempt "+strconv.Itoa(p.Attempt))
	}
	if p.By != (sia.Actor{}) {
		parts = append(parts, "by @"+p.By.Login+" ("+strconv.FormatInt(p.By.ID, 10)+")")
	}
	return strings.Join(parts, ", ")
}

// roundWeight rounds a weight of evidence for the file.
func roundWeight(x float64) float64 { return math.Round(max(0, x)*1000) / 1000 }

func formatWeight(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// joinNames joins names with commas. Commas within a name become spaces.
func joinNames(names []string) string {
	var out []string
	for _, n := range names {
		if n = plainLine(strings.ReplaceAll(n, ",", " ")); n != "" {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// plainLine returns s on one line, without invisible characters such as bidirectional controls.
func plainLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.Join(strings.Fields(s), " ")
}

// escapeMarkdown escapes markup that could hide or fetch something: HTML, links and images. unescapeMarkdown reverses
// it and leaves unescaped text of users unchanged.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, "&", "&amp;", "<", "&lt;").Replace(s)
}

func unescapeMarkdown(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\[`, `[`, "&amp;", "&", "&lt;", "<").Replace(s)
}
