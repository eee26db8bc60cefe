package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"text/template"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia/text"
)

// conversation is what a model is asked.
type conversation struct {
	model    Model
	timeout  time.Duration // of one call; 0: the default
	usage    *llm.Usage    // of all calls
	messages []llm.Message
}

// open writes the first messages: the prompt of a template, and the evidence within what that leaves of tokens.
func (c *conversation) open(prompt string, values any, tokens int, evidence func(room int) string) {
	var system strings.Builder
	t := template.Must(template.ParseFS(promptFiles, "prompts/"+prompt+".md.tmpl"))
	if err := t.Execute(&system, values); err != nil { // tests make each
		panic("diagnose: prompt " + prompt + ": " + err.Error())
	}
	room := max(tokens*bytesPerToken-system.Len(), minTokens*bytesPerToken/2)
	c.messages = []llm.Message{{Role: llm.RoleSystem, Content: system.String()},
		{Role: llm.RoleUser, Content: evidence(room)}}
}

// ask has the model give a JSON answer that accept takes, or says why there is none, in words for people.
func (c *conversation) ask(ctx context.Context, schema *llm.Schema, accept func([]byte) error) (why string) {
	q := llm.Question{Messages: c.messages, Schema: schema, Within: cmp.Or(c.timeout, defaultTimeout)}
	used, err := llm.Converse(ctx, c.model, q, accept)
	*c.usage = c.usage.Add(used)
	if err != nil {
		return err.Error()
	}
	return ""
}

// answered has a model asked, and says why there is no answer: in words for people and for the log. why is why none may
// be asked. The only error is that ctx ended.
func answered(
	ctx context.Context, m Model, why string, log *slog.Logger, doing, without string, ask func() string,
) (string, error) {
	switch {
	case why != "":
	case m == nil:
		why = "no model is configured"
	default:
		why = ask()
	}
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	if why != "" {
		cmp.Or(log, slog.New(slog.DiscardHandler)).WarnContext(ctx, without, "doing", doing, "reason", why)
	}
	return why, nil
}

// sheet is evidence that is laid out for a reviewer.
type sheet struct{ strings.Builder }

// add appends a section with where its content is from, in a room in bytes; an empty content is left out.
func (s *sheet) add(heading, from, content string, room int) {
	if content = cleanText(content); content != "" {
		fmt.Fprintf(s, "## %s\n\n%s\n\n%s\n\n", heading, from,
			text.Fence(text.Fit(content, max(200, room-len(heading)-len(from)-40), text.Head)))
	}
}

func (s *sheet) String() string { return strings.TrimSpace(s.Builder.String()) }
