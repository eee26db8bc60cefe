package replay

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Checked is the result of verifying tasks again.
type Checked struct {
	Held  []string          // ids
	Gone  map[string]string // id → what no longer holds
	Stuck map[string]string // id → why it could not run
}

// Check verifies tasks again, with two runs of each tree.
func Check(ctx context.Context, s MineSpec, tasks []Task, told func(Task, string)) (Checked, error) {
	out := Checked{Gone: map[string]string{}, Stuck: map[string]string{}}
	p := newPair(newRunner(s.Box, s.History, s.Folder, s.Hosts, s.Within), filepath.Join(s.Folder.cache(), "trees-check"))
	if err := os.MkdirAll(s.Folder.cache(), 0o700); err != nil {
		return out, fmt.Errorf("check tasks: %w", err)
	}
	for _, t := range tasks {
		why, err := p.holds(ctx, t)
		switch {
		case ctx.Err() != nil:
			return out, context.Cause(ctx)
		case err != nil:
			out.Stuck[t.ID] = err.Error()
		case why != "":
			out.Gone[t.ID] = why
		default:
			out.Held = append(out.Held, t.ID)
		}
		if told != nil {
			told(t, why)
		}
	}
	return out, nil
}
