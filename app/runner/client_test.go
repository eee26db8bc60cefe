package runner_test

import (
	"testing"

	"github.com/sia-bot/sia/app/runner"
)

// A runner uses plain HTTP to its own machine only, unless --plain-http allows more.
func TestPlainHTTP(t *testing.T) {
	for server, fits := range map[string]bool{"https://sia.example.com": true, "http://127.0.0.1:8080/": true,
		"http://localhost": true, "http://[::1]:1": true, "http://sia.example.com": false, "http://10.0.0.1": false,
		"sia.example.com": false, "ftp://sia.example.com": false, "https://user@sia.example.com": false} {
		if _, err := runner.NewClient(server, false); (err == nil) != fits {
			t.Errorf("%s: %v", server, err)
		}
	}
	if _, err := runner.NewClient("http://sia.example.com", true); err != nil {
		t.Error(err)
	}
}
