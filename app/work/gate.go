package work

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/stuck"
)

// gate gathers the evidence about the head, judges it, and reports the verdict.
func (w *checkWorker) gate(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	if f.SHA != t.Head || f.Seq != t.Gate.Seq {
		return sia.Done{}, nil // a newer look is scheduled
	}
	base, err := w.headBase(ctx, t)
	if err != nil {
		return nil, err
	}
	if same, err := w.isUpdateOnly(ctx, t, base); err != nil {
		return nil, err
	} else if same {
		return sia.Judged{SHA: t.Head, Looked: w.Now(), Verdict: sia.VerdictPending, Base: base, Same: true,
			Explain: []string{"The branch was updated; its checks are read next."}}, nil
	}
	t.BaseSHA = cmp.Or(base, t.BaseSHA)
	e, err := w.gather(ctx, t)
	if err != nil {
		return nil, err
	}
	if e.isStale() {
		return e.pendingVerdict(t), nil
	}
	e.headBase = base
	v := gate.Judge(e.in)
	if v.Verdict == sia.VerdictGreen && e.in.Final {
		if err := w.refreshForPass(ctx, t, e); err != nil {
			return nil, err
		}
		if e.isStale() {
			return e.pendingVerdict(t), nil
		}
		if err := w.fetchAllNeeds(ctx, t, e, gate.Input.Needs); err != nil { // the new rules may need more
			return nil, err
		}
		v = gate.Judge(e.in)
	}
	return w.reportVerdict(ctx, t, f, e, v)
}

// headBase returns the commit of the base branch on which a head pushed by somebody else is based. Changes that others
// made on the base are not the task's after they merged it into the branch or rebased the branch. It returns "" if the
// task has recorded that commit, and if GitHub finds none.
func (w *common) headBase(ctx context.Context, t sia.Task) (sia.SHA, error) {
	if t.HeadBy == (sia.Actor{}) || t.Gate.Based {
		return "", nil
	}
	sha, err := w.repo(t).MergeBase(ctx, t.BaseBranch, string(t.Head))
	return sia.SHA(sha), err
}

// isUpdateOnly reports whether a head pushed by somebody else is the attempt's change on another commit of the base.
func (w *checkWorker) isUpdateOnly(ctx context.Context, t sia.Task, base sia.SHA) (bool, error) {
	a := t.Attempt()
	if base == "" || base == t.BaseSHA || a == nil || a.Head == "" || a.Outcome != "" ||
		t.Escalation != nil && !t.Escalation.Answered {
		return false, nil
	}
	before, err := w.mirror(t).Diff(ctx, string(t.BaseSHA), string(a.Head))
	if err != nil { // the branch may have been moved away from it
		w.Logger.WarnContext(ctx, "commit of an attempt is gone", "task", t.ID, "attempt", a.Number, "error", err)
		return false, nil
	}
	after, err := w.mirror(t).Diff(ctx, string(base), string(t.Head))
	if err != nil {
		return false, fmt.Errorf("look at what the updated branch changes: %w", err)
	}
	return sameChange(before, after), nil
}

// sameChange reports whether two diffs change the same lines of the same files, regardless of position. It returns
// false if one of them is truncated.
func sameChange(a, b gitops.Diff) bool {
	same := func(f, g gitops.FileDiff) bool {
		return f.Path == g.Path && f.OldPath == g.OldPath && f.Status == g.Status && len(f.Hunks) > 0 &&
			slices.EqualFunc(f.Hunks, g.Hunks, func(h, k gitops.Hunk) bool { return slices.Equal(h.Lines, k.Lines) })
	}
	return len(a.Files) > 0 && !a.Truncated && !b.Truncated && slices.EqualFunc(a.Files, b.Files, same)
}

// refreshForPass reads again what may have changed while the checks were read, or what was cached: the rules of the
// base branch, what reports near it, and the pull request, which somebody may have closed or pushed to.
func (w *checkWorker) refreshForPass(ctx context.Context, t sia.Task, e *headEvidence) error {
	if err := w.readEarlier(ctx, t, e); err != nil {
		return err
	}
	now, err := w.repo(t).Checks.FinalState(ctx, t.Pull.Number, t.BaseBranch)
	if err != nil {
		return err
	}
	e.setRules(t, now.Required)
	if now.History.Known {
		e.in.History = history(now.History, e.self)
	}
	return w.comparePull(ctx, t, e, now.Pull, "")
}

