package improve

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

//go:embed prompts/*.md.tmpl
var promptFiles embed.FS

//go:embed schema/*.json
var schemaFiles embed.FS

const (
	callWithin    = 10 * time.Minute // timeout of one call, the client's retries included
	tries         = 3                // maximum number of answers requested
	bytesPerToken = 3                // a conservative estimate: prose has more, dense code about this many
	minRoom       = 2000             // minimum size of the evidence, in bytes
	maxSentence   = 600              // maximum length of a goal, a reason or a summary, in characters
)

// question is one call for an answer in JSON.
type question struct {
	name     string // name of the prompt and the schema
	prompt   any    // values for the prompt's template
	files    []any  // allowed values of the answer's property "file"; nil: any
	evidence string
}

// ask makes the call, and up to two more that name the error when accept rejects an answer. It returns the reason for a
// missing answer, for display; "" on success.
func ask(ctx context.Context, m Model, q question, usage *llm.Usage, accept func([]byte) error) (why string) {
	system, err := renderPrompt(q.name, q.prompt)
	if err != nil {
		return fmt.Sprintf("the prompt %s could not be made: %v", q.name, err)
	}
	schema, err := answerSchema(q)
	if err != nil {
		return fmt.Sprintf("the schema %s could not be made: %v", q.name, err)
	}
	messages := []llm.Message{{Role: llm.RoleSystem, Content: system}, {Role: llm.RoleUser, Content: q.evidence}}
	used, err := llm.Converse(ctx, m,
		llm.Question{Messages: messages, Schema: schema, Within: callWithin, Tries: tries}, accept)
	*usage = usage.Add(used)
	if err != nil {
		return err.Error() + advice(err)
	}
	return ""
}

// advice returns what a user can do about a failed call, as a sentence to append.
func advice(err error) string {
	var call *llm.Error
	if !errors.As(err, &call) {
		return ""
	}
	return ". " + call.Advice()
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

// answerSchema returns an embedded schema. All are strict: every property is required, and no others are allowed
// (https://platform.openai.com/docs/guides/structured-outputs).
func answerSchema(q question) (*llm.Schema, error) {
	b, err := schemaFiles.ReadFile("schema/" + q.name + ".json")
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := json.Unmarshal(b, &tree); err != nil {
		return nil, err
	}
	if file, ok := tree["properties"].(map[string]any)["file"].(map[string]any); ok && q.files != nil {
		file["enum"] = q.files
	}
	b, err = json.Marshal(tree)
	return &llm.Schema{Name: q.name, JSON: b, Strict: true}, err
}

// decode parses an answer strictly. An error tells the model what to fix.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not as asked: %w", err)
	}
	return nil
}

// sentence returns a model's short text, masked, on one line and truncated.
func (e *Engine) sentence(s string) string {
	return text.Clip(text.OneLine(visible.Text(e.Mask(s))), maxSentence)
}

// room returns the number of bytes of evidence that fit in a model's window together with its answer.
func room(m Model) int {
	const prompt = 1500 // tokens of the prompt and the schema, roughly
	return max(minRoom, (m.Window()-m.MaxOutput()-prompt)*bytesPerToken)
}

// evidence formats labelled texts within a number of bytes. Texts added first get space first.
type evidence struct {
	left int
	b    strings.Builder
}

// add adds a text with its heading and origin, truncated to at most share percent of the remaining space. An empty text
// is left out.
func (v *evidence) add(heading, from, content string, share int, keep text.End) {
	if strings.TrimSpace(content) == "" {
		return
	}
	head := "## " + heading + "\n\n" + from + "\n\n"
	limit := max(200, v.left*share/100-len(head)-20)
	part := head + text.Fence(text.Fit(content, limit, keep)) + "\n\n"
	v.left = max(0, v.left-len(part))
	v.b.WriteString(part)
}

func (v *evidence) String() string { return strings.TrimSpace(v.b.String()) }

// names returns the distinct values for an enum, sorted.
func names(all []string) (out []any) {
	for _, n := range slices.Compact(slices.Sorted(slices.Values(all))) {
		out = append(out, n)
	}
	return out
}
