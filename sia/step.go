package sia

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Result is the outcome of Step.
type Result struct {
	Task    Task     // to be saved when its Version differs from the argument's
	Effects []Effect // to be saved with Task, in the same transaction
	Ignored string   // why the event did not move the task; empty when it did
	Why     string   // the decision and its reason, one sentence for people
}

// Step applies one event to a task. It is pure and total: every pair of state
// and kind of fact is either a move or ignored for a stated reason, and an
// event that was applied before is ignored.
//
// An event that changes nothing is dropped: Step returns the task unchanged, with
// its Version, and sets Ignored. Such an event may still be answered; nothing waits
// for the effects that do so ([Effect.Aside]). An ignored event may change the task's
// book-keeping (an effect that reported is no longer pending): callers save task
// and event whenever the Version grew. A zero Task is a task that does not exist
// yet; only Start and Restored create one.
func Step(t Task, e Event) Result {
	e.Rules = Rules
	r := Replay(t, e)
	if t.ID == "" || e.Effect != "" || r.Task.Version == t.Version {
		return r // it creates a task, is an effect's outcome, or was not applied
	}
	return dropNoop(t, e, r)
}

// Replay is [Step] for an event of a task's log, by the rules by which it was applied. The log contains only events
// that were applied.
func Replay(t Task, e Event) Result {
	s := &step{t: t.clone(), e: e}
	if t.ID == "" {
		switch f := e.Fact.(type) {
		case Start:
			s.create(f)
		case Restored:
			s.restore(f)
		default:
			s.ignore("there is no task yet")
		}
		if s.t.ID == "" {
			return Result{Task: t, Ignored: s.ignored}
		}
		return s.result()
	}
	if reason := s.rejection(); reason != "" {
		if !s.bookDropped() {
			return Result{Task: t, Ignored: reason}
		}
		s.ignored = reason
		return s.result()
	}
	s.t.Version++
	kind := s.t.Pending[e.Effect]
	delete(s.t.Pending, e.Effect)
	s.clearWarning(kind)
	if s.isExternal() {
		s.t.Seen = append(s.t.Seen, e.ID)
		if len(s.t.Seen) > maxSeen {
			s.t.Seen = slices.Clone(s.t.Seen[len(s.t.Seen)-maxSeen:])
		}
	}
	s.dispatch(t.State, e.Fact.Kind())
	s.dropOldTests(t)
	if t.Head != "" && t.Head != s.t.Head {
		s.t.Former = append(s.t.Former, t.Head)
		s.t.Former = s.t.Former[max(0, len(s.t.Former)-MaxFormer):]
	}
	if f, ok := e.Fact.(CheckSeen); ok && f.Reset {
		s.t.Reset = &CheckReset{SHA: f.SHA, By: e.ID}
		s.t.Visible = s.t.Version
	}
	return s.result()
}

// MaxFormer is the maximum number of earlier heads that a task keeps.
const MaxFormer = 3

// MaxReruns is the maximum number of re-runs of the checks of one commit.
const MaxReruns = 3

const (
	maxSeen             = 64 // events from people that a task keeps
	maxDropped          = 16 // dropped effects that a task keeps
	maxRounds           = 2  // rejections by the reviewer in one diagnosis
	maxConsecutive      = 3  // consecutive checkpoints, or refused pushes, on one brief
	maxLookInterval     = 5 * time.Minute
	minLookInterval     = 100 * time.Millisecond
	budgetCheckInterval = 15 * time.Minute // between two checks whether a daily budget has room
	syncDelay           = 5 * time.Second  // delay in which status edits of a running task are collected
	overheadDivisor     = 5                // one fifth of the remaining credits stays for diagnosis and review
)

// step is the state of one call of Step.
type step struct {
	t         Task
	e         Event
	effects   []Effect
	ignored   string
	why       string
	answers   bool   // the fact answers the open question
	waits     string // why what a person asked for waits, for people; empty: it has taken effect
	deferSync bool   // do not schedule a sync: the next step follows soon and its sync shows both
}

