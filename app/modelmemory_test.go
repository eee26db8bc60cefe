package app

import (
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

// Data that another process learned later about the same model is kept.
func TestModelMemoryKeepsWhatIsNewer(t *testing.T) {
	dir := t.TempDir()
	one, two := NewModelMemory(dir, nil), NewModelMemory(dir, nil)
	one.saveProbed("a", llm.Probed{Advice: "old"})
	two.saveProbed("a", llm.Probed{Advice: "new"})
	one.saveProbed("b", llm.Probed{})
	if got := NewModelMemory(dir, nil).Probed(); got["a"].Advice != "new" || len(got) != 2 {
		t.Errorf("kept %+v", got)
	}
}
