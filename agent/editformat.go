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

// ModelEdits counts the edits of attempts by one agent in one format.
type ModelEdits struct {
	Agent string // as in [Agent.Name]
	sia.Edits
}

// A format replaces that of the model's family if the model has made at least minFamilyEdits edits with the latter, and
// its expected share of failed edits is lower by at least formatMargin.
const (
	minFamilyEdits = 20
	formatMargin   = 0.2
)

// failureRate returns the expected share of failed edits. Without any, it is a quarter.
func failureRate(e sia.Edits) float64 { return float64(e.Failed+1) / float64(e.Failed+e.Made+4) }

// learnedFormat returns the format with which the fewest of the model's edits fail, as far as earlier attempts show it;
// otherwise the agent's own.
func (b *BuiltinAgent) learnedFormat(all []ModelEdits) EditFormat {
	sums := map[EditFormat]sia.Edits{}
	for _, e := range all {
		if f := EditFormat(e.Format); e.Agent == b.Name() {
			sums[f] = sums[f].Add(e.Edits)
		}
	}
	best, own := b.format, sums[b.format]
	if own.Made+own.Failed < minFamilyEdits {
		return best
	}
	for _, f := range []EditFormat{EditReplace, EditWhole, EditPatch} {
		if rate := failureRate(sums[f]); rate+formatMargin <= failureRate(own) && rate < failureRate(sums[best]) {
			best = f
		}
	}
	return best
}

// minFailedEdits is the number of failed edits from which a format can count as unsuitable.
const minFailedEdits = 3

// withSuitedFormat returns the agent with the format that earlier attempts at all tasks suggest, or with another if
// most edits with it failed in earlier attempts of its coder on the task. A configured format is never changed.
func (b *BuiltinAgent) withSuitedFormat(earlier []PreviousAttempt, all []ModelEdits) *BuiltinAgent {
	if b.allTools == nil {
		return b
	}
	sums := map[EditFormat]sia.Edits{}
	for _, p := range earlier {
		f := EditFormat(p.Edits.Format)
		sums[f] = sums[f].Add(p.Edits)
	}
	for _, f := range []EditFormat{b.learnedFormat(all), b.format, EditReplace, EditWhole, EditPatch} {
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
