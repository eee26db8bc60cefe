package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia"
)

// EditFormat is the format in which a model changes existing files. Models differ by several points between formats,
// and fail often in a format that they were not trained for.
type EditFormat string

// The formats.
const (
	EditReplace EditFormat = "replace" // one text is replaced by another
	EditPatch   EditFormat = "patch"   // a unified diff, or OpenAI's variant of one
	EditWhole   EditFormat = "whole"   // the whole file is rewritten
)

// ParseEditFormat parses a format; "" means the default of the model's family.
func ParseEditFormat(s string) (EditFormat, error) {
	switch f := EditFormat(s); f {
	case "", EditReplace, EditPatch, EditWhole:
		return f, nil
	}
	return "", fmt.Errorf("there is no edit format %q: write replace, patch or whole", s)
}

// editFamilies maps prefixes of model names, without the vendor, to formats. OpenAI's models are trained on patches
// (https://developers.openai.com/cookbook/examples/gpt4-1_prompting_guide#apply-patch); others do better with
// replacement, and the smallest write whole files (https://aider.chat/docs/leaderboards/).
var editFamilies = []struct {
	prefix string
	format EditFormat
}{
	{"gpt-3.5", EditWhole}, {"gpt-4o-mini", EditWhole}, {"gpt-oss", EditReplace}, {"gpt-", EditPatch}, {"codex",
		EditPatch},
	{"llama3.2", EditWhole}, {"llama-3.2", EditWhole}, {"gemma", EditWhole}, {"phi", EditWhole},
}

// EditFormatOf returns the format of a model's family.
func EditFormatOf(model string) EditFormat {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, f := range editFamilies {
		if strings.HasPrefix(name, f.prefix) {
			return f.format
		}
	}
	return EditReplace
}

// filterTools returns tools without those of other formats.
func (f EditFormat) filterTools(tools []tool.Tool) []tool.Tool {
	others := map[EditFormat][]string{EditReplace: {tool.NamePatch}, EditPatch: {tool.NameEdit},
		EditWhole: {tool.NameEdit, tool.NamePatch}}[f]
	return slices.DeleteFunc(slices.Clone(tools), func(t tool.Tool) bool { return slices.Contains(others, t.Name) })
}

// minFailedEdits is the number of failed edits from which a format can count as unsuitable.
const minFailedEdits = 3

// withSuitedFormat returns the agent with another format if most edits with its own failed in earlier attempts of its
// coder on the task. A configured format is never changed.
func (b *BuiltinAgent) withSuitedFormat(earlier []PreviousAttempt) *BuiltinAgent {
	if b.allTools == nil {
		return b
	}
	sums := map[EditFormat]sia.Edits{}
	for _, p := range earlier {
		f := EditFormat(p.Edits.Format)
		sums[f] = sums[f].Add(p.Edits)
	}
	for _, f := range []EditFormat{b.format, EditReplace, EditWhole, EditPatch} {
		if e := sums[f]; e.Failed >= minFailedEdits && e.Failed > e.Made {
			continue
		}
		other := *b
		other.format, other.tools = f, f.filterTools(b.allTools)
		return &other
	}
	return b
}

// countEdit counts a call that edits files.
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

// TokensOf converts the usage of models to tokens.
func TokensOf(u llm.Usage) sia.Tokens {
	return sia.Tokens{Input: u.Input, Cached: u.CachedInput, Written: u.CacheWrite, Output: u.Output}
}
