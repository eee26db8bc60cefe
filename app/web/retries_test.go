package web_test

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/sia"
)

// A task's page names the steps that fail, and the last error without secrets.
func TestTaskSaysWhatFails(t *testing.T) {
	s := world(t)
	id := string(sia.NewTaskID(bookings.ID, 6))
	_, err := storetest.Raw(t, "sqlite:"+s.Files()[0]).Exec(`UPDATE effects SET tries = 2, error = ?, state = 'pending'
		WHERE key = (SELECT min(key) FROM effects WHERE task_id = ?)`, "no <answer> to ghp_"+strings.Repeat("a1B2", 9), id)
	ok(t, err)
	h := pages(t, s, &doer{})
	for address, want := range map[string]string{
		"GET /tasks/" + id:                  "failed 2 times",
		"GET /tasks/" + id + "?format=json": `"tries":2,"error":"no `,
	} {
		if _, body := ask(t, h, member(), address, ""); !strings.Contains(body, want) || strings.Contains(body, "ghp_") ||
			strings.Contains(body, "<answer>") {
			t.Errorf("%s: no %q in\n%s", address, want, body)
		}
	}
}
