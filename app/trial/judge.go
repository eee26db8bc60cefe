package trial

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/evolve"
	"github.com/sia-bot/sia/sia"
)

const (
	// freezePeriod is the time after the promotion or rollback of a change during which the policy is not changed again.
	freezePeriod = 14 * 24 * time.Hour
	// time after which an experiment ends without a result because the difference is too small to matter
	maxDuration     = 180 * 24 * time.Hour
	maxTasks        = 4000
	maxApprovalWait = 60 * 24 * time.Hour // for a user's approval
)

// notOpenedPrefix is the prefix of the reason if GitHub refused to open a pull request.
const notOpenedPrefix = "its pull request can't be opened: "

// unusable returns the reason for ending a change whose version can't decide any more.
func unusable(err error) string { return "its version can't be used any more: " + err.Error() }

// open opens the pull request of a change.
func (e *Evolver) open(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	candidate, err := e.version(ctx, x.Candidate, policies.Layer(x.Layer))
	switch {
	case isUnusable(err):
		return e.setPhase(ctx, x, store.ExperimentRejected, unusable(err))
	case err != nil:
		return x, err
	}
	pull, err := e.Forge.Open(ctx, x, candidate.Source)
	switch {
	case errors.Is(err, ErrMoved):
		return e.setPhase(ctx, x, store.ExperimentRejected, ErrMoved.Error())
	case sia.IsPermanent(err):
		return e.setPhase(ctx, x, store.ExperimentRejected, notOpenedPrefix+err.Error())
	case err != nil:
		return x, err
	}
	x.Pull, x.PullURL, x.Head = pull.Number, pull.URL, pull.Head
	return e.setPhase(ctx, x, store.ExperimentProposed, "the pull request is open")
}

// awaitApproval starts the experiment once it is approved, or if no approval is required.
func (e *Evolver) awaitApproval(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	x, pull, done, err := e.look(ctx, x, store.ExperimentRejected)
	if done || err != nil {
		return x, err
	}
	set, err := e.Settings.Settings(ctx, x.Installation, x.Place)
	if err != nil {
		return x, err
	}
	switch {
	case pull.ApprovedBy != "":
		x.ApprovedBy = pull.ApprovedBy
		x, err = e.setPhase(ctx, x, store.ExperimentRunning, "@"+pull.ApprovedBy+" approved the experiment")
	case concernsPeople(x):
	case set.Policies.Autonomy == sia.AutonomyExperiment:
		x, err = e.setPhase(ctx, x, store.ExperimentRunning, "policies.autonomy lets experiments begin by themselves")
	}
	if err != nil {
		return x, err
	}
	if x.Phase == store.ExperimentProposed && e.Now().Sub(x.CreatedAt) > maxApprovalWait {
		return e.end(ctx, x, store.ExperimentRejected, "nobody approved the experiment")
	}
	return e.updateComment(ctx, x)
}

// concernsPeople reports whether a change may decide when people are asked, or told that SIA gives up: they decide
// about it themselves, because asking less often makes more tasks count as resolved.
func concernsPeople(x store.Experiment) bool {
	switch policies.Type(x.Decision) {
	case policies.TypeEscalate:
		return true
	case policies.TypeRecover:
		return slices.ContainsFunc([]string{"." + policies.ChoicePerson + ": ", "." + policies.ChoiceAbandon + ": ",
			".when."}, func(part string) bool { return strings.Contains(x.Change, part) })
	}
	return false
}

// look reads the pull request. done reports that it was merged or closed, and that this was processed.
func (e *Evolver) look(
	ctx context.Context, x store.Experiment, closed store.ExperimentPhase,
) (_ store.Experiment, now PullState, done bool, err error) {
	now, err = e.Forge.Look(ctx, x)
	switch {
	case err != nil:
	case now.Merged:
		done = true
		x, err = e.recordPromotion(ctx, x, "a person merged the pull request")
	case !now.Open:
		done = true
		x, err = e.setPhase(ctx, x, closed, "a person closed the pull request")
	}
	return x, now, done, err
}

