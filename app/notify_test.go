package app_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/sia-bot/sia/app/notify"
	"github.com/sia-bot/sia/sim/apptest"
)

// When a task needs a user, a chat is notified once, with links to the issue and to SIA's page, also if SIA is
// restarted.
func TestChatIsTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []string
	chat := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, m.Text)
	}))
	defer chat.Close()
	// The model has no answer, so the issue can't be resolved.
	s := apptest.Start(t,
		apptest.Config{Pages: "https://sia.example.com", Notify: notify.Config{URL: chat.URL + "/services/abcdefghijkl"}})
	open(t, s, "Greet the customers")
	s.Settle()
	for range 2 {
		check(t, s.App.Periodic(t.Context(), "notify"))
		check(t, s.App.Periodic(t.Context(), "notify"))
		s.Restart()
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told) != 1 {
		t.Fatalf("told %d times: %q", len(told), told)
	}
	for _, want := range []string{"SIA needs a person: " + apptest.Repo + "#1\nGreet the customers\n", "/sia resume",
		"/" + apptest.Repo + "/issues/1\n", "https://sia.example.com/tasks/"} {
		if !strings.Contains(told[0], want) {
			t.Errorf("no %q in %s", want, told[0])
		}
	}
}
