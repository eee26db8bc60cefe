package work

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/escalate"
	"github.com/sia-bot/sia/sia/stuck"
)

// Kinds of the texts stored per attempt.
const (
	textResult    = "result" // the AttemptEnded fact, so that a crash after the work does not repeat it
	textEnded     = "ended"  // the endedRun that still has to be tested, so that waiting for a runner risks no work
	textDiff      = "diff"
	textFinal     = "final-review" // the last final review of a head
	textDiagnosis = "diagnosis"    // the last diagnosis of the attempt
	textReview    = "review"       // the review of that diagnosis
	textWeighed   = "weighed"      // the last review of expectations that a head changed
	textFailure   = "failure: "    // followed by a check's name: the long extract of its log
	textTree      = "tree"         // random name of the run's last workspace, which one server has
	textStart     = "start"        // head of the branch when the attempt started, which its commit may replace
)

// wrapUpTimeout limits the time to commit work in progress and save after an attempt was canceled.
const wrapUpTimeout = 30 * time.Second

// saveTimeout limits the time to save the result of an attempt after its work was committed.
const saveTimeout = 10 * time.Second

// commitTimeout returns the time limit for scanning and committing the work of an attempt, which takes long on a slow
// disk and with large files. If it was stopped, somebody waits.
func commitTimeout(end sia.AttemptEnd) time.Duration {
	if end == sia.EndCancelled {
		return wrapUpTimeout - saveTimeout
	}
	return 2 * time.Minute
}

