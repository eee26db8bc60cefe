package memory

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sia-bot/sia/sia"
)

// section is a heading with the fields beneath it.
type section struct {
	level  int
	title  string
	line   int // 1-based, of the heading
	end    int // index of the line behind its last
	fields map[string]field
}

type field struct {
	line int
	text string
	list []string
}

var fieldMark = regexp.MustCompile(`^- \*\*([A-Za-z ]+):\*\*(?: (.*))?$`)

// ParseMarkdown reads a task's Markdown file. Prose between the fields, unknown
// fields and unknown sections are passed over. Its errors are *[BrokenFile].
func ParseMarkdown(path string, file []byte) (File, error) {
	if len(file) > maxFile || !utf8.Valid(file) {
		return File{}, &BrokenFile{Path: path, Err: fmt.Errorf("want UTF-8 text of at most %d bytes", maxFile)}
	}
	r := reader{path: path}
	sections := r.sections(fileLines(file))
	f := File{Attempts: []Attempt{}, Learnings: []Learning{}, PromptsTried: []Prompt{}}
	part, found := "", false
	for _, s := range sections {
		switch {
		case s.level == 2:
			part = s.title
			if part == secDetails {
				found = true
				r.details(&f, s)
			}
		case s.level == 3 && part == secAttempts:
			f.Attempts = append(f.Attempts, r.attempt(s))
		case s.level == 4 && part == secAttempts && s.title == subSIA && len(f.Attempts) > 0:
			f.Attempts[len(f.Attempts)-1].Intervention = r.intervention(s)
		case s.level == 3 && part == secLearnings:
			f.Learnings = append(f.Learnings, Learning{
				Pattern: sia.Pattern(s.get("Pattern")), EffectiveTechnique: s.get("Technique"),
				SpecificInsight: s.get("Insight"), Confidence: r.share(s, "Confidence"),
			})
		case s.level == 3 && part == secPrompts:
			f.PromptsTried = append(f.PromptsTried, Prompt{
				Version: r.count(s, s.title, "Prompt "), Hash: s.get("Hash"),
				Technique: sia.TechniqueID(s.get("Technique")), Outcome: r.outcome(s, s.get("Outcome")),
			})
		}
	}
	if !found {
		r.fail(1, "the section “## %s” is missing", secDetails)
	}
	if r.err != nil {
		return File{}, r.err
	}
	return f, nil
}

// reader keeps the first fault that it meets.
type reader struct {
	path string
	err  *BrokenFile
}

func (r *reader) fail(line int, format string, args ...any) {
	if r.err == nil {
		r.err = &BrokenFile{Path: r.path, Line: line, Err: fmt.Errorf(format, args...)}
	}
}

func (r *reader) details(f *File, s *section) {
	f.TaskID, f.Repo, f.Status = sia.TaskID(s.get("Task")), s.get("Repository"), sia.State(s.get("Status"))
	f.HeadSHA, f.TaskDescription = s.get("Head"), s.get("Description")
	f.SchemaVersion = r.whole(s, "Schema")
	f.Issue = r.whole(s, "Issue")
	if f.TaskID == "" {
		r.fail(s.line, "the field “Task” is missing")
	}
	if f.SchemaVersion > SchemaVersion {
		r.fail(s.at("Schema"), "schema %d is newer than %d, the newest this SIA reads: update SIA", f.SchemaVersion, SchemaVersion)
	}
	if !slices.Contains(sia.States, f.Status) {
		r.fail(s.at("Status"), "status %q is none that SIA knows", f.Status)
	}
	f.Aftermath, f.Ratings = r.aftermath(s), r.ratings(s)
	created, err := time.Parse(time.RFC3339, s.get("Created"))
	if err != nil {
		r.fail(s.at("Created"), "created: want a time such as 2026-01-31T12:00:00Z")
	}
	f.CreatedAt = created.UTC()
}

