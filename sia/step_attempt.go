package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sia/text"
)

// begun records the inputs of the next attempt and asks the policies who makes it, unless
// something prevents the attempt.
func (s *step) begun() {
	f := s.e.Fact.(Begun)
	s.t.Warning, s.t.WarningOf, s.t.BeginsAt = f.Warning, "", time.Time{}
	if s.number() == 0 {
		s.t.Forecast = f.Forecast
	}
	if s.number() == s.t.Earlier { // a new run: its limits follow the present settings
		s.t.Approaches = s.t.EarlierTried + f.Settings.SIA.MaxApproaches
		s.t.Credits.Budget += Credits(f.Settings.Budget.Task-s.t.Settings.Budget.Task) * Credit
	}
	s.t.Settings, s.t.SettingsFrom = f.Settings, f.SettingsFrom
	unasked := f.Title != s.t.Title || f.Body != s.t.Body
	if unasked && !s.worked() {
		s.t.Brief.Plan = nil // it was approved for another text
	}
	// The delivery of this edit is late or lost. Another edit may have arrived meanwhile.
	if f.EditedBy.Login != "" && f.Replaces == (Brief{}).Hash(s.t.Title, s.t.Body) {
		s.t.Title, s.t.Body, s.t.Edited = f.Title, f.Body, &Edit{By: f.EditedBy, At: s.e.At}
		unasked = false
	}
	edited := s.t.Edited != nil || unasked
	s.t.Brief = s.keeping(s.t.Brief)
	if s.t.Brief.FromBase || s.t.Head == "" {
		s.t.Merging = nil // the conflicting work is dropped
	}
	if s.t.Merging == nil {
		s.t.Updates = 0
	}
	s.t.Author, s.t.Access, s.t.Labels = f.Author, f.Access, f.Labels
	s.t.BaseBranch, s.t.BaseSHA, s.t.Commits = f.BaseBranch, f.BaseSHA, f.Commits
	s.t.Brief.Lessons, s.t.Brief.TestHints = lessonTexts(f.Lessons), testHints(f.Lessons)
	s.t.Brief.ToolLessons = f.ToolLessons
	if s.busy() {
		s.giveAsked(f.Asked)
		s.because("the last attempt is still ending; the next begins after it")
		return
	}
	if !s.followsUp() {
		s.t.Brief.Demands = nil
	} else if why := s.followUpCanceled(f, unasked); why != "" {
		s.abandonFollowUp("no follow-up: " + why)
		return
	}
	more := slices.ContainsFunc(s.t.Wishes, func(w Wish) bool {
		return w.Attempt == 0 && (!f.Asked.postpones(w.ID) || slices.Contains(f.Asked.Wishes, w.ID))
	})
	s.giveAsked(f.Asked)
	if f.Hold != "" {
		s.waitForBudget(f.Hold, f.Aside)
		return
	}
	s.t.NoRoom = false
	if unasked {
		s.open(editQuestion(s.t.AskedBy, Edition{f.Title, f.Body}))
		s.because("the issue reads otherwise than when it was asked for: SIA asks whether that is the task")
		return
	}
	s.t.Edited = nil
	if f.Asked != nil && f.Asked.empty() {
		// Resolved, dismissed or deleted since, or not by an authorised user.
		s.t.Wishes = without(s.t.Wishes, func(w Wish) bool { return slices.Contains(f.Asked.Wishes, w.ID) })
		if s.nothingAsked() {
			s.recheckHead()
			s.because("nothing is asked for on the pull request any more; the checks of %s decide as before", s.t.Head.Short())
			return
		}
	}
	if f.Already != nil && !s.t.Anyway {
		s.open(alreadyQuestion(*f.Already))
		s.because("%s: SIA asks instead of working", f.Already.What)
		return
	}
	left := s.t.Credits.Left()
	if left < Credit {
		s.outOfCredits()
		s.begin()
		return
	}
	hash := s.t.Brief.Hash(s.t.Title, s.t.Body)
	known := slices.ContainsFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == hash })
	if !s.mustPlan() && !known && s.t.ApproachesLeft() == 0 {
		if !edited && !more {
			s.escalate(Diagnosis{})
			return
		}
		s.t.Approaches++ // a person changed the task or asked for more: that adds an approach
	}
	s.t.Opening = &Opening{Hash: hash, LessonsShown: lessonIDs(f.Lessons), LessonsWithheld: f.Withheld}
	if !s.shouldDivide() {
		s.t.Opening.Structure = plan.Whole
		s.decide(DecideAssign)
		s.because("attempt %d can start; choosing who works", s.number()+1)
		return
	}
	s.decide(DecideDecompose)
	s.because("attempt %d can start; deciding whether to split the work", s.number()+1)
}

