package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// create creates a task from the Start fact.
func (s *step) create(f Start) {
	set := DefaultSettings()
	s.t = Task{
		ID: NewTaskID(f.Repo.ID, f.Issue), Version: 1, Installation: f.Installation, Repo: f.Repo, Issue: f.Issue,
		Title: f.Title, Body: f.Body, AskedBy: s.e.By, Label: f.Label, LabelID: f.LabelID,
		CreatedAt: s.e.At, StartedAt: s.e.At, Settings: set, BaseBranch: f.DefaultBranch, Seen: []string{s.e.ID},
		Approaches: set.SIA.MaxApproaches,
		Credits:    Ledger{Budget: Credits(set.Budget.Task) * Credit},
	}
	s.t.Branch = fmt.Sprintf("sia/issue-%d-%s", f.Issue, slug(f.Title))
	s.addConstraint(f.Text)
	s.t.Anyway = f.Anyway
	s.react("eyes")
	s.takeTurn(f)
	s.because("%s asked for this issue to be resolved", s.who())
}

// addConstraint adds text that a person wrote with a command as a constraint.
func (s *step) addConstraint(text string) {
	if text = strings.TrimSpace(text); text != "" {
		s.t.Brief.Answers = append(s.t.Brief.Answers, text)
	}
}

// queue queues the next attempt.
func (s *step) queue() {
	s.dismissQuestion()
	s.enter(Queued)
	s.begin()
}

// dismissQuestion closes an unanswered question: the next attempt does not wait for it.
func (s *step) dismissQuestion() {
	if e := s.t.Escalation; e != nil && !e.Answered {
		e.Answered = true
		s.t.AwaitMemory = ""
		s.closeEscalation()
	}
}

// takeTurn queues the first attempt of a run, after the other tasks that the same person has just started.
func (s *step) takeTurn(f Start) {
	wait := time.Duration(f.Wait) * time.Second
	if wait > 0 {
		s.waits = fmt.Sprintf("other tasks that %s started come first: it begins in %s", s.who(), wait)
	}
	s.queueAfter(wait)
}

// queueAfter is queue with a delay.
func (s *step) queueAfter(wait time.Duration) {
	if wait <= 0 {
		s.queue()
		return
	}
	s.dismissQuestion()
	s.enter(Queued)
	s.dropOpening()
	s.t.NoRoom, s.t.BeginsAt = false, s.e.At.Add(wait)
	s.emitEffect(DoBegin, s.number()+1, s.v(), Effect{At: s.t.BeginsAt})
}

// begin reads the inputs of the next attempt again.
func (s *step) begin() {
	s.dropOpening()
	s.emit(DoBegin, s.number()+1, s.v())
}

// dropOpening drops the inputs and decisions of an attempt that was about to begin.
func (s *step) dropOpening() {
	s.t.Opening = nil
	s.dropPending(func(k EffectKind) bool { return k == DoDecide })
}

func (s *step) stop() {
	f := s.e.Fact.(Stop)
	s.end(f.Reason, f.Gone)
	s.t.IssueGone, s.t.Transferred = f.IssueGone, f.Transferred
}

// stopAfterEnd records that a task that has ended can no longer be read or written on GitHub. Else it ignores the
// fact.
func (s *step) stopAfterEnd() {
	f := s.e.Fact.(Stop)
	switch {
	case f.Gone && !s.t.Gone:
		s.t.Gone = true
		s.because("it can't be read or written any more: %s", f.Reason)
	case s.t.State == Passed:
		s.ignore("the task has passed already; there is nothing to stop")
	default:
		s.ignore("the task is stopped already; `/sia start` starts it again")
	}
}