func (r *reader) attempt(s *section) Attempt {
	title, outcome, _ := strings.Cut(s.title, ": ")
	if outcome == "not judged yet" {
		outcome = ""
	}
	return Attempt{
		AttemptNumber: r.count(s, title, "Attempt "), Outcome: r.outcome(s, outcome),
		AgentVersion: s.get("Agent"), SystemPromptHash: s.get("Prompt"), Planning: s.get("Task") == secPlan,
		DurationMinutes: r.amount(s, "Minutes"), CreditsConsumed: r.amount(s, "Credits"), HeadSHA: s.get("Head"),
		Transcript: linked.ReplaceAllString(s.get("Transcript"), "$1"), FailingChecks: s.fields["Failing checks"].list, Signature: s.get("Signature"),
		Signals: s.fields["Signals"].list, DecisionIDs: s.fields["Decisions"].list, FailurePoint: s.get("Failure point"),
	}
}

func (r *reader) intervention(s *section) *Intervention {
	i := &Intervention{
		TechniqueApplied: sia.TechniqueID(s.get("Technique")), Pattern: sia.Pattern(s.get("Pattern")),
		Diagnosis: s.get("Diagnosis"), Hypothesis: s.get("Hypothesis"), Confidence: r.share(s, "Confidence"),
		ReviewVerdict: sia.Verdict(s.get("Review")), PromptModification: s.get("New instructions"), Ratings: r.ratings(s),
	}
	if v := s.get("Resolved"); v != "" {
		b, err := strconv.ParseBool(v)
		if err != nil {
			r.fail(s.at("Resolved"), "resolved: want true or false, not %q", v)
		}
		i.Resolved = &b
	}
	return i
}

func (r *reader) aftermath(s *section) sia.Aftermath {
	v := s.get("Pull request")
	if v == "" {
		return ""
	}
	for a, words := range became {
		if v == words {
			return a
		}
	}
	r.fail(s.at("Pull request"), "pull request: %q is none of %q", v, slices.Sorted(maps.Values(became)))
	return ""
}

func (r *reader) ratings(s *section) []Rating {
	var all []Rating
	for _, v := range s.fields["Ratings"].list {
		by, good := strings.CutPrefix(v, thumbUp)
		if !good {
			var bad bool
			if by, bad = strings.CutPrefix(v, thumbDown); !bad {
				r.fail(s.at("Ratings"), "ratings: want such as “%sada”, not %q", thumbUp, v)
			}
		}
		all = append(all, Rating{By: by, Good: good})
	}
	return all
}

func (r *reader) outcome(s *section, v string) sia.AttemptOutcome {
	switch o := sia.AttemptOutcome(v); o {
	case "", sia.AttemptPass, sia.AttemptFail, sia.AttemptCheckpoint, sia.AttemptError, sia.AttemptCancelled, sia.AttemptAsked:
		return o
	}
	r.fail(s.line, "outcome %q is none of pass, fail, checkpoint, error, cancelled, asked", v)
	return ""
}

// count reads the number behind a prefix in a heading.
func (r *reader) count(s *section, title, prefix string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(title, prefix))
	if err != nil || n < 1 {
		r.fail(s.line, "heading %q: want “%s” and a number", s.title, prefix)
	}
	return n
}

func (r *reader) whole(s *section, key string) int {
	n, err := strconv.Atoi(s.get(key))
	if err != nil {
		r.fail(s.at(key), "%s: want a whole number, not %q", key, s.get(key))
	}
	return n
}

func (r *reader) amount(s *section, key string) float64 {
	v := s.get(key)
	if v == "" {
		return 0
	}
	x, err := strconv.ParseFloat(v, 64)
	if err != nil || !(x >= 0 && x < 1e12) {
		r.fail(s.at(key), "%s: want a number of at least 0, not %q", key, v)
		return 0
	}
	return x
}

func (r *reader) share(s *section, key string) float64 {
	x := r.amount(s, key)
	if x > 1 {
		r.fail(s.at(key), "%s: want a number between 0 and 1, not %v", key, x)
	}
	return x
}

