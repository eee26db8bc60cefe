package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/text"
)

// headEvidence is the collected evidence about the head.
type headEvidence struct {
	in    gate.Input
	rerun ruling          // on re-runs of red checks; zero: not consulted
	self  string          // slug of this app
	head  github.CheckSet // source of in.Runs and in.Statuses
	base  github.CheckSet // checks of the base commit, if in.BaseKnown

	lags         bool                // GitHub does not show the head yet
	closing      bool                // the pull request was closed a moment ago, and may be opened again
	found        *sia.Found          // how the pull request differs from the task; nil: not at all
	headBase     sia.SHA             // result of [common.headBase]
	merge        github.Mergeability // of the pull request
	rules        []string            // merge rules of the base branch that no check fulfills, for users
	earlier      []sia.Reported      // checks on the task's previous heads, if earlierKnown
	earlierKnown bool
	logs         []checkLog // of red runs of the head, in reading order
}

// gather reads the checks of the head, and then the evidence that the gate requests, until it needs nothing more.
func (w *checkWorker) gather(ctx context.Context, t sia.Task) (*headEvidence, error) {
	e, err := w.headChecks(ctx, t)
	if err != nil || e.isStale() {
		return e, err
	}
	return e, w.fetchAllNeeds(ctx, t, e, gate.Input.Needs)
}

// mergeRules returns the rules of the base branch that no check fulfills, of rule sets by their kinds, and of classic
// protection. It omits required signatures if SIA's commits are signed.
func mergeRules(t sia.Task, kinds []string) []string {
	kinds = slices.Clone(kinds)
	if t.Commits.Signed {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "required_signatures" })
	}
	if t.Commits.LinearHistory {
		kinds = append(kinds, "required_linear_history")
	}
	if t.Commits.Conversations {
		kinds = append(kinds, "required_review_thread_resolution")
	}
	slices.Sort(kinds)
	return render.MergeRules(slices.Compact(kinds))
}

// maxFetchRounds limits the rounds of requests by the gate, which requests each item once.
const maxFetchRounds = 20

// fetchAllNeeds reads the needed evidence until nothing is missing.
func (w *checkWorker) fetchAllNeeds(
	ctx context.Context, t sia.Task, e *headEvidence, needed func(gate.Input) gate.Needs,
) error {
	for range maxFetchRounds {
		needs := needed(e.in)
		if needs.None() {
			return nil
		}
		if err := w.fetchNeeds(ctx, t, e, needs); err != nil {
			return err
		}
	}
	return fmt.Errorf("gather what judges %s: the gate needs more without end: %+v", t.Head.Short(), needed(e.in))
}

// headChecks reads the checks of the head, and which of them are required.
func (w *checkWorker) headChecks(ctx context.Context, t sia.Task) (*headEvidence, error) {
	in := taskInput(t, w.Now())
	self, err := w.GitHub.Self(ctx)
	if err != nil {
		return nil, err
	}
	look, err := w.repo(t).Checks.Look(ctx, github.LookAt{SHA: string(t.Head), Pull: t.Pull.Number, Branch: t.BaseBranch,
		Base: string(t.BaseSHA), Earlier: earlierHeads(t)})
	if err != nil {
		return nil, err
	}
	e := &headEvidence{in: in, self: self.Slug}
	if err := w.comparePull(ctx, t, e, look.Pull, look.Merge.Base); err != nil || e.isStale() {
		return e, err
	}
	if err := w.rereadRequired(ctx, t, &in); err != nil {
		return nil, err
	}
	required, err := w.repo(t).Rules.Required(ctx, t.BaseBranch)
	if err != nil {
		return nil, err
	}
	in.Runs, in.Statuses = runs(look.Checks, self.Slug), look.Checks.Statuses
	in.Workflows, in.WorkflowsKnown = look.Workflows, look.WorkflowsKnown
	in.Repo, in.Earlier, in.History = t.Repo.String(), t.Reported, history(look.History, self.Slug)
	in.MergeUnknown = look.Merge.Unknown && t.Gate.Unmerged < maxUnmerged
	e.in, e.head, e.merge = in, look.Checks, look.Merge
	e.setRules(t, required)
	if look.Earlier != nil {
		e.addEarlier(look.Earlier)
	}
	switch {
	case t.BaseSHA == t.Head: // the branch was reset: no other commit explains red checks
		e.in.BaseKnown, e.in.BaseWorkflowsKnown = true, true
	case look.Base != nil:
		e.setBase(*look.Base)
	}
	return e, nil
}

// maxUnmerged limits consecutive waits for GitHub to compute a pull request's mergeability, which takes seconds.
const maxUnmerged = 10

// setRules sets what the base branch requires.
func (e *headEvidence) setRules(t sia.Task, required github.Requirements) {
	e.in.Required, e.in.RequiredKnown = required.All, required.Known
	e.merge.Behind = e.merge.Behind || required.Strict && e.merge.Base != "" && e.merge.Base != string(t.BaseSHA)
	if t.Contains(sia.SHA(e.merge.Base)) { // GitHub has not computed it anew
		e.merge.Conflicts, e.merge.Behind = false, false
	}
	if slices.Contains(required.Others, "merge_queue") {
		e.merge.Blocked = nil // a merge without the queue is
	}
	e.rules = mergeRules(t, required.Others)
}

