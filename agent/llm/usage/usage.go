// Package usage reads the numbers of tokens that an endpoint reports for an answer, in any dialect.
package usage

import (
	"math"
	"strconv"
	"strings"
)

// Tokens counts the tokens of an answer and its prompt. Input includes Cached, tokens read from the endpoint's cache,
// and Written, tokens written to it. Output includes reasoning.
type Tokens struct{ Input, Cached, Written, Output int }

// Number is a number in JSON, possibly in quotes; 0 for other values.
type Number int

// UnmarshalJSON ignores values other than numbers.
func (n *Number) UnmarshalJSON(b []byte) error {
	if f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64); err == nil && math.Abs(f) <= 1e15 {
		*n = Number(f)
	}
	return nil
}

// maxCount is the largest number of tokens that an endpoint can report: several times the largest context window.
const maxCount = 10_000_000

// count is a reported number of tokens; 0 for values that are no such number.
type count int

// UnmarshalJSON ignores values other than numbers up to maxCount.
func (c *count) UnmarshalJSON(b []byte) error {
	var n Number
	if err := n.UnmarshalJSON(b); err != nil || n < 0 || n > maxCount {
		return err
	}
	*c = count(n)
	return nil
}

// Report is the usage that an endpoint reports, in any dialect.
type Report struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`
	Input      count `json:"input_tokens"`
	Output     count `json:"output_tokens"`
	Total      count `json:"total_tokens"`
	cached
	PromptDetails     cached   `json:"prompt_tokens_details"`
	InputDetails      cached   `json:"input_tokens_details"`
	CompletionDetails thinking `json:"completion_tokens_details"`
	OutputDetails     thinking `json:"output_tokens_details"`
}

// thinking is the reasoning part of an output, which some servers count only here
// (https://github.com/router-for-me/CLIProxyAPI/issues/5733).
type thinking struct {
	Reasoning count `json:"reasoning_tokens"`
}

// cached is the cached part of a prompt, in the fields of OpenAI and OpenRouter, DeepSeek, Moonshot, and Anthropic,
// also through LiteLLM, new-api and CLIProxyAPI.
type cached struct {
	Cached        count `json:"cached_tokens"`
	CacheHit      count `json:"prompt_cache_hit_tokens"`
	CacheRead     count `json:"cache_read_input_tokens"`
	CacheWrite    count `json:"cache_write_tokens"`
	CacheCreation count `json:"cache_creation_tokens"`
	CacheCreated  count `json:"cache_creation_input_tokens"`
	CachedWrite   count `json:"cached_creation_tokens"`
}

// maxUncounted is the maximum reasoning, in tokens, that an endpoint counts only in the total, as Gemini does. It is
// the longest answer of its models.
const maxUncounted = 65_536

// counts returns the counts as they are reported. Reasoning that xAI and Gemini count separately from the output of
// chat completions is added to it (https://docs.x.ai/docs/guides/reasoning).
func (r Report) counts() (t Tokens) {
	for _, c := range []cached{r.cached, r.PromptDetails, r.InputDetails} {
		t.Cached = max(t.Cached, int(max(c.Cached, c.CacheHit, c.CacheRead)))
		t.Written = max(t.Written, int(max(c.CacheWrite, c.CacheCreation, c.CacheCreated, c.CachedWrite)))
	}
	completion, reasoning := int(max(r.Completion, r.Output)), int(max(r.CompletionDetails.Reasoning,
		r.OutputDetails.Reasoning))
	t.Input, t.Output = int(r.Input), max(completion, reasoning)
	prompt, beside := int(r.Prompt), t.Cached+t.Written
	if beside > 0 && int(r.Total) == prompt+int(r.Completion)+beside {
		prompt += beside // Portkey in front of Anthropic's dialect does not include them
	}
	if prompt == 0 {
		return t
	}
	t.Input = prompt
	rest := int(r.Total) - prompt // the output, if the total is right
	if t.areBeside() {
		rest -= beside
	}
	if rest <= completion+reasoning+maxUncounted {
		t.Output = max(t.Output, rest)
	}
	return t
}

// areBeside reports whether the cached tokens can't be a part of the input.
func (t Tokens) areBeside() bool { return t.Input > 0 && max(t.Cached, t.Written) > t.Input }

// MaxOutput returns the largest plausible output of an answer for which limit tokens were requested. It is more than
// limit, since some endpoints do not limit the reasoning.
func MaxOutput(limit int) int { return 4 * max(limit, 8192) }

// Tokens returns the tokens of a report that is the only one or the last one.
func (r Report) Tokens() Tokens {
	var s Sum
	s.Add(r)
	return s.Tokens(false)
}

// Sum holds the largest of each count in the reports of one answer, of which the later ones hold only the changes.
type Sum struct{ most Tokens }

// Add adds a report.
func (s *Sum) Add(r Report) {
	t := r.counts()
	s.most = Tokens{Input: max(s.most.Input, t.Input), Cached: max(s.most.Cached, t.Cached),
		Written: max(s.most.Written, t.Written), Output: max(s.most.Output, t.Output)}
}

// Tokens returns the tokens so far. beside is true for Anthropic's dialect, which reports cache reads and writes beside
// the input tokens, as some gateways do in other dialects
// (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching#tracking-cache-performance).
func (s Sum) Tokens(beside bool) Tokens {
	t := s.most
	if beside || t.areBeside() {
		t.Input += t.Cached + t.Written
	}
	t.Cached = min(t.Cached, t.Input)
	t.Written = min(t.Written, t.Input-t.Cached)
	return t
}
