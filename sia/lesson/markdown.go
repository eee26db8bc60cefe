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
	Model:      "Models", // only read: written again, its lessons are those of [Lesson.Upgrade]
}

// fileIntro is the beginning of a new file.
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

// Markdown returns the new content of a repository's lessons.md, given its previous content or nil. It replaces the
// sections of lessons where they are, appends new ones to the section of their kind, and removes bullets that became
// lessons; users' text stays in its place. A merged lesson's place goes to the one that replaces it. Of the section of
// kind [Model], which earlier versions wrote, only users' text is left. If the previous content cannot be parsed at all,
// the error is a *[BrokenFile], and the file must not be overwritten.
func Markdown(repo int64, lessons []Lesson, previous []byte) ([]byte, error) {
	if len(bytes.TrimSpace(previous)) == 0 {
		previous = []byte(fileIntro)
	}
	file, err := Parse(repo, previous)
	if err != nil {
		return nil, err
	}
	w := &markdownWriter{known: make(map[ID]Lesson, len(lessons)), notes: map[ID][]string{}, done: map[ID]bool{}}
	for _, l := range lessons {
		w.known[l.ID] = l
	}
	for _, p := range file.parts {
		if p.lesson == nil {
			continue
		}
		if left := w.unlearned(p); len(left) > 0 {
			id := w.shown(p.lesson.ID)
			w.notes[id] = append(append(w.notes[id], left...), "")
		}
	}
	for _, p := range file.parts {
		w.part(p)
	}
	for _, l := range slices.SortedFunc(slices.Values(lessons), func(a, b Lesson) int {
		return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)),
			a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	}) {
		if l.hasSection() && !w.done[l.ID] && !file.broken[l.ID] {
			w.lesson(w.section(kindHeadings[l.Kind]), l)
		}
	}
	w.notesOnGone(file)
	var all []string
	for _, s := range w.sections {
		if s.heading != kindHeadings[Model] || len(s.parts) > 1 || strings.Contains(s.parts[0], "\n") {
			all = append(all, s.parts...)
		}
	}
	return []byte(strings.Join(all, "\n\n") + "\n"), nil
}

// markdownWriter writes the file.
type markdownWriter struct {
	known    map[ID]Lesson
	notes    map[ID][]string // users' lines below the lessons, by the lesson that is shown
	done     map[ID]bool     // lessons with a written section
	sections []*fileSection
}

// fileSection is a section to be written.
type fileSection struct {
	heading string
	parts   []string // without blank lines around them
}

func (s *fileSection) add(lines ...string) {
	if lines = trimBlank(lines); len(lines) > 0 {
		s.parts = append(s.parts, strings.TrimRight(strings.Join(lines, "\n"), "\n"))
	}
}

// section returns the last section with a heading, or a new one at the end.
func (w *markdownWriter) section(heading string) *fileSection {
	for _, s := range slices.Backward(w.sections) {
		if s.heading == heading {
			return s
		}
	}
	s := &fileSection{heading: heading}
	s.add("## " + heading)
	w.sections = append(w.sections, s)
	return s
}

// part writes a part of the previous file.
func (w *markdownWriter) part(p filePart) {
	if p.heading != "" || len(w.sections) == 0 {
		w.sections = append(w.sections, &fileSection{heading: p.heading})
	}
	s := w.sections[len(w.sections)-1]
	if p.lesson == nil {
		s.add(w.unlearned(p)...)
		return
	}
	l := w.known[w.shown(p.lesson.ID)]
	if l.hasSection() && !w.done[l.ID] && (p.lesson.Kind == "" || p.lesson.Kind == l.Kind) {
		w.lesson(s, l)
	}
}

// lesson writes the section of a lesson, with users' notes below it.
func (w *markdownWriter) lesson(s *fileSection, l Lesson) {
	w.done[l.ID] = true
	s.add(append([]string{lessonSection(l)}, w.notes[l.ID]...)...)
}

// shown returns the id of the lesson that is shown in place of a lesson: of the one that it was merged into, if any.
func (w *markdownWriter) shown(id ID) ID {
	if l := Unmerged(w.known, id); l.hasSection() {
		return l.ID
	}
	return id
}

// notesOnGone writes users' notes on lessons that no longer have a section.
func (w *markdownWriter) notesOnGone(file MarkdownFile) {
	var gone []string
	for _, l := range file.Lessons {
		id := w.shown(l.ID)
		if notes := w.notes[id]; !w.done[id] && len(notes) > 0 {
			gone = append(append(gone, fmt.Sprintf("On lesson %s, “%s”:", l.ID, escapeMarkdown(l.Text)), ""), notes...)
			delete(w.notes, id)
		}
	}
	if len(gone) > 0 {
		w.section(goneHeading).add(gone...)
	}
}

// unlearned returns the lines of a part without the bullets that have become lessons.
func (w *markdownWriter) unlearned(p filePart) []string {
	var out []string
	at := 0
	for _, b := range p.bullets {
		if _, learned := w.known[b.id]; !learned {
			continue
		}
		out = append(out, p.lines[at:b.from]...)
		at = b.to
		if at < len(p.lines) && p.lines[at] == "" && len(out) > 0 && out[len(out)-1] == "" {
			at++
		}
	}
	return trimBlank(append(out, p.lines[at:]...))
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
	keyConfidence = "Confidence"
	keyEvidence   = "Evidence"
	keySeen       = "Seen"
	keyFrom       = "From"
	keyConflicts  = "Contradicts"
)

// figureKeys are fields that are SIA's to count. They are ignored when read: the JSON file has them.
var figureKeys = []string{keyConfidence, keySeen, keyConflicts}

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
