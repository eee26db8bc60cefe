package llm

// readUsage reads the tokens that an endpoint counted, in any of the dialects. What is cached has
// several names: OpenAI's and OpenRouter's, DeepSeek's, Moonshot's, and Anthropic's, also through
// LiteLLM. Reasoning that xAI and Gemini count beside the output of chat completions is output
// (https://docs.x.ai/docs/guides/reasoning).
func readUsage(s *scanner) (u Usage) {
	prompt, total := 0, 0
	cached := func(key []byte) {
		switch string(key) {
		case "cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens":
			u.CachedInput = max(u.CachedInput, s.number())
		case "cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens":
			u.CacheWrite = max(u.CacheWrite, s.number())
		}
	}
	s.fields(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			prompt = max(0, s.number())
		case "input_tokens":
			u.Input = s.number()
		case "completion_tokens", "output_tokens":
			u.Output = s.number()
		case "total_tokens":
			total = s.number()
		case "prompt_tokens_details", "input_tokens_details":
			s.fields(cached)
		default:
			cached(key)
		}
	})
	if prompt > 0 {
		u.Input, u.Output = prompt, max(u.Output, total-prompt)
	}
	return u
}

// sane is u with no more cached than there is.
func (u Usage) sane() Usage {
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	u.CachedInput = min(max(0, u.CachedInput), u.Input)
	u.CacheWrite = min(max(0, u.CacheWrite), u.Input-u.CachedInput)
	return u
}
