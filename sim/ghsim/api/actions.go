package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

func listRuns(c *call) (answer, error) {
	var ws []*model.Run
	for _, run := range slices.Backward(c.repo.Runs) {
		keep := true
		for key, v := range map[string]string{"head_sha": run.SHA, "branch": run.Branch, "event": run.Event.Name,
			"actor": run.Actor.Login} {
			keep = keep && (c.query.Get(key) == "" || c.query.Get(key) == v)
		}
		if st := c.query.Get("status"); st != "" && st != run.Status && st != run.Conclusion {
			keep = false
		}
		if id := c.query.Get("check_suite_id"); id != "" && id != strconv.FormatInt(run.Suite.ID, 10) {
			keep = false
		}
		if keep {
			ws = append(ws, run)
		}
	}
	return page(c, ws, "workflow_runs", func(run *model.Run) object { return c.shape.Run(c.repo, run, run.Actor) })
}

func (c *call) run() (*model.Run, error) {
	return one(c.repo.Runs, func(run *model.Run) bool { return run.ID == c.id("id") })
}

func getRun(c *call, run *model.Run) (answer, error) {
	return ok(c.shape.Run(c.repo, run, run.Actor)), nil
}

func listJobs(c *call, run *model.Run) (answer, error) {
	js := run.Latest()
	if c.query.Get("filter") == "all" {
		js = run.Jobs
	}
	return page(c, js, "jobs", func(j *model.Job) object { return c.shape.Job(c.repo, j) })
}

func (c *call) job() (*model.Job, error) {
	if k := c.repo.Check(c.id("id")); k != nil && k.Job != nil {
		return k.Job, nil
	}
	return nil, refusal.NotFound()
}

func getJob(c *call, j *model.Job) (answer, error) {
	return ok(c.shape.Job(c.repo, j)), nil
}

// jobLogs redirects to the log, which exists once the job is completed.
func jobLogs(c *call, j *model.Job) (answer, error) {
	if j.Check.Status != "completed" || len(j.Log) == 0 { // a job without steps has none
		return answer{}, refusal.NotFound()
	}
	address := c.newAddress(file{"text/plain; charset=utf-8", j.Log})
	return answer{code: http.StatusFound, header: map[string]string{"Location": address}}, nil
}

func rerunAll(c *call, run *model.Run) (answer, error) {
	return created(object{}), c.world.Rerun(c.repo, run, c.actor(), func(*model.Job) bool { return true })
}

func rerunFailed(c *call, run *model.Run) (answer, error) {
	failed := func(j *model.Job) bool { return j.Check.Conclusion != "success" }
	return created(object{}), c.world.Rerun(c.repo, run, c.actor(), failed)
}
