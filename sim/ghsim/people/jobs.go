package people

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// JobView is a job of a workflow run that can start, or has started, with Config.ByHand.
type JobView struct {
	ID       int64 // also its check run's
	Name     string
	Workflow string // path of its file
	Event    string
	SHA      string // the commit on which it reports
	Run      int64
	Attempt  int
	Begun    bool
	Failed   bool // a job that it needs failed or was cancelled
}

// Jobs are the jobs of a repository that can start or end now, those of older runs first.
func (p *People) Jobs(repo string) ([]JobView, error) {
	return read(p, repo, func(r *model.Repository) ([]JobView, error) {
		var all []JobView
		for _, j := range p.world.InHand(r) {
			failed := slices.ContainsFunc(j.Run.Latest(), func(o *model.Job) bool {
				return slices.ContainsFunc(j.Plan.Needs, o.Plan.Of) &&
					!slices.Contains([]string{"success", "skipped", "neutral"}, o.Check.Conclusion)
			})
			all = append(all, JobView{ID: j.ID, Name: j.Check.Name, Workflow: j.Run.Path, Event: j.Run.Event.Name,
				SHA: j.Run.SHA, Run: j.Run.ID, Attempt: j.Run.Attempt, Begun: j.Check.Status == "in_progress",
				Failed: failed})
		}
		return all, nil
	})
}

// BeginJob starts a job.
func (p *People) BeginJob(repo string, id int64) error {
	return p.onJob(repo, id, p.world.BeginJob)
}

// EndJob ends a job with a conclusion and a log. A job that never started has no log, and an annotation with the
// reason.
func (p *People) EndJob(repo string, id int64, conclusion, log string) error {
	return p.onJob(repo, id, func(r *model.Repository, j *model.Job) error {
		res := runner.Result{Conclusion: conclusion}
		if j.Check.Status == "in_progress" {
			now := p.world.Now()
			res.Log = []byte(log)
			res.Steps = []*runner.Step{{Number: 1, Name: "Run the job", Status: "completed", Conclusion: conclusion,
				Started: now, Completed: now}}
		} else if log != "" {
			res.Annotations = []runner.Annotation{{Path: ".github", StartLine: 1, EndLine: 1, Level: "failure", Message: log}}
		}
		return p.world.EndJob(r, j, res)
	})
}

// CancelRun cancels a workflow run.
func (p *People) CancelRun(repo string, run int64, login string) error {
	return p.as(repo, login, "write", func(r *model.Repository, _ model.Actor) error {
		for _, o := range r.Runs {
			if o.ID == run {
				p.world.CancelRun(r, o)
				return nil
			}
		}
		return fmt.Errorf("%s has no workflow run %d", repo, run)
	})
}

func (p *People) onJob(repo string, id int64, do func(*model.Repository, *model.Job) error) error {
	return p.inRepo(repo, func(r *model.Repository) error {
		if k := r.Check(id); k != nil && k.Job != nil {
			return do(r, k.Job)
		}
		return fmt.Errorf("%s has no job %d", repo, id)
	})
}

// RunView is a run of a workflow.
type RunView struct {
	ID         int64
	Workflow   string // path of its file
	Event      string
	Attempt    int
	Status     string
	Conclusion string
}

// Runs are the workflow runs that report on a commit, oldest first.
func (p *People) Runs(repo, sha string) ([]RunView, error) {
	return read(p, repo, func(r *model.Repository) ([]RunView, error) {
		var all []RunView
		for _, o := range r.Runs {
			if o.SHA == sha {
				all = append(all, RunView{ID: o.ID, Workflow: o.Path, Event: o.Event.Name, Attempt: o.Attempt, Status: o.Status,
					Conclusion: o.Conclusion})
			}
		}
		return all, nil
	})
}
