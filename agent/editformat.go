package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
)

// EditFormat is how a model changes files that there are. What suits it makes a difference of
// several points, and a format that it was not trained for fails often.
type EditFormat string

// The formats.
const (
	EditReplace EditFormat = "replace" // a text is put in the place of another
	EditPatch   EditFormat = "patch"   // a unified diff, or OpenAI's own form of one
	EditWhole   EditFormat = "whole"   // the file is written anew
)

// ParseEditFormat reads a format; "" leaves it to the model's family.
func ParseEditFormat(s string) (EditFormat, error) {
	switch f := EditFormat(s); f {
	case "", EditReplace, EditPatch, EditWhole:
		return f, nil
	}
	return "", fmt.Errorf("there is no edit format %q: write replace, patch or whole", s)
}

// editFamilies are the formats by how models' names begin, whatever vendor stands before
// them. OpenAI's are trained on patches
// (https://developers.openai.com/cookbook/examples/gpt4-1_prompting_guide#apply-patch); others do better with
// replacing, and the smallest write whole files (https://aider.chat/docs/leaderboards/).
var editFamilies = []struct {
	prefix string
	format EditFormat
}{
	{"gpt-3.5", EditWhole}, {"gpt-4o-mini", EditWhole}, {"gpt-oss", EditReplace}, {"gpt-", EditPatch}, {"codex",
		EditPatch},
	{"llama3.2", EditWhole}, {"llama-3.2", EditWhole}, {"gemma", EditWhole}, {"phi", EditWhole},
}

// EditFormatOf is the format of a model's family.
func EditFormatOf(model string) EditFormat {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range editFamilies {
		if strings.HasPrefix(name, f.prefix) {
			return f.format
		}
	}
	return EditReplace
}

// editing are tools without those of other formats.
func (f EditFormat) editing(tools []tool.Tool) []tool.Tool {
	others := map[EditFormat][]string{EditReplace: {tool.NamePatch}, EditPatch: {tool.NameEdit},
		EditWhole: {tool.NameEdit, tool.NamePatch}}[f]
	return slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return slices.Contains(others, t.Name) })
}

// leastFailed are failed edits from which on a format can be called unsuited.
const leastFailed = 3

// suited is the agent with another format where most edits with its own failed in earlier attempts of its coder on the
// task. Where a format is configured, it holds.
func (b *BuiltinAgent) suited(earlier []PreviousAttempt) *BuiltinAgent {
	if b.every == nil {
		return b
	}
	sums := map[EditFormat]sia.Edits{}
	for _, p := range earlier {
		f := EditFormat(p.Edits.Format)
		sums[f] = sums[f].Add(p.Edits)
	}
	for _, f := range []EditFormat{b.format, EditReplace, EditWhole, EditPatch} {
		if e := sums[f]; e.Failed >= leastFailed && e.Failed > e.Made {
			continue
		}
		other := *b
		other.format, other.tools = f, f.editing(b.every)
		return &other
	}
	return b
}

// countEdit counts a call that was to change files.
func (r *builtinRun) countEdit(c Call) {
	switch c.Name {
	case tool.NameEdit, tool.NamePatch, tool.NameWrite:
	default:
		return
	}
	if r.edits.Format = string(r.format); c.IsError {
		r.edits.Failed++
	} else {
		r.edits.Made++
	}
}

// TokensOf are the tokens of what models used.
func TokensOf(u llm.Usage) sia.Tokens {
	return sia.Tokens{Input: u.Input, Cached: u.CachedInput, Written: u.CacheWrite, Output: u.Output}
}
