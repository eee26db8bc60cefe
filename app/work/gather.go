package work

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/text"
)

// headEvidence is what a look at the head gathered.
type headEvidence struct {
	in gate.Input
	// id of the policy that says what is believed of red checks; empty: it was not asked for
	policy string
	self   string          // the slug of the app itself
	head   github.CheckSet // of in.Runs and in.Statuses
	base   github.CheckSet // of the base commit, where in.BaseKnown

	lags         bool                // GitHub does not show the head yet
	found        *sia.Found          // the pull request is not what the task knows: there is nothing to judge; nil: it is
	stands       sia.SHA             // see [common.standsOn]
	merge        github.Mergeability // of the pull request
	rules        []string            // of the base branch that stop a merge and that no check fulfils, for people
	earlier      []sia.Reported      // on the task's heads before, where earlierKnown
	earlierKnown bool
	logs         []checkLog // of red runs of the head, in the order in which they were read
}

// gather reads the checks of the head, and then what the judgement says that it
// needs, until it needs nothing more.
func (w *checkWorker) gather(ctx context.Context, t sia.Task) (*headEvidence, error) {
	e, err := w.headChecks(ctx, t)
	if err != nil || e.elsewhere() {
		return e, err
	}
	return e, w.supplyAll(ctx, t, e, gate.Input.Needs)
}

// mergeRules are the rules of the base branch that no check fulfils, without the one for signatures where SIA's commits
// are signed.
func mergeRules(t sia.Task, kinds []string) []string {
	if t.Commits.Signed {
		kinds = slices.DeleteFunc(slices.Clone(kinds), func(k string) bool { return k == "required_signatures" })
	}
	return render.MergeRules(kinds)
}

// maxSupplies bounds how often a judgement may need something more: it asks for each thing once.
const maxSupplies = 20

