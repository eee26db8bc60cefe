package llm

import (
	"net/http"
	"regexp"
	"strings"
)

// maxMessage bounds the endpoint's words in an error, in bytes.
const maxMessage = 500

// wording is how an endpoint says what is wrong.
type wording struct {
	kind    ErrorKind
	pattern string // of the code, type, parameter and message together, in lower case
	example string // what an endpoint really said
	source  string // where that can be read
}

// The public places that several wordings are from.
const (
	sourcePi         = "https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts"
	sourceOpenAI     = "https://platform.openai.com/docs/guides/error-codes"
	sourceAnthropic  = "https://docs.anthropic.com/en/api/errors"
	sourceDeepSeek   = "https://api-docs.deepseek.com/quick_start/error_codes"
	sourceOpenRouter = "https://openrouter.ai/docs/api-reference/errors"
	sourceGemini     = "https://ai.google.dev/gemini-api/docs/troubleshooting"
)

// wordings are looked through in this order, and the first that fits holds: an account
// without money is not helped by waiting, and one that is throttled is not helped by a
// shorter conversation, whatever both say of tokens.
var wordings = []wording{
	{KindRateLimit, `please retry in [\d.]+ ?m?s`, "You exceeded your current quota, please check your plan and billing " +
		"details. Please retry in 31.2s.", "https://github.com/google-gemini/gemini-cli/issues/4300"},
	{KindQuota, `insufficient_quota|exceeded your current quota, please check your plan and billing`,
		"You exceeded your current quota, please check your plan and billing details.", sourceOpenAI},
	{KindQuota, `billing_hard_limit`, "billing_hard_limit_reached: Billing hard limit has been reached", sourceOpenAI},
	{KindQuota, `insufficient (?:credits|balance|funds)`, "Insufficient Balance", sourceDeepSeek},
	{KindQuota, `credit balance is too low`, "Your credit balance is too low to access the Anthropic API.",
		"https://github.com/anthropics/claude-code/issues/2097"},
	{KindQuota, `requires more credits|can only afford`,
		"This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford 120.",
		sourceOpenRouter},
	{KindQuota, `out of credits|no credits left|credits? (?:have|has) been exhausted|used all available credits`,
		"Your team has used all available credits or reached its monthly spending limit.",
		"https://docs.x.ai/docs/key-information/billing"},
	{KindQuota, `billing_error|payment required`, "billing_error: There is an issue with your billing.", sourceAnthropic},
	{KindQuota, `no resource package|please recharge`, "Insufficient balance or no resource package. Please recharge.",
		"https://docs.z.ai/api-reference/api-code"},
	{KindQuota, `arrearage|account is in good standing`,
		"Access denied, please make sure your account is in good standing.",
		"https://www.alibabacloud.com/help/en/model-studio/error-code"},
	{KindQuota, `monthly (?:usage|spend\w*) limit|key limit exceeded|included credits`,
		"Key limit exceeded (monthly limit).",
		sourceOpenRouter},
	{KindQuota, `api usage limits|extra usage is required`, "You have reached your specified API usage limits. You will " +
		"regain access on 2026-04-01 at 00:00 UTC.", "https://github.com/anthropics/claude-code/issues/38035"},
	{KindQuota, `n.t have any credits`, "Your newly created team doesn't have any credits or licenses yet.",
		"https://github.com/continuedev/continue/issues/12670"},
	{KindQuota, `budget_?(?: has been )?exceeded|exceeded ?budget|crossed budget|over budget`,
		"Budget has been exceeded! Current cost: 26.075, Max budget: 0.25",
		"https://github.com/BerriAI/litellm/issues/14144"},
	{KindQuota, `insufficient quota|quota_exceeded|quota (?:has been )?exhausted`, "free_quota_exceeded: Free quota used.",
		"https://github.com/Gitlawb/openclaude/issues/1554"},

	{KindRateLimit, `throttl`, "ThrottlingException: Too many tokens, please wait before trying again.",
		"https://docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html"},
	{KindRateLimit, `rate[_ -]?limit`,
		"rate_limit_exceeded: Rate limit reached for gpt-5 in organization org-1 on tokens " +
			"per min (TPM): Limit 30000, Used 28000, Requested 9000.", sourceOpenAI},
	{KindRateLimit, `too many requests`, "Too Many Requests", sourcePi},
	{KindRateLimit, `per (?:minute|min\b|day|second|hour)`,
		"Request too large for model `qwen` on tokens per minute (TPM): " +
			"Limit 6000, Requested 9000, please reduce your message size and try again.",
		"https://github.com/anomalyco/opencode/issues/1017"},
	{KindRateLimit, `\b[trip]pm\b|\brpd\b|\btpd\b`, "Limit exceeded: TPM 60000",
		"https://console.groq.com/docs/rate-limits"},
	{KindRateLimit, `too many tokens, please wait`, "Too many tokens, please wait before trying again.", sourcePi},
	{KindRateLimit, `resource_exhausted|resource has been exhausted`,
		"RESOURCE_EXHAUSTED: Resource has been exhausted (e.g. check quota).", sourceGemini},
	{KindRateLimit, `high concurrency|frequency limit|too frequent`,
		"High concurrency usage of this API, please reduce concurrency.",
		"https://docs.z.ai/api-reference/api-code"},
	{KindRateLimit, `concurrency (?:limit|reached)|max organization concurrency`,
		"Your account reached max organization concurrency: 3, please try again after 1 seconds",
		"https://platform.moonshot.ai/docs/pricing/limits"},

	{KindOverloaded, `overloaded`, "overloaded_error: Overloaded", sourceAnthropic},
	{KindOverloaded, `service[_ ]unavailable|temporarily unavailable|server[_ ]is[_ ]busy|engine is currently`,
		"The engine is currently overloaded, please try again later", sourceOpenAI},
	{KindOverloaded, `loading model`, "unavailable_error: Loading model",
		"https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"},

	{KindMalformed, `tool_use_failed|failed to call a function|failed_generation|tool call validation failed`,
		"Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
		"https://github.com/anomalyco/opencode/issues/1018"},
	{KindMalformed, `valid tool call`, "No valid tool call or response generated",
		"https://github.com/deepset-ai/haystack-core-integrations/issues/1693"},
	{KindMalformed, `json_validate_failed|failed to (?:generate|parse) json`,
		"json_validate_failed: Failed to generate JSON.",
		"https://console.groq.com/docs/structured-outputs"},
	{KindBadRequest, `(?:does not|doesn't|do not|not) support (?:tools|tool use|tool calling|function)|support tool use|` +
		`enable-auto-tool-choice|tools? (?:param|is|are) (?:requires|not supported)`,
		"registry.ollama.ai/library/gemma3:latest does not support tools", "https://github.com/ollama/ollama/issues/14795"},

	{KindBadRequest, `unexpected endpoint or method`, "Unexpected endpoint or method. (POST /chat/completions)",
		"https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/618"},
	{KindDialect, `/v1/responses|v1/messages|responses api`,
		"Function tools with reasoning_effort are not supported for " +
			"gpt-5.6-terra in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
		"https://github.com/GoogleChromeLabs/webmcp-tools/issues/417"},
	{KindDialect, `use (?:the )?/v1/chat/completions|did you mean to use v1/chat/completions`,
		"This model is not supported with this endpoint; use /v1/chat/completions instead.",
		"https://github.com/openai/openai-openapi/issues/541"},

	{KindModeration, `content[_ ]?policy|content management policy|content_filter`,
		"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
		"https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter"},
	{KindModeration, `flagged|moderation`,
		"Your chosen model requires moderation and your input was flagged for \"violence\".",
		sourceOpenRouter},
	{KindModeration, `inappropriate content|data_inspection_failed|content exists risk|sensitive content`,
		"data_inspection_failed: Input data may contain inappropriate content.",
		"https://www.alibabacloud.com/help/en/model-studio/error-code"},
	{KindModeration, `usage guidelines|violat\w+ (?:our|the) (?:usage )?polic`,
		"Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CYBER",
		"https://github.com/anomalyco/opencode/issues/7540"},

	{KindBadRequest, `max_(?:completion_)?tokens\W{0,2} must be less than or equal to`,
		"`max_completion_tokens` must be less than or equal to `40960`, the maximum value for `max_completion_tokens` is " +
			"less than the `context_window` for this model", "https://github.com/Alishahryar1/free-claude-code/issues/955"},
	{KindContextLength, `max_new_tokens\W{0,2} must be <= \d+`,
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 3000 `inputs` tokens and " +
			"8192 `max_new_tokens`", "https://github.com/huggingface/chat-ui/issues/340"},
	{KindContextLength, `prompt is too long`, "prompt is too long: 213462 tokens > 200000 maximum", sourcePi},
	{KindContextLength, `request_too_large`, "request_too_large: Request exceeds the maximum size", sourcePi},
	{KindContextLength, `input is too long for (?:the )?requested model`, "Input is too long for requested model.",
		sourcePi},
	{KindContextLength, `exceeds? the context window`, "Your input exceeds the context window of this model", sourcePi},
	{KindContextLength, `exceeds (?:the )?(?:model'?s )?maximum context length`,
		"Input length (265330) exceeds model's maximum context length (262144).", sourcePi},
	{KindContextLength, `input token count.*exceeds the maximum`,
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)", sourcePi},
	{KindContextLength, `maximum prompt length is \d+`,
		"This model's maximum prompt length is 131072 but the request contains 537812 tokens", sourcePi},
	{KindContextLength, `reduce the length of the (?:messages|prompt|input)`,
		"Please reduce the length of the messages or completion.", sourcePi},
	{KindContextLength, `maximum context length`,
		"This model's maximum context length is 8192 tokens. However, you requested 9000 output tokens.", sourcePi},
	{KindContextLength, `maximum allowed input length`,
		"Input length 140000 exceeds the maximum allowed input length of 131072 tokens.", sourcePi},
	{KindContextLength, `longer than the model'?s context length`,
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).", sourcePi},
	{KindContextLength, `prompt token count of \d+ exceeds`, "prompt token count of 140000 exceeds the limit of 128000",
		sourcePi},
	{KindContextLength, `available context size`, "the request exceeds the available context size, try increasing it",
		sourcePi},
	{KindContextLength, `greater than the context length`,
		"The number of tokens to keep from the initial prompt is greater than the context length.", sourcePi},
	{KindContextLength, `context window exceeds limit`, "invalid params, context window exceeds limit", sourcePi},
	{KindContextLength, `exceeded model token limit`,
		"Your request exceeded model token limit: 262144 (requested: 270000)",
		sourcePi},
	{KindContextLength, `too large for model with \d+ maximum context`,
		"Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length", sourcePi},
	{KindContextLength, `model_context_window_exceeded`, "model_context_window_exceeded", sourcePi},
	{KindContextLength, `prompt too long; exceeded`, "prompt too long; exceeded max context length by 400 tokens",
		sourcePi},
	{KindContextLength, `requested \d+ output tokens`,
		"you requested 8192 output tokens and your prompt contains at least 130000 input tokens", sourcePi},
	{KindContextLength, `context length is only|for a total of .*\d+ tokens`,
		"This model's context length is only 4096 tokens", "https://github.com/vllm-project/vllm/issues/20409"},
	{KindContextLength, `prompt exceeds max length|exceeds max(?:imum)? length`, "Prompt exceeds max length",
		"https://docs.z.ai/api-reference/api-code"},
	{KindContextLength, `context[_ ](?:length|size|window)`, "context_length_exceeded", sourceOpenAI},
	{KindContextLength, `range of input length should be`, "Range of input length should be [1, 129024]",
		"https://www.alibabacloud.com/help/en/model-studio/error-code"},
	{KindContextLength, `input length and .?max_tokens.? exceed`,
		"input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000, decrease input length or `max_tokens`",
		"https://github.com/anthropics/claude-code/issues/2131"},
	{KindContextLength, `too many tokens|token limit exceeded|too many input tokens`, "Too many tokens", sourcePi},

	{KindUnknownModel, `model_not_found|model not found|no such model|unknown model|invalid model|not a valid model`,
		"The model `gpt-9` does not exist or you do not have access to it.: model_not_found", sourceOpenAI},
	{KindUnknownModel, `deploymentnotfound|deployment for this resource does not exist`,
		"DeploymentNotFound: The API deployment for this resource does not exist.",
		"https://learn.microsoft.com/azure/ai-foundry/openai/how-to/create-resource"},
	{KindUnknownModel, `model .{1,200} (?:does not exist|was not found|is not found|not found|is not available)`,
		"model 'qwen9' not found, try pulling it first", "https://github.com/ollama/ollama/blob/main/docs/faq.md"},
	{KindUnknownModel, `not_found_error.*model:`, "not_found_error: model: claude-9", sourceAnthropic},
	{KindBadRequest, `can handle the requested parameters`, "No endpoints found that can handle the requested parameters.",
		"https://github.com/openstory-so/openstory/issues/1317"},
	{KindUnknownModel, `no endpoints found`, "No endpoints found for acme/none.", sourceOpenRouter},

	{KindAuth, `invalid_api_key|incorrect api key|invalid api key|invalid x-api-key|authentication`,
		"Incorrect API key provided: sk-abc. You can find your API key at https://platform.openai.com/account/api-keys.",
		sourceOpenAI},
	{KindAuth, `organization has been disabled`, "This organization has been disabled.", sourceAnthropic},
	{KindAuth, `api key not valid|no auth credentials|unauthorized|invalid (?:token|bearer)`,
		"API key not valid. Please pass a valid API key.", sourceGemini},
}

