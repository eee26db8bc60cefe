package usage_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// The total is the output only as far as it is plausible, and cached tokens that exceed the prompt are beside it.
func TestTokens(t *testing.T) {
	for name, tt := range map[string]struct {
		report string
		want   usage.Tokens
	}{
		"reasoning beside the completion, xAI": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":175,` +
			`"completion_tokens_details":{"reasoning_tokens":70}}`, usage.Tokens{Input: 100, Output: 75}},
		"reasoning only in the total, Gemini": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":30105}`,
			usage.Tokens{Input: 100, Output: 30_005}},
		"cached beside the prompt": {`{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":91050,` +
			`"prompt_tokens_details":{"cached_tokens":90000}}`, usage.Tokens{Input: 91_000, Cached: 90_000, Output: 50}},
		"cached beside the prompt, with reasoning": {`{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":91120,` +
			`"prompt_tokens_details":{"cached_tokens":90000},"completion_tokens_details":{"reasoning_tokens":70}}`,
			usage.Tokens{Input: 91_000, Cached: 90_000, Output: 120}},
		"cached beside the prompt, not in the total": {`{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1050,` +
			`"prompt_tokens_details":{"cached_tokens":90000}}`, usage.Tokens{Input: 91_000, Cached: 90_000, Output: 50}},
		"less cached than the prompt, in the total": {`{"prompt_tokens":1000,"completion_tokens":50,"total_tokens":1950,` +
			`"prompt_tokens_details":{"cached_tokens":900}}`, usage.Tokens{Input: 1900, Cached: 900, Output: 50}},
		"written beside the prompt, Responses": {`{"input_tokens":10,"output_tokens":5,"input_tokens_details":` +
			`{"cache_write_tokens":900}}`, usage.Tokens{Input: 910, Written: 900, Output: 5}},
		"a total that nothing explains": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":90000}`,
			usage.Tokens{Input: 100, Output: 5}},
		"an impossible total": {`{"prompt_tokens":100,"completion_tokens":5,"total_tokens":900000000000}`,
			usage.Tokens{Input: 100, Output: 5}},
		"impossible counts": {`{"prompt_tokens":100,"completion_tokens":900000000000,"prompt_tokens_details":` +
			`{"cached_tokens":-5}}`, usage.Tokens{Input: 100}},
		"negative counts": {`{"prompt_tokens":-100,"completion_tokens":-5,"total_tokens":-105}`, usage.Tokens{}},
	} {
		var r usage.Report
		if err := json.Unmarshal([]byte(tt.report), &r); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, r.Tokens()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