// attempt runs the coding agent in a workspace of its own and commits its changes without pushing them. Only the
// attempt's own deadline applies. If its process ended, or a model was unavailable for a while, a later try continues
// from the saved turns, in the same workspace if this machine has it. If it was canceled between two tries, ctx has
// ended when this is called, and only what the workspace contains is committed.
func (w *attemptWorker) attempt(ctx context.Context, t sia.Task, f sia.Effect) (sia.Fact, error) {
	begin, end := ctx, func() {}
	if errors.Is(context.Cause(ctx), store.ErrCancelled) {
		begin, end = context.WithTimeout(context.WithoutCancel(ctx), wrapUpTimeout)
	}
	defer end()
	if fact, ok, err := w.savedResult(begin, t, f); err != nil || ok {
		return fact, err
	}
	var ended endedRun
	if ok, err := w.readJSON(begin, t.ID, f.Attempt, runTextKind(textEnded, f.Run), &ended); err != nil {
		return nil, err
	} else if ok {
		return w.resumeTests(ctx, begin, t, f, ended)
	}
	if ctx.Err() != nil { // without saved turns, there is nothing to commit
		if before, err := w.spent(begin, f); err != nil || before.Turns == 0 {
			return nil, cmp.Or(err, context.Cause(ctx))
		}
	}
	r, err := w.newRun(begin, &t, f)
	past, stopFetch := w.fetchHistory(ctx, t) // while the workspace is being created
	defer stopFetch()
	var space *gitops.Workspace
	if err == nil {
		space, err = w.workspace(begin, t, f, r.start.commit, isAnswered(r.saved))
	}
	if arePartsLost(t, err) {
		return sia.AttemptEnded{End: sia.EndCancelled, Lost: true, Reason: "what it rests on is gone"}, nil
	}
	if err != nil {
		return nil, err
	}
	a, start := t.Attempt(), r.start
	finished := false // the workspace is no longer needed
	defer func() {
		if !finished {
			return
		}
		if err := space.Remove(); err != nil {
			w.Logger.WarnContext(ctx, "workspace left behind", "task", t.ID, "attempt", a.Number, "error", err)
		}
	}()
	interrupt, err := w.decisions.inForce(begin, t, policies.TypeInterrupt)
	if err != nil {
		return nil, err
	}
	input, err := w.input(begin, t, space.Dir(), interrupt.Interrupt())
	if err != nil {
		return nil, err
	}
	input.Past = waitForHistory(ctx, past)
	input.Saved, input.Rebuild = r.saved, !space.Reused()
	if !space.Reused() { // otherwise it was recorded before the saved turns
		input.Prepared = space.LeaveChanges
	}
	input.OnBase = start.commit == string(t.BaseSHA) && !space.Reused()
	if err := w.setRunInput(begin, t, r, &input); err != nil {
		return nil, err
	}
	input.Affected, input.Cover = w.tests(t, r, space)
	input.PushRefusal = w.pushRefusal(t, r, space)
	res, err := w.agentFor(t, r).Run(ctx, input, w.recorder(t.ID, a, f.Run))
	cancelled := errors.Is(context.Cause(ctx), store.ErrCancelled)
	if ctx.Err() != nil && !cancelled {
		return nil, context.Cause(ctx) // this process is shutting down; another continues the attempt
	}
	if err != nil {
		var known *sia.Error
		is := errors.As(err, &known)
		switch {
		case res.Turns == 0 && res.Cost == 0:
			finished = true
			return nil, err // a retry loses nothing
		case isDiskFull(err) && !cancelled:
			return nil, err // it continues from the saved turns when there is space
		case is && !known.Permanent && (known.Outage || !store.LastTry(ctx)) && !cancelled:
			return nil, err // the retry continues from the saved turns, in this workspace
		case cancelled:
			res.End = sia.EndCancelled
		default:
			res.End, res.Reason = sia.EndError, err.Error()
		}
		if is && !cancelled {
			res.Reason = known.Message
		}
	}
	if res.End == sia.EndCancelled && cancelled && res.Reason != agent.StoppedWithoutRunner {
		res.Reason = "it was stopped" // the agent's reason is in the engine's words
	}
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout(res.End)+saveTimeout)
	defer cancel()
	fact := sia.AttemptEnded{
		End: res.End, Reason: res.Reason, Turns: res.Turns, Cost: res.Cost, Agent: res.Agent, Summary: res.Summary,
		LeftOut: res.LeftOut, Built: res.Built,
		Tokens: agent.TokensOf(res.Usage), Edits: res.Edits, Signals: res.Signals, Risk: res.Risk, Check: res.Check,
		Affected:     res.Affected,
		LessonsShown: res.LessonsShown, LessonsWithheld: res.LessonsWithheld,
	}
	switch {
	case res.Ask == nil:
	case input.Divide != nil && res.Ask.Plan != nil:
		fact.Ask = res.Ask // Step validates its parts
	default:
		fact.Ask = escalate.CleanAsk(*res.Ask)
	}
	switch {
	case input.Planning || res.End == sia.EndAsked: // the changes are discarded
	case res.End == sia.EndStuck:
		err = w.finishWorkTree(keep, t, r, space, &fact, w.recordAbandoned)
	default: // author may be slow or fail: ask before the commit's time limit starts, and do not fail the attempt
		if r.by, err = w.author(keep); err == nil {
			space.KeepWritten(res.Written)
			err = w.finishWorkTree(keep, t, r, space, &fact, w.commit)
		}
	}
	if err != nil {
		return nil, err
	}
	if !input.Planning {
		turns, err := w.turnsOf(keep, t.ID, a.Number, f.Run)
		if err != nil {
			return nil, err
		}
		fact.Ledger = agent.CheckLedger(sia.Masked(res.Ledger, w.Secrets.Mask), turns, fact.Diff.Paths)
	}
	tests := w.endTests(ctx, t, r, fact)
	if tests != nil {
		ended = endedRun{r.start.commit, sia.Masked(fact, w.Secrets.Mask)}
		if err := w.saveJSON(keep, t.ID, f.Attempt, runTextKind(textEnded, f.Run), ended); err != nil {
			return nil, err
		}
		finished = true
	}
	if err := w.conclude(ctx, t, r, &fact, tests, interrupt); err != nil {
		return nil, err
	}
	finished = true
	return fact, nil
}