// end stops the task for a reason.
func (s *step) end(reason string, gone bool) {
	s.cancel(DoAttempt, DoAggregate)
	if a := s.t.Attempt(); a != nil && a.Outcome == "" && !s.pending(DoAttempt) {
		// It is done and will not be judged, so its technique is not rated.
		a.Outcome, a.Reason = AttemptCancelled, "the task ended before the checks had decided"
		s.closeParts()
	}
	s.t.Next, s.t.Rounds, s.t.Refused, s.t.Opening = nil, 0, nil, nil
	s.dropNext()
	s.enter(Stopped)
	s.t.Checks = without(slices.Clone(s.t.Checks), func(c Check) bool { return c.Colour == Running })
	s.t.Ended = reason
	s.t.Gone, s.t.Unwritten = gone, gone
	if !gone && s.t.Pull.Number != 0 && !s.t.Pull.Merged {
		s.respond("", reason)
	}
	s.t.Wishes = nil
	if !s.busy() { // else when its result is known
		s.commitFinalMemory()
	}
	if !gone {
		s.closeEscalation()
	}
	s.because("the task ended: %s", reason)
}

// commitFinalMemory commits the memory of a stopped task.
func (s *step) commitFinalMemory() {
	if s.t.State == Stopped && !s.t.Gone {
		s.emit(DoMemory, s.number(), s.v())
	}
}

// dropNext drops the pending effects that lead to the next attempt.
func (s *step) dropNext() {
	s.dropPending(func(k EffectKind) bool { return k.traits().leads })
	s.t.AwaitMemory = ""
}

func (s *step) closeEscalation() {
	if e := s.t.Escalation; e != nil && e.Issue != 0 && e.Issue != s.t.Issue && !e.Closed {
		e.Closed = true
		s.emitEffect(DoClose, s.number(), fmt.Sprintf("q%d-%s", e.Number, s.v()), Effect{OnIssue: e.Issue})
	}
}

// cancel cancels pending effects of some kinds.
func (s *step) cancel(kinds ...EffectKind) {
	for i, key := range s.pendingKeys(kinds...) {
		suffix := s.v()
		if i > 0 {
			suffix += fmt.Sprintf("-%d", i+1)
		}
		s.emitEffect(DoCancel, s.number(), suffix, Effect{TargetKey: key})
	}
}

func (s *step) pauseAsked() {
	f := s.e.Fact.(PauseAsked)
	if f.Scope != "" {
		s.halt(f)
		return
	}
	switch p := s.t.Pause; {
	case p != nil && p.Scope == "":
		s.ignore("the task is paused already; `/sia resume` goes on")
		return
	case p != nil: // it stays paused when the halt ends
		p.Kind, p.By, p.Reason, p.Scope = PausedByPerson, s.e.By, f.Reason, ""
		s.because("paused: %s", f.Reason)
		return
	}
	s.hold(PausedByPerson, f.Reason)
}

// hold pauses the task. The outcomes of pending effects are applied to the state that
// it resumes in.
func (s *step) hold(kind PauseKind, reason string) {
	from := s.t.State
	s.cancel(DoAttempt)
	s.enter(OnHold)
	s.t.Pause = &Pause{From: from, By: s.e.By, Kind: kind, Reason: reason}
	s.because("paused: %s", reason)
}

// resume continues in the state in which the task was paused.
func (s *step) resume() {
	f, _ := s.e.Fact.(Resume)
	if s.staysHalted(f) {
		return
	}
	if s.t.NeedsCredits() && f.Credits == 0 {
		s.ignore("%s, so say how many more it may spend: %s", s.t.Pause.Reason, s.t.Pause.liftedBy())
		return
	}
	s.t.Credits.Budget += f.Credits
	s.t.Worthwhile = s.t.Worthwhile || s.t.Pause.Kind == PausedByWorth
	p := *s.t.Pause
	s.enter(p.From)
	for _, f := range p.Held {
		if f.Kind == DoGate && p.From == Checking {
			continue // the head is watched again below
		}
		f.At = s.e.At
		if s.t.Pending == nil {
			s.t.Pending = map[string]EffectKind{}
		}
		s.t.Pending[f.Key] = f.Kind
		s.effects = append(s.effects, f)
	}
	switch {
	case p.From == Checking:
		s.watch()
	case p.From == Escalated && s.t.Escalation.AboutChecks():
		s.look(s.e.At.Add(s.t.Settings.Checks.Settle.D())) // hints were ignored during the pause
	case (p.From == Queued || p.From == Announced) && !s.pending(DoBegin) && !s.pending(DoDecide):
		s.begin()
	case p.From == Working:
		s.workOn()
	}
	s.because("%s resumed the task", s.who())
}