// wordingPatterns are the patterns of wordings, in their order.
var wordingPatterns = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(wordings))
	for i, w := range wordings {
		list[i] = regexp.MustCompile(w.pattern)
	}
	return list
}()

// kindOf is the kind of an answer that is not a success: by the words, as far as they fit
// the status, and else by the status. A proxy's page about a server that is down may hold
// any words.
func kindOf(status int, s said) ErrorKind {
	if s.status != 0 && status < 300 {
		status = s.status
	}
	text := s.text()
	for i, w := range wordings {
		if fitsStatus(w.kind, status) && wordingPatterns[i].MatchString(text) {
			return w.kind
		}
	}
	switch {
	case status == http.StatusPaymentRequired:
		return KindQuota
	case status == http.StatusTooManyRequests:
		return KindRateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return KindAuth
	case status == http.StatusRequestEntityTooLarge:
		return KindContextLength
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return KindTimeout
	case status < 300: // it broke off an answer that it had begun
		return KindOverloaded
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly, status == statusCancelled:
		return KindOverloaded
	}
	return KindBadRequest
}

// statusCancelled is Gemini's where it gave up a request
// (https://github.com/google-gemini/gemini-cli/issues/20309).
const statusCancelled = 499

// fitsStatus reports whether words of a kind may decide with a status.
func fitsStatus(k ErrorKind, status int) bool {
	switch k {
	case KindQuota, KindRateLimit:
		return true // Bedrock's gateways say so with 400, 424, 500 and 503
	case KindOverloaded:
		return status >= 500 || status < 300 || status == http.StatusTooManyRequests || status == http.StatusBadRequest
	case KindAuth:
		return status >= 400 && status < 500 || status < 300
	case KindContextLength: // LiteLLM and vLLM have said it with 500
		return status != http.StatusTooManyRequests && status != http.StatusUnauthorized
	case KindModeration:
		return status < 500
	}
	return status >= 400 && status < 500 || status < 300
}

// keyShape is what API keys look like. Endpoints quote them half masked too, as OpenAI
// does in "Incorrect API key provided: sk-abc***xyz".
var keyShape = regexp.MustCompile(`\b(?:sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.\-]{6,}|Bearer\s+\S+`)

// scrubText removes keys and control characters from an endpoint's words, and bounds them.
func (c *Client) scrubText(s string) string {
	if c.cfg.APIKey != "" {
		s = strings.ReplaceAll(s, c.cfg.APIKey, "***")
	}
	s = keyShape.ReplaceAllString(s, "***")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
