package world

import (
	"context"
	"slices"
	"strconv"

	"github.com/sia-bot/sia/app/ghsim/git"
	"github.com/sia-bot/sia/app/ghsim/journal"
	"github.com/sia-bot/sia/app/ghsim/model"
	"github.com/sia-bot/sia/app/ghsim/runner"
)

// execution is a run's present attempt being executed.
type execution struct {
	world *World
	repo  *model.Repository
	run   *model.Run
	bot   model.Actor // of github-actions, to whom the check runs belong
}

// launch executes a run's queued jobs in the background.
func (w *World) launch(r *model.Repository, run *model.Run) {
	e := &execution{world: w, repo: r, run: run, bot: model.As(w.actions.Bot)}
	w.mon.Go(e.execute)
}

// execute runs the jobs one after another. When the simulator closes it leaves
// everything as it is. The lock is not held.
func (e *execution) execute() {
	w := e.world
	ended := w.mon.Context()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ended.Done():
		return
	}
	for _, j := range e.begin() {
		if ended.Err() != nil {
			return
		}
		env, wanted := e.start(j)
		if !wanted {
			continue
		}
		res := w.runner.Run(ended, j.Plan, env, checkout{w.git, e.repo.Dir})
		if ended.Err() != nil {
			return
		}
		w.Lock()
		e.finish(j, res)
		w.Unlock()
	}
	e.complete()
}

// begin says that the run is in progress, and what its jobs are.
func (e *execution) begin() []*model.Job {
	e.world.Lock()
	defer e.world.Unlock()
	e.run.Status, e.run.Started = "in_progress", e.world.Now()
	e.world.runEvent(e.repo, model.As(e.run.Actor), e.run, "in_progress")
	return e.run.Latest()
}

// start says that a job is in progress and gives its environment. A job that an
// earlier attempt completed is left alone, and one that is not wanted is skipped.
func (e *execution) start(j *model.Job) (env map[string]string, wanted bool) {
	e.world.Lock()
	defer e.world.Unlock()
	if j.Check.Status == "completed" {
		return nil, false
	}
	failed := slices.ContainsFunc(e.run.Latest(), func(o *model.Job) bool {
		return slices.Contains(j.Plan.Needs, o.Plan.Key) && o.Check.Conclusion != "success"
	})
	if !j.Plan.Wanted(failed) {
		e.finish(j, runner.Result{Conclusion: "skipped"})
		return nil, false
	}
	j.Check.Status, j.Check.Started = "in_progress", e.world.Now()
	e.run.Suite.Status = "in_progress"
	e.world.note(e.repo, e.bot, journal.Entry{Kind: "check_run.in_progress", Ref: j.Check.Name, SHA: e.run.SHA})
	return e.environment(j), true
}

// finish keeps how a job went and completes its check run; the lock is held.
func (e *execution) finish(j *model.Job, res runner.Result) {
	j.Log, j.Steps = res.Log, res.Steps
	e.world.ChangeCheck(e.repo, e.bot, j.Check, func(c *model.CheckRun) {
		c.Status, c.Conclusion, c.Completed = "completed", res.Conclusion, e.world.Now()
		for _, n := range res.Annotations {
			c.Annotations = append(c.Annotations, model.Annotation(n))
		}
	})
}

// complete says that the run is completed.
func (e *execution) complete() {
	e.world.Lock()
	defer e.world.Unlock()
	var checks []*model.CheckRun
	for _, j := range e.run.Latest() {
		checks = append(checks, j.Check)
	}
	e.run.Status, e.run.Conclusion = model.SuiteState(checks)
	e.world.runEvent(e.repo, model.As(e.run.Actor), e.run, "completed")
}

// environment is what a job's steps know of the run.
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables
func (e *execution) environment(j *model.Job) map[string]string {
	r, run, url := e.repo, e.run, e.world.URL()
	head := ""
	if run.Event.Name == "pull_request" {
		head = run.Branch
	}
	return map[string]string{
		"GITHUB_SHA": run.SHA, "GITHUB_REF": "refs/heads/" + run.Branch, "GITHUB_REF_NAME": run.Branch,
		"GITHUB_REF_TYPE": "branch", "GITHUB_BASE_REF": run.Event.BaseBranch(), "GITHUB_HEAD_REF": head,
		"GITHUB_REPOSITORY": r.FullName(), "GITHUB_REPOSITORY_OWNER": r.Owner.Login,
		"GITHUB_EVENT_NAME": run.Event.Name, "GITHUB_WORKFLOW": run.Name, "GITHUB_JOB": j.Plan.Key,
		"GITHUB_ACTOR": run.Actor.Login, "GITHUB_RUN_ID": strconv.FormatInt(run.ID, 10),
		"GITHUB_RUN_NUMBER": strconv.FormatInt(run.Number, 10), "GITHUB_RUN_ATTEMPT": strconv.Itoa(run.Attempt),
		"GITHUB_SERVER_URL": url, "GITHUB_API_URL": e.world.shape.API(""), "GITHUB_GRAPHQL_URL": url + "/api/graphql",
	}
}

// checkout is the repository that a job clones.
type checkout struct {
	git *git.Store
	dir string
}

// Resolve is the commit that a branch, tag or SHA names.
func (c checkout) Resolve(ref string) (string, bool) { return c.git.Resolve(c.dir, ref) }

// Checkout clones the repository at a commit.
func (c checkout) Checkout(ctx context.Context, dir, sha string, whole bool) error {
	return c.git.Checkout(ctx, c.dir, dir, sha, whole)
}