// topUp books credits for a task that is not paused.
func (s *step) topUp() {
	f := s.e.Fact.(Resume)
	if f.Scope != "" {
		s.ignore("the task is not paused")
		return
	}
	if f.Credits == 0 {
		s.ignore("the task is not paused, so there is nothing to resume; `/sia resume +50` would add credits, `/sia " +
			"status` shows where it stands")
		return
	}
	s.t.Credits.Budget += f.Credits
	s.because("%s added %s credits", s.who(), f.Credits)
}

// paused handles an outcome that arrives while the task is paused: it applies it
// to the state that the task resumes in, and holds the effects that follow.
func (s *step) paused() {
	from := s.t.Pause.From
	pause := s.t.Pause
	cell := table[s.e.Fact.Kind()][from]
	if cell.move == nil {
		s.ignored = cell.ignored
		return
	}
	// The move runs in the state that it is written for; its effects are held
	// afterwards if their kind is.
	since := s.t.Since
	s.t.State, s.t.Pause = from, nil
	before := len(s.effects)
	cell.move(s)
	if s.t.State.Final() {
		return
	}
	if inner := s.t.Pause; inner != nil { // the move paused the task for another reason
		pause.Held = append(pause.Held, inner.Held...)
		pause.From = inner.From
		if pause.Scope == "" { // else the halt ends first, and the failed effect is then tried again
			pause.Kind, pause.Reason = inner.Kind, inner.Reason
		}
	} else {
		pause.From = s.t.State
	}
	kept := s.effects[:before:before]
	for _, f := range s.effects[before:] {
		if f.Kind.traits().held {
			delete(s.t.Pending, f.Key)
			pause.Held = append(pause.Held, f)
		} else {
			kept = append(kept, f)
		}
	}
	s.effects = kept
	s.t.State, s.t.Pause, s.t.Since = OnHold, pause, since
}

func (s *step) use() {
	f := s.e.Fact.(Use)
	if f.Coder != "" {
		s.t.WantedCoder = f.Coder
		s.because("%s asked for the coder %s next", s.who(), f.Coder)
		s.waitForNext(s.t.State != Queued && s.t.State != Diagnosing && s.t.State != Reviewing && s.t.State != Announced,
			"it works on the next")
		return
	}
	if s.t.State == Reviewing || s.t.State == Announced {
		s.ignore("the next attempt's approach is chosen already; say it again if that attempt fails, or `/sia stop`")
		return
	}
	if s.t.Used(f.Technique) {
		s.ignore("the technique `%s` was used in this task already, and each is used at most once", f.Technique)
		return
	}
	s.t.Wanted = f.Technique
	s.because("%s asked for the technique %s next", s.who(), f.Technique)
	if s.t.State == Escalated && s.t.Escalation.Kind == AskIssue && s.number() > 0 {
		s.t.Approaches = max(s.t.Approaches, len(s.t.Prompts)+1)
		s.answered("", "use the technique "+string(f.Technique))
		s.t.AwaitMemory = "" // the question's commit; the diagnosis waits for its own
		s.diagnose(s.t.Attempt().Signals)
		return
	}
	s.waitForNext(s.t.State != Diagnosing || s.pending(DoDiagnose), "it is used for the next")
}

// waitForNext records that what a person asked for the next attempt waits if waits is true. what says what happens
// then.
func (s *step) waitForNext(waits bool, what string) {
	n := s.number()
	if s.t.State == Queued {
		n++
	}
	switch {
	case !waits:
	case s.t.State == Escalated:
		s.waits = "SIA waits for an answer first"
	case s.t.State == Diagnosing:
		s.waits = fmt.Sprintf("SIA is choosing what follows attempt %d: if that is done already, %s", n, what)
	default:
		s.waits = fmt.Sprintf("attempt %d comes first: if that fails, %s", n, what)
	}
}

