package api

import (
	"fmt"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func listSuites(c *call, sha string) (answer, error) {
	var sts []*model.Suite
	for _, st := range c.repo.Suites {
		id := c.query.Get("app_id")
		if st.SHA == sha && (id == "" || id == fmt.Sprint(st.App.ID)) {
			sts = append(sts, st)
		}
	}
	return page(c, sts, "check_suites", func(st *model.Suite) object { return c.shape.SuiteFull(c.repo, st) })
}

func (c *call) suite() (*model.Suite, error) {
	return one(c.repo.Suites, func(st *model.Suite) bool { return st.ID == c.id("id") })
}

func getSuite(c *call, st *model.Suite) (answer, error) {
	return ok(c.shape.SuiteFull(c.repo, st)), nil
}

// rerequestSuite is POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest. For another app's suite it
// answers 403.
// https://github.com/desktop/desktop/pull/13093
func rerequestSuite(c *call, st *model.Suite) (answer, error) {
	if st.App != c.actor().App {
		return answer{}, refusal.Forbidden("This check suite is not rerequestable")
	}
	if err := c.world.RerequestSuite(c.repo, c.actor(), st); err != nil {
		return answer{}, err
	}
	return created(object{}), nil
}