// comparePull compares a pull request on GitHub with the task's record of it, and records in e a difference to be
// processed first, that GitHub does not show the last push yet, or that somebody may open it again.
func (w *checkWorker) comparePull(
	ctx context.Context, t sia.Task, e *headEvidence, p github.PullState, baseAt string,
) (err error) {
	e.found, e.lags, e.closing = nil, false, false
	if !p.Known || t.Pull.Number == 0 {
		return nil
	}
	f := sia.Found{Head: sia.SHA(p.Head), By: p.HeadBy, Closed: p.Closed, Merged: p.Merged, Gone: p.Gone,
		ClosedAt: p.Ended}
	recent := w.Now().Sub(t.Gate.Since) < maxPushLag
	switch {
	case p.Closed && !p.Merged && t.ReopenWait(p.Ended, w.Now()) > 0:
		e.closing = true
	case p.Gone || p.Closed:
		e.found = &f
	case t.MovedTo(f.Head, recent):
		if t.HadHead(f.Head) {
			e.lags, err = w.repo(t).IsAt(ctx, t.Branch, t.Head)
		}
		if err == nil && !e.lags {
			e.found = &f
		}
	case f.Head != t.Head:
		e.lags = true
	case p.Base != "" && p.Base != t.BaseBranch:
		f.Base, f.BaseAt = p.Base, sia.SHA(baseAt)
		e.found = &f
	}
	return err
}

// maxPushLag is the maximum time after a push during which a pull request may still show the previous head.
const maxPushLag = 2 * time.Minute

// history returns the checks that reported near the base branch, without SIA's own.
func history(h github.History, self string) gate.History {
	others := func(all [][]sia.Reported) [][]sia.Reported {
		out := make([][]sia.Reported, len(all))
		for i, one := range all {
			out[i] = slices.DeleteFunc(slices.Clone(one), func(r sia.Reported) bool { return r.App == self })
		}
		return out
	}
	return gate.History{Known: h.Known, Base: others(h.Base), Merged: others(h.Merged)}
}

// setBase sets the evidence about the base commit.
func (e *headEvidence) setBase(look github.Look) {
	e.base = look.Checks
	e.in.Base, e.in.BaseStatuses, e.in.BaseKnown = runs(e.base, e.self), e.base.Statuses, true
	e.in.BaseWorkflows, e.in.BaseWorkflowsKnown = look.Workflows, look.WorkflowsKnown
}

// taskInput returns the part of the gate's input that comes from the task.
func taskInput(t sia.Task, now time.Time) gate.Input {
	return gate.Input{
		Now: now, Settings: t.Settings.Checks, Since: t.Gate.Since, Reruns: t.Gate.Reruns,
		Unrepeatable: t.Gate.Unrepeatable, Doubted: t.Gate.Doubted,
		Accepted: slices.Contains(t.Accepted, t.Head), Weighing: currentWeighing(t), ByPerson: t.HeadBy != (sia.Actor{}),
		Waived: t.Waived, Vouched: t.Vouched, Tests: gate.TestsOf(t),
		Issue: t.Title + "\n\n" + t.Body, BaseBranch: t.BaseBranch,
		Draft: t.Pull.Draft, Final: !t.Pull.Draft || t.Pull.StaysDraft(),
	}
}

// currentWeighing returns the reviewer's answer about the head's changed expectations; nil if the answer is about
// another head.
func currentWeighing(t sia.Task) *sia.Weighing {
	if w := t.Gate.Weighing; w != nil && w.SHA == t.Head {
		return w
	}
	return nil
}

// rereadRequired reads the required checks from the settings again after a user was asked about a check that does not
// report: it may have been removed from the settings since the attempt began.
func (w *checkWorker) rereadRequired(ctx context.Context, t sia.Task, in *gate.Input) error {
	if t.Escalation == nil || t.Escalation.Kind != sia.AskBlocked {
		return nil
	}
	sha, err := w.mirror(t).Fetch(ctx, t.BaseBranch)
	if err != nil {
		return err
	}
	set, err := w.Settings.At(ctx, t.Installation, t.Repo, t.BaseBranch, sha)
	if err != nil {
		return err
	}
	in.Settings.Required = set.Checks.Required
	return nil
}

