package world

import (
	"fmt"
	"path"
	"slices"

	"github.com/sia-bot/sia/sim/ghsim/journal"
	"github.com/sia-bot/sia/sim/ghsim/model"
	"github.com/sia-bot/sia/sim/ghsim/runner"
)

// RunWorkflows runs the workflows of a branch's head as a push would, unless they
// ran for that commit; a new repository's have not.
func (w *World) RunWorkflows(r *model.Repository, a model.Actor, branch string) error {
	sha := r.Head(branch)
	if sha == "" {
		return fmt.Errorf("%s has no branch %s", r.FullName(), branch)
	}
	if slices.ContainsFunc(r.Runs, func(run *model.Run) bool { return run.SHA == sha && run.Event.Name == "push" }) {
		return nil
	}
	push := w.event(r, a, "", w.shape.Push(r, a, "refs/heads/"+branch, sha, sha, false))
	w.startWorkflows(r, a, runner.Event{Name: "push", Payload: push}, branch, sha)
	return nil
}

// startPullWorkflows starts the workflows that an event of a pull request triggers. GitHub runs them on the merge of
// head and base, and none if that conflicts; they report on the head.
func (w *World) startPullWorkflows(r *model.Repository, a model.Actor, i *model.Issue, payload object) {
	p := i.Pull
	event := runner.Event{Name: "pull_request", Payload: payload, Changed: w.changed(r, p.BaseSHA, p.HeadSHA)}
	w.startWorkflows(r, a, event, p.Head, p.HeadSHA)
	w.startRequired(r, a, event, i)
	w.startDefault(r, a, event, p)
}

// startDefault starts the workflow that GitHub generates for code scanning's default setup. It is no file.
// https://docs.github.com/en/code-security/concepts/code-scanning/setup-types#about-default-setup
func (w *World) startDefault(r *model.Repository, a model.Actor, event runner.Event, p *model.Pull) {
	if r.Actions.Default == "" || w.noWorkflows || w.mon.Closed() || !startable(a, event) {
		return
	}
	event.Name = model.Dynamic
	at := started{event: event, branch: p.Head, sha: p.HeadSHA, ref: "refs/heads/" + p.Head, checkout: p.HeadSHA}
	w.startWorkflow(r, a, &at, "dynamic/github-code-scanning/codeql", []byte(r.Actions.Default))
}

