package diagnose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/template"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// conversation is a conversation with a model.
type conversation struct {
	model    Model
	timeout  time.Duration              // timeout of one call; 0: the default
	lastTry  func(context.Context) bool // see [Diagnoser.LastTry]
	usage    *llm.Usage                 // usage of all calls
	messages []llm.Message
}

// open adds the first messages: the prompt from a template, and the evidence within the remaining tokens.
func (c *conversation) open(prompt string, values any, tokens int, evidence func(room int) string) {
	var system strings.Builder
	t := template.Must(template.ParseFS(promptFiles, "prompts/"+prompt+".md.tmpl"))
	if err := t.Execute(&system, values); err != nil { // impossible: tests execute every template
		panic("diagnose: prompt " + prompt + ": " + err.Error())
	}
	room := max(tokens*bytesPerToken-system.Len(), minTokens*bytesPerToken/2)
	c.messages = []llm.Message{{Role: llm.RoleSystem, Content: system.String()},
		{Role: llm.RoleUser, Content: evidence(room)}}
}

// maxWait is the maximum time that a provider may ask to wait for an answer. Otherwise SIA continues without one.
const maxWait = time.Hour

// ask asks the model for a JSON answer that accept accepts. The error is the reason for a missing answer, for display;
// if it is a [sia.Error], the model can be asked again after its RetryAfter.
func (c *conversation) ask(ctx context.Context, schema *llm.Schema, accept func([]byte) error) error {
	q := llm.Question{Messages: c.messages, Schema: schema, Within: cmp.Or(c.timeout, defaultTimeout)}
	used, err := llm.Converse(ctx, c.model, q, accept)
	*c.usage = c.usage.Add(used)
	var refused *llm.Error
	if errors.As(err, &refused) && refused.Kind == llm.KindRateLimit && refused.RetryAfter > 0 &&
		refused.RetryAfter <= maxWait && *c.usage == (llm.Usage{}) && c.lastTry != nil && !c.lastTry(ctx) {
		return &sia.Error{Op: "ask the model", Message: refused.Reason() + ". " + refused.Advice(),
			RetryAfter: refused.RetryAfter, Err: err}
	}
	return err
}

// askModel calls ask unless there is a reason why no model may be asked, and returns the reason for a missing answer,
// for display, after logging it. The only errors are that of ctx, and a temporary one after which to call it again.
func askModel(
	ctx context.Context, m Model, why string, log *slog.Logger, doing, without string, ask func() error,
) (string, error) {
	switch {
	case why != "":
	case m == nil:
		why = "no model is configured"
	default:
		err := ask()
		if wait := (*sia.Error)(nil); errors.As(err, &wait) {
			return "", fmt.Errorf("%s: %w", doing, wait)
		}
		if err != nil {
			why = err.Error()
		}
	}
	if err := context.Cause(ctx); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	if why != "" {
		cmp.Or(log, slog.New(slog.DiscardHandler)).WarnContext(ctx, without, "doing", doing, "reason", why)
	}
	return why, nil
}

// sheet builds the evidence for a reviewer.
type sheet struct{ strings.Builder }

// add appends a section with the origin of its content, truncated to room bytes. Empty content is left out.
func (s *sheet) add(heading, from, content string, room int) {
	if content = cleanText(content); content != "" {
		fmt.Fprintf(s, "## %s\n\n%s\n\n%s\n\n", heading, from,
			text.Fence(text.Fit(content, max(200, room-len(heading)-len(from)-40), text.Head)))
	}
}

func (s *sheet) String() string { return strings.TrimSpace(s.Builder.String()) }
