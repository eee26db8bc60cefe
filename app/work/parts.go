package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/tamper"
	"github.com/sia-bot/sia/sia/text"
)

// textBaseline stores the result of the repository's tests at an attempt's start.
const textBaseline = "baseline"

// runTextKind returns the kind of a text of one run of an attempt.
func runTextKind(kind string, run int) string {
	if run == 0 {
		return kind
	}
	return fmt.Sprintf("%s of run %d", kind, run)
}

// agentRun is one run of an agent: a whole attempt, its plan, or a part of it.
type agentRun struct {
	effect sia.Effect
	part   *sia.Part // nil: no part
	number int       // the part's
	saved  []agent.Turn
	start  startPoint
	by     gitops.Signature // author of its commit
}

// inPlan reports whether the run is of a part that is merged with others.
func (r agentRun) inPlan() bool { return r.part != nil && r.part.Kind != sia.PartRacer }

// newRun returns the run of an effect and where it begins. In an attempt with several runs, each begins where the
// branch was when the attempt began, even if the branch has moved.
func (w *attemptWorker) newRun(ctx context.Context, t *sia.Task, f sia.Effect) (r agentRun, err error) {
	r.effect = f
	a := t.Attempt()
	r.part, r.number = a.PartOf(f.Run)
	if f.Run > 0 {
		t.Head = a.Start
	}
	if r.saved, err = w.savedTurns(ctx, t, f.Run); err != nil {
		return r, err
	}
	start, err := w.startCommit(ctx, *t)
	if err != nil {
		return r, err
	}
	if f.Run == 0 {
		if err := w.Store.SaveText(ctx, t.ID, f.Attempt, textStart, string(t.Head)); err != nil {
			return r, err
		}
	}
	if r.part == nil {
		r.start, err = w.branch.startPoint(ctx, *t, start)
		return r, err
	}
	got, err := w.mergeParts(ctx, *t, start, plan.Tops(a.Needs(), r.part.Needs))
	r.start = startPoint{commit: got.sha, parents: got.parents}
	for _, c := range got.conflicts {
		r.start.open = append(r.start.open, c.Path)
	}
	if r.part.Kept != "" { // the kept files, as one commit on top of its dependencies
		r.start.commit = string(r.part.Kept)
		if len(r.start.parents) == 0 {
			r.start.parents = []string{got.sha}
		}
	}
	return r, err
}

// attemptStart returns the head of the branch when an attempt began, which its commit may replace; "" if the branch did
// not exist.
func (w *common) attemptStart(ctx context.Context, t sia.Task, number int) (string, error) {
	if a := t.Attempts[number-1]; a.Divided() {
		return string(a.Start), nil
	}
	return w.Store.Text(ctx, t.ID, number, textStart)
}

// agentFor returns the agent of a run. A plan of parts is made by the coder's model itself, even if a command does the
// work.
func (w *attemptWorker) agentFor(t sia.Task, r agentRun) agent.Agent {
	name, byModel := t.Attempt().Coder, r.effect.Run > 0 && r.part == nil
	if r.part != nil {
		name = cmp.Or(r.part.Coder, name)
	}
	c := w.decisions.coder(t, name)
	switch {
	case w.Remote != nil:
		return w.Remote.Agent(t, r.effect, r.start.commit, c.Name, byModel)
	case byModel:
		return c.Builtin
	}
	return c.Agent(t.Settings.Agent)
}

// setRunInput adds the data about its run to an agent's input.
func (w *attemptWorker) setRunInput(ctx context.Context, t sia.Task, r agentRun, in *agent.Input) error {
	a, p := t.Attempt(), r.part
	switch {
	case r.effect.Run == 0:
		return nil
	case p == nil:
		by, err := w.decisions.inForce(ctx, t, policies.TypeDecompose)
		if err != nil {
			return err
		}
		in.Planning, in.Divide = true, &agent.Division{Structure: a.Structure, Most: a.MaxParts,
			Prompt: by.Decompose().Prompt}
		return nil
	}
	in.CanAsk, in.Limits.Credits = false, p.Reserved
	in.Part = &agent.Part{Part: p.Part, Number: r.number, Kind: p.Kind, Left: p.Checked, Why: p.Reason}
	if p.Kind == sia.PartRacer {
		return nil
	}
	for _, o := range a.Parts {
		in.Part.All = append(in.Part.All, o.Part)
	}
	in.Part.Before = plan.Below(a.Needs(), p.Needs...)
	if p.Tries == 0 && p.Kind != sia.PartMend {
		in.Part.Left, in.Part.Why = nil, ""
	}
	for _, path := range r.start.open {
		in.Part.Open = append(in.Part.Open, sia.Conflict{Path: path, What: string(gitops.ConflictContent)})
	}
	var err error
	in.Part.Baseline, err = w.baseline(ctx, t, r)
	return err
}

