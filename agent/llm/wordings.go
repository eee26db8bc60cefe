package llm

import (
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxMessage is the maximum size of an endpoint's message in an error, in bytes.
const maxMessage = 500

// wording maps an endpoint's error message to a kind.
type wording struct {
	kind    ErrorKind
	pattern string // of code, type, parameter and message, in lower case
}

// wordings are matched in this order; the first match decides. Waiting does not help an account without money, nor a
// shorter conversation one that is throttled, even if the messages mention tokens. Real messages, with their sources,
// are in testdata/wordings.txt.
var wordings = []wording{
	// These contain the model's own text, so they are matched first.
	{KindMalformed, `failed to parse input at pos \d|error parsing tool call`},

	{KindRateLimit, `please retry in [\d.]+ ?m?s`},
	{KindQuota, `insufficient_quota|exceeded your current quota, please check your plan and billing`},
	{KindQuota, `billing_hard_limit`},
	{KindQuota, `insufficient (?:credits|balance|funds)`},
	{KindQuota, `credit balance is too low`},
	{KindQuota, `requires more credits|can only afford`},
	{KindQuota, `out of credits|no credits left|credits? (?:have|has) been exhausted|used all available credits`},
	{KindQuota, `billing_error|payment required`},
	{KindQuota, `no resource package|please recharge`},
	{KindQuota, `arrearage|account is in good standing`},
	{KindQuota, `monthly (?:usage|spend\w*) limit|key limit exceeded|included credits`},
	{KindQuota, `api usage limits|extra usage is required`},
	{KindQuota, `n.t have any credits`},
	{KindQuota, `budget_?(?: has been )?exceeded|exceeded ?budget|crossed budget|over budget`},
	{KindQuota, `insufficient quota|quota_exceeded|quota (?:has been )?exhausted`},

	{KindRateLimit, `throttl`},
	{KindRateLimit, `rate[_ -]?limit`},
	{KindRateLimit, `too many requests`},
	{KindRateLimit, `per (?:minute|min\b|day|second|hour)`},
	{KindRateLimit, `\b[trip]pm\b|\brpd\b|\btpd\b`},
	{KindRateLimit, `too many tokens, please wait`},
	{KindRateLimit, `resource_exhausted|resource has been exhausted`},
	{KindRateLimit, `high concurrency|frequency limit|too frequent`},
	{KindRateLimit, `concurrency (?:limit|reached)|max organization concurrency`},

	{KindOverloaded, `overloaded`},
	{KindOverloaded, `service[_ ]unavailable|temporarily unavailable|server[_ ]is[_ ]busy|engine is currently`},
	{KindOverloaded, `loading model`},

	{KindMalformed, `tool_use_failed|failed to call a function|failed_generation|tool call validation failed`},
	{KindMalformed, `valid tool call`},
	{KindMalformed, `json_validate_failed|failed to (?:generate|parse) json`},
	{KindNoTools, `(?:does not|doesn't|do not|not) support (?:tools|tool use|tool calling|function)|support tool use|` +
		`enable-auto-tool-choice|tools? (?:param|is|are) (?:requires|not supported)`},

	{KindBadRequest, `unexpected endpoint or method`},
	{KindDialect, `/v1/responses|v1/messages|responses api`},
	{KindDialect, `unsupported_api_for_model|not accessible via the /|not support the .?/v1/`},
	{KindDialect, `use (?:the )?/v1/chat/completions|did you mean to use v1/chat/completions`},

	{KindModeration, `content[_ ]?policy|content management policy|content_filter`},
	{KindModeration, `flagged|moderation`},
	{KindModeration, `inappropriate content|data_inspection_failed|content exists risk|sensitive content`},
	{KindModeration, `considered high risk`},
	{KindModeration, `usage guidelines|violat\w+ (?:our|the) (?:usage )?polic`},

	{KindBadRequest, `max_(?:completion_)?tokens\W{0,2} must be less than or equal to`},
	{KindContextLength, `max_new_tokens\W{0,2} must be <= \d+`},
	{KindContextLength, `prompt is too long`},
	{KindContextLength, `request_too_large`},
	{KindContextLength, `input is too long for (?:the )?requested model`},
	{KindContextLength, `input token count.*exceeds the maximum`},
	{KindContextLength, `maximum prompt length is \d+`},
	{KindContextLength, `reduce the length of the (?:messages|prompt|input)`},
	{KindContextLength, `maximum allowed input length|exceeds maximum (?:sequence|input) length`},
	{KindContextLength, `should not exceed max_(?:num_tokens|seq_len)`},
	{KindContextLength, `prompt token count of \d+ exceeds`},
	{KindContextLength, `exceeded model token limit`},
	{KindContextLength, `too large for model with \d+ maximum context`},
	{KindContextLength, `prompt too long; exceeded`},
	{KindContextLength, `requested \d+ output tokens`},
	{KindContextLength, `context length is only|for a total of .*\d+ tokens`},
	{KindContextLength, `longer than the maximum model length`},
	{KindContextLength, `max_tokens must be at least 1, got -\d`},
	{KindContextLength, `default_max_tokens\W.{0,20}(?:should|must) be greater than 0`},
	{KindContextLength, `prompt exceeds max length|exceeds max(?:imum)? length`},
	{KindContextLength, `context[_ ](?:length|size|window)`},
	{KindContextLength, `context shift is disabled`},
	{KindContextLength, `range of input length should be`},
	{KindContextLength, `input length and .?max_tokens.? exceed`},
	{KindContextLength, `too many tokens|token limit exceeded|too many input tokens`},

	{KindBadRequest, `jinja exception`},

	{KindUnknownModel, `model_not_found|model not found|no such model|unknown model|invalid model|not a valid model`},
	{KindUnknownModel, `deploymentnotfound|deployment for this resource does not exist`},
	{KindUnknownModel, `model .{1,200} (?:does not exist|was not found|is not found|not found|is not available)`},
	{KindUnknownModel, `not_found_error.*model:`},
	{KindBadRequest, `can handle the requested parameters`},
	{KindUnknownModel, `no endpoints found`},

	{KindAuth, `invalid_api_key|incorrect api key|invalid api key|invalid x-api-key|authentication`},
	{KindAuth, `organization has been disabled`},
	{KindAuth, `api key not valid|no auth credentials|unauthorized|invalid (?:token|bearer)`},
}

// wordingPatterns are the patterns of wordings, in the same order.
var wordingPatterns = patternsOf(wordings, func(w wording) string { return w.pattern })

// patternsOf compiles the patterns of a list.
func patternsOf[T any](list []T, pattern func(T) string) []*lazyregexp.Regexp {
	patterns := make([]*lazyregexp.Regexp, len(list))
	for i, one := range list {
		patterns[i] = lazyregexp.New(pattern(one))
	}
	return patterns
}

// kindOf classifies a failed response: by the message if it fits the status, and else by the status. A proxy's error
// page can contain any text.
func kindOf(status int, s errorBody) ErrorKind {
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
	case status < 300: // an answer that broke off
		return KindOverloaded
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly, status == statusCancelled:
		return KindOverloaded
	}
	return KindBadRequest
}

