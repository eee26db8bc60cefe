package app

import (
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

// What two processes learn at the same time is kept, of either.
func TestModelMemoryOfTwo(t *testing.T) {
	dir := t.TempDir()
	one, two := NewModelMemory(dir, nil), NewModelMemory(dir, nil)
	one.keepProbed("a", llm.Probed{Name: "a"})
	two.keepProbed("b", llm.Probed{Name: "b"})
	if got := NewModelMemory(dir, nil).Probed(); len(got) != 2 {
		t.Errorf("kept %v", got)
	}
}