func (s *step) retry() {
	switch s.t.State {
	case OnHold:
		s.resume()
	case Stopped:
		s.restart()
	case Escalated:
		if s.t.Escalation.Kind == AskPlan {
			s.t.Escalation.Answered = true
			s.requeue()
			s.because("%s asked for another plan", s.who())
			return
		}
		s.t.Anyway = s.t.Anyway || s.t.Escalation.Kind == AskAlready
		if e := s.t.Escalation.Edition; e != nil {
			s.takeEdition(*e)
		}
		s.answered("", "try again as it is")
		s.requeue()
		s.because("%s asked for one more try with the present approach", s.who())
	case Checking:
		s.look(s.e.At)
		s.because("%s asked for the checks to be read again", s.who())
	}
}

// requeue queues another attempt after a person's answer, or has the checks read again.
func (s *step) requeue() {
	s.t.Failures = 0
	s.t.AwaitMemory = ""
	if s.t.Escalation != nil && s.t.Escalation.AboutChecks() && s.t.Head != "" {
		s.enter(Checking)
		s.watch()
		return
	}
	s.queue()
}

// answered closes the open question with a person's answer.
func (s *step) answered(letter, text string) {
	asked := s.t.Escalation
	asked.Answered, s.answers = true, true
	s.t.Answers = append(s.t.Answers, Answer{Escalation: asked.Number, Kind: asked.Kind, Question: asked.Question,
		By: s.e.By, Letter: letter, Text: text, At: s.e.At})
}

func (s *step) answer() {
	f := s.e.Fact.(AnswerGiven)
	if s.t.Escalation.Kind == AskPlan {
		s.answerPlan(f)
		return
	}
	text := strings.TrimSpace(f.Text)
	i := slices.IndexFunc(s.t.Escalation.Options, func(o Option) bool { return o.Letter == f.Letter })
	switch {
	case i >= 0 && text == "":
		text = s.t.Escalation.Options[i].Text
	case i >= 0:
		text = s.t.Escalation.Options[i].Text + " — " + text
	case text == "":
		s.refuse("which answer is meant can't be told: the letters here are %s; tick one of the boxes, or write `/sia "+
			"answer` and a letter or your own words", s.t.Escalation.letters())
		return
	}
	kind, about := s.t.Escalation.Kind, s.t.Escalation.AboutChecks()
	if about && i < 0 {
		s.refuse("words are no answer to a question about checks: `/sia answer` and a letter is one, here %s; `/sia stop` "+
			"ends the task", s.t.Escalation.letters())
		return
	}
	if i >= 0 && s.t.Escalation.Options[i].Waives {
		s.t.Waived = append(slices.Clone(s.t.Waived), s.t.Escalation.Waives...)
	}
	if i >= 0 && s.t.Escalation.Options[i].Vouches {
		s.t.Vouched = append(slices.Clone(s.t.Vouched), s.t.Escalation.Vouches...)
	}
	last := s.t.Escalation.Options[len(s.t.Escalation.Options)-1].Letter // of questions about checks: the task ends
	s.answered(f.Letter, text)
	s.because("%s answered: %s", s.who(), text)
	switch kind {
	case AskAlready:
		s.answerAlready(f)
		return
	case AskEdited:
		s.answerEdited(f)
		return
	}
	if about {
		if f.Letter == last {
			s.end(s.who()+" chose to stop: there are no checks to go by", false)
			return
		}
		s.requeue()
		return
	}
	s.t.Brief.Answers = append(s.t.Brief.Answers, s.t.Escalation.Question+" — "+text)
	s.t.Brief.Technique = "" // the outcome does not rate a technique
	if kind == AskIssue {
		s.t.Approaches = max(s.t.Approaches, len(s.t.Prompts)+1) // one more if none was left
	}
	if s.t.State == Checking {
		return // the checks come first
	}
	s.requeue()
}

// notAnswered replies once that a comment in the question's issue, or closing it, is no answer.
func (s *step) notAnswered() {
	e := s.t.Escalation
	if e == nil || e.Answered {
		s.ignore(noWaiting)
		return
	}
	told, topic, did := &e.Talk, "talk", "wrote what is taken as talk, and not as the answer"
	if s.e.Fact.(NotAnswered).Closed {
		told, topic, did = &e.Shut, "shut", "closed the question's issue without an answer"
	}
	if *told {
		s.ignore("people were told already that it is no answer")
		return
	}
	*told = true
	s.replyTo("", "topic:"+topic)
	s.because("%s %s; the question is still open", s.who(), did)
}