// baseline returns the result of the repository's tests at the attempt's start; nil if it is unknown. The first run
// with that start determines it.
func (w *attemptWorker) baseline(ctx context.Context, t sia.Task, r agentRun) (*sia.CheckRun, error) {
	c, err := w.savedBaseline(ctx, t)
	if err != nil || c != nil || len(r.part.Needs) > 0 || r.part.Kept != "" || isAnswered(r.saved) {
		return c, err
	}
	got, err := w.check(ctx, t, r.effect, r.start.commit, []string{""}, nil)
	if err != nil {
		return nil, err
	}
	if got[0].Missing != "" { // perhaps only for now: no runner was free
		return c, nil
	}
	got[0] = sia.Masked(got[0], w.Secrets.Mask)
	return &got[0], w.saveJSON(ctx, t.ID, t.Attempt().Number, textBaseline, got[0])
}

// savedBaseline returns the saved baseline; nil: there is none.
func (w *attemptWorker) savedBaseline(ctx context.Context, t sia.Task) (c *sia.CheckRun, err error) {
	_, err = w.readJSON(ctx, t.ID, t.Attempt().Number, textBaseline, &c)
	if c != nil && c.Missing != "" { // of an older version
		c = nil
	}
	return c, err
}

// requireOnlyTests rejects a reproduction of a fault if anything but tests was changed.
func requireOnlyTests(fact *sia.AttemptEnded) {
	if shown := len(fact.Diff.Paths); fact.Diff.Files > shown {
		fact.Check.Holds, fact.Check.Ran = false, false
		fact.Check.Excerpt = fmt.Sprintf("%d files were changed; a test that shows a fault takes at most %d",
			fact.Diff.Files, shown)
		return
	}
	for _, path := range fact.Diff.Paths {
		if !tamper.IsTest(path) {
			fact.Check.Holds, fact.Check.Ran = false, false // the test may pass because of that change
			fact.Check.Excerpt = fmt.Sprintf("%s was changed, which is no test", path)
			return
		}
	}
}

// mergedParts is the result of merging parts.
type mergedParts struct {
	sha       string
	conflicts []gitops.Conflict // empty: merged cleanly
	parents   []string          // of the commit that resolves them; empty: nothing to resolve
}

// mergeParts merges the results of parts, none of which depends on another, in order. It is reproducible: the same
// parts make the same commits.
func (w *attemptWorker) mergeParts(
	ctx context.Context, t sia.Task, start string, parts []int,
) (out mergedParts, err error) {
	a := t.Attempt()
	needs := a.Needs()
	out.sha = start
	var have []int
	var sides []string
	for i, n := range parts {
		side, err := w.partCommit(ctx, t, start, n)
		if err != nil {
			return out, err
		}
		below := plan.Below(needs, n)
		sides = append(sides, side)
		if i == 0 {
			out.sha, have = side, below
			continue
		}
		common := slices.DeleteFunc(slices.Clone(below), func(n int) bool { return !slices.Contains(have, n) })
		base, err := w.mergeParts(ctx, t, start, plan.Tops(needs, common))
		if err != nil {
			return out, err
		}
		bot, err := w.author(ctx)
		if err != nil {
			return out, err
		}
		bot.When = a.StartedAt
		merged, err := w.mirror(t).Merge(ctx, base.sha, out.sha, side,
			gitops.CommitSpec{Message: render.PartsMergeMessage(t, *a, parts[:i+1]), Author: bot, Committer: bot,
				Trailers: w.trailers(t, bot)},
			gitops.MergeLabels{Ours: text.Numbered("part", parts[:i]), Theirs: text.Numbered("part", parts[i:i+1])})
		if err != nil {
			return out, fmt.Errorf("put part %d of attempt %d of task %s together with others: %w", n, a.Number, t.ID, err)
		}
		out.sha, out.conflicts = merged.SHA, append(out.conflicts, merged.Conflicts...)
		have = append(have, below...)
	}
	if len(out.conflicts) > 0 {
		out.parents = sides
	}
	return out, nil
}

