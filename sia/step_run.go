package sia

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// restart begins a new run of a task that had ended. Attempts keep counting; the new
// run's approaches and credits are added to the used ones.
//
// After a pass the run follows up: it continues from the head that passed, with the
// instructions that worked. Any other run begins at the base commit, unless the branch
// has commits that SIA must not drop.
func (s *step) restart() {
	passed := s.t.State == Passed && s.t.Head != "" && s.t.Pull.Number != 0 && !s.t.Pull.Merged
	moved := s.t.Moved != nil
	f, asked := s.e.Fact.(Start)
	asker := s.t.AskedBy
	edited := s.t.Edited != nil || asked && (f.Title != s.t.Title || f.Body != s.t.Body)
	text := strings.TrimSpace(f.Text)
	s.newRun(passed, text, edited)
	s.t.Anyway = f.Anyway
	if asked {
		s.t.Title, s.t.Body, s.t.Installation, s.t.Repo = f.Title, f.Body, f.Installation, f.Repo
		s.t.AskedBy, s.t.Label, s.t.LabelID = s.e.By, f.Label, f.LabelID
		if s.t.Kept == "" && s.t.Pull.Number == 0 { // no work is based on the old base branch
			s.t.BaseBranch = cmp.Or(f.DefaultBranch, s.t.BaseBranch)
		}
	}
	if s.e.By.Operator { // the operator restarts another user's request
		s.t.AskedBy = asker
	}
	s.react("eyes")
	if passed && text == "" && !edited { // there is nothing for an attempt to do
		s.lookAgain(moved)
		return
	}
	s.takeTurn(f)
	if passed {
		s.because("%s wants more; the next attempt goes on from %s, which has passed", s.who(), s.t.Head.Short())
		return
	}
	s.because("%s started the task again", s.who())
}

// newRun resets the state of the run.
func (s *step) newRun(passed bool, text string, edited bool) {
	set := s.t.Settings
	s.t.Earlier, s.t.EarlierTried = s.number(), len(s.t.Prompts)
	if s.t.Escalation != nil {
		s.t.Escalation.Answered = true // it was a question of the previous run
	}
	s.takeBranch(passed)
	s.t.Brief = s.nextBrief(passed, text, edited)
	s.t.StartedAt, s.t.BeginsAt, s.t.NoRoom, s.t.Aftermath = s.e.At, time.Time{}, false, ""
	s.t.Gone, s.t.Unwritten, s.t.IssueGone, s.t.Transferred = false, false, false, nil
	s.t.Failures, s.t.Rounds, s.t.Refused, s.t.Next = 0, 0, nil, nil
	s.t.Elsewhere, s.t.Worthwhile, s.t.Wanted, s.t.WantedCoder = false, false, "", ""
	s.t.Afterwards, s.t.Conflicted, s.t.Omission = nil, 0, nil
	s.t.Approaches = len(s.t.Prompts) + set.SIA.MaxApproaches
	s.t.Credits.Budget = s.t.Credits.Spent + s.t.Credits.Reserved + Credits(set.Budget.Task)*Credit
}

// lookAgain reads the checks of the passed head again, or of a later push.
func (s *step) lookAgain(moved bool) {
	s.enter(Checking)
	s.watch()
	if moved {
		s.because("%s started the task again; the checks of what was pushed after the pass decide", s.who())
		return
	}
	s.reply("nothing new is asked for, so only the checks of " + s.t.Head.Short() + " are read again; `/sia start` " +
		"followed by words says what is wanted besides, and goes on from there")
	s.because("%s started the task again without a word; the checks of %s are read again", s.who(), s.t.Head.Short())
}

// takeBranch updates the branch for the new run: a person may have pushed since the
// last one ended. The passed head is kept while its pull request is open.
func (s *step) takeBranch(passed bool) {
	if s.t.Pull.Merged || s.t.Pull.Number == 0 {
		s.t.Pull = Pull{}
	}
	switch {
	case s.t.Pull.Number == 0:
		s.t.Kept = "" // merged or rejected
	case passed:
		s.t.Kept = s.t.Head
	}
	if m := s.t.Moved; m != nil {
		s.t.Head, s.t.HeadBy, s.t.Kept = m.SHA, m.By, m.SHA
		s.t.Checks = nil
		s.t.Moved = nil
	}
}

// nextBrief returns the first brief of a new run. A run that follows a pass keeps the
// instructions that worked, but not their restrictions of tools and context, which
// were for the finished work.
func (s *step) nextBrief(passed bool, text string, edited bool) Brief {
	old := s.t.Brief
	b := Brief{Answers: old.Answers, FromBase: s.t.Kept == "", FromKept: s.t.Kept != ""}
	if old.FollowUp != "" {
		b.Answers = append(b.Answers, old.FollowUp) // the earlier request still holds
	}
	b.Answers = append(b.Answers, old.Asked.decided()...)
	if !passed && text != "" {
		b.Answers = append(b.Answers, text)
	}
	if s.e.Rules >= 2 {
		b.Answers = lastOfEach(b.Answers)
	}
	if !passed {
		return b
	}
	b.Technique, b.Prompt, b.Quotes, b.Examples = old.Technique, old.Prompt, old.Quotes, old.Examples
	switch {
	case text != "":
		b.FollowUp = text
	case edited:
		b.FollowUp = "The issue was edited after that: do what it asks for now and the change does not do yet."
	}
	return b
}