// endedRun is a run of an agent that has ended, before the tests that its end requires.
type endedRun struct {
	Start string // commit
	Fact  sia.AttemptEnded
}

// resumeTests concludes an attempt whose process ended during the tests. begin is the context for reading.
func (w *attemptWorker) resumeTests(
	ctx, begin context.Context, t sia.Task, f sia.Effect, e endedRun,
) (sia.Fact, error) {
	interrupt, err := w.decisions.inForce(begin, t, policies.TypeInterrupt)
	if err != nil {
		return nil, err
	}
	r := agentRun{effect: f, start: startPoint{commit: e.Start}}
	r.part, r.number = t.Attempt().PartOf(f.Run)
	err = w.conclude(ctx, t, r, &e.Fact, w.endTests(ctx, t, r, e.Fact), interrupt)
	return e.Fact, err
}

// endTests returns a function that runs the tests that an attempt's end requires: the test of a claim that nothing has
// to be done, or those that distinguish a racer's change from the others'; nil: none.
func (w *attemptWorker) endTests(
	ctx context.Context, t sia.Task, r agentRun, fact sia.AttemptEnded,
) func(context.Context, *sia.AttemptEnded) error {
	a := t.Attempt()
	switch {
	case r.effect.Run == 0 && fact.End == sia.EndFinished && fact.Reason == "" && !a.Planning && a.Demands == 0 &&
		!a.Asked && t.Merging == nil && !t.ContinuesUnjudged():
		return func(ctx context.Context, fact *sia.AttemptEnded) (err error) {
			fact.Claim, err = w.checkClaim(ctx, t, r.effect, *fact)
			return err
		}
	case r.part != nil && r.part.Kind == sia.PartRacer && fact.Commit != "" && w.ratesRacers(ctx, t):
		return func(ctx context.Context, fact *sia.AttemptEnded) error { return w.rateRacer(ctx, t, r, fact) }
	}
	return nil
}

// conclude runs the tests of an attempt's end, unless they are nil, and saves its result.
func (w *attemptWorker) conclude(ctx context.Context, t sia.Task, r agentRun, fact *sia.AttemptEnded,
	tests func(context.Context, *sia.AttemptEnded) error, interrupt ruling,
) error {
	if tests != nil {
		err := tests(ctx, fact)
		if errors.Is(context.Cause(ctx), store.ErrCancelled) {
			fact.End, fact.Claim, err = sia.EndCancelled, nil, nil
		}
		if err != nil {
			return err
		}
	}
	f := r.effect
	keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), wrapUpTimeout)
	defer cancel()
	if f.Run == 0 && fact.End == sia.EndFinished && fact.Commit == "" && fact.Reason == "" && !t.Attempt().Planning {
		if fact.Unjudged = t.ContinuesUnjudged(); !fact.Unjudged {
			fact.Signals = stuck.Signals(t, stuck.Judged{Empty: true})
		}
	}
	if err := w.decisions.decideInterrupt(keep, t, f, *fact, interrupt); err != nil {
		return err
	}
	return w.saveJSON(keep, t.ID, f.Attempt, runTextKind(textResult, f.Run), sia.Masked(*fact, w.Secrets.Mask))
}

// savedTurns returns the turns of an attempt that was interrupted before its result was saved; none if no model had
// answered and nothing was spent. If one had answered, it sets t.Head to the commit at which the attempt began, even if
// the branch has moved since.
func (w *attemptWorker) savedTurns(ctx context.Context, t *sia.Task, run int) ([]agent.Turn, error) {
	n := t.Attempt().Number
	turns, err := w.turnsOf(ctx, t.ID, n, run)
	answered := isAnswered(turns)
	if err != nil || !answered && !slices.ContainsFunc(turns, func(turn agent.Turn) bool { return turn.Cost > 0 }) {
		return nil, err
	}
	if run > 0 || !answered { // without an answer there is no work to continue
		return turns, nil
	}
	start, err := w.Store.Text(ctx, t.ID, n, textStart)
	if err != nil {
		return nil, err
	}
	t.Head = sia.SHA(start)
	return turns, nil
}