// KindOf classifies a failed response by its status only.
func KindOf(status int) ErrorKind { return kindOf(status, errorBody{}) }

// statusCancelled is Gemini's status for a canceled request (https://github.com/google-gemini/gemini-cli/issues/20309).
const statusCancelled = 499

// fitsStatus reports whether a message of a kind is trusted with a status.
func fitsStatus(k ErrorKind, status int) bool {
	switch k {
	case KindQuota, KindRateLimit:
		return true // Bedrock's gateways use 400, 424, 500 and 503
	case KindOverloaded:
		return status >= 500 || status < 300 || status == http.StatusTooManyRequests || status == http.StatusBadRequest
	case KindAuth:
		return status >= 400 && status < 500 || status < 300
	case KindContextLength: // LiteLLM and vLLM have used 500
		return status != http.StatusTooManyRequests && status != http.StatusUnauthorized
	case KindModeration:
		return status < 500
	case KindNoTools, KindMalformed, KindBadRequest: // llama.cpp and Ollama use 500
		return status <= http.StatusNotImplemented
	}
	return status >= 400 && status < 500 || status < 300
}

// keyShape matches API keys, including half masked ones, as in OpenAI's "Incorrect API key provided: sk-abc***xyz".
var keyShape = lazyregexp.New(`\b(?:sk|pk|rk|key|gsk|xai)-[A-Za-z0-9_*.\-]{6,}|Bearer\s+\S+`)

// minSecret is the minimum size of an API key that is masked, in bytes. Servers without authentication are given "x",
// "key" or "token", which are words in their messages.
const minSecret = 6

// scrubText removes keys and control characters from an endpoint's message, makes it one line, and truncates it.
func (c *Client) scrubText(s string) string {
	if len(c.cfg.APIKey) >= minSecret {
		s = strings.ReplaceAll(s, c.cfg.APIKey, "***")
	}
	s = keyShape.ReplaceAllString(s, "***")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
