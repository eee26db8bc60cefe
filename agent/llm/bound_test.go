package llm

import (
	"strings"
	"testing"
)

// Messages of endpoints about the maximum length of an answer, after a request for 16,000 tokens. 8000 is half of that,
// for messages without a limit.
func TestStatedBound(t *testing.T) {
	for words, want := range map[string]int{
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]": 8192,
		"Invalid max_tokens value, the valid range of max_tokens is [1,8192]":  8192,
		// https://github.com/open-webui/open-webui/issues/10507
		"<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 2048]": 2048,
		"max_tokens is too large: 16000. This model supports at most 4096 completion tokens": 4096,
		"max_tokens: 16000 > 8,192, which is the maximum allowed number of output tokens":    8192,
		"`max_completion_tokens` must be less than or equal to `4096`, the maximum value":    4096,
		"max_tokens must be <= 4096":                4096,
		"Error code: 400 - max_tokens is too large": 8000,
		"max_tokens must be between 1 and 4096":     4096,
		"max_tokens is not known":                   0,
	} {
		l := trial{asked: 16000}
		if l.learnMaxOutput(strings.ToLower(words)); l.l.MostOutput != want {
			t.Errorf("%q: %d, want %d", words, l.l.MostOutput, want)
		}
	}
}