// waitForBudget delays the next attempt because a daily budget has no room. If the credits are spent it pauses the
// task. If running attempts have reserved them, or the task waits already, it waits and checks again.
func (s *step) waitForBudget(why string, aside bool) {
	if !aside && !s.t.NoRoom {
		s.hold(PausedByTrouble, why)
		s.begin()
		return
	}
	s.deferSync = s.t.NoRoom // people already see that it waits
	s.dropOpening()
	s.t.NoRoom, s.t.BeginsAt = true, s.e.At.Add(budgetCheckInterval)
	s.emitEffect(DoBegin, s.number()+1, s.v(), Effect{At: s.t.BeginsAt})
	s.because("the next attempt waits for room: %s", why)
}

func (s *step) outOfCredits() {
	spent := s.t.Credits.Cost()
	reason := fmt.Sprintf("the task's %s credits are used up (%s spent)", s.t.Credits.Budget, spent)
	if s.t.Credits.Left() >= Credit {
		reason = fmt.Sprintf("%s of the task's %s credits are spent, and the attempt could not go on with its share of them",
			spent, s.t.Credits.Budget)
	}
	s.hold(PausedByCredits, reason)
}

// settle ends the attempt's reservation. The rest of an earlier run's reservation is removed from the budget, so that
// the new run can't spend it.
func (s *step) settle(cost Credits) {
	a := s.t.Attempt()
	if a.Number <= s.t.Earlier {
		s.t.Credits.Budget -= max(0, a.Reserved-cost)
	}
	s.t.Credits.settle(a.Reserved, cost)
	a.Reserved = 0
}

// record records the end of the attempt.
func (s *step) record() AttemptEnded {
	f := s.e.Fact.(AttemptEnded)
	a := s.t.Attempt()
	a.EndedAt, a.Summary, a.Ledger, a.Diff, a.Hunks = s.e.At, f.Summary, f.Ledger, f.Diff, f.Hunks
	a.book(f)
	a.Reason, a.Signals, a.Risk, a.Affected = f.Reason, f.Signals, f.Risk, f.Affected
	a.recordLessons(f.LessonsShown, f.LessonsWithheld)
	if f.Agent != "" {
		a.Agent = f.Agent
	}
	s.settle(f.Cost)
	if a.Planning {
		f.Commit = "" // an attempt that plans must not change anything
	}
	return f
}

func (s *step) attemptEnded() {
	if s.t.Attempt().Divided() {
		s.runEnded()
		return
	}
	if s.isFollowUp() {
		s.followUpEnded()
		return
	}
	f := s.record()
	a := s.t.Attempt()
	if a.Planning {
		s.planned(f)
		return
	}
	switch f.End {
	case EndFinished:
		if s.handleClaim(f) {
			return
		}
		if f.Commit == "" {
			if f.Reason != "" { // its change may not be pushed
				s.fail(f.Signals)
				return
			}
			if s.endWithAnswers() || s.deferToChecks(f) {
				return
			}
			a.Reason = s.noChangeReason()
			s.fail(withSignal(f.Signals, Signal{OutputUnchanged, "the attempt's diff is empty"}))
			return
		}
		s.push(f.Commit)
		s.because("attempt %d changed %s; its commit is pushed so that the checks can say whether it is right", a.Number,
			text.Count(f.Diff.Files, "file"))
	case EndStuck:
		s.fail(f.Signals)
	case EndAsked:
		a.Outcome = AttemptAsked
		s.dropPrompt(a.PromptHash)
		s.ask(*f.Ask)
	default: // time, turns, credits, cancelled, error
		s.checkpoint(f)
	}
}

// noChangeReason returns why an attempt without a change failed. Earlier attempts' changes may be on the branch.
func (s *step) noChangeReason() string {
	why := "it changed nothing"
	if s.t.StartsAt() != s.t.BaseSHA {
		why = "it changed nothing more"
	}
	if left := s.t.Attempt().LeftOut; left != "" {
		why += " that is kept. " + strings.TrimSuffix(left, ".")
	}
	return why
}

