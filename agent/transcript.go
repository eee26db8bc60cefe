package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/secret"
	"github.com/sia-bot/sia/sia/text"
)

// Maximum sizes of texts in a rendered transcript, in bytes.
const (
	shownText   = 8000
	shownArgs   = 2000
	shownResult = 3000
)

// Header describes the attempt of a transcript.
type Header struct {
	Repo      string // owner/name
	Issue     int
	Title     string
	Attempt   int
	Agent     string // such as "builtin/gpt-5"
	Technique sia.TechniqueID
	Started   time.Time
	Tokens    sia.Tokens
	Edits     sia.Edits
	Result    Result // zero while the attempt runs
}

// HeaderOf returns the header for an attempt of a task, without the result.
func HeaderOf(t sia.Task, a sia.Attempt) Header {
	return Header{Repo: t.Repo.String(), Issue: t.Issue, Title: t.Title, Attempt: a.Number, Agent: a.Agent,
		Technique: a.Technique, Started: a.StartedAt, Tokens: a.Tokens, Edits: a.Edits}
}

// Turns decodes turns that a [Recorder] saved as JSON, one per row, in order.
func Turns[Row ~[]byte](rows []Row) ([]Turn, error) {
	turns := make([]Turn, len(rows))
	for i, row := range rows {
		if err := json.Unmarshal(row, &turns[i]); err != nil {
			return nil, fmt.Errorf("decode turn %d: %w", i, err)
		}
	}
	return turns, nil
}

// Markdown renders a transcript: each turn with the agent's text, its tool calls and their results; long texts are cut.
// Secrets of known formats are masked, and no text in it can act as Markdown or HTML.
func Markdown(turns []Turn, h Header) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Attempt %d: %s\n\n", h.Attempt, inlineText(Sanitize(h.Title)))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- **%s:** %s\n", name, value)
		}
	}
	if h.Repo != "" {
		row("Task", inlineText(fmt.Sprintf("%s#%d", h.Repo, h.Issue)))
	}
	row("Agent", inlineText(h.Agent))
	row("Technique", inlineText(string(h.Technique)))
	if !h.Started.IsZero() {
		row("Started", h.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	if h.Tokens != (sia.Tokens{}) {
		row("Tokens", h.Tokens.String())
	}
	if e := h.Edits; e.Made+e.Failed > 0 {
		row("Edits", fmt.Sprintf("%d made, %d failed, with %s", e.Made, e.Failed, e.Format))
	}
	if r := h.Result; r.End != "" {
		ended := string(r.End)
		if r.Reason != "" {
			ended += ": " + inlineText(r.Reason)
		}
		row("Ended", ended)
		row("Turns", fmt.Sprint(r.Turns))
		row("Cost", fmt.Sprintf("%s credits (%s)", r.Cost, TokensOf(r.Usage)))
	}
	for _, t := range turns {
		if t.Run > 0 && t.Kind == TurnBrief {
			fmt.Fprintf(&b, "\n# Run %d\n", t.Run)
		}
		b.WriteString("\n" + t.markdown())
	}
	return b.String()
}

func (t Turn) markdown() string {
	var b strings.Builder
	switch t.Kind {
	case TurnBrief:
		b.WriteString("## What the agent was told\n\n<details><summary>The prompt</summary>\n\n" +
			fencedBlock(t.Text, shownText) + "\n</details>\n")
	case TurnEnd:
		b.WriteString("## End\n\n" + quoteBlock(t.Text))
	default:
		fmt.Fprintf(&b, "## Turn %d\n", t.Number)
		if !t.At.IsZero() {
			fmt.Fprintf(&b, "\n%s · %s credits\n", t.At.UTC().Format("15:04:05"), t.Cost)
		}
		if strings.TrimSpace(t.Text) != "" {
			b.WriteString("\n" + quoteBlock(t.Text))
		}
		for _, c := range t.Calls {
			b.WriteString("\n" + c.markdown())
		}
	}
	for note := range strings.SplitSeq(t.Note, "\n") {
		if note != "" {
			fmt.Fprintf(&b, "\n*Note: %s*\n", inlineText(note))
		}
	}
	return b.String()
}

func (c Call) markdown() string {
	outcome := ""
	if c.IsError {
		outcome = " → error"
	}
	s := fmt.Sprintf("**`%s`**%s\n\n%s", strings.ReplaceAll(inlineText(c.Name), "`", ""), outcome,
		fencedBlock(c.Arguments, shownArgs))
	return s + "\n<details><summary>Result</summary>\n\n" + fencedBlock(c.modelText(), shownResult) + "\n</details>\n"
}

// fencedBlock returns a text as a code block.
func fencedBlock(s string, limit int) string {
	return text.Fence(strings.TrimRight(middleOut(secret.Mask(s), limit), "\n")) + "\n"
}

// quoteBlock returns an agent's text verbatim, in a block quote. Rendered as Markdown, parts of it could be hidden or
// changed: in comments, definitions and titles of links, after a fence, or beyond a table's last column.
func quoteBlock(text string) string {
	block := strings.TrimSuffix(fencedBlock(sanitizeText(secret.Mask(text)), shownText), "\n")
	return "> " + strings.ReplaceAll(block, "\n", "\n> ") + "\n"
}

// inlineText returns escaped text for use within a line.
func inlineText(text string) string {
	return escapeMarkup(clipLine(sanitizeText(secret.Mask(text)), 500))
}

// escapeMarkup keeps HTML, mentions, links and images in untrusted text from taking effect.
func escapeMarkup(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", "@", "@\u200b", "](", "]\u200b(", "][", "]\u200b[",
		"]:", "]\u200b:", "![", "!\u200b[").Replace(text)
}

// Tests returns the first line of the last test result in a turn; empty: no tests ran.
func (t Turn) Tests() string {
	for _, c := range slices.Backward(t.Calls) {
		if c.Name == tool.NameTest && !c.IsError {
			line, _, _ := strings.Cut(c.Result, "\n")
			return line
		}
	}
	return ""
}
