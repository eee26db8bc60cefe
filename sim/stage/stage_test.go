package stage

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Other users of the machine can neither read nor change the GitHub of a run, whatever login they use.
func TestRunIsClosed(t *testing.T) {
	reached := false
	h := Config{Closed: true}.wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	for path, open := range map[string]bool{
		"/": false, "/ada/shop/issues/1": false, "/ada/shop/comment": false, "/ada/shop/x.git/info/refs": false,
		"/login/oauth/access_token": false, "/api/v3/user": true, "/ada/shop.git/info/refs": true,
		"/ada/shop.git/git-receive-pack": true,
	} {
		reached = false
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set("Authorization", "Bearer anything")
		if h.ServeHTTP(httptest.NewRecorder(), r); reached != open {
			t.Errorf("%s is reached: %v", path, reached)
		}
	}
}

// The next run removes what a killed run left, a day later. It keeps folders that are in use, and those that other
// users may have made, or may change: they could replace one by a link during the removal.
func TestStagesLeftBehind(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	gone := exec.CommandContext(t.Context(), "true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	now, left := time.Now(), map[string]bool{"killed": false, "running": true, "young": true, "pipe": true,
		"open to others": true}
	if os.Geteuid() == 0 {
		left["another user's"] = true
	}
	for name := range left {
		dir, pid, made := filepath.Join(os.TempDir(), folderPrefix+name), gone.Process.Pid, now.Add(-2*staleAge)
		if name == "running" {
			pid = os.Getpid()
		}
		if name == "young" {
			made = now
		}
		mark := filepath.Join(dir, pidFile)
		write := func() error { return os.WriteFile(mark, []byte(strconv.Itoa(pid)), 0o600) }
		if name == "pipe" {
			write = func() error { return syscall.Mkfifo(mark, 0o600) }
		}
		if err := errors.Join(os.Mkdir(dir, 0o700), write(), os.Chtimes(mark, made, made)); err != nil {
			t.Fatal(err)
		}
		switch name {
		case "open to others":
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		case "another user's":
			if err := os.Chown(dir, 1, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	removeStale(now, slog.New(slog.DiscardHandler))
	for name, stays := range left {
		if _, err := os.Stat(filepath.Join(os.TempDir(), folderPrefix+name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}