func (s *step) result() Result {
	s.settleOwed()
	if s.ignored != "" && s.e.Origin.Command {
		s.reply(s.ignored)
	}
	if s.ignored == "" {
		s.acknowledge()
		s.sync(!showsNothing[s.e.Fact.Kind()] && !s.syncFailed() && !s.deferSync)
	} else {
		s.sync(false)
	}
	return Result{Task: s.t, Effects: s.effects, Ignored: s.ignored, Why: s.why}
}

// acknowledge shows the author of a command or an answer that it was accepted: 🚀 if it has taken effect, else 👀 and a
// reply that says what it waits for. A review can have no reaction, so that it gets a reply in either case.
func (s *step) acknowledge() {
	kind := s.e.Fact.Kind()
	answers := s.answers || kind == KAnswer || kind == KApprove
	if !s.e.Origin.Command && (!answers || s.e.Origin.OnIssue == 0) {
		return
	}
	if kind == KQuery || kind == KNotAnswered { // each has a reply of its own
		return
	}
	f, isRequest := s.e.Fact.(ChangesAsked)
	switch p := s.t.Pause; {
	case p != nil && kind != KPause:
		s.waits = strings.TrimRight(p.Reason, ".") + "; " + p.liftedBy()
	case s.e.Halted != "" && s.t.State == Queued:
		s.waits = s.e.Halted
	}
	switch {
	case s.waits != "":
		s.react("eyes")
		s.replyTo("", "noted, but it waits because "+s.waits)
	case isRequest && f.Review != 0:
		s.replyTo("", "noted: the next attempt is given what the review asks for")
	default:
		s.react("rocket")
	}
}

// showsNothing contains the facts that change nothing people see.
var showsNothing = map[Kind]bool{KSyncDone: true, KDone: true, KQuery: true, KCheckSeen: true, KRestored: true,
	KThreadSettled: true, KNotAnswered: true}

// syncFailed reports whether the fact is a failed sync. Another sync at once would
// fail the same way, in a loop; the next event or the periodic repair syncs instead.
func (s *step) syncFailed() bool {
	f, ok := s.e.Fact.(EffectFailed)
	return ok && f.Effect == DoSync
}

// isExternal reports whether a person or GitHub caused the fact, so that it is not
// the outcome of an effect.
func (s *step) isExternal() bool {
	return s.e.Effect == "" && s.e.Fact.Kind() != KCheckSeen && s.e.Fact.Kind() != KProgressed
}

// rejection returns why the event can't be applied, because it was applied already or
// matches no pending effect; empty if it can.
func (s *step) rejection() string {
	if s.e.Effect != "" {
		kind, ok := s.t.Pending[s.e.Effect]
		if !ok {
			return "the effect " + s.e.Effect + " is not waited for: it has reported already, or was superseded"
		}
		if !kind.traits().canReport(s.e.Fact.Kind()) {
			return fmt.Sprintf("%s is no outcome of the effect %s", s.e.Fact.Kind(), s.e.Effect)
		}
		return ""
	}
	if s.e.Fact.Kind().isOutcome() {
		return fmt.Sprintf("%s is the outcome of an effect, and names none", s.e.Fact.Kind())
	}
	if slices.Contains(s.t.Seen, s.e.ID) {
		return "the event " + s.e.ID + " was applied already"
	}
	return ""
}

// dispatch runs the move for a state and fact, or records why the table has no move.
func (s *step) dispatch(state State, kind Kind) {
	cell, ok := table[kind][state]
	switch {
	case !ok:
		s.ignored = fmt.Sprintf("nothing is known to do for %s while %s", kind, state)
	case cell.move == nil:
		s.ignored = cell.ignored
	default:
		cell.move(s)
	}
}

// ignore ends a move that does not apply, with the reason.
func (s *step) ignore(format string, args ...any) { s.ignored = fmt.Sprintf(format, args...) }

// refuse is ignore for an action of a person on GitHub without a command: it also replies to them.
func (s *step) refuse(format string, args ...any) {
	s.ignore(format, args...)
	if on := s.e.Origin; on.OnIssue != 0 && !on.Command {
		s.reply(s.ignored)
	}
}