// isAnswered reports whether a model had answered, so that an attempt continues from these turns.
func isAnswered(turns []agent.Turn) bool {
	return slices.ContainsFunc(turns, func(t agent.Turn) bool { return t.Kind == agent.TurnModel })
}

// spent returns the usage of an attempt that did not report its end: that of its saved turns, or the recorded cost of a
// runner's calls if that is higher.
func (w *attemptWorker) spent(ctx context.Context, f sia.Effect) (ended sia.AttemptEnded, err error) {
	turns, err := w.turnsOf(ctx, f.Task, f.Attempt, f.Run)
	if err != nil {
		return ended, err
	}
	var used llm.Usage
	for _, t := range turns {
		if t.Kind == agent.TurnModel {
			ended.Turns++
		}
		ended.Cost += t.Cost
		used = used.Add(t.Usage)
	}
	ended.Tokens = agent.TokensOf(used)
	counted, err := w.Store.AttemptSpent(ctx, f.Key)
	ended.Cost = max(ended.Cost, counted)
	return ended, err
}

// workspace creates a run's workspace. One that was left behind is reused only if the attempt resumes, and it is the
// run's last one: a server with another folder may have continued the attempt since.
func (w *attemptWorker) workspace(
	ctx context.Context, t sia.Task, f sia.Effect, start string, resume bool,
) (*gitops.Workspace, error) {
	kind := runTextKind(textTree, f.Run)
	name, err := w.Store.Text(ctx, t.ID, f.Attempt, kind)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	dir := w.Git.WorkspaceDir(f.Key + " " + start + name)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		name = " " + rand.Text()
		if err := w.Store.SaveText(ctx, t.ID, f.Attempt, kind, name); err != nil {
			return nil, err
		}
		dir = w.Git.WorkspaceDir(f.Key + " " + start + name)
	}
	return w.openWorkspace(ctx, t, dir, start, resume)
}

// openWorkspace creates a workspace in a folder. One that was left behind there is reused only if resume is true.
func (w *attemptWorker) openWorkspace(
	ctx context.Context, t sia.Task, dir, start string, resume bool,
) (*gitops.Workspace, error) {
	space, err := w.mirror(t).Workspace(ctx, dir, start)
	if err != nil || resume || !space.Reused() {
		return space, err
	}
	if err := space.Remove(); err != nil {
		return nil, err
	}
	return w.mirror(t).Workspace(ctx, dir, start)
}

// savedResult returns the saved end of an attempt, if the process died before the outcome was applied.
func (w *attemptWorker) savedResult(
	ctx context.Context, t sia.Task, f sia.Effect,
) (fact sia.AttemptEnded, ok bool, err error) {
	ok, err = w.readJSON(ctx, t.ID, f.Attempt, runTextKind(textResult, f.Run), &fact)
	return fact, ok, err
}

// startCommit fetches and returns the commit where the attempt starts: the base, a kept commit, or the branch's head.
func (w *attemptWorker) startCommit(ctx context.Context, t sia.Task) (string, error) {
	start := string(t.StartsAt())
	return start, w.mirror(t).FetchCommit(ctx, start)
}