// fetchNeeds reads the evidence that the gate needs.
func (w *checkWorker) fetchNeeds(ctx context.Context, t sia.Task, e *headEvidence, needs gate.Needs) (err error) {
	if needs.Workflows {
		all, known, err := w.repo(t).Actions.Workflows(ctx, string(t.Head))
		if err != nil {
			return err
		}
		e.in.Workflows, e.in.WorkflowsKnown, e.in.WorkflowsHidden = all, true, !known
	}
	for _, id := range needs.Attempts {
		attempts, err := w.repo(t).Actions.Attempts(ctx, id)
		if err != nil {
			return err
		}
		setAttempts(e.in.Runs, id, attempts)
		setAttempts(e.in.Base, id, attempts)
	}
	if needs.Base {
		look, err := w.repo(t).Checks.Look(ctx, github.LookAt{SHA: string(t.BaseSHA)})
		if err != nil {
			return err
		}
		e.setBase(look)
	}
	if needs.BaseWorkflows {
		all, _, err := w.repo(t).Actions.Workflows(ctx, string(t.BaseSHA))
		if err != nil {
			return err
		}
		e.in.BaseWorkflows, e.in.BaseWorkflowsKnown = all, true
	}
	read := func(id int64, set github.CheckSet, runs []gate.Run, green *github.CheckRun) (checkLog, error) {
		log, err := w.readLog(ctx, w.repo(t), checkRunByID(set, id), green)
		if err == nil {
			classify(runs, id, log)
		}
		return log, err
	}
	green := e.greenOnBase(needs.Logs)
	for _, id := range needs.Logs {
		log, err := read(id, e.head, e.in.Runs, green[id])
		if err != nil {
			return err
		}
		e.logs = append(e.logs, log)
	}
	for _, id := range needs.Earlier {
		log, err := read(id, e.head, e.in.Runs, nil)
		if err != nil {
			return err
		}
		e.logs = append(e.logs, log) // it may be the cause
	}
	for _, id := range needs.OnBase {
		if _, err := read(id, e.base, e.in.Base, nil); err != nil {
			return err
		}
	}
	if len(needs.Files) > 0 {
		if e.in.Files, err = w.branch.readWorkflows(ctx, t, t.Head, needs.Files); err != nil {
			return err
		}
		folders := slices.DeleteFunc(slices.Clone(needs.Files), func(p string) bool { return !strings.HasSuffix(p, "/") })
		if e.in.BaseFiles, err = w.branch.readWorkflows(ctx, t, t.BaseSHA, folders); err != nil {
			return err
		}
		if slices.ContainsFunc(e.in.Files, gate.File.ByPaths) {
			diff, err := w.mirror(t).Diff(ctx, string(t.BaseSHA), string(t.Head))
			if err != nil {
				return fmt.Errorf("read what the filters of workflows look at: %w", err)
			}
			for _, f := range diff.Files {
				e.in.Changed = append(e.in.Changed, f.Path)
			}
		}
		e.in.FilesKnown = true
	}
	if needs.Tampering {
		// This also applies to heads with a user's push on top: the attempt's changes are still in them.
		if e.in.Tampering, e.in.Expectations, err = w.tampering(ctx, t); err != nil {
			return err
		}
		e.in.TamperingKnown = true
	}
	if len(needs.Counts) > 0 {
		if e.in.Counts, err = w.countTests(ctx, t, e, needs.Counts); err != nil {
			return err
		}
		e.in.CountsKnown = true
	}
	if needs.Doubt {
		// The results on this commit count as well.
		if err := w.saveFlips(ctx, t, e.in.GreenChecks()); err != nil {
			return err
		}
		if e.rerun, err = w.decisions.inForce(ctx, t, policies.TypeRerun); err != nil {
			return err
		}
		if e.in.Doubt, err = w.doubt(ctx, t, e.rerun.Rerun()); err != nil {
			return err
		}
		e.in.DoubtKnown = true
	}
	return nil
}

// classify records the content of a run's log.
func classify(all []gate.Run, id int64, log checkLog) {
	for i := range all {
		if r := &all[i]; r.ID == id {
			r.Read, r.Class, r.Said = true, log.failure.Class, log.notStarted
			r.Failed, r.Signature = log.tests, log.failure.Signature
			r.Telling = text.MostTelling(log.failure.Excerpt)
		}
	}
}

// greenOnBase returns the runs of the same checks that passed on the base commit. Comparing their logs shows what is
// new.
func (e *headEvidence) greenOnBase(runs []int64) map[int64]*github.CheckRun {
	out := map[int64]*github.CheckRun{}
	if len(runs) == 0 {
		return out
	}
	for id, base := range e.in.GreenOnBase(runs...) {
		i := slices.IndexFunc(e.base.Runs, func(r github.CheckRun) bool { return r.ID == base })
		out[id] = &e.base.Runs[i]
	}
	return out
}

// setAttempts records the attempt of a workflow run in which each of its jobs ran.
func setAttempts(all []gate.Run, workflowRun int64, attempts map[int64]int) {
	for i := range all {
		if r := &all[i]; r.WorkflowRun == workflowRun {
			r.Attempt = cmp.Or(attempts[r.ID], gate.NoAttempt)
		}
	}
}

func runs(set github.CheckSet, slug string) []gate.Run {
	out := make([]gate.Run, 0, len(set.Runs))
	for _, r := range set.Runs {
		out = append(out, gate.Run{
			ID: r.ID, Name: r.Name, App: r.AppSlug, AppID: r.AppID, Own: r.AppSlug == slug, SuiteID: r.SuiteID,
			WorkflowRun: r.RunID, Status: r.Status, Conclusion: r.Conclusion, URL: r.URL, StartedAt: r.StartedAt,
			CompletedAt: r.CompletedAt,
		})
	}
	return out
}