// earlierHeads returns the task's previous heads, including those others pushed, followed by the heads of its previous
// attempts, each newest first. A check that reported there and does not report now is missed.
func earlierHeads(t sia.Task) []string {
	var out []string
	add := func(head sia.SHA) {
		if sha := string(head); head != "" && head != t.Head && !slices.Contains(out, sha) && len(out) < github.MaxEarlier {
			out = append(out, sha)
		}
	}
	for _, head := range slices.Backward(t.Former) {
		add(head)
	}
	for i := range slices.Backward(t.Attempts) { // others may have pushed more often than Former holds
		add(t.Attempts[i].Head)
	}
	return out
}

// addEarlier records which checks reported on the task's previous heads. A verdict records those of the commit that it
// judges, but if somebody pushes soon afterwards there was no verdict.
func (e *headEvidence) addEarlier(looks []github.Look) {
	for _, look := range looks {
		e.earlier = append(e.earlier, gate.Judge(gate.Input{Runs: runs(look.Checks, e.self), Statuses: look.Checks.Statuses,
			Workflows: look.Workflows, WorkflowsKnown: look.WorkflowsKnown}).Reported...)
	}
	e.in.Earlier = slices.Concat(e.in.Earlier, e.earlier)
	e.earlierKnown = true
}

// readEarlier reads which checks reported on the task's previous heads, unless that is known.
func (w *checkWorker) readEarlier(ctx context.Context, t sia.Task, e *headEvidence) error {
	if e.earlierKnown {
		return nil
	}
	var looks []github.Look
	for _, sha := range earlierHeads(t) {
		look, err := w.repo(t).Checks.Look(ctx, github.LookAt{SHA: sha})
		if err == nil && !look.WorkflowsKnown {
			look.Workflows, look.WorkflowsKnown, err = w.repo(t).Actions.Workflows(ctx, sha)
		}
		if err != nil {
			return err
		}
		looks = append(looks, look)
	}
	e.addEarlier(looks)
	return nil
}

// isStale reports whether the pull request differs from the task, does not show its head yet, or was closed a moment
// ago. Then there is nothing to judge.
func (e *headEvidence) isStale() bool { return e.found != nil || e.lags || e.closing }

// pendingVerdict returns a pending verdict that reports the difference. If GitHub has not shown the head for the wait
// in the settings, it is blocked: no workflow runs for the pull request before.
func (e *headEvidence) pendingVerdict(t sia.Task) sia.Judged {
	out := sia.Judged{SHA: t.Head, Looked: e.in.Now, Verdict: sia.VerdictPending, Found: e.found,
		Explain: []string{"The pull request has changed; that is taken up first."}}
	if e.closing { // soon it is open, or the task ends
		out.Explain = nil
	}
	if !e.lags {
		return out
	}
	out.Explain = []string{fmt.Sprintf("GitHub does not show %s on the pull request yet.", t.Head.Short())}
	if limit := t.Settings.Checks.Wait.D(); e.in.Now.Sub(t.Gate.Since) >= limit {
		out.Verdict, out.Blocked = sia.VerdictBlocked, []sia.Obstacle{{Check: "the pull request", URL: t.Pull.URL, Pull: true,
			Reason: fmt.Sprintf("does not show %s yet, which has been the head of its branch for %s; closing and reopening "+
				"the pull request may help", t.Head.Short(), render.Duration(limit))}}
	}
	return out
}