// ContinuesUnjudged reports whether the running attempt started from work in progress of an earlier one, which was
// interrupted, so that no check has judged it.
func (t Task) ContinuesUnjudged() bool {
	a := t.Attempt()
	if a == nil || a.From == "" || a.From != t.Head || t.HeadBy != (Actor{}) || t.Merging != nil {
		return false
	}
	for _, before := range slices.Backward(t.Attempts[:len(t.Attempts)-1]) {
		if before.Head == t.Head {
			return slices.Contains([]AttemptOutcome{AttemptCancelled, AttemptCheckpoint, AttemptError}, before.Outcome)
		}
	}
	return false
}

// deferToChecks ends an attempt that found nothing to change in somebody else's push, or in the work in progress of an
// earlier attempt, that no check has judged yet: the checks decide on that commit. It reports whether it did.
func (s *step) deferToChecks(f AttemptEnded) bool {
	by := "an earlier attempt"
	switch {
	case f.Unjudged && s.t.ContinuesUnjudged():
		s.t.Attempt().Head, s.t.Checks = s.t.Head, nil
	case s.t.HeadBy == (Actor{}) || s.t.Kept != s.t.Head || len(s.t.Checks) > 0 || s.t.Brief.FromBase:
		return false
	default:
		by = s.t.HeadBy.Mention()
	}
	s.enter(PushedOut)
	s.emit(DoPull, s.number(), s.v())
	s.because("attempt %d found nothing to change in what %s pushed; the checks of %s decide", s.number(), by,
		s.t.Head.Short())
	return true
}

// checkpoint keeps the work in progress, from which the next attempt continues.
func (s *step) checkpoint(f AttemptEnded) {
	a := s.t.Attempt()
	switch f.End {
	case EndCancelled:
		a.Outcome = AttemptCancelled
	case EndError:
		a.Outcome = AttemptError
	default:
		a.Outcome = AttemptCheckpoint
	}
	broke := f.End == EndCredits && f.Turns == 0 && f.Commit == "" // the credits do not pay for a single turn
	if !broke && s.judgeUnfinished(f) {
		return
	}
	if f.Commit != "" {
		s.push(f.Commit)
		s.because("attempt %d stopped (%s); its work in progress is kept on the branch", a.Number, f.Reason)
		return
	}
	if broke {
		s.enter(Queued)
		s.outOfCredits()
		s.begin()
		return
	}
	s.continueUnjudged()
}

// judgeUnfinished lets the checks judge the work of several consecutive attempts that all reached a limit, because an
// agent may do the work and never finish. It reports whether it did.
func (s *step) judgeUnfinished(f AttemptEnded) bool {
	a, row := s.t.Attempt(), s.t.consecutive(AttemptCheckpoint)
	made := func(a Attempt) bool { return a.Head != "" && a.Head == s.t.Head }
	switch {
	case row < maxConsecutive:
		return false
	case f.Commit != "":
		s.push(f.Commit)
	case slices.ContainsFunc(s.t.Attempts[len(s.t.Attempts)-row:], made):
		a.Head, s.t.Checks = s.t.Head, nil
		s.enter(PushedOut)
		s.emit(DoPull, a.Number, s.v())
	default:
		return false
	}
	a.Outcome = ""
	s.because("attempt %d stopped (%s), as did those before it; the checks decide on what they made", a.Number, f.Reason)
	return true
}

// continueUnjudged continues after an attempt that was not judged.
func (s *step) continueUnjudged() {
	a := s.t.Attempt()
	switch a.Outcome {
	case AttemptError:
		s.enter(Queued)
		s.hold(PausedByTrouble, a.Reason)
		s.begin()
	case AttemptCheckpoint:
		if s.t.consecutive(AttemptCheckpoint) >= maxConsecutive {
			a.Reason = fmt.Sprintf("%d limits reached in a row without finishing", maxConsecutive)
			s.fail([]Signal{{SameTask, a.Reason}})
			return
		}
		s.proceed(fmt.Sprintf("attempt %d reached a limit; the next goes on from its work in progress", a.Number))
	default:
		s.proceed(fmt.Sprintf("attempt %d was interrupted; the next goes on from its work in progress", a.Number))
	}
}

// proceed queues the next attempt with the same brief, from the branch's head.
func (s *step) proceed(why string) { s.proceedAfter(0, why) }

