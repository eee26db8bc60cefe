package llm

import (
	"encoding/json"
	"fmt"
	"strings"
)

// said is what an endpoint says of an error, in whichever form: an object of the protocol,
// that object in a list, a text in its place, FastAPI's detail, and what a gateway passes
// on from behind it.
type said struct {
	message, code, kind, param string
	status                     int // an HTTP status in the place of a code
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
	for _, name := range []string{"message", "msg", "detail"} {
		if s.message == "" && x[name] != nil {
			s.read(x[name], depth+1)
		}
	}
	for name, to := range map[string]*string{"code": &s.code, "type": &s.kind, "param": &s.param, "status": &s.kind} {
		switch c := x[name].(type) {
		case string:
			if *to == "" && c != "error" {
				*to = c
			}
		case float64:
			if name == "code" && s.code == "" {
				if s.code = fmt.Sprint(int(c)); c >= 400 && c < 600 {
					s.status = int(c)
				}
			}
		}
	}
	// OpenRouter's metadata has the words of the provider behind it.
	// https://openrouter.ai/docs/api-reference/errors
	if meta, ok := x["metadata"].(map[string]any); ok {
		if raw, ok := meta["raw"].(string); ok && raw != "" && !strings.Contains(s.message, raw) {
			s.message = strings.TrimSpace(s.message + ": " + raw)
		}
	}
}

// text is all that was said, for what looks for words in it.
func (s said) text() string {
	return strings.ToLower(strings.Join([]string{s.code, s.kind, s.param, s.message}, " "))
}