// input returns the agent's input.
func (w *attemptWorker) input(ctx context.Context, t sia.Task, dir string, by policies.Interrupt) (agent.Input, error) {
	a := t.Attempt()
	in := agent.Input{
		Task: t.ID, Title: t.Title, Body: t.Body,
		AskedBy: t.AskedBy.Login, Author: t.Author, Access: t.Access, Repo: t.Repo.String(),
		Key:   github.KeyOf(t.Installation, t.Repo.ID),
		Issue: t.Issue, Attempt: a.Number,
		Brief: t.Brief, Dir: dir, CanAsk: !hasAsked(t), Spare: stuck.Spared(t.ID, a.Number, t.Settings.Agent.Spare),
		Setup: t.Settings.Agent.Setup, Test: t.Settings.Agent.Test, Planning: a.Planning,
		Services: t.Settings.Agent.Services,
		Limits:   agent.Limits{Turns: t.Settings.Agent.MaxTurns, Time: t.Settings.Agent.Timeout.D(), Credits: a.Reserved},
	}
	ended, err := w.Store.EndedAttempts(ctx, maxHazardCases)
	if err != nil {
		return in, err
	}
	in.Hazard, in.Edits = hazard(t, by, ended), editsOf(ended)
	_, in.Shown = t.Reproduction()
	in.Previous = previousAttempts(t)
	if e := t.Escalation; a.Planning && e != nil && e.Plan != nil && e.Plan.Attempt > t.Earlier {
		in.Proposed = e.Plan
	}
	if in.Instructions, in.LeftOut, err = instructions(ctx, w.mirror(t), string(t.BaseSHA)); err != nil {
		return in, err
	}
	if t.Merging != nil {
		in.Merging, in.BaseBranch = t.Merging.Conflicts, t.BaseBranch
	}
	in.Failures, err = w.lastFailures(ctx, t)
	return in, err
}

// previousAttempts returns what the task's present attempt is told about the earlier ones.
func previousAttempts(t sia.Task) (all []agent.PreviousAttempt) {
	inTree := t.InStart()
	for _, p := range t.Attempts[:len(t.Attempts)-1] {
		if !p.Worked() {
			continue
		}
		before := agent.PreviousAttempt{Number: p.Number, Outcome: p.Outcome, Summary: p.Summary, Failures: p.Failures,
			Ledger: p.Ledger, Reason: p.Reason, Changed: p.Diff.Paths, Kept: p.Head != "",
			InTree: slices.ContainsFunc(inTree, func(a sia.Attempt) bool { return a.Number == p.Number })}
		if p.Outcome == sia.AttemptPass { // they are of checks that were run again
			before.Failures = nil
		}
		if i := t.InterventionOf(p); i != nil {
			before.Idea = i.Diagnosis.Hypothesis
		}
		if p.Coder == t.Attempt().Coder {
			before.Edits = p.Edits
		}
		all = append(all, before)
	}
	return all
}

// maxHazardCases is the number of recent attempts from which the hazard and the formats of edits are learned.
const maxHazardCases = 500

// editsOf returns the edits of attempts by agent and format. An attempt of several runs is left out: they may have used
// different formats.
func editsOf(ended []sia.Attempt) (sums []agent.ModelEdits) {
	for _, a := range ended {
		if a.Edits == (sia.Edits{}) || len(a.Parts) > 0 {
			continue
		}
		i := slices.IndexFunc(sums, func(e agent.ModelEdits) bool {
			return e.Agent == a.Agent && e.Format == a.Edits.Format
		})
		if i < 0 {
			sums = append(sums, agent.ModelEdits{Agent: a.Agent, Edits: a.Edits})
			continue
		}
		sums[i].Edits = sums[i].Add(a.Edits)
	}
	return sums
}

// hazard returns the model that decides when to interrupt an attempt. It is learned from the attempts of all
// repositories, starting from the policy's parameters. It has five weights and contains no content of a repository.
func hazard(t sia.Task, by policies.Interrupt, ended []sia.Attempt) stuck.Hazard {
	if t.Settings.Agent.InterruptCost == 0 {
		return stuck.Hazard{}
	}
	var cases []stuck.Case
	for _, a := range ended {
		if c, ok := stuck.CaseOf(a); ok {
			cases = append(cases, c)
		}
	}
	p := by.Parameters
	from := stuck.Hazard{Bias: p.Bias, Streak: p.Streak, Same: p.Same, Idle: p.Idle, Spent: p.Spent,
		Cost: t.Settings.Agent.InterruptCost}
	return stuck.Learn(from, stuck.Pace{Rate: p.Rate, Pull: p.Pull}, t.Settings.Agent.Spare, cases)
}

