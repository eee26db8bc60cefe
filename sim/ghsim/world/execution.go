package world

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/git"
	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// execution is the execution of a run's present attempt.
type execution struct {
	world *World
	repo  *model.Repository
	run   *model.Run
	bot   model.Actor // of github-actions, the owner of the check runs
	taken map[*model.Job]bool
}

// launch executes a run's queued jobs in the background, unless it is held: workflows are off, or another run of its
// group is in progress.
func (w *World) launch(r *model.Repository, run *model.Run) {
	if run.Held = r.Actions.NoRunner || w.groupBusy(r, run); run.Held {
		return
	}
	ctx, cancel := context.WithCancel(w.mon.Context())
	run.Cancel = cancel
	e := &execution{world: w, repo: r, run: run, bot: model.As(w.actions.Bot), taken: map[*model.Job]bool{}}
	if w.byHand {
		cancel()
		w.takeInHand(e)
		return
	}
	w.mon.Go(func() {
		defer cancel()
		e.execute(ctx)
	})
}

// groupBusy reports whether another run of the run's concurrency group is in progress.
func (w *World) groupBusy(r *model.Repository, run *model.Run) bool {
	return run.Group != "" && slices.ContainsFunc(r.Runs, func(o *model.Run) bool {
		return o != run && o.Group == run.Group && o.Status != "completed" && !o.Held
	})
}

// launchHeld launches the runs that are no longer held, oldest first.
func (w *World) launchHeld(r *model.Repository) {
	for _, run := range r.Runs {
		if run.Held && run.Status != "completed" {
			w.launch(r, run)
		}
	}
}

// cancel ends a run: running jobs are interrupted, queued ones never start.
func (w *World) cancel(r *model.Repository, run *model.Run) {
	if run.Status == "completed" {
		return
	}
	executed := run.Cancel != nil && !run.Held
	if !executed {
		run.Waiting = nil
	}
	for _, j := range run.Latest() {
		if j.Check.Status == "queued" {
			e := &execution{world: w, repo: r, run: run, bot: model.As(w.actions.Bot)}
			e.finish(j, runner.Result{Conclusion: "cancelled"})
		}
	}
	if executed {
		run.Cancel()
		return
	}
	run.Status, run.Conclusion, run.Held = "completed", "cancelled", false
	w.runEvent(r, model.As(run.Actor), run, "completed")
}

// execute runs the jobs one after another, until the run is cancelled. When the simulator closes, everything is left as
// it is. The lock is not held.
func (e *execution) execute(ctx context.Context) {
	w := e.world
	ended := w.mon.Context()
	select {
	case w.slots <- struct{}{}:
		defer func() { <-w.slots }()
	case <-ended.Done():
		return
	}
	e.begin()
	for j := e.next(ctx); j != nil; j = e.next(ctx) {
		if ended.Err() != nil {
			return
		}
		plan, env, wanted := e.start(j)
		if !wanted {
			continue
		}
		res := w.runner.Run(ctx, plan, env, checkout{w.git, e.repo.Dir})
		if ended.Err() != nil {
			return
		}
		w.Lock()
		e.finish(j, res)
		w.Unlock()
	}
	if ended.Err() == nil {
		e.complete(ctx)
	}
}

// begin sets the run to in progress.
func (e *execution) begin() {
	e.world.Lock()
	defer e.world.Unlock()
	e.inProgress()
}

// inProgress is begin with the lock held.
func (e *execution) inProgress() {
	e.run.Status, e.run.Started = "in_progress", e.world.Now()
	e.world.runEvent(e.repo, model.As(e.run.Actor), e.run, "in_progress")
}

// start sets a job to in progress and returns its environment. A job completed by an earlier attempt is left alone, and
// one with a false condition is skipped.
func (e *execution) start(j *model.Job) (plan runner.Job, env map[string]string, wanted bool) {
	e.world.Lock()
	defer e.world.Unlock()
	if plan, wanted = e.wanted(j); !wanted {
		return plan, nil, false
	}
	e.started(j)
	return plan, e.environment(j), true
}

// wanted returns a job's plan once the jobs that it needs have ended, and whether its steps run. A job completed by an
// earlier attempt is left alone, and one without steps to run is completed; the lock is held.
func (e *execution) wanted(j *model.Job) (plan runner.Job, wanted bool) {
	if j.Check.Status == "completed" {
		return plan, false
	}
	plan = j.Plan.After(e.needs(j.Plan.Needs))
	switch is, err := plan.Wanted(); {
	case err != nil:
		e.finish(j, runner.Result{Conclusion: "failure", Log: []byte("##[error]" + err.Error() + "\n"),
			Annotations: mark(err.Error())})
		return plan, false
	case !is:
		e.finish(j, runner.Result{Conclusion: "skipped"})
		return plan, false
	}
	if why := e.repo.Actions.Refusal; why != "" { // no step, no log, and an annotation
		e.finish(j, runner.Result{Conclusion: "failure", Annotations: mark(why)})
		return plan, false
	}
	return plan, true
}

// started sets a job to in progress; the lock is held.
func (e *execution) started(j *model.Job) {
	j.Check.Status, j.Check.Started = "in_progress", e.world.Now()
	e.run.Suite.Status = "in_progress"
	e.world.note(e.repo, e.bot, journal.Entry{Kind: "check_run.in_progress", Ref: j.Check.Name, SHA: e.run.SHA})
}

// mark is the annotation of a job that did not run.
func mark(message string) []runner.Annotation {
	return []runner.Annotation{{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: message}}
}

// finish stores a job's result and completes its check run; the lock is held.
func (e *execution) finish(j *model.Job, res runner.Result) {
	j.Log, j.Steps, j.Outputs = res.Log, res.Steps, res.Outputs
	for _, a := range res.Artifacts {
		e.run.Artifacts = append(e.run.Artifacts,
			&model.Artifact{ID: e.world.NextID(), Name: a.Name, Zip: a.Zip, Made: e.world.Now()})
	}
	e.world.ChangeCheck(e.repo, e.bot, j.Check, func(c *model.CheckRun) {
		c.Status, c.Conclusion, c.Completed = "completed", res.Conclusion, e.world.Now()
		for _, n := range res.Annotations {
			c.Annotations = append(c.Annotations, model.Annotation(n))
		}
	})
}

// environment is the environment variables of a job's steps.
// https://docs.github.com/en/actions/reference/workflows-and-actions/variables
func (e *execution) environment(j *model.Job) map[string]string {
	r, run, url := e.repo, e.run, e.world.URL()
	head := ""
	if run.Event.Name == "pull_request" {
		head = run.Branch
	}
	return map[string]string{
		"GITHUB_SHA": run.Checkout, "GITHUB_REF": run.Ref,
		"GITHUB_REF_NAME": strings.TrimPrefix(strings.TrimPrefix(run.Ref, "refs/heads/"), "refs/pull/"),
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

// Resolve returns the commit of a branch, tag or SHA.
func (c checkout) Resolve(ref string) (string, bool) { return c.git.Resolve(c.dir, ref) }

// Checkout clones the repository at a commit.
func (c checkout) Checkout(ctx context.Context, dir, sha string, whole bool) error {
	return c.git.Checkout(ctx, c.dir, dir, sha, whole)
}
