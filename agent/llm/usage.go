package llm

// chatUsage reads the tokens that an endpoint counted; ok is false when it counted none.
// What is cached has several names: OpenAI's and OpenRouter's, DeepSeek's, Moonshot's, and
// Anthropic's through LiteLLM. Reasoning that xAI and Gemini count beside the output is
// output (https://docs.x.ai/docs/guides/reasoning).
func chatUsage(s *scanner) (u Usage, ok bool) {
	total, completion := 0, 0
	s.fields(func(key []byte) {
		switch string(key) {
		case "prompt_tokens":
			u.Input = s.number()
		case "completion_tokens":
			completion = s.number()
		case "total_tokens":
			total = s.number()
		case "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens":
			u.CachedInput = max(u.CachedInput, s.number())
		case "cache_creation_input_tokens", "cache_write_tokens":
			u.CacheWrite = max(u.CacheWrite, s.number())
		case "prompt_tokens_details":
			s.fields(func(key []byte) {
				switch string(key) {
				case "cached_tokens":
					u.CachedInput = max(u.CachedInput, s.number())
				case "cache_write_tokens", "cache_creation_tokens":
					u.CacheWrite = max(u.CacheWrite, s.number())
				}
			})
		}
	})
	u.Input, u.Output = max(0, u.Input), max(0, completion, total-max(0, u.Input))
	return u.sane(), u.Input > 0
}

// sane is u with no more cached than there is.
func (u Usage) sane() Usage {
	u.Input, u.Output = max(0, u.Input), max(0, u.Output)
	u.CachedInput = min(max(0, u.CachedInput), u.Input)
	u.CacheWrite = min(max(0, u.CacheWrite), u.Input-u.CachedInput)
	return u
}

// itemsUsage reads the tokens that Responses and Messages count.
func itemsUsage(s *scanner) (u Usage) {
	s.fields(func(key []byte) {
		switch string(key) {
		case "input_tokens":
			u.Input = s.number()
		case "output_tokens":
			u.Output = s.number()
		case "cache_read_input_tokens":
			u.CachedInput = s.number()
		case "cache_creation_input_tokens":
			u.CacheWrite = s.number()
		case "input_tokens_details":
			s.fields(func(key []byte) {
				switch string(key) {
				case "cached_tokens":
					u.CachedInput = s.number()
				case "cache_write_tokens":
					u.CacheWrite = s.number()
				}
			})
		}
	})
	return u
}
