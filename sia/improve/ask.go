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
	callWithin    = 10 * time.Minute // one call, the client's own retries included
	tries         = 3                // answers that are asked for before an unusable one is final
	bytesPerToken = 3                // a careful estimate: prose has more, dense code about this many
	minRoom       = 2000             // bytes of evidence, however small the window is
	maxSentence   = 600              // characters of a goal, a reason or a summary
)

// question is one call for an answer in JSON.
type question struct {
	name     string // of the prompt and the schema
	prompt   any    // what the prompt's template is given
	files    []any  // the names that the answer's property "file" may have; nil: any
	evidence string
}

// ask makes the call, and up to two more that name the fault when accept refuses an answer. It
// returns why there is no usable answer, in words; "" when there is one.
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

// advice is what a person can do about a call that failed, as a sentence to add.
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

// answerSchema is an embedded schema. All are strict: every property is required, and there are
// no others (https://platform.openai.com/docs/guides/structured-outputs).
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

// decode reads an answer strictly. An error says, to the model, what to mend.
func decode(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not as asked: %w", err)
	}
	return nil
}

// sentence is a short text of a model's.
func (e *Engine) sentence(s string) string {
	return text.Clip(text.OneLine(visible.Text(e.Mask(s))), maxSentence)
}

// room is how many bytes of evidence fit in a model's window beside its answer.
func room(m Model) int {
	const prompt = 1500 // tokens of the prompt and the schema, roughly
	return max(minRoom, (m.Window()-m.MaxOutput()-prompt)*bytesPerToken)
}

// evidence lays out labelled texts within a number of bytes. What is added first has first choice.
type evidence struct {
	left int
	b    strings.Builder
}

// add adds a text with its heading and where it comes from, cut to at most share percent of what
// is left. An empty text is left out.
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

// names are values of an enum.
func names(all []string) (out []any) {
	for _, n := range slices.Compact(slices.Sorted(slices.Values(all))) {
		out = append(out, n)
	}
	return out
}
