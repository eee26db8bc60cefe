package web_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Every page's JSON has fields with stable names; a golden file shows each.
func TestTwins(t *testing.T) {
	h := pages(t, world(t), &doer{})
	for name, path := range map[string]string{"overview": "/", "tasks": "/tasks?repo=9", "costs": "/costs",
		"escalations": "/escalations", "techniques": "/techniques?repo=9", "coders": "/coders", "patterns": "/patterns",
		"policies": "/policies", "lessons": "/lessons?repo=9", "lesson": "/lessons/9/" + string(lessonOf(bookings)),
		"installation": "/installations/1", "installations": "/installations", "attempt": "/tasks/9-1/attempts/1"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Accept", "application/json, text/plain;q=0.5")
		w := httptest.NewRecorder()
		as(admin(), h).ServeHTTP(w, r)
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, w.Body.Bytes(), "", "  "); err != nil || w.Code != http.StatusOK ||
			w.Header().Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %v, %v: %s", path, w.Code, w.Header(), err, w.Body)
		}
		golden(t, name+".json", pretty.String())
	}
	code, body := ask(t, h, admin(), "GET /tasks/20-1?format=json", "")
	if code != http.StatusNotFound || body != "{\"error\":\"There is no such page, or it is not yours to see.\"}\n" {
		t.Errorf("what isn't theirs: %d %s", code, body)
	}
}
