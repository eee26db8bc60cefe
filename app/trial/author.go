package trial

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia/text"
)

//go:embed prompts/propose.md.tmpl
var proposePrompt string

// proposeTemplate is embedded, so every test would notice a parse error.
var proposeTemplate = template.Must(template.New("propose").Parse(proposePrompt))

// proposeSchema is the strict JSON schema of the answer.
const proposeSchema = `{"type":"object","additionalProperties":false,"required":["changes"],"properties":{"changes":{
	"type":"array","items":{"type":"object","additionalProperties":false,"required":["path","value","reason"],` +
	`"properties":{
		"path":{"type":"string"},"value":{"type":"string"},"reason":{"type":"string"}}}}}}`

const (
	maxChanges    = 2
	maxReason     = 400 // characters
	maxFindings   = 12
	authorTimeout = 8 * time.Minute
)

// ModelAuthor proposes changes using a model.
type ModelAuthor struct {
	model llm.Completer
	name  string
}

// NewModelAuthor returns an author that uses a model; name is the model's name, for users.
func NewModelAuthor(model llm.Completer, name string) *ModelAuthor { return &ModelAuthor{model, name} }

// Name implements Author.
func (a *ModelAuthor) Name() string { return a.name }

// Propose implements Author. If check rejects a change, the model may correct it once.
func (a *ModelAuthor) Propose(
	ctx context.Context, m Material, check func(policies.Mutation) error,
) (changes []policies.Mutation, err error) {
	var system strings.Builder
	if err := proposeTemplate.Execute(&system,
		map[string]any{"Policy": m.Policy, "Example": example(m.Policy)}); err != nil {
		return nil, fmt.Errorf("propose a change of %s: %w", m.Policy.Name, err)
	}
	messages := []llm.Message{{Role: llm.RoleSystem, Content: system.String()},
		{Role: llm.RoleUser, Content: formatMaterial(m)}}
	schema := &llm.Schema{Name: "changes", JSON: json.RawMessage(proposeSchema), Strict: true}
	_, err = llm.Converse(ctx, a.model, llm.Question{Messages: messages, Schema: schema, Within: authorTimeout},
		func(raw []byte) (err error) {
			changes, err = parseChanges(raw, check)
			return err
		})
	if err != nil {
		return nil, errors.Join(context.Cause(ctx), fmt.Errorf("propose a change of %s: %w", m.Policy.Name, err))
	}
	return changes, nil
}

// parseChanges parses the model's answer. The error is for the model and describes what to correct.
func parseChanges(raw []byte, check func(policies.Mutation) error) ([]policies.Mutation, error) {
	var answer struct {
		Changes []policies.Mutation `json:"changes"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return nil, fmt.Errorf("not as asked: %w", err)
	}
	var out []policies.Mutation
	var faults []error
	for _, c := range answer.Changes[:min(len(answer.Changes), maxChanges)] {
		c.Path, c.Value = strings.TrimSpace(c.Path), strings.TrimSpace(c.Value)
		c.Reason = text.Clip(text.OneLine(c.Reason), maxReason)
		err := check(c)
		if err == nil && c.Reason == "" {
			err = fmt.Errorf("%s needs a reason", c)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		out = append(out, c)
	}
	if len(out) == 0 && len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return out, nil
}

// example returns a changeable field of a policy.
func example(p policies.Policy) string {
	for _, f := range p.Fields() {
		if strings.HasPrefix(f.Path, "parameters.") {
			return f.Path
		}
	}
	return "parameters.threshold"
}

// policyChange formats the material for the model.
func formatMaterial(m Material) string {
	var b strings.Builder
	add := func(heading string, lines []string) {
		fmt.Fprintf(&b, "## %s\n\n", heading)
		if len(lines) == 0 {
			lines = []string{"(nothing yet)"}
		}
		b.WriteString(text.Fence(strings.Join(lines, "\n")) + "\n\n")
	}
	add("The policy", []string{m.Policy.Source})
	var fields, options, rejected []string
	for _, f := range m.Policy.Fields() {
		if !slices.Contains([]string{"decision", "name", "version", "reasoning"}, f.Path) {
			fields = append(fields, f.Path+" = "+f.New)
		}
	}
	add("Its fields, also those that the file leaves out", fields)
	for _, o := range m.Options {
		line := fmt.Sprintf("%s: %d of %d resolved, %+.0f points against what was to be expected",
			cmp.Or(o.Choice, "(nobody)"), o.Resolved, o.Tried, 100*o.Credit)
		if c := o.Contrast; c != nil {
			line += fmt.Sprintf("; where chance chose, %+.0f points against the others (95 %% interval %+.0f to %+.0f)",
				100*c.Difference, 100*c.Low, 100*c.High)
		}
		options = append(options, line)
	}
	add("What came of each choice", options)
	add("What stands out in the log (hypotheses)", m.Findings[:min(len(m.Findings), maxFindings)])
	add("Decisions after which the attempt passed", m.Resolved)
	add("Decisions after which it failed", m.Failed)
	for _, r := range m.Rejected {
		rejected = append(rejected, fmt.Sprintf("%s: %s did not hold: %s", r.Path, r.Value, r.Why))
	}
	add("What was proposed before and did not hold", rejected)
	add("What was proposed before and not tried yet", m.Untried)
	return strings.TrimSpace(b.String())
}
