package app

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"github.com/sia-bot/sia/agent/llm"
)

// Data learned by several processes at the same time is all kept.
func TestModelMemoryOfSeveral(t *testing.T) {
	const processes, each = 8, 12
	dir := t.TempDir()
	var all sync.WaitGroup
	for p := range processes {
		m := NewModelMemory(dir, nil)
		all.Go(func() {
			for n := range each {
				key := fmt.Sprintf("%d %d", p, n)
				m.saveProbed(key, llm.Probed{Name: key})
			}
		})
	}
	all.Wait()
	if got := NewModelMemory(dir, nil).Probed(); len(got) != processes*each {
		t.Errorf("kept %d of %d", len(got), processes*each)
	}
}

// A process stopped in the middle of writing does not block others for long.
func TestModelMemoryThatIsHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	held, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	NewModelMemory(dir, nil).saveProbed("a", llm.Probed{Name: "a"})
	if got := NewModelMemory(dir, nil).Probed(); len(got) != 1 {
		t.Errorf("kept %v", got)
	}
}

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
