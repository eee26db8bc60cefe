//test:thorough
package conformance

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// failures records a validator's reports in place of a test.
type failures struct {
	testing.TB
	found []string
}

func (f *failures) Helper() {}
func (f *failures) Errorf(format string, args ...any) {
	f.found = append(f.found, strings.TrimSpace(format))
	for _, a := range args {
		if s, is := a.(string); is {
			f.found = append(f.found, s)
		}
	}
}

func TestViolationsAreFound(t *testing.T) {
	answer := func(code int, body string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(code)
			io.WriteString(w, body)
		})
	}
	const label = `{"id":1,"node_id":"x","url":"http://h/x","name":"bug","color":"ffffff","default":true,` +
		`"description":null}`
	for name, c := range map[string]struct {
		method, path, body string
		code               int
		answer             string
		want               string // part of the violation; empty: none
	}{
		"good":          {"GET", "/api/v3/repos/a/b/labels/bug", "", 200, label, ""},
		"missing field": {"GET", "/api/v3/repos/a/b/labels/bug", "", 200, `{"id":1}`, "is missing"},
		"wrong type": {"GET", "/api/v3/repos/a/b/labels/bug", "", 200, strings.Replace(label, "true", `"yes"`, 1),
			"boolean"},
		"no such operation":     {"GET", "/api/v3/repos/a/b/lables", "", 200, "[]", "no such operation"},
		"bad request":           {"POST", "/api/v3/repos/a/b/labels", `{"color":"ffffff"}`, 201, label, "name"},
		"undescribed status":    {"GET", "/api/v3/repos/a/b/labels/bug", "", 202, label, "not described"},
		"bare error":            {"GET", "/api/v3/repos/a/b/labels/bug", "", 410, `{}`, "without message"},
		"a fault":               {"GET", "/api/v3/repos/a/b/labels/bug", "", 502, `oops`, ""},
		"a ref with slashes":    {"GET", "/api/v3/repos/a/b/git/matching-refs/heads/x/y", "", 200, "[]", ""},
		"the root of a tree":    {"GET", "/api/v3/repos/a/b/contents/", "", 200, "[]", ""},
		"not of the API":        {"GET", "/a/b", "", 200, "<html>", ""},
		"not modified":          {"GET", "/api/v3/repos/a/b/labels/bug", "", 304, "", ""},
		"labels as a bare list": {"POST", "/api/v3/repos/a/b/issues/1/labels", `["bug"]`, 200, "[" + label + "]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := &failures{TB: t}
			v := New(t)
			r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
			v.Middleware(answer(c.code, c.answer)).ServeHTTP(httptest.NewRecorder(), r)
			v.Check(f)
			got := strings.Join(f.found, " ")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

func TestWebhookViolationsAreFound(t *testing.T) {
	v := New(t)
	for event, payload := range map[string]string{"issues": `{"action":"opened"}`, "nonsense": `{}`, "ping": `{`} {
		f := &failures{TB: t}
		v.Webhook(event, []byte(payload))
		v.Check(f)
		if len(f.found) == 0 {
			t.Errorf("%s %s passed", event, payload)
		}
	}
	h := v.Webhooks(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err != nil || string(b) != `{"zen":"x"}` {
			t.Errorf("the handler read %q, %v", b, err)
		}
	}))
	r := httptest.NewRequest("POST", "/hook", strings.NewReader(`{"zen":"x"}`))
	r.Header.Set("X-GitHub-Event", "ping")
	h.ServeHTTP(httptest.NewRecorder(), r)
	f := &failures{TB: t}
	v.Check(f)
	if len(f.found) == 0 || v.Checked()["ping"] != 1 {
		t.Errorf("found %v, checked %v", f.found, v.Checked())
	}
}