// supplyAll fills in what is needed until nothing is.
func (w *checkWorker) supplyAll(
	ctx context.Context, t sia.Task, e *headEvidence, needed func(gate.Input) gate.Needs,
) error {
	for range maxSupplies {
		needs := needed(e.in)
		if needs.None() {
			return nil
		}
		if err := w.supply(ctx, t, e, needs); err != nil {
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
	look, err := w.repo(t).Look(ctx, github.LookAt{SHA: string(t.Head), Pull: t.Pull.Number, Branch: t.BaseBranch,
		Base: string(t.BaseSHA), Earlier: earlierHeads(t)})
	if err != nil {
		return nil, err
	}
	found, lags := w.compare(t, look.Pull, look.Merge.Base)
	if found != nil || lags {
		return &headEvidence{in: in, self: self.Slug, found: found, lags: lags}, nil
	}
	if err := w.mended(ctx, t, &in); err != nil {
		return nil, err
	}
	required, err := w.repo(t).Required(ctx, t.BaseBranch)
	if err != nil {
		return nil, err
	}
	in.Runs, in.Statuses = runs(look.Checks, self.Slug), look.Checks.Statuses
	in.Workflows, in.WorkflowsKnown = look.Workflows, look.WorkflowsKnown
	in.Repo, in.Earlier, in.History = t.Repo.String(), t.Reported, history(look.History, self.Slug)
	in.MergeUnknown = look.Merge.Unknown && t.Gate.Unmerged < maxUnmerged
	e := &headEvidence{in: in, self: self.Slug, head: look.Checks, merge: look.Merge}
	e.takeRules(t, required)
	if look.Earlier != nil {
		e.takeEarlier(look.Earlier)
	}
	switch {
	case t.BaseSHA == t.Head: // the branch was set back: what is red there is no other commit's
		e.in.BaseKnown, e.in.BaseWorkflowsKnown = true, true
	case look.Base != nil:
		e.takeBase(*look.Base)
	}
	return e, nil
}

// maxUnmerged bounds the looks in a row that wait for GitHub to work out how the pull request merges. It takes seconds.
const maxUnmerged = 10

// takeRules notes what the base branch requires.
func (e *headEvidence) takeRules(t sia.Task, required github.Requirements) {
	e.in.Required, e.in.RequiredKnown = required.All, required.Known
	e.merge.Behind = e.merge.Behind || required.Strict && e.merge.Base != "" && e.merge.Base != string(t.BaseSHA)
	e.rules = mergeRules(t, required.Others)
}

// compare holds a pull request as GitHub shows it against what the task knows of it: found is what is to be taken up
// first, and lags reports that GitHub has not heard of SIA's last push yet.
func (w *checkWorker) compare(t sia.Task, p github.PullState, baseAt string) (found *sia.Found, lags bool) {
	if !p.Known || t.Pull.Number == 0 {
		return nil, false
	}
	f := sia.Found{Head: sia.SHA(p.Head), By: p.HeadBy, Closed: p.Closed, Merged: p.Merged, Gone: p.Gone}
	recent := w.Now().Sub(t.Gate.Since) < lagsFor
	switch {
	case p.Gone || p.Closed:
		return &f, false
	case t.MovedTo(f.Head, recent):
		return &f, false
	case f.Head != t.Head:
		return nil, true
	case p.Base != "" && p.Base != t.BaseBranch:
		f.Base, f.BaseAt = p.Base, sia.SHA(baseAt)
		return &f, false
	}
	return nil, false
}

// lagsFor is how long after a push a pull request may still show the head of before.
const lagsFor = 2 * time.Minute

// history is what reported near the base branch, without SIA's own.
func history(h github.History, self string) gate.History {
	others := func(all [][]sia.Reported) [][]sia.Reported {
		out := make([][]sia.Reported, len(all))
		for i, one := range all {
			out[i] = slices.DeleteFunc(slices.Clone(one), func(r sia.Reported) bool { return r.App == self })
		}
		return out
	}
	return gate.History{Base: others(h.Base), Merged: others(h.Merged)}
}

// takeBase notes what judges the base commit.
func (e *headEvidence) takeBase(look github.Look) {
	e.base = look.Checks
	e.in.Base, e.in.BaseStatuses, e.in.BaseKnown = runs(e.base, e.self), e.base.Statuses, true
	e.in.BaseWorkflows, e.in.BaseWorkflowsKnown = look.Workflows, look.WorkflowsKnown
}

// taskInput is what the task itself tells about its head.
func taskInput(t sia.Task, now time.Time) gate.Input {
	return gate.Input{
		Now: now, Settings: t.Settings.Checks, Since: t.Gate.Since, Reruns: t.Gate.Reruns, Doubted: t.Gate.Doubted,
		Accepted: slices.Contains(t.Accepted, t.Head), Weighing: weighingOf(t), ByPerson: t.HeadBy != (sia.Actor{}),
		Waived: t.Waived, Vouched: t.Vouched, Tests: gate.TestsOf(t),
		Issue: t.Title + "\n\n" + t.Body,
		Draft: t.Pull.Draft, Final: !t.Pull.Draft || t.Pull.StaysDraft(),
	}
}

// weighingOf is what the reviewer said of the head's changed expectations; nil when
// it was asked about another head.
func weighingOf(t sia.Task) *sia.Weighing {
	if w := t.Gate.Weighing; w != nil && w.SHA == t.Head {
		return w
	}
	return nil
}

// mended reads anew which checks the settings require, once somebody was asked about
// one that says nothing: it may have been taken out since the attempt began.
func (w *checkWorker) mended(ctx context.Context, t sia.Task, in *gate.Input) error {
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

// supply fills in what the judgement needs.
func (w *checkWorker) supply(ctx context.Context, t sia.Task, e *headEvidence, needs gate.Needs) (err error) {
	if needs.Workflows {
		all, known, err := w.repo(t).Workflows(ctx, string(t.Head))
		if err != nil {
			return err
		}
		e.in.Workflows, e.in.WorkflowsKnown, e.in.WorkflowsHidden = all, true, !known
	}
	for _, id := range needs.Attempts {
		attempts, err := w.repo(t).Attempts(ctx, id)
		if err != nil {
			return err
		}
		noteAttempts(e.in.Runs, id, attempts)
		noteAttempts(e.in.Base, id, attempts)
	}
	if needs.Base {
		look, err := w.repo(t).Look(ctx, github.LookAt{SHA: string(t.BaseSHA)})
		if err != nil {
			return err
		}
		e.takeBase(look)
	}
	if needs.BaseWorkflows {
		all, _, err := w.repo(t).Workflows(ctx, string(t.BaseSHA))
		if err != nil {
			return err
		}
		e.in.BaseWorkflows, e.in.BaseWorkflowsKnown = all, true
	}
	read := func(id int64, set github.CheckSet, runs []gate.Run, green *github.CheckRun) (checkLog, error) {
		log, err := w.readLog(ctx, w.repo(t), runOf(set, id), green)
		if err == nil {
			classify(runs, id, log)
		}
		return log, err
	}
	for _, id := range needs.Logs {
		log, err := read(id, e.head, e.in.Runs, e.greenOnBase(id))
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
		e.logs = append(e.logs, log) // it may turn out to be to blame
	}
	for _, id := range needs.OnBase {
		if _, err := read(id, e.base, e.in.Base, nil); err != nil {
			return err
		}
	}
	if len(needs.Files) > 0 {
		if e.in.Files, err = w.branch.workflowsAt(ctx, t, needs.Files); err != nil {
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
		// A person's push on top of what an attempt did does not answer for it.
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
		// How the checks went on this commit counts as well.
		if err := w.saveFlips(ctx, t, e.in.GreenChecks()); err != nil {
			return err
		}
		p, err := w.decisions.inForce(ctx, t, policies.TypeRerun)
		if err != nil {
			return err
		}
		e.policy = p.ID()
		if e.in.Doubt, err = w.doubt(ctx, t, p.Rerun()); err != nil {
			return err
		}
		e.in.DoubtKnown = true
	}
	return nil
}

// classify notes what the log of a run says.
func classify(all []gate.Run, id int64, log checkLog) {
	for i := range all {
		if r := &all[i]; r.ID == id {
			r.Read, r.Class, r.Said = true, log.failure.Class, log.said
			r.Failed, r.Signature = log.failure.Tests, log.failure.Signature
			r.Telling = text.MostTelling(log.failure.Excerpt)
		}
	}
}

// greenOnBase is the run of the same check that passed on the base commit, for its
// log shows what is new; nil when there is none.
func (e *headEvidence) greenOnBase(run int64) *github.CheckRun {
	id, ok := e.in.GreenOnBase(run)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(e.base.Runs, func(r github.CheckRun) bool { return r.ID == id })
	return &e.base.Runs[i]
}

// noteAttempts notes in which attempt of a workflow run each of its jobs ran.
func noteAttempts(all []gate.Run, workflowRun int64, attempts map[int64]int) {
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
