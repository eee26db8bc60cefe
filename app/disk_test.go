package app_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
)

// A server is not ready while its folder's disk has too little free space.
func TestNotReadyWithoutSpace(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, store.Config{})
	for free, want := range map[int64]string{
		app.MinFree: "ready\n", app.MinFree - 1: "disk: 1023 MiB are free", 0: "disk: 0 MiB",
	} {
		w := httptest.NewRecorder()
		app.ReadyOf(s, free).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		if ok := w.Code == http.StatusOK; ok != (free >= app.MinFree) || !strings.HasPrefix(w.Body.String(), want) {
			t.Errorf("with %d bytes free: %d %s", free, w.Code, w.Body)
		}
	}
	if free, err := app.FreeSpace(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("%d bytes are free: %v", free, err)
	}
	if _, err := app.FreeSpace(t.TempDir() + "/none"); err == nil {
		t.Error("a folder that there is not has free space")
	}
}