// lastOfEach returns xs without what occurs again later: threads are given with all their comments each time.
func lastOfEach(xs []string) []string {
	var out []string
	for i, x := range xs {
		if !slices.Contains(xs[i+1:], x) {
			out = append(out, x)
		}
	}
	return out
}

// keeping returns the brief b, changed so that the attempt starts from Kept and not from the base if there is a Kept.
func (s *step) keeping(b Brief) Brief {
	if b.FromBase && s.t.Kept != "" {
		b.FromBase, b.FromKept = false, true
	}
	return b
}

// branchMoved handles somebody else's push. An empty SHA means that the branch was deleted.
func (s *step) branchMoved() {
	s.follow(s.e.Fact.(BranchMoved).SHA, s.e.By)
}

// hasPull reports whether the task has a pull request, without which there are no checks to watch.
func (s *step) hasPull() bool { return s.t.Pull.Number != 0 || s.e.Rules < 1 }

// isOwn reports whether a commit is the present attempt's, and the checks have not judged it yet. Somebody has moved
// the branch back to it, or SIA thought so because a delivery came late.
func (s *step) isOwn(sha SHA) bool {
	a := s.t.Attempt()
	return s.e.Rules >= 1 && a != nil && sha != "" && sha == a.Head && a.Outcome == ""
}

// follow makes somebody else's push the task's head.
func (s *step) follow(sha SHA, by Actor) {
	switch {
	case sha == s.t.Head && s.t.HeadBy.Unknown && by.Login != "":
		s.t.HeadBy = by
		s.because("%s was pushed by %s", sha.Short(), by.Mention())
		return
	case sha == s.t.Head:
		s.ignore("the branch is where it was")
		return
	}
	if by == (Actor{}) { // found by a look: somebody other than SIA
		by.Unknown = true
	}
	own := s.isOwn(sha)
	s.t.Head, s.t.HeadBy, s.t.Kept = sha, by, sha
	if own {
		s.t.HeadBy = Actor{}
	}
	if own && s.hasPull() {
		s.dismissQuestion() // it was about this commit's checks, which are looked at anew
	}
	s.t.Checks, s.t.Gate.Based = nil, false
	s.closeFollowUp("no follow-up: somebody else pushed to the branch")
	switch {
	case sha == "":
		s.because("the branch is gone; the next attempt starts at the base")
		s.t.HeadBy, s.t.Brief.FromKept = Actor{}, false
	case s.t.State == PushedOut || s.t.State == Checking:
		s.because("%s pushed %s; the gate watches that commit now", by.Mention(), sha.Short())
		if s.t.State == Checking {
			s.watch()
		}
	case s.t.State == Escalated && s.hasPull():
		s.t.AwaitMemory = ""
		s.because("%s pushed %s while SIA waited; its checks decide", by.Mention(), sha.Short())
		s.enter(Checking)
		s.watch()
	case s.t.State == OnHold && s.t.Pause.From == Escalated && s.hasPull():
		s.t.AwaitMemory = ""
		s.t.Pause.From = Checking
		s.because("%s pushed %s while the task was paused; its checks decide when it goes on", by.Mention(), sha.Short())
	default:
		if !s.pending(DoAttempt) { // the brief is the next attempt's
			s.t.Brief.FromBase, s.t.Brief.FromKept = false, false
		}
		s.because("%s pushed %s; the next attempt starts there", by.Mention(), sha.Short())
	}
}

// branchMovedAfterEnd records a push after the task had ended: a new run continues
// from there.
func (s *step) branchMovedAfterEnd() { s.recordMove(s.e.Fact.(BranchMoved).SHA, s.e.By) }

func (s *step) recordMove(sha SHA, by Actor) {
	if sha == "" || sha == s.t.Head && s.t.Moved == nil || s.t.Moved != nil && sha == s.t.Moved.SHA {
		s.ignore("the branch is where it was")
		return
	}
	if by == (Actor{}) {
		by.Unknown = true
	}
	s.t.Moved = &Moved{SHA: sha, By: by}
	s.because("%s pushed %s; the task has ended, and a new run would go on from there", by.Mention(), sha.Short())
}

// pullReopened records the reopened pull request. A task that ended because it was
// closed continues when somebody starts it.
func (s *step) pullReopened() {
	f := s.e.Fact.(PullReopened)
	if s.t.Pull.Number != 0 {
		s.ignore("the pull request is open, as far as SIA knows")
		return
	}
	s.t.Pull = Pull{Number: f.Number, NodeID: f.NodeID, URL: f.URL}
	s.because("%s opened pull request #%d again", s.who(), f.Number)
	if s.t.State == Passed {
		s.t.Aftermath = ""
		s.emit(DoMemory, s.number(), s.v())
	}
}
