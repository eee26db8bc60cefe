package synthetic

import (
	"context"
	"fmt"

	"github.com/sia-bot/sia/lab/invented"
	"github.com/sia-bot/sia/policies/mine"
)

// The logs that are mined.
const (
	minedTasks     = 150
	contrasted     = 120 // decisions that chance had a part in
	contrastGood   = 0.6
	contrastBad    = 0.4
	contrastedName = "good"
)

// mined is the result of mining in one world.
type mined struct {
	nothing bool    // something was found though nothing makes a difference
	found   bool    // what was planted
	wrong   float64 // share of what was found that was not planted, 0 if nothing was found
	covered bool    // the contrast's interval holds the truth
	said    bool    // there was a contrast
}

// mining measures what is found where there is nothing, and where something was planted.
func (m measure) mining(ctx context.Context) ([]Figure, error) {
	all, err := inWorlds(ctx, m.worlds, func(i int) (mined, error) {
		seed := seedOf(m.seed, i)
		w := mined{nothing: len(mine.Look(invented.Log(seed, minedTasks, invented.None)).Found) > 0}
		found := mine.Look(invented.Log(seed, minedTasks, invented.Planted)).Found
		for _, f := range found {
			if invented.IsPlanted(f) {
				w.found = true
			} else {
				w.wrong += 1 / float64(len(found))
			}
		}
		const truth = contrastGood - contrastBad
		for _, o := range mine.Options(invented.Randomised(seed, contrasted, contrastGood, contrastBad)) {
			if c := o.Contrast; c != nil && o.Choice == contrastedName {
				w.said, w.covered = true, c.Low <= truth && truth <= c.High
			}
		}
		return w, nil
	})
	if err != nil {
		return nil, err
	}
	none := fmt.Sprintf("%d tasks, nothing makes a difference", minedTasks)
	planted := fmt.Sprintf("%d tasks, one option fails in one language", minedTasks)
	chance := fmt.Sprintf("%d randomised decisions, a difference of 20 points", contrasted)
	var covered []bool
	for _, w := range all {
		if w.said {
			covered = append(covered, w.covered)
		}
	}
	out := []Figure{
		m.figure("mining.none.logs", none, "logs in which something is found", "≤ 10 %").
			share(column(all, func(w mined) bool { return w.nothing })),
		m.figure("mining.planted.found", planted, "logs in which it is found", "").
			share(column(all, func(w mined) bool { return w.found })),
		m.figure("mining.planted.wrong", planted, "of what is found, something else (mean of logs)", "≤ 10 %").
			meanShare(column(all, func(w mined) float64 { return w.wrong })),
	}
	if len(covered) > 0 {
		out = append(out, m.figure("mining.contrast.covered", chance, "95 % intervals that hold it", "95 %").share(covered))
	}
	return out, nil
}