// because records the reason of the decision, for people.
func (s *step) because(format string, args ...any) { s.why = fmt.Sprintf(format, args...) }

// enter moves the task to a state.
func (s *step) enter(state State) {
	if s.t.State != state {
		s.t.Since = s.e.At
	}
	s.t.State, s.t.Ended = state, ""
	if state != OnHold {
		s.t.Pause = nil
	}
}

// number returns the present attempt's number; 0 before the first.
func (s *step) number() int { return len(s.t.Attempts) }

// emit records an effect to be carried out as soon as possible.
func (s *step) emit(kind EffectKind, attempt int, suffix string) {
	s.emitEffect(kind, attempt, suffix, Effect{})
}

func (s *step) emitEffect(kind EffectKind, attempt int, suffix string, f Effect) {
	f.Task, f.Kind, f.Attempt = s.t.ID, kind, attempt
	f.Key = effectKey(s.t.ID, attempt, kind, suffix)
	if f.At.IsZero() {
		f.At = s.e.At
	}
	traits := kind.traits()
	if traits.leads {
		s.dropPending(func(k EffectKind) bool { return k == kind })
	}
	if s.t.State == OnHold && traits.held {
		s.t.Pause.Held = append(s.t.Pause.Held, f)
		return
	}
	if s.t.Pending == nil {
		s.t.Pending = map[string]EffectKind{}
	}
	s.t.Pending[f.Key] = kind
	s.effects = append(s.effects, f)
}

// dropPending stops waiting for effects of some kinds.
func (s *step) dropPending(which func(EffectKind) bool) {
	for _, key := range slices.Sorted(maps.Keys(s.t.Pending)) {
		kind := s.t.Pending[key]
		if !which(kind) {
			continue
		}
		delete(s.t.Pending, key)
		if kind.Asks() && s.e.Rules >= 1 {
			s.t.Dropped = append(s.t.Dropped, key)
			s.t.Dropped = s.t.Dropped[max(0, len(s.t.Dropped)-maxDropped):]
		}
	}
}

// bookDropped books the cost of an effect that is not waited for any more, and reports whether there was one.
func (s *step) bookDropped() bool {
	i, cost := slices.Index(s.t.Dropped, s.e.Effect), modelCost(s.e.Fact)
	if i < 0 || cost == 0 {
		return false
	}
	s.t.Version++
	s.t.Dropped = slices.Delete(s.t.Dropped, i, i+1)
	s.t.Credits.spend(cost)
	return true
}

// modelCost returns the cost of the model calls of an effect that may be dropped; 0 for other facts.
func modelCost(f Fact) Credits {
	switch f := f.(type) {
	case Diagnosed:
		return f.Cost
	case Reviewed:
		return f.Cost
	case Weighed:
		return f.Cost
	case FinalReviewed:
		return f.Cost
	}
	return 0
}

// commitMemory commits the task's memory; the next step waits for the commit.
func (s *step) commitMemory() {
	s.emit(DoMemory, s.number(), s.v())
	s.t.AwaitMemory = effectKey(s.t.ID, s.number(), DoMemory, s.v())
}

// v returns a suffix that makes a repeated effect's key unique.
func (s *step) v() string { return fmt.Sprintf("v%d", s.t.Version) }

// pending reports whether an effect of the kind is under way.
func (s *step) pending(kind EffectKind) bool { return s.t.pending(kind) }

func (t *Task) pending(kind EffectKind) bool {
	for _, k := range t.Pending {
		if k == kind {
			return true
		}
	}
	return false
}

