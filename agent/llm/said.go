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

// said is what an endpoint says of an error, in whichever form: an object of the protocol,
// that object in a list, a text in its place, FastAPI's detail, and what a gateway passes
// on from behind it.
type said struct {
	message, code, kind, param string
	status                     int           // an HTTP status in the place of a code
	wait                       time.Duration // that is asked for
	reset                      time.Time     // when a limit that is used up begins anew
}

func (s said) any() bool { return s.message != "" || s.code != "" || s.kind != "" }

// saidIn reads an error.
func saidIn(body []byte) said {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return said{}
	}
	var s said
	s.read(v, 0)
	return s
}

// read reads the first error that v holds.
func (s *said) read(v any, depth int) {
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

func (s *said) object(x map[string]any, depth int) {
	if in, ok := x["error"]; ok && in != nil {
		s.read(in, depth+1)
	}
	if in, ok := x["response"].(map[string]any); ok { // the last event of a failed answer
		s.read(in, depth+1)
	}
	for _, name := range []string{"errors", "base_resp", "message", "msg", "status_msg", "detail", "error_msg"} {
		if s.message == "" && x[name] != nil {
			s.read(x[name], depth+1)
		}
	}
	s.takeStatus(x)
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
	// OpenRouter's metadata has the words of the provider behind it.
	// https://openrouter.ai/docs/api-reference/errors
	if meta, ok := x["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" && !strings.Contains(s.message, raw) {
			s.message = strings.TrimSpace(s.message + ": " + raw)
		}
		s.takeReset(meta)
	}
}

// takeReset takes how long to wait, and when a limit that is used up begins anew, in milliseconds since 1970, from the
// headers that OpenRouter repeats in an error (https://github.com/Gitlawb/openclaude/issues/936).
func (s *said) takeReset(meta map[string]any) {
	headers, _ := meta["headers"].(map[string]any)
	if wait, ok := text.RetryAfter(fmt.Sprint(headers["Retry-After"]), time.Time{}); ok {
		s.wait = wait
	}
	at, err := strconv.ParseInt(fmt.Sprint(headers["X-RateLimit-Reset"]), 10, 64)
	if err == nil && headers["X-RateLimit-Remaining"] == "0" {
		s.reset = time.UnixMilli(at)
	}
}

// takeStatus takes the HTTP status that stands in the place of a code, or beside it: a
// number, or with MiniMax one in quotes.
func (s *said) takeStatus(x map[string]any) {
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

// aTitle is that of a page.
var aTitle = lazyregexp.New(`(?is)<title[^>]*>(.*?)</title>`)

// plainWords is what an answer that is no JSON says: its text, or a page's title.
func plainWords(body []byte) string {
	text := strings.TrimSpace(string(body))
	if !strings.HasPrefix(text, "<") {
		return text
	}
	if m := aTitle.FindStringSubmatch(text); m != nil {
		return "a page with the title " + strings.Join(strings.Fields(m[1]), " ")
	}
	return "a page instead of an answer"
}

// text is all that was said, for what looks for words in it.
func (s said) text() string {
	all := strings.ToLower(strings.Join([]string{s.code, s.kind, s.param, s.message}, " "))
	return all[:min(len(all), maxErrorBytes)]
}
