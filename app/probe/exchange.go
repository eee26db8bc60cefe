package probe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia/secret"
)

// Limits on what is recorded and read of a response, in bytes.
const (
	maxRecorded = 8 << 10
	maxAnswer   = 4 << 20
)

// Exchange is a recorded request and its response, with secrets masked and bodies shortened.
type Exchange struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Request string            `json:"request,omitempty"`
	Status  int               `json:"status"`
	Header  map[string]string `json:"header,omitempty"`
	Answer  string            `json:"answer,omitempty"`
}

// recordedHeaders are the headers that facts are about.
var recordedHeaders = [...]string{"ETag", "Link", "Location", "Retry-After", "X-Accepted-GitHub-Permissions",
	"X-GitHub-Api-Version-Selected", "X-GitHub-Enterprise-Version", "X-GitHub-Request-Id", "X-RateLimit-Limit",
	"X-RateLimit-Remaining", "X-RateLimit-Resource", "X-RateLimit-Used"}

// Answer is a response.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	asked  string // method and path
	sent   []byte // request body
	value  any    // decoded body, if it is JSON
}

// exchange converts an answer to its recorded form.
func (a Answer) exchange(masker *secret.Masker) Exchange {
	method, path, _ := strings.Cut(a.asked, " ")
	x := Exchange{Method: method, Path: path, Request: recorded(masker, a.sent), Status: a.Status,
		Answer: recorded(masker, a.Body), Header: map[string]string{}}
	for _, name := range recordedHeaders {
		if v := a.Header.Get(name); v != "" {
			x.Header[name] = masker.Mask(v)
		}
	}
	return x
}

// recorded masks before it shortens, because a part of a secret is not recognized.
func recorded(masker *secret.Masker, body []byte) string {
	masked := string(masker.MaskJSON(body))
	if len(masked) > maxRecorded {
		masked = fmt.Sprintf("%s… (%d bytes)", masked[:maxRecorded], len(body))
	}
	return strings.ToValidUTF8(masked, "")
}

// At returns the value at a path of names and indices such as "labels.0.name", or nil if there is none.
func (a Answer) At(path string) any { return valueAt(a.value, path) }

func valueAt(v any, path string) any {
	if path == "" {
		return v
	}
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(x) {
				return nil
			}
			v = x[n]
		default:
			return nil
		}
	}
	return v
}

// Has reports whether a path exists, even with the value null.
func (a Answer) Has(path string) bool {
	dot := strings.LastIndexByte(path, '.')
	o, is := valueAt(a.value, path[:max(0, dot)]).(map[string]any)
	_, has := o[path[dot+1:]]
	return is && has
}

// Str returns the value at a path as text; missing or null: "".
func (a Answer) Str(path string) string { return text(a.At(path)) }

func text(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case string:
		return x
	case json.Number:
		return x.String()
	}
	b, _ := json.Marshal(v) // decoded JSON can be encoded
	return string(b)
}

// Int returns the number at a path, or 0 if there is none.
func (a Answer) Int(path string) int64 {
	n, err := strconv.ParseInt(a.Str(path), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// List returns the list at a path.
func (a Answer) List(path string) []any {
	l, _ := a.At(path).([]any)
	return l
}

// Each returns the value at path of each element of a list, as text.
func (a Answer) Each(list, path string) (all []string) {
	for _, e := range a.List(list) {
		all = append(all, text(valueAt(e, path)))
	}
	return all
}

// String summarizes the answer on one line.
func (a Answer) String() string {
	said := a.Str("message")
	if said == "" && len(a.List("errors")) > 0 {
		said = a.Str("errors.0.message")
	}
	for _, e := range a.List("errors") {
		more, is := e.(string)
		if !is {
			more = text(valueAt(e, "message"))
		}
		if a.Str("message") != "" && more != "" {
			said += "; " + more
		}
	}
	if said == "" {
		return fmt.Sprintf("%d to %s", a.Status, a.asked)
	}
	return fmt.Sprintf("%d to %s: %s", a.Status, a.asked, said)
}
