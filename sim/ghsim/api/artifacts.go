package api

import (
	"net/http"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func listArtifacts(c *call, run *model.Run) (answer, error) {
	var as []*model.Artifact
	for _, a := range run.Artifacts {
		if name := c.query.Get("name"); name == "" || name == a.Name {
			as = append(as, a)
		}
	}
	return page(c, as, "artifacts", func(a *model.Artifact) object { return c.shape.Artifact(c.repo, run, a) })
}

// artifactZip redirects to the artifact's zip; an expired one is answered with 410.
func artifactZip(c *call) (answer, error) {
	for _, run := range c.repo.Runs {
		for _, a := range run.Artifacts {
			switch {
			case a.ID != c.id("id"):
			case a.Expired:
				return answer{}, &refusal.Error{Code: http.StatusGone, Message: "Artifact has expired"}
			default:
				to := c.newAddress(file{"application/zip", a.Zip})
				return answer{code: http.StatusFound, header: map[string]string{"Location": to}}, nil
			}
		}
	}
	return answer{}, refusal.NotFound()
}