// changed are the paths that differ between a commit and its merge base with another; nil when unknown.
func (w *World) changed(r *model.Repository, from, to string) []string {
	if from == "" {
		from = r.Head(r.DefaultBranch)
	}
	if from == "" || from == to {
		return nil
	}
	paths := []string{}
	for _, f := range w.git.Compare(r.Dir, from, to).Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// startWorkflows starts the workflows of a commit that an event triggers: one with both push and pull_request runs for
// each.
func (w *World) startWorkflows(r *model.Repository, a model.Actor, event runner.Event, branch, sha string) {
	if w.noWorkflows || r.Actions.Lost || w.mon.Closed() || !startable(a, event) || w.skips(r, event, sha) {
		return
	}
	es, err := w.git.List(r.Dir, sha, ".github/workflows", false)
	if err != nil {
		w.log.Error("listing workflows", "repo", r.FullName(), "error", err)
		return
	}
	at := started{event: event, branch: branch, sha: sha, ref: "refs/heads/" + branch, checkout: sha}
	for _, e := range es {
		if ext := path.Ext(e.Path); e.Kind != "blob" || ext != ".yml" && ext != ".yaml" {
			continue
		}
		text, err := w.git.BlobAt(r.Dir, sha, e.Path)
		if err != nil {
			w.log.Error("reading a workflow", "repo", r.FullName(), "error", err)
			continue
		}
		w.startWorkflow(r, a, &at, e.Path, text)
	}
}

// started describes what starts workflows, and the commit.
type started struct {
	event         runner.Event
	branch, sha   string
	ref, checkout string
	merged        bool              // checkout is the test merge of a pull request
	from          *model.Repository // with the workflow's file; nil: the one in which it runs
	fromRef       string            // of it
}

// merge makes the commit that a pull request's jobs check out. It reports false if head and base conflict.
func (w *World) merge(r *model.Repository, at *started) bool {
	if at.event.Name != "pull_request" || at.merged {
		return true
	}
	number, _ := at.event.Payload["number"].(int)
	sha, clean := w.TestMerge(r, r.Head(at.event.BaseBranch()), at.sha)
	if !clean {
		return false
	}
	at.ref, at.checkout, at.merged = fmt.Sprintf("refs/pull/%d/merge", number), sha, true
	return true
}

// TestMerge is the test merge commit of head into base, as GitHub makes one for each pull request; clean is false if
// they conflict.
func (w *World) TestMerge(r *model.Repository, base, head string) (sha string, clean bool) {
	if sha := r.TestMerges[base+head]; sha != "" {
		return sha, true
	}
	tree, clean := w.git.MergeTree(r.Dir, base, head)
	if !clean {
		return "", false
	}
	sha, err := w.git.CommitTree(r.Dir, tree, []string{base, head}, fmt.Sprintf("Merge %s into %s", head, base),
		w.signature(w.actions.Bot))
	if err != nil {
		w.log.Error("merging to see how it would be", "repo", r.FullName(), "error", err)
		return "", false
	}
	r.TestMerges[base+head] = sha
	return sha, true
}

func (w *World) startWorkflow(r *model.Repository, a model.Actor, at *started, file string, text []byte) {
	wf, err := runner.Parse(text)
	var jobs []runner.Job
	if err == nil {
		in, sha := r, at.sha
		if at.from != nil {
			in, sha = at.from, at.from.Head(at.fromRef)
		}
		err = wf.Follow(func(path string) ([]byte, error) { return w.git.BlobAt(in.Dir, sha, path) })
	}
	if err == nil {
		if jobs, err = wf.Plan(at.event); err == nil && len(jobs) == 0 {
			return
		}
	}
	if !w.merge(r, at) {
		return
	}
	name := file
	if wf != nil && wf.Name != "" {
		name = wf.Name
	}
	key := file
	if at.from != nil {
		key = at.from.FullName() + "/" + file
	}
	if r.Workflows[key] == 0 {
		r.Workflows[key] = w.NextID()
	}
	r.LastRun++
	run := &model.Run{ID: w.NextID(), Number: int64(r.LastRun), Attempt: 1, WorkflowID: r.Workflows[key], Name: name,
		Path: file, From: at.from, FromRef: at.fromRef, Event: at.event, Branch: at.branch, SHA: at.sha, Ref: at.ref,
		Checkout: at.checkout, Actor: a.User,
		Status: "queued", Made: w.Now(), Updated: w.Now()}
	run.Suite = &model.Suite{ID: w.NextID(), App: w.actions, Branch: at.branch, SHA: at.sha, Status: "queued",
		Made: w.Now(), Updated: w.Now()}
	r.Suites, r.Runs = append(r.Suites, run.Suite), append(r.Runs, run)
	if err != nil { // GitHub runs no job of an invalid file and marks the run as failed
		// https://github.com/link-assistant/hive-mind/pull/1691
		w.log.Warn("invalid workflow", "repo", r.FullName(), "file", file, "error", err)
		w.runEvent(r, a, run, "requested")
		w.endJobless(r, a, run, "failure")
		return
	}
	if r.Actions.Startup {
		w.runEvent(r, a, run, "requested")
		w.endJobless(r, a, run, "startup_failure")
		return
	}
	run.Planned = jobs
	if r.Actions.Approval || a.Token == model.GitHubToken {
		run.Held = true
		w.runEvent(r, a, run, "requested")
		w.endJobless(r, a, run, "action_required")
		return
	}
	w.runEvent(r, a, run, "requested")
	w.startRun(r, run, wf)
}

// endJobless completes a run without jobs.
func (w *World) endJobless(r *model.Repository, a model.Actor, run *model.Run, conclusion string) {
	run.Status, run.Conclusion = "completed", conclusion
	run.Suite.Status, run.Suite.Conclusion = "completed", conclusion
	w.emitSuite(r, a, run.Suite, "completed")
	w.runEvent(r, a, run, "completed")
}

// startRun makes the jobs of a run and launches it. In its concurrency group, waiting runs are cancelled, and running
// ones if the workflow says so.
func (w *World) startRun(r *model.Repository, run *model.Run, wf *runner.Workflow) {
	for _, job := range run.Planned {
		if job.Whole() || r.Actions.Late && len(job.Needs) > 0 {
			run.Waiting = append(run.Waiting, job)
			continue
		}
		w.addJob(r, run, job)
	}
	if wf != nil {
		name, cancels := wf.Group(run.Event)
		for _, o := range r.Runs {
			if name != "" && o.Group == name && o.Status != "completed" && (cancels || o.Held) {
				w.cancel(r, o)
			}
		}
		run.Group = name
	}
	w.launch(r, run)
}

// ApproveWorkflows approves the waiting runs.
func (w *World) ApproveWorkflows(r *model.Repository, a model.Actor) {
	for _, run := range r.Runs {
		if !run.Held || run.Conclusion != "action_required" {
			continue
		}
		run.Status, run.Conclusion, run.Held = "queued", "", false
		run.Suite.Status, run.Suite.Conclusion = "queued", ""
		w.note(r, a, journal.Entry{Kind: "workflow_run.approved", Ref: run.Name, SHA: run.SHA})
		w.runEvent(r, a, run, "requested")
		w.startRun(r, run, nil)
	}
}

// SetActions sets what keeps the workflows of a repository from running.
func (w *World) SetActions(r *model.Repository, to model.Actions) {
	r.Actions = to
	w.launchHeld(r)
}

func (w *World) runEvent(r *model.Repository, a model.Actor, run *model.Run, action string) {
	run.Updated = w.Now()
	w.note(r, a, journal.Entry{Kind: "workflow_run." + action, Ref: run.Name, SHA: run.SHA, Detail: run.Conclusion})
	w.emit(r, a, "workflow_run", action,
		object{"workflow_run": w.shape.Run(r, run, a.User), "workflow": w.shape.Workflow(r, run)})
}