// recordPromotion records that the change is in the file.
func (e *Evolver) recordPromotion(ctx context.Context, x store.Experiment, why string) (store.Experiment, error) {
	if x.StartedAt.IsZero() { // there was no experiment: all tasks from now on use the change
		x.StartedAt = e.Now()
	}
	open, err := e.Store.Experiments(ctx, x.Installation, true)
	if err != nil {
		return x, err
	}
	for _, was := range open { // a guardrail watches only the last change of a policy
		if was.Phase == store.ExperimentPromoted && was.ID != x.ID && samePolicy(was, x) {
			_, err := e.setPhase(ctx, was, store.ExperimentKept, "the next change of the policy took its place")
			if err != nil {
				return x, err
			}
		}
	}
	if x, err = e.setPhase(ctx, x, store.ExperimentPromoted, why); err != nil {
		return x, err
	}
	return e.updateComment(ctx, x)
}

func samePolicy(a, b store.Experiment) bool {
	return a.Installation == b.Installation && a.Place.ID == b.Place.ID && a.Decision == b.Decision && a.Name == b.Name
}

// judge evaluates the results of an experiment's tasks.
func (e *Evolver) judge(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	x, _, done, err := e.look(ctx, x, store.ExperimentStopped)
	if done || err != nil {
		return x, err
	}
	switch _, err := e.version(ctx, x.Candidate, policies.Layer(x.Layer)); {
	case isUnusable(err):
		return e.end(ctx, x, store.ExperimentStopped, unusable(err))
	case err != nil:
		return x, err
	}
	switch moved, err := e.hasMoved(ctx, x); {
	case moved:
		return e.end(ctx, x, store.ExperimentStopped, ErrMoved.Error())
	case err != nil:
		return x, err
	}
	rows, err := e.settleTasks(ctx, x)
	if err != nil {
		return x, err
	}
	switch now := computeStanding(x, rows); {
	case now.Verdict == evolve.Promote && now.Worse:
		return e.end(ctx, x, store.ExperimentStopped,
			"more was resolved, and more people were asked or more tests touched: "+now.Why)
	case now.Verdict == evolve.Promote:
		return e.setPhase(ctx, x, store.ExperimentBetter, now.Why)
	case now.Verdict == evolve.StopHarm:
		return e.end(ctx, x, store.ExperimentStopped, "it does worse: "+now.Why)
	case now.Verdict == evolve.StopBroken:
		return e.end(ctx, x, store.ExperimentStopped, "tasks were not shared out fairly, so nothing follows: "+now.Why)
	case now.Present.Tried+now.Candidate.Tried >= maxTasks || e.Now().Sub(x.StartedAt) > maxDuration:
		return e.end(ctx, x, store.ExperimentStopped, "no difference was found: "+now.Why)
	}
	return e.updateCommentWith(ctx, x, rows)
}

// hasMoved reports whether somebody changed the policy's file since an experiment began: no task would take part, or
// its tasks would be compared with those of another version.
func (e *Evolver) hasMoved(ctx context.Context, x store.Experiment) (bool, error) {
	set, err := e.Settings.Policies(ctx, x.Installation, x.Place)
	if err != nil {
		return false, err
	}
	_, stands := set.Find(x.Present)
	return !stands || slices.ContainsFunc(set.All(), func(p policies.Policy) bool {
		return p.Layer == policies.Repository && string(p.Decision) == x.Decision && p.Name == x.Name && p.ID() != x.Present
	}), nil
}

// end closes the pull request of a change that failed. It posts the reason before. If both fail permanently, as in an
// archived repository, the change ends nevertheless.
func (e *Evolver) end(
	ctx context.Context, x store.Experiment, p store.ExperimentPhase, why string,
) (store.Experiment, error) {
	if x.Pull == 0 {
		return e.setPhase(ctx, x, p, why)
	}
	rows, err := e.Store.ExperimentTasks(ctx, x.ID)
	if err != nil {
		return x, err
	}
	told := x
	told.Phase, told.Why = p, why
	id, err := e.Forge.UpsertComment(ctx, told, computeStanding(told, rows))
	if err == nil {
		x.Comment = id
		err = e.Forge.Close(ctx, x)
	}
	if err != nil && !sia.IsPermanent(err) {
		return x, err
	}
	if err != nil {
		e.Logger.WarnContext(ctx, "the pull request of a change that ended stays open", "experiment", x.ID, "why", err)
	}
	return e.setPhase(ctx, x, p, why)
}

