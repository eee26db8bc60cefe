package llm

import (
	"net/http"
	"regexp"
	"strings"
)

// maxMessage bounds the endpoint's words in an error, in bytes.
const maxMessage = 500

// kindOf is the kind of an answer that is not a success. Codes are OpenAI's
// (https://platform.openai.com/docs/guides/error-codes). Compatible servers say the
// same in the other words.
func kindOf(status int, code, message string) ErrorKind {
	text := strings.ToLower(code + " " + message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusPaymentRequired,
		has("insufficient_quota", "billing_hard_limit", "insufficient credits", "insufficient balance"):
		return KindQuota
	case status == http.StatusTooManyRequests:
		return KindRateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden, has("invalid_api_key"):
		return KindAuth
	case status == http.StatusRequestEntityTooLarge,
		status < 500 && has("context_length", "context length", "maximum context", "context window", "context size",
			"prompt is too long", "too many tokens"):
		return KindContextLength
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return KindTimeout
	case status < 300: // it broke off an answer that it had begun
		return KindOverloaded
	case status >= 500, status == http.StatusConflict, status == http.StatusTooEarly:
		return KindOverloaded
	}
	return KindBadRequest
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
