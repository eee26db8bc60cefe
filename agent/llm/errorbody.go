package llm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// errorBody is an endpoint's error, in any form: an object of the protocol, that object in a list, a string, FastAPI's
// detail, or an error that a gateway passes on.
type errorBody struct {
	message, code, kind, param string
	status                     int           // HTTP status instead of a code
	wait                       time.Duration // requested wait
	reset                      time.Time     // when an exhausted limit resets
}

func (s errorBody) isPresent() bool { return s.message != "" || s.code != "" || s.kind != "" }

// parseErrorBody parses an error.
func parseErrorBody(body []byte) errorBody {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return errorBody{}
	}
	var s errorBody
	s.read(v, 0)
	return s
}

// read reads the first error in v.
func (s *errorBody) read(v any, depth int) {
	if depth > 6 {
		return
	}
	switch x := v.(type) {
	case string:
		if s.message == "" {
			s.message = x
		}
	case []any:
		for _, one := range x {
			s.read(one, depth+1)
		}
	case map[string]any:
		s.object(x, depth)
	}
}

func (s *errorBody) object(x map[string]any, depth int) {
	if in, ok := x["error"]; ok && in != nil {
		s.read(in, depth+1)
	}
	if in, ok := x["response"].(map[string]any); ok { // last event of a failed answer
		s.read(in, depth+1)
	}
	for _, name := range []string{"errors", "base_resp", "message", "msg", "status_msg", "detail", "error_msg"} {
		if s.message == "" && x[name] != nil {
			s.read(x[name], depth+1)
		}
	}
	s.readStatus(x)
	for _, field := range []struct {
		name string
		to   *string
	}{{"code", &s.code}, {"type", &s.kind}, {"status", &s.kind}, {"param", &s.param}} {
		if c, ok := x[field.name].(string); ok && *field.to == "" && c != "error" {
			*field.to = c
		}
	}
	if at, ok := x["loc"].([]any); ok && s.param == "" { // FastAPI's: ["body", "max_completion_tokens"]
		s.param = strings.Trim(fmt.Sprint(at), "[]")
	}
	if wait, ok := x["retryDelay"].(string); ok { // Gemini's: "31s"
		s.wait, _ = time.ParseDuration(wait)
	}
	if details, ok := x["details"].([]any); ok {
		s.read(details, depth+1)
	}
	if n, ok := x["n_ctx"].(float64); ok { // llama.cpp's
		s.message += fmt.Sprintf(" (n_ctx: %.0f)", n)
	}
	// OpenRouter's metadata has the message of the provider. https://openrouter.ai/docs/api-reference/errors
	if meta, ok := x["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" && !strings.Contains(s.message, raw) {
			s.message = strings.TrimSpace(s.message + ": " + raw)
		}
		s.readReset(meta)
	}
}

// readReset reads the requested wait, and when an exhausted limit resets, in milliseconds since 1970, from the headers
// that OpenRouter repeats in an error (https://github.com/Gitlawb/openclaude/issues/936).
func (s *errorBody) readReset(meta map[string]any) {
	headers, _ := meta["headers"].(map[string]any)
	if wait, ok := text.RetryAfter(fmt.Sprint(headers["Retry-After"]), time.Time{}); ok {
		s.wait = wait
	}
	at, err := strconv.ParseInt(fmt.Sprint(headers["X-RateLimit-Reset"]), 10, 64)
	if err == nil && headers["X-RateLimit-Remaining"] == "0" {
		s.reset = time.UnixMilli(at)
	}
}

// readStatus reads an HTTP status instead of or next to a code: a number, or with MiniMax a string.
func (s *errorBody) readStatus(x map[string]any) {
	for _, name := range []string{"code", "status_code", "http_code", "status"} {
		n, ok := x[name].(float64)
		if text, is := x[name].(string); is && name == "http_code" {
			v, err := strconv.Atoi(text)
			n, ok = float64(v), err == nil
		}
		if !ok {
			continue
		}
		if s.code == "" && name != "status" {
			s.code = fmt.Sprint(int(n))
		}
		if s.status == 0 && n >= 400 && n < 600 {
			s.status = int(n)
		}
	}
}

// htmlTitle matches the title of an HTML page.
var htmlTitle = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)

// bodyText returns the message in a body that is not JSON: its text, or a page's title.
func bodyText(body []byte) string {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "<") {
		return text
	}
	if m := htmlTitle.FindStringSubmatch(text); m != nil {
		return "a page with the title " + strings.Join(strings.Fields(m[1]), " ")
	}
	return "a page instead of an answer"
}

// text returns all parts of the error in lower case, for matching.
func (s errorBody) text() string {
	all := strings.ToLower(strings.Join([]string{s.code, s.kind, s.param, s.message}, " "))
	return all[:min(len(all), maxErrorBytes)]
}