// merge merges the pull request of a successful change.
func (e *Evolver) merge(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	x, _, done, err := e.look(ctx, x, store.ExperimentStopped)
	if done || err != nil {
		return x, err
	}
	merged, why, err := e.Forge.Merge(ctx, x)
	if err != nil {
		return x, err
	}
	if merged {
		return e.recordPromotion(ctx, x, "it does better, and was merged")
	}
	if why = store.ExperimentUnmerged + why; why != x.Why {
		if x, err = e.setPhase(ctx, x, store.ExperimentBetter, why); err != nil {
			return x, err
		}
	}
	return e.updateComment(ctx, x)
}

// checkGuardrails checks the guardrails of a promoted change.
func (e *Evolver) checkGuardrails(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	rows, err := e.settleTasks(ctx, x)
	if err != nil {
		return x, err
	}
	guards := computeStanding(x, rows).Guards
	for _, g := range guards { // first, because any other alarm restarts all metrics
		if g.Whose == evolve.TheChanges {
			return e.rollBack(ctx, x, "", fmt.Sprintf("the share of tasks %s fell: %s", g.Metric, g.Why))
		}
	}
	for _, g := range guards {
		how := "fell with the change and without it alike"
		switch g.Whose {
		case evolve.Everyones:
		case evolve.Nobodys:
			how = "fell and is up again"
		default:
			continue
		}
		x.WatchedAt = e.Now()
		return e.setPhase(ctx, x, x.Phase,
			fmt.Sprintf("the share of tasks %s %s, so it is watched anew: %s", g.Metric, how, g.Why))
	}
	return e.updateCommentWith(ctx, x, rows)
}

// rollBack restores the version before a change. by is empty for SIA. A longer freeze is not shortened. If a later
// version that was rolled back is still in the file, the hold continues to suppress it.
func (e *Evolver) rollBack(ctx context.Context, x store.Experiment, by, why string) (store.Experiment, error) {
	h := store.PolicyHold{Installation: x.Installation, Place: x.Place.ID, Decision: x.Decision, Name: x.Name,
		Bad: x.Candidate, Instead: x.Present, Until: e.Now().Add(freezePeriod), Why: why, By: by, At: e.Now()}
	was, err := e.currentHold(ctx, h)
	if err != nil {
		return x, err
	}
	set, err := e.Settings.Policies(ctx, x.Installation, x.Place)
	if err != nil {
		return x, err
	}
	if _, stands := set.Find(was.Bad); stands {
		h.Bad = was.Bad
	}
	if was.Until.After(h.Until) {
		h.Until = was.Until
	}
	if err := e.Store.HoldPolicy(ctx, h); err != nil {
		return x, err
	}
	return e.setPhase(ctx, x, store.ExperimentReverting, why)
}

// revert restores the file. If that is refused permanently, the file stays and the hold suppresses its version.
func (e *Evolver) revert(ctx context.Context, x store.Experiment) (store.Experiment, error) {
	source, err := e.previousSource(ctx, x)
	if err != nil {
		return x, err
	}
	url, merged, err := e.Forge.Revert(ctx, x, source)
	how := "the pull request " + url + " puts its file back"
	switch {
	case errors.Is(err, ErrMoved):
		how = ErrMoved.Error() + ", so it stays as it is"
	case sia.IsPermanent(err):
		how = "its file stays as it is, and the version before it decides all the same: " + err.Error()
		e.Logger.WarnContext(ctx, "the file of a change that was taken back stays", "experiment", x.ID, "why", err)
	case err != nil:
		return x, err
	case merged && url == "":
		how = "its file is back already"
	case merged:
		how = "its file was put back by " + url
	}
	why := x.Why
	if x, err = e.setPhase(ctx, x, store.ExperimentRolledBack, why); err != nil {
		return x, err
	}
	if err := e.Store.SaveExperiment(ctx, x.Phase, x, how); err != nil {
		return x, err
	}
	told, err := e.updateComment(ctx, x)
	if sia.IsPermanent(err) { // the comment is refused too
		return x, nil
	}
	return told, err
}

// previousSource returns the file's content before a change; empty if the change created the file, because the previous
// version ships with SIA.
func (e *Evolver) previousSource(ctx context.Context, x store.Experiment) (string, error) {
	if _, ships := policies.ShippedSet().Find(x.Present); ships {
		return "", nil
	}
	return e.Store.PolicyVersion(ctx, x.Present)
}
