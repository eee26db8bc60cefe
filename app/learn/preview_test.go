package learn

import (
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// The preview is the technique that resolved the pattern here, with its statistics; nothing is logged, and another
// repository's evidence does not count as this one's.
func TestPreview(t *testing.T) {
	s := database(t)
	ch := replica(t, s)
	first := func() (c sia.Candidate, why string) {
		t.Helper()
		ranked, why, err := ch.Preview(t.Context(), shop, sia.WrongTool, library(t), shipped(t))
		if err != nil || len(ranked) == 0 {
			t.Fatalf("%d candidates, %v", len(ranked), err)
		}
		return ranked[0], why
	}
	if c, why := first(); c.Technique != sia.ToolChange || c.Tried != 0 || !strings.Contains(why, "nobody has tried it") {
		t.Errorf("before anything was learned: %+v; %s", c, why)
	}
	for issue := 1; issue <= 12; issue++ {
		record(t, s, store.Outcome{Task: sia.NewTaskID(shop.ID, issue), Intervention: 1, Repo: shop, Pattern: sia.WrongTool,
			Technique: sia.ExampleInjection, Resolved: issue > 1, Setup: "new"})
	}
	if c, why := first(); c.Technique != sia.ExampleInjection || c.Resolved != 11 || c.Tried != 12 || why == "" {
		t.Errorf("after it resolved 11 of 12: %+v; %s", c, why)
	}
	if all, err := s.LastDecisions(t.Context(), store.SeesAll(), 0, sia.DecideTechnique, 10); err != nil || len(all) > 0 {
		t.Errorf("%d decisions were logged, %v", len(all), err)
	}
}
