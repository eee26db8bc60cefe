package diagnose

import (
	"cmp"
	"context"
	"strings"
	"text/template"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia/text"
)

// conversation is what a model is asked. Its methods return why there is no answer, in words for people; empty when
// there is one.
type conversation struct {
	model    Model
	timeout  time.Duration // of one call; 0: the default
	usage    *llm.Usage    // of all calls
	messages []llm.Message
}

// open writes the first messages: the prompt of a template, and the evidence within what that leaves of tokens.
func (c *conversation) open(prompt string, values any, tokens int, evidence func(room int) string) (why string) {
	system, err := renderPrompt(prompt, values)
	if err != nil {
		return "the prompt could not be made: " + text.Clip(err.Error(), 300)
	}
	room := max(tokens*bytesPerToken-len(system), minTokens*bytesPerToken/2)
	c.messages = []llm.Message{{Role: llm.RoleSystem, Content: system}, {Role: llm.RoleUser, Content: evidence(room)}}
	return ""
}

func renderPrompt(name string, values any) (string, error) {
	t, err := template.ParseFS(promptFiles, "prompts/"+name+".md.tmpl")
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, values)
	return b.String(), err
}

// ask has the model give a JSON answer that accept takes.
func (c *conversation) ask(
	ctx context.Context, schema func() (*llm.Schema, error), accept func([]byte) error,
) (why string) {
	form, err := schema()
	if err != nil {
		return "the schema could not be made: " + text.Clip(err.Error(), 300)
	}
	q := llm.Question{Messages: c.messages, Schema: form, Within: cmp.Or(c.timeout, defaultTimeout)}
	used, err := llm.Converse(ctx, c.model, q, accept)
	*c.usage = c.usage.Add(used)
	if err != nil {
		return err.Error()
	}
	return ""
}