// answerMeanwhile records an answer while somebody's push is checked: if the checks are red, the next attempt gets it.
func (s *step) answerMeanwhile() {
	if e := s.t.Escalation; e == nil || e.Answered || e.Kind != AskIssue && e.Kind != AskQuestion {
		s.answeredAlready()
		return
	}
	s.waits = fmt.Sprintf("the checks of %s come first: if they are red, the next attempt is given it", s.t.Head.Short())
	s.answer()
}

// answeredAlready replies to a second answer with the author of the first.
func (s *step) answeredAlready() {
	a, ok := s.t.LastAnswer()
	if !ok {
		s.ignore(noWaiting)
		return
	}
	s.refuse("the question was answered already, by %s; `/sia status` shows where the task stands", a.By.Mention())
}

func (s *step) acceptTests() {
	f := s.e.Fact.(AcceptTests)
	switch {
	case !s.t.Gate.AwaitsPerson || slices.Contains(s.t.Accepted, s.t.Head): // this head needs no acceptance now
		s.ignore(nothingToAccept)
		return
	case f.SHA != "" && f.SHA != s.t.Head:
		s.ignore("%s has taken the place of %s; look at what it changes first", s.t.Head.Short(), f.SHA.Short())
		return
	}
	s.t.Accepted, s.t.Lapsed = append(s.t.Accepted, s.t.Head), false
	s.t.Gate.AwaitsPerson = false
	s.look(s.e.At)
	s.because("%s accepted the changes to tests and protected paths on %s", s.who(), s.t.Head.Short())
}

func (s *step) edited() {
	f := s.e.Fact.(Edited)
	if f.Title == s.t.Title && f.Body == s.t.Body {
		s.ignore("title and text are what they were")
		return
	}
	s.takeEdition(Edition(f))
	switch e := s.t.Escalation; {
	case s.t.State == Escalated && e.Kind == AskEdited:
		s.answered("", "edit it once more")
		s.requeue()
	case e != nil && e.Kind == AskPlan && !e.Answered:
		e.Stale = true
	}
	s.because("%s edited the issue; the next attempt reads the new text", s.who())
}

func (s *step) query() {
	f := s.e.Fact.(Query)
	switch {
	case f.Topic != "say":
		s.replyTo("", "topic:"+f.Topic)
	case f.Obeyed: // repeated answers are not dropped
		s.replyTo("", f.Text)
		s.react("rocket")
	default:
		s.reply(f.Text)
	}
	s.because("answers %s", s.who())
}

func (s *step) pullClosed() { s.closePull(s.e.Fact.(PullClosed)) }

// closedAfterStop records that the pull request of a stopped task is closed: its next run opens a new one.
func (s *step) closedAfterStop() {
	if s.e.Fact.(PullClosed).Merged {
		s.t.Pull.Merged = true
	} else {
		s.t.Pull = Pull{}
	}
	s.because("%s closed the pull request of the stopped task", s.who())
}

// closePull handles the closing or merge of the pull request: it ends the task if it has not ended.
func (s *step) closePull(f PullClosed) {
	if f.Merged {
		s.t.Pull.Merged = true
		if s.t.State == Passed {
			s.t.Aftermath = MergedUnchanged
			if s.t.HeadBy != (Actor{}) || f.Head != "" && f.Head != s.t.Head {
				s.t.Aftermath = MergedEdited
			}
			s.emit(DoMemory, s.number(), s.v())
			s.because("%s merged the pull request", s.who())
			return
		}
		s.end(s.who()+" merged the pull request", false)
		return
	}
	s.t.Pull = Pull{}
	if s.t.State == Passed {
		s.t.Aftermath = Abandoned
		s.t.Pull.ClosedBy = s.e.By
		s.emit(DoMemory, s.number(), s.v())
		s.because("%s closed the pull request without merging it", s.who())
		return
	}
	s.end(s.who()+" closed the pull request", false)
}