// proceedAfter is proceed with a delay.
func (s *step) proceedAfter(wait time.Duration, why string) {
	if s.t.Head != "" {
		s.t.Brief.FromBase, s.t.Brief.FromKept = false, false
	}
	s.emit(DoMemory, s.number(), s.v())
	s.queueAfter(wait)
	s.because("%s", why)
}

// consecutive returns how many of the last attempts in a row ended with outcome o on the present prompt.
func (t *Task) consecutive(o AttemptOutcome) int {
	n := 0
	for _, a := range slices.Backward(t.Attempts) {
		if a.Outcome != o || a.PromptHash != t.Attempt().PromptHash {
			break
		}
		n++
	}
	return n
}

func (s *step) push(commit SHA) {
	s.emitEffect(DoPush, s.number(), "", Effect{SHA: commit})
}

// pushed continues with the attempt's commit on the branch.
func (s *step) pushed() {
	f := s.e.Fact.(Pushed)
	a := s.t.Attempt()
	s.warn(f.Warning)
	a.replace(f.Made, f.SHA)
	a.Head, s.t.Head, s.t.HeadBy = f.SHA, f.SHA, Actor{}
	if s.t.Merging != nil {
		s.setBase(s.t.Merging.Onto)
	}
	if a.Outcome == AttemptFail { // a part was given up; this is the work of the others
		s.fail([]Signal{{SameTask, a.Reason}})
		return
	}
	if a.Outcome != "" { // work in progress
		s.continueUnjudged()
		return
	}
	s.t.Checks = nil
	s.enter(PushedOut)
	s.emit(DoPull, a.Number, s.v())
	s.because("%s is on %s", f.SHA.Short(), s.t.Branch)
}

// replace records the commit on the branch that replaces a local one.
func (a *Attempt) replace(made, by SHA) {
	for i := range a.Parts {
		if p := &a.Parts[i]; made != "" && p.Commit == made {
			p.Commit = by
		}
	}
}

// pushedLate records a commit that was pushed after its run had ended.
func (s *step) pushedLate() {
	f := s.e.Fact.(Pushed)
	s.warn(f.Warning)
	s.t.Attempt().replace(f.Made, f.SHA)
	s.t.Attempt().Head, s.t.Head, s.t.HeadBy = f.SHA, f.SHA, Actor{}
	s.t.Checks = nil
	if s.t.Merging != nil {
		s.setBase(s.t.Merging.Onto)
	}
	s.commitFinalMemory()
	s.because("what attempt %d had done is kept on %s", s.number(), s.t.Branch)
	s.beginIfIdle()
}

// attemptEndedLate records the end of an attempt after its run had ended.
func (s *step) attemptEndedLate() {
	if s.t.Attempt().Divided() {
		s.runEndedLate()
		return
	}
	f := s.record()
	a := s.t.Attempt()
	followUp := s.isFollowUp()
	a.Outcome = AttemptCancelled
	if f.Commit != "" && !followUp { // a green head stays on the branch
		s.push(f.Commit)
	} else {
		s.commitFinalMemory()
	}
	s.because("attempt %d was stopped", a.Number)
	s.beginIfIdle()
}

// pushRefusedLate records that an ended run's work in progress could not be kept.
func (s *step) pushRefusedLate() {
	s.commitFinalMemory()
	s.because("what attempt %d had done was not pushed: %s", s.number(), s.e.Fact.(PushRefused).Reason)
	s.beginIfIdle()
}

// busy reports whether an effect of an attempt is pending.
func (s *step) busy() bool {
	return s.pending(DoAttempt) || s.pending(DoAggregate) || s.pending(DoPush)
}

// beginIfIdle lets a restarted task begin once no effect of its last run is pending.
func (s *step) beginIfIdle() {
	if s.t.State == Queued && !s.pending(DoBegin) && !s.busy() {
		s.begin()
	}
}

