package memory

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
)

// The sections of the Markdown file. All other second-level sections belong to users and are kept.
const (
	secDetails   = "Task details"
	secAttempts  = "Attempt history"
	secLearnings = "Learnings"
	secPrompts   = "Prompts tried"
	secPlan      = "make a plan" // task of a planning attempt
	subFound     = "What SIA found"
)

// Markdown returns the new content of a task's Markdown file, given its previous content or nil. Sections of the
// previous file that are not SIA's are kept at the end. If the previous content is unreadable, the error is a
// *[BrokenFile], and the file must not be overwritten.
func Markdown(t sia.Task, links Links, previous []byte) ([]byte, error) {
	out := FromTask(t, links).Markdown()
	if len(bytes.TrimSpace(previous)) > 0 {
		path, _ := Paths(t)
		kept, err := foreignSections(path, previous)
		if err != nil {
			return nil, err
		}
		if kept != "" {
			out = append(out, "\n"+kept+"\n"...)
		}
	}
	return out, nil
}

// Markdown returns the file for users. Programs read the JSON file next to it.
func (f File) Markdown() []byte {
	var w markdownWriter
	w.line("# %s (#%d)", titleText(f.Title()), f.Issue)
	w.line("")
	w.line("SIA's memory of one task. The JSON file beside it says the same to programs. Sections added below are kept.")
	w.section("## " + secDetails)
	w.field("Task", string(f.TaskID))
	w.field("Repository", f.Repo)
	w.field("Issue", strconv.Itoa(f.Issue))
	w.field("Created", f.CreatedAt.Format(time.RFC3339))
	w.field("Status", string(f.Status))
	w.field("Head", f.HeadSHA)
	w.field("Pull request", cmp.Or(aftermathWords[f.Aftermath], string(f.Aftermath)))
	w.field("Final review", f.FinalReview)
	w.ratings(f.Ratings)
	w.field("Schema", strconv.Itoa(f.SchemaVersion))
	w.block("Description", f.TaskDescription)

	w.section("## " + secAttempts)
	for _, a := range f.Attempts {
		outcome := string(a.Outcome)
		switch {
		case a.Unchanged:
			outcome = "left the green commit as it is"
		case outcome == "":
			outcome = "not judged yet"
		}
		w.section(fmt.Sprintf("### Attempt %d: %s", a.AttemptNumber, outcome))
		if i := a.Intervention; i != nil {
			w.field("Technique", string(i.TechniqueApplied))
			if i.Resolved != nil {
				w.field("Resolved", strconv.FormatBool(*i.Resolved))
			}
			w.block("Instructions", i.PromptModification)
		}
		w.field("Agent", a.AgentVersion)
		w.field("Coder", a.Coder)
		w.field("Why this coder", a.Assigned)
		w.field("Prompt", a.SystemPromptHash)
		if a.Planning {
			w.field("Task", secPlan)
		}
		w.field("Structure", cmp.Or(structureWords[a.Structure], string(a.Structure)))
		w.field("Why so", a.Shape)
		w.parts(a.Parts)
		w.field("Minutes", formatNumber(a.DurationMinutes))
		w.field("Credits", formatNumber(a.CreditsConsumed))
		w.field("Head", a.HeadSHA)
		w.link("Transcript", a.Transcript)
		w.list("Failing checks", a.FailingChecks)
		w.field("Signature", a.Signature)
		w.list("Signals", a.Signals)
		w.list("Decisions", a.DecisionIDs)
		w.list("Ledger", a.Ledger)
		w.block("Failure point", a.FailurePoint)
		if d := a.DiagnosisAfter; d != nil {
			w.section("#### " + subFound)
			w.field("Pattern", string(d.Pattern))
			w.field("Diagnosis", d.Diagnosis)
			w.field("Hypothesis", d.Hypothesis)
			w.field("Confidence", formatNumber(d.Confidence))
			w.field("Review", d.ReviewVerdict.String())
			w.field("Next technique", string(d.Technique))
			w.ratings(d.Ratings)
			w.block("Next instructions", d.PromptModification)
		}
	}

	w.section("## " + secLearnings)
	for i, l := range f.Learnings {
		w.section(fmt.Sprintf("### Learning %d", i+1))
		w.field("Pattern", string(l.Pattern))
		w.field("Technique", l.EffectiveTechnique)
		w.field("Insight", l.SpecificInsight)
		w.field("Confidence", formatNumber(l.Confidence))
	}
	w.section("## " + secPrompts)
	for _, p := range f.PromptsTried {
		w.section(fmt.Sprintf("### Prompt %d", p.Version))
		w.field("Hash", p.Hash)
		w.field("Technique", string(p.Technique))
		w.field("Outcome", string(p.Outcome))
	}
	return append(bytes.TrimRight(w.buf.Bytes(), "\n"), '\n')
}

