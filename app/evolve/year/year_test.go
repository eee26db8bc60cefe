package year_test

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/evolve/year"
	"github.com/sia-bot/sia/app/store"
)

func database(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite:" + filepath.Join(t.TempDir(), "y.db"), Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, _, err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestYear(t *testing.T) {
	start := time.Now()
	r, err := year.Play(t.Context(), database(t), year.Default(9090909))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v in %s", r, time.Since(start))
}
