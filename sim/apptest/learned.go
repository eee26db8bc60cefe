package apptest

import (
	"context"
	"errors"
	"strconv"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// learned records the results of a technique in earlier tasks of the repository, from "<pattern> <technique> <n> of
// <m>".
func (p *player) learned(f []string) error {
	if len(f) != 5 || f[3] != "of" {
		return errors.New("write for example: learned wrong-tool tool-change 7 of 9")
	}
	resolved, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	tried, err := strconv.Atoi(f[4])
	if err != nil {
		return err
	}
	repos, err := p.App.Store.Repositories(context.Background(), 0)
	if err != nil {
		return err
	}
	p.earlier += tried
	for i := range tried {
		if _, err := p.App.Store.RecordOutcome(context.Background(), store.Outcome{
			Task: sia.NewTaskID(repos[0].ID, 1000+p.earlier-i), Intervention: 1, Repo: repos[0].Repo,
			Pattern: sia.Pattern(f[0]), Technique: sia.TechniqueID(f[1]), Resolved: i < resolved,
		}); err != nil {
			return err
		}
	}
	return nil
}
