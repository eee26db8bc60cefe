package year_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/trial/year"
)

// database opens one that has nothing in it.
func database(t testing.TB) func(func() time.Time) (*store.Store, error) {
	return func(now func() time.Time) (*store.Store, error) {
		s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "year.db"),
			Logger: slog.New(slog.DiscardHandler), Now: now})
		if err != nil {
			return nil, err
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		_, _, err = s.Migrate(t.Context())
		return s, err
	}
}

func TestYear(t *testing.T) {
	start := time.Now()
	r, err := year.Play(t.Context(), year.Default(9090909), database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %s", r, time.Since(start))
}