// pendingKeys returns the keys of the pending effects of some kinds, sorted.
func (s *step) pendingKeys(kinds ...EffectKind) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(s.t.Pending)) {
		if slices.Contains(kinds, s.t.Pending[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// sync schedules an update of what GitHub shows: one sync at a time.
func (s *step) sync(changed bool) {
	if changed {
		s.t.Visible = s.t.Version
	}
	if s.t.Visible <= s.t.Synced || s.t.Gone {
		return
	}
	// The first status comment appears at once, and so does every state in which
	// the task waits or ends; changes in between are collected.
	at := s.e.At
	// An edit is shown at once, too: nothing else shows that SIA saw it.
	waits := s.t.State.Final() || s.t.State == Escalated || s.t.State == OnHold || s.e.Fact.Kind() == KEdited
	if !waits && s.number() > 0 {
		at = at.Add(syncDelay)
	}
	if s.pending(DoSync) {
		if !waits || !s.t.SyncAt.After(s.e.At) {
			return
		}
		s.dropPending(func(k EffectKind) bool { return k == DoSync }) // it is scheduled for later: this one replaces it
	}
	s.t.SyncAt = at
	s.emitEffect(DoSync, s.number(), s.v(), Effect{At: at})
}

// reply answers the event's person. The same refusal is not sent to the same person twice.
func (s *step) reply(text string) { s.replyTo(s.e.By.Login, text) }

func (s *step) replyTo(login, text string) {
	s.emitEffect(DoReply, s.number(), s.v(),
		Effect{Comment: s.e.Origin.Comment, Thread: s.e.Origin.Thread, OnIssue: s.e.Origin.OnIssue, To: login, Content: text})
}

func (s *step) react(content string) {
	if f, ok := s.e.Fact.(ChangesAsked); ok && f.Review != 0 {
		return // nothing can be put on a review
	}
	if slices.ContainsFunc(s.effects, func(f Effect) bool { return f.Kind == DoReact && f.Content == content }) {
		return
	}
	on := s.e.Origin.OnIssue
	if on == 0 {
		on = s.t.Issue
	}
	s.emitEffect(DoReact, s.number(), content+"-"+s.v(),
		Effect{Comment: s.e.Origin.Comment, Thread: s.e.Origin.Thread, OnIssue: on, Content: content})
}

// clone returns a copy of a task that shares no slice or map that Step writes to.
func (t Task) clone() Task {
	t.Attempts = slices.Clone(t.Attempts)
	if a := t.Attempt(); a != nil { // the others don't change any more
		a.Parts = slices.Clone(a.Parts)
		for i := range a.Parts {
			a.Parts[i].Failed = slices.Clone(a.Parts[i].Failed)
		}
	}
	t.Prompts = slices.Clone(t.Prompts)
	t.Interventions = slices.Clone(t.Interventions)
	t.Refused = slices.Clone(t.Refused)
	t.Accepted = slices.Clone(t.Accepted)
	t.Answers = slices.Clone(t.Answers)
	t.Wishes = slices.Clone(t.Wishes)
	t.Owed = slices.Clone(t.Owed)
	t.Settled = slices.Clone(t.Settled)
	t.Seen = slices.Clone(t.Seen)
	t.Dropped = slices.Clone(t.Dropped)
	t.Reported = slices.Clone(t.Reported)
	t.Former = slices.Clone(t.Former)
	t.Pending = maps.Clone(t.Pending)
	t.Brief.Answers = slices.Clone(t.Brief.Answers)
	t.Edited, t.Moved, t.Merging = clonePtr(t.Edited), clonePtr(t.Moved), clonePtr(t.Merging)
	t.Gate.Weighing, t.Final, t.Omission = clonePtr(t.Gate.Weighing), clonePtr(t.Final), clonePtr(t.Omission)
	t.Opening, t.Next, t.Escalation = clonePtr(t.Opening), clonePtr(t.Next), clonePtr(t.Escalation)
	if t.Pause = clonePtr(t.Pause); t.Pause != nil {
		t.Pause.Held = slices.Clone(t.Pause.Held)
	}
	return t
}

// clonePtr returns a pointer to a copy of *p; nil for nil.
func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

// who returns a mention of the event's person.
func (s *step) who() string { return s.e.By.Mention() }

// slug turns a title into the end of a branch name: lower-case words joined by
// hyphens, at most 40 bytes, "task" when nothing is left.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if n := b.Len(); n > 0 && b.String()[n-1] != '-' {
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	if out := strings.Trim(b.String(), "-"); out != "" {
		return out
	}
	return "task"
}