func (s *section) get(key string) string { return s.fields[key].text }

// at is the line of a field, or of its section when the field is missing.
func (s *section) at(key string) int {
	if f, ok := s.fields[key]; ok {
		return f.line
	}
	return s.line
}

func fileLines(file []byte) []string {
	return strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(file), "\ufeff"), "\r\n", "\n"), "\n")
}

// sections takes a file apart at its headings outside fences.
func (r *reader) sections(ls []string) []*section {
	var all []*section
	current := &section{fields: map[string]field{}}
	for i := 0; i < len(ls); {
		if level, title := headingOf(ls[i]); level > 0 {
			current.end = i
			current = &section{level: level, title: title, line: i + 1, end: len(ls), fields: map[string]field{}}
			all = append(all, current)
			i++
			continue
		}
		if m := fieldMark.FindStringSubmatch(ls[i]); m != nil {
			f := field{line: i + 1, text: unescape(strings.TrimSpace(m[2]))}
			next := i + 1
			if f.text == "" {
				f.text, f.list, next = r.value(ls, i+1)
			}
			if _, twice := current.fields[m[1]]; !twice {
				current.fields[m[1]] = f
			}
			i = next
			continue
		}
		if fence := fenceOf(ls[i]); fence != "" {
			i = skipFence(ls, i, fence)
			continue
		}
		i++
	}
	return all
}

// value reads what is indented beneath a field: a fenced text or a list.
func (r *reader) value(ls []string, i int) (text string, list []string, next int) {
	for next = i; next < len(ls) && strings.HasPrefix(ls[next], "  - "); next++ {
		list = append(list, unescape(ls[next][len("  - "):]))
	}
	if list != nil {
		return "", list, next
	}
	for i < len(ls) && strings.TrimSpace(ls[i]) == "" {
		i++
	}
	if i == len(ls) || !strings.HasPrefix(ls[i], "  ```") {
		return "", nil, i
	}
	end := "  " + fenceOf(ls[i])
	var b []string
	for j := i + 1; j < len(ls); j++ {
		if ls[j] == end {
			return strings.Join(b, "\n"), nil, j + 1
		}
		b = append(b, strings.TrimPrefix(ls[j], "  "))
	}
	r.err = &BrokenFile{Path: r.path, Line: i + 1, Err: errors.New("a fenced text is not closed")}
	return "", nil, len(ls)
}

func headingOf(l string) (level int, title string) {
	marks := len(l) - len(strings.TrimLeft(l, "#"))
	if marks < 1 || marks > 6 || !strings.HasPrefix(l[marks:], " ") {
		return 0, ""
	}
	return marks, strings.TrimSpace(l[marks:])
}

// fenceOf is the run of backticks or tildes that opens a fence on a line.
func fenceOf(l string) string {
	l = strings.TrimLeft(l, " ")
	for _, c := range []string{"`", "~"} {
		if n := len(l) - len(strings.TrimLeft(l, c)); n >= 3 {
			return l[:n]
		}
	}
	return ""
}

// skipFence returns the index behind the fence that opens on line i; an
// unclosed one ends with the file.
func skipFence(ls []string, i int, fence string) int {
	for j := i + 1; j < len(ls); j++ {
		if t := strings.TrimSpace(ls[j]); len(t) >= len(fence) && strings.Trim(t, fence[:1]) == "" {
			return j + 1
		}
	}
	return len(ls)
}

// foreign are the second-level sections that are not ours, with all beneath.
func foreign(file []byte) string {
	ls := fileLines(file)
	var r reader
	var kept []string
	keep := false
	for _, s := range r.sections(ls) {
		if s.level <= 2 {
			keep = s.level == 2 && !slices.Contains([]string{secDetails, secAttempts, secLearnings, secPrompts}, s.title)
		}
		if keep {
			kept = append(kept, ls[s.line-1:s.end]...)
		}
	}
	return strings.Trim(strings.Join(kept, "\n"), "\n")
}