// arePartsLost reports whether an error means that a part's commit is lost: deleting a mirror also deletes unpushed
// commits.
func arePartsLost(t sia.Task, err error) bool {
	a := t.Attempt()
	return a != nil && slices.ContainsFunc(a.Parts, func(p sia.Part) bool {
		return p.Commit != "" && isCommitLost(err, p.Commit) || p.Kept != "" && isCommitLost(err, p.Kept)
	})
}

// partCommit returns the commit of a part, or the commit where it began if it changed nothing.
func (w *attemptWorker) partCommit(ctx context.Context, t sia.Task, start string, number int) (string, error) {
	p := t.Attempt().Parts[number-1]
	if p.Commit != "" {
		return string(p.Commit), nil
	}
	below, err := w.mergeParts(ctx, t, start, plan.Tops(t.Attempt().Needs(), p.Needs))
	return below.sha, err
}

// aggregate merges an attempt's parts, and runs the check of each in the sandbox on the result.
func (w *attemptWorker) aggregate(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	a := t.Attempt()
	t.Head = a.Start
	start, err := w.startCommit(ctx, t)
	if err != nil {
		return nil, err
	}
	tops := a.Tops()
	got, err := w.mergeParts(ctx, t, start, tops)
	if arePartsLost(t, err) {
		return sia.Aggregated{Lost: true}, nil
	}
	if err != nil {
		return nil, err
	}
	var out sia.Aggregated
	if len(got.conflicts) > 0 {
		out.Conflicts, out.Over = conflicts(gitops.Merged{Conflicts: got.conflicts}), tops
		return out, nil
	}
	if got.sha == start {
		return out, nil
	}
	var fact sia.AttemptEnded
	if err := w.inspect(ctx, t, agentRun{}, got.sha, &fact); err != nil {
		return nil, err
	}
	out.Commit, out.Reason, out.Diff, out.Hunks = fact.Commit, fact.Reason, fact.Diff, fact.Hunks
	if a.Lost() > 0 || a.Outcome != "" {
		return out, nil
	}
	out.Checks, err = w.checkMerged(ctx, t, f, got.sha)
	if errors.Is(context.Cause(ctx), store.ErrCancelled) {
		return out, nil // the task has ended: the merge is kept, and its tests are not needed any more
	}
	return out, err
}

// checkMerged runs the commands of all parts, and the repository's tests, on a commit that contains all parts.
func (w *attemptWorker) checkMerged(ctx context.Context, t sia.Task, f sia.Effect, sha string) ([]sia.CheckRun, error) {
	a := t.Attempt()
	var commands []string
	for _, p := range a.Parts {
		if p.Kind == sia.PartOfPlan && p.Check != "" && !slices.Contains(commands, p.Check) {
			commands = append(commands, p.Check)
		}
	}
	baseline, err := w.savedBaseline(ctx, t)
	if err != nil {
		return nil, err
	}
	if baseline != nil {
		commands = append(commands, "")
	}
	return w.check(ctx, t, f, sha, commands, baseline)
}

// check runs commands on a commit for an effect, on a runner or in a temporary workspace.
func (w *attemptWorker) check(
	ctx context.Context, t sia.Task, f sia.Effect, sha string, commands []string, baseline *sia.CheckRun,
) ([]sia.CheckRun, error) {
	if w.Remote != nil {
		return w.Remote.Check(ctx, t, f, sha, commands, baseline)
	}
	space, err := w.openWorkspace(ctx, t, w.Git.WorkspaceDir(f.Key+" check "+sha), sha, false)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := space.Remove(); err != nil {
			w.Logger.WarnContext(ctx, "workspace left behind", "task", t.ID, "of", f.Key, "error", err)
		}
	}()
	set := t.Settings.Agent
	return w.Checker.Check(ctx, agent.Input{Task: t.ID, Dir: space.Dir(), Repo: t.Repo.String(), Issue: t.Issue,
		Key: github.KeyOf(t.Installation, t.Repo.ID), Setup: set.Setup, Services: set.Services, Test: set.Test,
		OnBase: sha == string(t.BaseSHA)}, commands, baseline)
}

// diffRun returns the run that made the attempt's diff. In a race it is the run of the racer with its change on the
// branch.
func diffRun(a sia.Attempt) (run int) {
	for _, p := range a.Parts {
		if p.Kind == sia.PartRacer && p.Commit == a.Head && p.Pushed {
			run = p.Run
		}
	}
	return run
}