// hasAsked reports whether an earlier attempt asked the user a question or for approval of a plan. After that, an
// attempt may not ask again.
func hasAsked(t sia.Task) bool {
	return slices.ContainsFunc(t.Attempts, func(a sia.Attempt) bool { return a.Outcome == sia.AttemptAsked })
}

// finishWorkTree calls do on an attempt's work tree, with a time limit. If the tree can't be scanned or committed, the
// attempt fails instead of being retried: its cost is recorded, and the next attempt gets the reason.
func (w *attemptWorker) finishWorkTree(
	ctx context.Context, t sia.Task, r agentRun, space *gitops.Workspace, fact *sia.AttemptEnded,
	do func(context.Context, sia.Task, agentRun, *gitops.Workspace, *sia.AttemptEnded) error,
) error {
	limit := commitTimeout(fact.End)
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := do(within, t, r, space, fact)
	var why string
	switch {
	case errors.Is(err, gitops.ErrTree):
		why = treeRefused(err.Error())
	case err != nil && within.Err() != nil && ctx.Err() == nil:
		why = treeRefused(fmt.Sprintf("it was not looked through within %s", limit))
	default:
		return err
	}
	fact.Commit, fact.Diff, fact.Hunks = "", sia.DiffStat{}, nil
	failUnpushed(fact, strings.TrimPrefix(fact.Reason+"; ", "; ")+why)
	return nil
}

// recordAbandoned records what an interrupted attempt had changed. The change itself is discarded because the attempt
// made no progress.
func (w *attemptWorker) recordAbandoned(
	ctx context.Context, t sia.Task, r agentRun, space *gitops.Workspace, fact *sia.AttemptEnded,
) error {
	diff, err := space.Diff(ctx)
	if err != nil {
		return err
	}
	w.count(diff, fact)
	fact.Signals = append(fact.Signals, stuck.Signals(t, stuck.Judged{Hunks: fact.Hunks, Empty: len(diff.Files) == 0})...)
	return w.Store.SaveText(ctx, t.ID, t.Attempt().Number, runTextKind(textDiff, r.effect.Run), w.Secrets.Mask(diff.Patch))
}

// commit commits the workspace and records what changed: compared with the base, or for a run of a part, with the
// part's start.
func (w *attemptWorker) commit(
	ctx context.Context, t sia.Task, r agentRun, space *gitops.Workspace, fact *sia.AttemptEnded,
) error {
	bot, a := r.by, *t.Attempt()
	a.Summary = w.Secrets.Mask(fact.Summary)
	bot.When = a.StartedAt // the commit of an attempt is reproducible
	spec := gitops.CommitSpec{
		Message: render.CommitMessage(t, a), Author: bot, Committer: bot, Parents: r.start.parents,
		Trailers: w.trailers(t, bot),
	}
	if r.inPlan() {
		spec.Message = render.PartMessage(t, a, r.number)
		spec.Trailers = w.trailers(t, bot, gitops.Trailer{Key: "SIA-Part", Value: fmt.Sprint(r.number)})
	}
	sha, err := space.Commit(ctx, spec)
	left, built := agent.LeftOutOf(fact.LeftOut, agent.LeftOut(space.LeftOut()))
	fact.LeftOut, fact.Built = left, cmp.Or(built, fact.Built)
	fact.Summary = agent.WithLeftOut(fact.Summary, strings.TrimSpace(left+" "+fact.Built))
	if errors.Is(err, gitops.ErrEmpty) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := w.inspect(ctx, t, r, sha, fact); err != nil {
		return err
	}
	if r.part != nil && r.part.Kind == sia.PartTest && fact.Check != nil {
		requireOnlyTests(fact)
	}
	return nil
}

