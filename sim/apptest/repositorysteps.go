package apptest

import (
	"errors"
	"strconv"

	"github.com/sia-bot/sia/sim/ghsim"
)

// onRepository plays the steps about relations between issues, and about rules.
func (p *player) onRepository(verb string, arg func(int) string) error {
	switch verb {
	case "blocked-by", "sub-issue":
		n, err := strconv.Atoi(arg(1))
		if err != nil {
			return err
		}
		if verb == "blocked-by" {
			return p.Sim.BlockIssue(Repo, p.issue, arg(0), n)
		}
		return p.Sim.AddSubIssue(Repo, p.issue, arg(0), n)
	case "secret":
		return p.Sim.SetPushes(Repo, ghsim.Pushes{Secret: arg(0)})
	case "sign-off":
		return p.Sim.RequireSignOff(Repo)
	}
	return errors.New("there is no such step")
}
