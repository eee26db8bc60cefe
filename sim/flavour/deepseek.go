package flavour

import (
	"fmt"
	"net/http"
	"strings"
)

// thoughts is the reasoning field of DeepSeek's answers.
func thoughts(n int) any {
	return object{"message": object{"reasoning_content": fmt.Sprintf("I think %d <&>.", n)}}
}

// answerOf is the number of this server's answer that made a message's calls; 0: another server did.
func answerOf(m object) (n int) {
	calls, _ := m["tool_calls"].([]any)
	if len(calls) == 0 {
		return 0
	}
	var k int
	if _, err := fmt.Sscanf(fmt.Sprint(calls[0].(object)["id"]), "call_%d_%d", &n, &k); err != nil {
		return 0
	}
	return n
}

// wantsThoughts refuses an answer without its reasoning; words is the message.
func wantsThoughts(words string) func(*Server, Ask) (int, string) {
	return func(_ *Server, a Ask) (int, string) {
		for i, m := range messagesOf(a) {
			if m["role"] != "assistant" {
				continue
			}
			got, there := m["reasoning_content"].(string)
			n := answerOf(m)
			if !there || n > 0 && got != thoughts(n).(object)["message"].(object)["reasoning_content"] {
				return http.StatusBadRequest, Words(strings.ReplaceAll(words, "%d", fmt.Sprint(i)))
			}
		}
		return 0, ""
	}
}

var deepSeekThinking = Flavour{Name: "DeepSeek: thinking goes back",
	Source: "https://github.com/earendil-works/pi/issues/3636",
	Refuse: wantsThoughts("The `reasoning_content` in the thinking mode must be passed back to the API."),
	Opaque: thoughts,
	Usage: func(b Bill) object {
		return object{"prompt_tokens": b.Input, "completion_tokens": b.Output, "total_tokens": b.Input + b.Output,
			"prompt_cache_hit_tokens": b.Cached, "prompt_cache_miss_tokens": b.Input - b.Cached}
	}}

var deepSeek = []Flavour{
	deepSeekThinking,
	deepSeekThinking.with(func(f *Flavour) {
		f.Name, f.Source, f.Foreign = "DeepSeek: thinking after another model",
			"https://github.com/anomalyco/opencode/issues/24722", true
	}),
	{Name: "DeepSeek: thinking that must not go back", Source: "https://api-docs.deepseek.com/guides/reasoning_model",
		Opaque: thoughts, Client: Client{Weaker: "reasoning is not given back"}, Refuse: refuses("reasoning_content",
			"The reasoning_content field is not allowed in the input.")},
	{Name: "DeepSeek: another form of JSON", Source: "https://api-docs.deepseek.com/guides/json_mode",
		Refuse: refuses("json_schema", "This response_format type is unavailable now")},
	deepSeekThinking.with(func(f *Flavour) {
		f.Name, f.Source = "Kimi: thinking goes back with each call", "https://github.com/anomalyco/opencode/issues/10996"
		f.Refuse = wantsThoughts(
			"thinking is enabled but reasoning_content is missing in assistant tool call message at index %d")
		f.Usage = func(b Bill) object { // in the choice
			return object{"choice": object{"prompt_tokens": b.Input, "completion_tokens": b.Output, "cached_tokens": b.Cached}}
		}
	}),
	{Name: "DeepSeek: its address for Messages wants thinking back", Paths: []string{Messages}, Opaque: thinking,
		Source: "https://github.com/anomalyco/opencode/issues/24722", Client: Client{Protocol: "messages", Reasoning: "high"},
		Refuse: func(_ *Server, a Ask) (int, string) {
			for _, m := range messagesOf(a) {
				if m["role"] == "assistant" && !strings.Contains(fmt.Sprint(m["content"]), "type:thinking") {
					return http.StatusBadRequest,
						Words("The `content[].thinking` in the thinking mode must be passed back to the API.")
				}
			}
			return 0, ""
		}},
}