// aftermathWords describe what users did with the pull request.
var aftermathWords = map[sia.Aftermath]string{
	sia.MergedUnchanged: "merged as it was",
	sia.MergedEdited:    "merged after a person had changed it",
	sia.Abandoned:       "closed without merging",
}

func (w *markdownWriter) ratings(rs []Rating) {
	var all []string
	for _, r := range rs {
		thumb := "👎"
		if r.Good {
			thumb = "👍"
		}
		all = append(all, thumb+" @"+r.By)
	}
	w.list("Ratings", all)
}

// titleText returns a title without line breaks and markup.
func titleText(s string) string { return escapeMarkup(fileLine(s)) }

// formatNumber formats a float with the fewest digits that are exact.
func formatNumber(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// markdownWriter writes sections of fields.
type markdownWriter struct{ buf bytes.Buffer }

func (w *markdownWriter) line(format string, args ...any) { fmt.Fprintf(&w.buf, format+"\n", args...) }

// section writes a heading with one empty line on either side.
func (w *markdownWriter) section(h string) {
	w.gap()
	w.line("%s\n", h)
}

// gap ends the output with an empty line.
func (w *markdownWriter) gap() {
	if b := w.buf.Bytes(); len(b) > 0 && !bytes.HasSuffix(b, []byte("\n\n")) {
		w.line("")
	}
}

// field writes one value; an empty one is left out. A value that cannot be written on one line becomes a block.
func (w *markdownWriter) field(key, value string) {
	switch {
	case value == "":
	case value != strings.TrimSpace(value) || strings.ContainsFunc(value, isControl) || strings.HasPrefix(value, "```"):
		w.block(key, value)
	default:
		w.line("- **%s:** %s", key, escapeMarkup(value))
	}
}

// link writes a path of the memory branch as a link relative to this file.
func (w *markdownWriter) link(key, path string) {
	if !plainPath.MatchString(path) {
		w.field(key, path)
		return
	}
	w.line("- **%s:** [%s](../%s)", key, path, strings.TrimPrefix(path, memoryFolder))
}

// plainPath matches a path that needs no escapes in a link.
var plainPath = lazyregexp.New(`^\.sia/[A-Za-z0-9_./-]+$`)

// list writes values, one per line.
func (w *markdownWriter) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	w.line("- **%s:**", key)
	for _, v := range values {
		w.line("  - %s", escapeMarkup(v))
	}
}

// block writes text verbatim in a fence, so that nothing in it is markup.
func (w *markdownWriter) block(key, value string) {
	if value == "" {
		return
	}
	fence := "```"
	for strings.Contains(value, fence) {
		fence += "`"
	}
	w.line("- **%s:**\n", key)
	w.line("  %stext", fence)
	for l := range strings.SplitSeq(value, "\n") {
		if l != "" {
			l = "  " + l
		}
		w.line("%s", l)
	}
	w.line("  %s\n", fence)
}

func isControl(r rune) bool {
	return r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029'
}

// escapeMarkup escapes markup that could hide something.
func escapeMarkup(s string) string { return strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(s) }