// reportVerdict converts a verdict to a fact, and stores the data for learning.
func (w *checkWorker) reportVerdict(
	ctx context.Context, t sia.Task, f sia.Effect, e *headEvidence, v gate.Result,
) (sia.Fact, error) {
	if err := w.saveFlips(ctx, t, e.in.GreenChecks()); err != nil {
		return nil, err
	}
	out := sia.Judged{
		SHA: t.Head, Looked: e.in.Now, Verdict: v.Verdict, Checks: v.Checks, Explain: v.Explain, RerunIDs: v.Rerun,
		Doubt: v.Doubt, Blocked: v.Blocked, Guarded: v.Guarded, Weigh: v.Weigh,
		Conflicts: e.merge.Conflicts, Behind: e.merge.Behind, Unmerged: e.merge.Unknown,
		Base:       e.headBase,
		Reported:   append(e.earlier, v.Reported...),
		MergeRules: e.rules, MergeBlocked: e.mergeBlocked(t, v.Checks),
	}
	if out.Verdict == sia.VerdictRed {
		var err error
		if out.Failures, err = w.failures(ctx, t, e, v); err != nil {
			return nil, err
		}
		out.Blamed = slices.Sorted(maps.Keys(v.Red))
		var criteria, passing []string
		for _, c := range v.Checks {
			if c.Colour == sia.Skipped {
				continue // neither met nor missed
			}
			criteria = append(criteria, c.Name)
			if c.Colour == sia.Green {
				passing = append(passing, c.Name)
			}
		}
		out.Signals = stuck.Signals(t, stuck.Judged{
			Failures: out.Failures, Criteria: criteria, Passing: passing,
			Before: gate.Green(e.in.Base, e.in.BaseStatuses, e.in.BaseWorkflows), Hunks: t.Attempt().Hunks,
		})
	}
	return out, w.decisions.decideRerun(ctx, t, f, out, e.rerun)
}

// failures returns the failures of the red checks. The long extracts of their logs are stored for the next attempt.
func (w *checkWorker) failures(
	ctx context.Context, t sia.Task, e *headEvidence, v gate.Result,
) ([]sia.CheckFailure, error) {
	var out []sia.CheckFailure
	unread := map[string]bool{} // names of red checks whose logs the verdict did not need
	for _, name := range v.Red {
		unread[name] = true
	}
	for _, l := range e.logs {
		name, isRed := v.Red[l.run]
		if !isRed {
			continue
		}
		delete(unread, name)
		l.failure.Check = name
		text := textFailure + name
		if err := w.Store.SaveText(ctx, t.ID, t.Attempt().Number, text, w.Secrets.Mask(l.detail)); err != nil {
			return nil, err
		}
		l.failure.Excerpt = w.Secrets.Mask(l.failure.Excerpt)
		for i, other := range l.failure.Others {
			l.failure.Others[i] = w.Secrets.Mask(other)
		}
		out = append(out, l.failure)
	}
	for _, s := range e.head.Statuses {
		name, isRed := v.Failed[s.Context]
		if !isRed {
			continue
		}
		said, err := w.statusFailure(ctx, s)
		if err != nil {
			return nil, err
		}
		said.Check = name
		out = append(out, said)
	}
	for _, c := range v.Checks {
		read := slices.ContainsFunc(out, func(f sia.CheckFailure) bool { return f.Check == c.Name })
		if c.Colour != sia.Red || !c.Required || read || slices.Contains(v.Follow, c.Name) {
			continue
		}
		if unread[c.Name] {
			out = append(out, sia.CheckFailure{Check: c.Name, URL: c.URL, Class: string(failure.Unknown)})
			continue
		}
		// It has no log, as a workflow that could not start.
		said, err := w.statusFailure(ctx, gate.Status{Context: c.Name, URL: c.URL, Description: c.Name + " " + c.Why})
		if err != nil {
			return nil, err
		}
		out = append(out, said)
	}
	return out, nil
}

// statusFailure returns the failure described by a legacy commit status.
func (w *checkWorker) statusFailure(ctx context.Context, s gate.Status) (sia.CheckFailure, error) {
	rep, err := failure.Read(ctx, strings.NewReader(s.Description), failure.Options{Name: s.Context})
	if err != nil {
		return sia.CheckFailure{}, fmt.Errorf("read the status %s: %w", s.Context, err)
	}
	out := failure.CheckFailure(s.Context, s.URL, rep)
	out.Excerpt, out.Line = w.Secrets.Mask(s.Description), 0
	return out, nil
}
