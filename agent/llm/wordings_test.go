package llm

import (
	_ "embed"
	"strings"
	"testing"
	"time"
)

// Real messages of endpoints are classified correctly, and each wording matches at least one of them.
func TestWordings(t *testing.T) {
	seen := make([]bool, len(wordings))
	for line := range strings.Lines(realWordings) {
		kind, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(line, "# ") || !ok {
			continue
		}
		if got := kindOf(400, errorBody{message: words}); string(got) != kind {
			t.Errorf("%q is %s, want %s", words, got, kind)
		}
		for i, w := range wordings {
			seen[i] = seen[i] || string(w.kind) == kind && wordingPatterns[i].MatchString(strings.ToLower(words))
		}
	}
	for i, ok := range seen {
		if !ok {
			t.Errorf("testdata/wordings.txt has nothing for %q", wordings[i].pattern)
		}
	}
}

//go:embed testdata/wordings.txt
var realWordings string

// Messages of endpoints with the size of their window.
func TestStatedWindow(t *testing.T) {
	for words, want := range map[string]int{
		"prompt is too long: 213,462 tokens > 200,000 maximum":                                           200000,
		"Range of input length should be [1, 129024]":                                                    129024,
		"exceed context limit: 198000 + 8192 > 200000, decrease input length":                            200000,
		"too large for model with 131072 maximum context length":                                         131072,
		"Input length 140000 exceeds the maximum allowed input length of 131072 tokens.":                 131072,
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)":         1048575,
		"`inputs` tokens + `max_new_tokens` must be <= 8192. Given: 3000 `inputs`":                       8192,
		"Request body too large for gpt-4o model. Max size: 8000 tokens.":                                8000,
		"the request exceeds the available context size, try increasing it (n_ctx: 8192)":                8192,
		"The decoder prompt (length 19139) is longer than the maximum model length of 16384.":            16384,
		"default_max_tokens (-2755) = max_seq_len (16384) - splited_prompt_len (19139)":                  16384,
		"max_tokens must be at least 1, got -2755.":                                                      0,
		"Prompt length (5056) exceeds maximum sequence length (2048)":                                    2048,
		"Prompt length (5056) exceeds maximum input length (2048)":                                       2048,
		"The sum of prompt length (72417.0), query length (0) should not exceed max_num_tokens (69632)":  69632,
		"The number of tokens to keep from the initial prompt is greater than the context length.":       0,
		"you requested 8192 output tokens and your prompt contains at least 130000 input tokens":         0,
		"the model is loaded with context length of only 4096 tokens, which is not enough":               4096,
		"Your request exceeded model token limit: 262144 (requested: 270000)":                            262144,
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens":            131072,
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).":           131072,
		"prompt token count of 140000 exceeds the limit of 128000":                                       128000,
		"This model's maximum context length is 8192 tokens. However, you requested 9000 output tokens.": 8192,
	} {
		l := trial{window: 10_000_000, tokens: func() int { return 100 }}
		if l.learnWindow(strings.ToLower(words)); l.l.Window != want {
			t.Errorf("%q: %d, want %d", words, l.l.Window, want)
		}
	}
}

// Priorities of wordings, and of the status if the message is unknown.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		status int
		said   string
		want   ErrorKind
	}{
		{400, "ThrottlingException: Too many tokens, please wait before trying again.", KindRateLimit},
		{413, "Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000", KindRateLimit},
		{429, "This model's maximum context length is 8192 tokens", KindRateLimit},
		{429, "You exceeded your current quota. Please retry in 31.2s.", KindRateLimit},
		{429, "insufficient_quota", KindQuota},
		{403, "Your input was flagged by moderation", KindModeration},
		{403, "", KindAuth}, {401, "", KindAuth}, {402, "", KindQuota}, {413, "", KindContextLength},
		{408, "", KindTimeout}, {504, "", KindTimeout}, {500, "", KindOverloaded}, {529, "", KindOverloaded},
		{502, "<html>No such model of server: unauthorized</html>", KindOverloaded},
		{500, "tools param requires --jinja flag", KindNoTools},
		{404, "No endpoints found that support tool use.", KindNoTools},
		{503, "<html>does not support tools</html>", KindOverloaded},
		{500, "Error: Jinja Exception: Conversation roles must alternate user/assistant", KindBadRequest},
		{500, "Failed to parse input at pos 12: </tool_call> rate limit", KindMalformed},
		{200, "error parsing tool call: raw='ls -R', err=invalid character 'l'", KindMalformed},
		{404, "", KindBadRequest}, {422, "", KindBadRequest}, {200, "", KindOverloaded},
		{500, "max_tokens must be at least 1, got -2755.", KindContextLength},
		{500, "The decoder prompt (length 9) is longer than the maximum model length of 4.", KindContextLength},
	} {
		if got := kindOf(c.status, errorBody{message: c.said}); got != c.want {
			t.Errorf("HTTP %d %q: %s, want %s", c.status, c.said, got, c.want)
		}
	}
	if got := kindOf(200, errorBody{message: "slow down", status: 429}); got != KindRateLimit {
		t.Errorf("a status in the place of a code: %s", got)
	}
}

func TestWaitIn(t *testing.T) {
	for words, want := range map[string]time.Duration{
		"Please try again in 20s. Visit":            20 * time.Second,
		"please try again in 6m0s":                  6 * time.Minute,
		"Please retry in 31.5s.":                    31500 * time.Millisecond,
		"please try again after 1 seconds":          time.Second,
		"try again in 250ms":                        250 * time.Millisecond,
		"try again in 999999h":                      24 * time.Hour,
		"try again later":                           0,
		"":                                          0,
		"try again in 99999999999999999999999999 s": 0,
	} {
		if got := parseWait(words); got != want {
			t.Errorf("%q: %s, want %s", words, got, want)
		}
	}
}