// count sets the statistics of a diff.
func (w *attemptWorker) count(diff gitops.Diff, fact *sia.AttemptEnded) {
	fact.Diff = sia.DiffStat{Files: len(diff.Files), Added: diff.Added, Deleted: diff.Deleted}
	for _, f := range diff.Files[:min(len(diff.Files), 50)] {
		fact.Diff.Paths = append(fact.Diff.Paths, f.Path)
	}
	fact.Hunks = stuck.Hunks(func(yield func(string, []string) bool) {
		for _, f := range diff.Files {
			for _, h := range f.Hunks {
				if !yield(f.Path, h.Lines) {
					return
				}
			}
		}
	})
}

// progressInterval is the interval of an attempt's progress reports: a long attempt costs GitHub thirty edits of a
// comment.
const progressInterval = time.Minute

// recorder saves the transcript as it grows, and reports progress.
type recorder struct {
	*common
	task    sia.TaskID
	attempt int
	run     int // 0: the only one

	interval time.Duration // of its reports
	reported time.Time     // time of the last report
	tests    string        // result of the tests since then
}

// recorder returns a recorder for one run of an attempt. Runs at the same time share the attempt's interval.
func (w *attemptWorker) recorder(task sia.TaskID, a *sia.Attempt, run int) *recorder {
	return &recorder{common: w.common, task: task, attempt: a.Number, run: run, reported: w.Now(),
		interval: progressInterval * time.Duration(max(1, a.Running()))}
}

// Turn saves one turn.
func (r *recorder) Turn(ctx context.Context, turn agent.Turn) error {
	if err := r.save(ctx, turn); err != nil {
		return err
	}
	if tests := turn.Tests(); tests != "" {
		r.tests = tests
	}
	if now := r.Now(); turn.Kind == agent.TurnModel && now.Sub(r.reported) >= r.interval {
		e := sia.Event{ID: fmt.Sprintf("progress/%d/%d", r.attempt, turn.Number), At: now,
			Fact: sia.Progressed{Attempt: r.attempt, Run: r.run, Turn: turn.Number, Tests: r.tests}}
		if r.run > 0 {
			e.ID = fmt.Sprintf("progress/%d/%d/%d", r.attempt, r.run, turn.Number)
		}
		if _, err := r.Store.Apply(ctx, r.task, sia.Masked(e, r.Secrets.Mask)); err != nil {
			// The next turn reports it: a failed progress report must not end an attempt.
			r.Logger.WarnContext(ctx, "how far the attempt has come is not told", "task", r.task, "attempt", r.attempt,
				"error", err)
			return nil
		}
		r.reported, r.tests = now, ""
	}
	return nil
}

func (r *recorder) save(ctx context.Context, turn agent.Turn) error {
	turn.Run = r.run
	b, err := json.Marshal(turn.Masked(r.Secrets.Mask))
	if err != nil {
		return fmt.Errorf("encode turn %d: %w", turn.Number, err)
	}
	return r.Store.AppendTurn(ctx, r.task, r.attempt, r.run, turn.Number, b)
}

// transcript returns the turns of all runs of an attempt.
func (w *common) transcript(ctx context.Context, t sia.Task, attempt int) ([]agent.Turn, error) {
	rows, err := w.Store.Turns(ctx, t.ID, attempt)
	if err != nil {
		return nil, err
	}
	return readTurns(t.ID, attempt, rows)
}

// turnsOf returns the turns of one run of an attempt.
func (w *attemptWorker) turnsOf(ctx context.Context, t sia.TaskID, attempt, run int) ([]agent.Turn, error) {
	rows, err := w.Store.TurnsOf(ctx, t, attempt, run)
	if err != nil {
		return nil, err
	}
	return readTurns(t, attempt, rows)
}

func readTurns(t sia.TaskID, attempt int, rows []json.RawMessage) ([]agent.Turn, error) {
	turns, err := agent.Turns(rows)
	if err != nil {
		return nil, fmt.Errorf("read attempt %d of task %s: %w", attempt, t, err)
	}
	return turns, nil
}
