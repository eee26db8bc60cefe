package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/vektah/gqlparser/v2/ast"
)

// Validator collects violations of GitHub's descriptions. It may be used
// concurrently.
type Validator struct {
	doc    *description
	schema *ast.Schema

	mu         sync.Mutex
	violations []string
	seen       map[string]int // how often each operation or event was checked
}

// New makes a validator for a test; violations fail the test at its end.
func New(t testing.TB) *Validator {
	t.Helper()
	doc, err := loadDescription()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadSchemas(); err != nil {
		t.Fatal(err)
	}
	schema, err := loadGraphQL()
	if err != nil {
		t.Fatal(err)
	}
	v := &Validator{doc: doc, schema: schema, seen: map[string]int{}}
	t.Cleanup(func() { v.Check(t) })
	return v
}

// Check fails the test with the violations found since it was last called.
func (v *Validator) Check(t testing.TB) {
	t.Helper()
	v.mu.Lock()
	found := v.violations
	v.violations = nil
	v.mu.Unlock()
	for i, x := range found {
		if i == 20 {
			t.Errorf("… and %d more violations", len(found)-i)
			break
		}
		t.Errorf("not as GitHub describes it: %s", x)
	}
}

// Checked is how often each operation ("GET /repos/{owner}/{repo}") and event ("issues.opened") was checked.
func (v *Validator) Checked() map[string]int {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := map[string]int{}
	for k, n := range v.seen {
		m[k] = n
	}
	return m
}

func (v *Validator) violation(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

func (v *Validator) count(what string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seen[what]++
}

// base is the REST path of GitHub Enterprise Server.
const base = "/api/v3"

// graphqlPath is its GraphQL path.
const graphqlPath = "/api/graphql"

// Middleware checks each REST request below /api/v3/ and each GraphQL request, and its answer. 5xx answers count as
// faults and are not checked.
func (v *Validator) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, isREST := strings.CutPrefix(r.URL.EscapedPath(), base+"/")
		if r.URL.Path == graphqlPath || path == "graphql" {
			v.graphql(next, w, r)
			return
		}
		if !isREST {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		asked := r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		rec := &recorder{ResponseWriter: w, code: http.StatusOK}
		next.ServeHTTP(rec, r)
		v.exchange(asked, "/"+path, body, rec)
	})
}

// recorder forwards an answer and keeps a copy.
type recorder struct {
	http.ResponseWriter
	code int
	body bytes.Buffer
}

func (r *recorder) WriteHeader(code int) {
	r.code = code
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	r.body.Write(b)
	return r.ResponseWriter.Write(b)
}

// exchange checks one request and its answer.
func (v *Validator) exchange(r *http.Request, path string, body []byte, rec *recorder) {
	name := r.Method + " " + path
	if rec.code >= 500 {
		return
	}
	if strings.HasPrefix(path, "/repositories/") {
		return // GitHub's redirects lead there, and its description omits it
	}
	route, params, err := v.doc.find(r.Method, path)
	if err != nil {
		v.violation("%s: %v", name, err)
		return
	}
	if route == nil {
		v.violation("%s: GitHub has no such operation", name)
		return
	}
	v.count(r.Method + " " + route.Path)
	asked := r.Clone(r.Context())
	asked.URL.Path = path
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) {
		body = nil // go-github sends it for absent options; GitHub treats it as no body
	}
	if strings.HasSuffix(route.Path, "/labels") && bytes.HasPrefix(body, []byte("[")) {
		body = fmt.Appendf(nil, `{"labels":%s}`, body) // the description's text, not its schema, permits a bare list
	}
	asked.Body, asked.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if len(body) > 0 && asked.Header.Get("Content-Type") == "" {
		asked.Header.Set("Content-Type", "application/json")
	}
	in := &openapi3filter.RequestValidationInput{Request: asked, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			SkipSettingDefaults: true}}
	if strings.HasSuffix(route.Path, "/pulls/{pull_number}/comments") && bytes.Contains(body, []byte(`"in_reply_to"`)) {
		in.Options.ExcludeRequestBody = true // the description's text, not its schema: only body is used then
	}
	if rec.code < 400 { // GitHub's refusals may deviate from its description
		if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil &&
			!(len(body) == 0 && route.Operation.RequestBody != nil) {
			v.violation("request %s: %s: %s", name, short(err), clip(body))
		}
	}
	v.answer(name, in, rec)
}

func (v *Validator) answer(name string, in *openapi3filter.RequestValidationInput, rec *recorder) {
	body := rec.body.Bytes()
	documented := in.Route.Operation.Responses.Status(rec.code) != nil
	switch {
	case rec.code == http.StatusNotModified:
		return
	case rec.code == http.StatusMovedPermanently, rec.code == http.StatusTemporaryRedirect:
		return // according to the guide, any request for a renamed repository may be redirected
	case !documented && rec.code < 400:
		v.violation("answer %s: status %d is not described", name, rec.code)
		return
	case !documented:
		var e struct {
			Message       string `json:"message"`
			Documentation string `json:"documentation_url"`
		}
		if err := json.Unmarshal(body, &e); err != nil || e.Message == "" || e.Documentation == "" {
			v.violation("answer %s: status %d without message and documentation_url: %s", name, rec.code, clip(body))
		}
		return
	}
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain") {
		return
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: rec.code, Header: rec.Header(),
		Body: io.NopCloser(bytes.NewReader(body)), Options: in.Options}
	if err := openapi3filter.ValidateResponse(in.Request.Context(), out); err != nil {
		v.violation("answer %s, status %d: %s: %s", name, rec.code, short(err), clip(body))
	}
}

// short is an error without the schema and value that kin-openapi appends.
func short(err error) string {
	s := err.Error()
	if s, _, cut := strings.Cut(s, "\nSchema:"); cut {
		return strings.ReplaceAll(s, "\n", " ")
	}
	return clip([]byte(s))
}

func clip(b []byte) string {
	if len(b) > 600 {
		return string(b[:600]) + "…"
	}
	return string(b)
}