// pushRefused handles a branch that moved during the attempt, and a change that
// GitHub rejects.
func (s *step) pushRefused() {
	f := s.e.Fact.(PushRefused)
	a := s.t.Attempt()
	if s.isFollowUp() {
		s.followUpRefused(f)
		return
	}
	if f.Change {
		a.Reason = f.Reason
		s.fail(a.Signals)
		return
	}
	a.Outcome, a.Reason = AttemptError, f.Reason
	if f.Head != "" {
		s.t.Head, s.t.HeadBy, s.t.Kept, s.t.Checks = f.Head, Actor{Unknown: true}, f.Head, nil
	}
	held := "the branch moved under every one of the last attempts"
	next := "somebody pushed to the branch while attempt %d worked; the next starts from their commit"
	if f.Lost {
		held, next = "what the last attempts made was lost each time", "what attempt %d made is lost; the next makes it again"
	}
	if s.t.consecutive(AttemptError) >= maxConsecutive {
		s.enter(Queued)
		s.hold(PausedByPushes, held)
		s.begin()
		return
	}
	s.proceed(fmt.Sprintf(next, a.Number))
}

func (s *step) pullOpened() {
	f := s.e.Fact.(PullOpened)
	s.setPull(f)
	s.enter(Checking)
	s.watch()
	s.because("%s #%d shows the change; the checks of %s decide", s.t.Pull.kind(), f.Number, s.t.Head.Short())
}

// ask posts the agent's question on the task's issue.
func (s *step) ask(a Ask) {
	opts := make([]Option, 0, len(a.Options))
	for i, text := range a.Options[:min(len(a.Options), 4)] {
		opts = append(opts, Option{Letter: string(rune('A' + i)), Text: text, Fastest: i == 0})
	}
	s.open(Escalation{Kind: AskQuestion, Blocker: a.Why, Question: a.Question, Options: opts})
	s.because("the task is ambiguous: the agent asks before it works")
}

// dropPrompt removes a prompt that only the present attempt used.
func (s *step) dropPrompt(hash string) {
	before := func(a Attempt) bool { return a.PromptHash == hash && a.Worked() }
	if slices.ContainsFunc(s.t.Attempts[:s.number()-1], before) {
		return
	}
	s.t.Prompts = slices.DeleteFunc(s.t.Prompts, func(p Prompt) bool { return p.Hash == hash })
}

func withSignal(have []Signal, add Signal) []Signal {
	if slices.ContainsFunc(have, func(x Signal) bool { return x.Name == add.Name }) {
		return have
	}
	return append(slices.Clip(have), add)
}

// lookInterval returns the wait before the gate's next look without a hint: from the
// settle time, doubling, at most maxLookInterval.
func lookInterval(settle time.Duration, looks int) time.Duration {
	return min(max(settle, minLookInterval)<<min(looks, 12), maxLookInterval)
}

// pullOpenedLate records a pull request that was opened after the task had moved on.
func (s *step) pullOpenedLate() {
	f := s.e.Fact.(PullOpened)
	s.setPull(f)
	s.because("%s #%d was opened after the task had moved on", s.t.Pull.kind(), f.Number)
}

// setPull records the pull request of the branch. For the known pull request it keeps
// the recorded draft state, which is more recent.
func (s *step) setPull(f PullOpened) {
	p := Pull{Number: f.Number, NodeID: f.NodeID, URL: f.URL, Draft: f.Draft, Merged: s.t.Pull.Merged}
	if s.t.Pull.Number == f.Number {
		p.Draft, p.Readied, p.LeftDraft = s.t.Pull.Draft, s.t.Pull.Readied, s.t.Pull.LeftDraft
		p.Refused = s.t.Pull.Refused
	}
	s.t.Pull = p
}

// kind returns "draft pull request" or "pull request".
func (p Pull) kind() string {
	if p.Draft {
		return "draft pull request"
	}
	return "pull request"
}

// progressed records the progress of the attempt, or of one of its runs, for people.
func (s *step) progressed() {
	f, a := s.e.Fact.(Progressed), s.t.Attempt()
	var kept **Progress
	if a != nil && f.Attempt == a.Number {
		kept = a.progressOf(f.Run)
	}
	if kept == nil || *kept != nil && (*kept).Run == f.Run && f.Turn <= (*kept).Turn {
		s.ignore("it says nothing new of the attempt that runs")
		return
	}
	p := Progress{At: s.e.At, Run: f.Run, Turn: f.Turn, Tests: f.Tests, TestsAt: s.e.At}
	if f.Tests == "" {
		p.TestsAt = time.Time{}
		if was := *kept; was != nil && was.Run == f.Run {
			p.Tests, p.TestsAt = was.Tests, was.TestsAt
		}
	}
	*kept = &p
	s.because("attempt %d is at turn %d", a.Number, f.Turn)
}
