package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/store/storetest"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// A proof reports its evidence, and what would be more conclusive if it has none.
func TestShowProof(t *testing.T) {
	s := storetest.Open(t, store.Config{URL: t.TempDir() + "/sia.db"})
	l := lesson.NewTaught(7, "x", "Say hello.", sia.Actor{Login: "ada"}, sia.Task{}, time.Now())
	if err := s.PutLessons(t.Context(), 7, l); err != nil {
		t.Fatal(err)
	}
	for want, out := range map[string]provedLesson{
		"That counts 4 for the lesson.":             {Evidence: lesson.Evidence{Good: 4}},
		"That counts 2 against the lesson.":         {Evidence: lesson.Evidence{Bad: 2}},
		"it takes 5 tasks to settle anything.":      {Tasks: []string{"a", "b"}},
		"It is active, with a confidence of":        {Tasks: []string{"a", "b"}, Evidence: lesson.Evidence{Why: "2 tasks"}},
		"it may be chance. More --tasks would tell": {Tasks: strings.Split("a b c d e", " ")},
	} {
		var said strings.Builder
		out.Lesson = l.ID
		if err := (&lessonsProveCmd{}).show(&cli.Env{Ctx: t.Context(), Out: &said}, s, 7, out); err != nil ||
			!strings.Contains(said.String(), want) {
			t.Errorf("%v, want %q: %s", err, want, said.String())
		}
	}
}
