package sia

import "slices"

// EffectKind says what an effect does.
type EffectKind string

// The effects. Each is carried out by one file of app/work, and has one line in the table below.
const (
	// look at the issue, the settings and the base, and say whether the next attempt may start
	DoBegin     EffectKind = "begin"
	DoDecide    EffectKind = "decide"    // put a question to the policies in force, and log the answer
	DoAttempt   EffectKind = "attempt"   // run the coding agent; commit what it did, unpushed
	DoAggregate EffectKind = "aggregate" // put an attempt's parts together, and test the whole in the sandbox
	DoCancel    EffectKind = "cancel"    // stop the running attempt
	DoPush      EffectKind = "push"      // put the attempt's commit on the task's branch
	DoPull      EffectKind = "pull"      // make sure there is a draft pull request
	DoEvidence  EffectKind = "evidence"  // run the tests that the head can reach, in the sandbox
	DoGate      EffectKind = "gate"      // read the checks of the head and judge them
	DoUpdate    EffectKind = "update"    // merge the base into the task's branch
	DoTakeBack  EffectKind = "take-back" // put the branch back on the head that was green before the follow-up
	DoWatch     EffectKind = "watch"     // read the checks of a pull request that has passed
	DoRerun     EffectKind = "rerun"     // ask for checks to be run again
	DoDiagnose  EffectKind = "diagnose"  // work out why the attempt failed and what to try
	DoReview    EffectKind = "review"    // have the diagnosis reviewed independently
	DoWeigh     EffectKind = "weigh"     // have the reviewer say whether the issue asks for the changed expectations
	DoMemory    EffectKind = "memory"    // commit the task's memory
	DoAnnounce  EffectKind = "announce"  // post the intervention's comment
	DoEscalate  EffectKind = "escalate"  // open the escalation issue, or ask on the task's issue
	DoClose     EffectKind = "close"     // close the escalation issue with the result
	// have a fresh reviewer read the change against the issue, and tell people what it says
	DoFinalReview EffectKind = "final-review"
	DoReady       EffectKind = "ready" // mark the pull request ready for review
	DoDraft       EffectKind = "draft" // make the pull request a draft again
	DoSync        EffectKind = "sync"  // make status comment, labels and check run show the task's present state
	DoReact       EffectKind = "react" // put a reaction on an issue or comment
	DoReply       EffectKind = "reply" // answer a person's comment
	// tell people how what they asked for on the pull request was dealt with, in the threads where they did
	DoRespond EffectKind = "respond"
	DoStudy   EffectKind = "study" // learn what a person did differently, and propose it as a technique
)

// effectTraits are what Step has to know of one kind of effect. Everything else that
// depends on the kind is a move of its own.
type effectTraits struct {
	kind EffectKind
	// the facts that it reports, besides Done and EffectFailed, which every effect may
	outcomes []Kind
	// the states that depend on it: when it can't be done in one of them, the task is
	// paused and does it again on resume. Without any, people get a message and nothing more
	// follows; what waits for one commit of memory is Task.AwaitMemory.
	waitsIn []State
	// it leads to the next attempt: only the newest of its kind counts, a worker drops
	// an older one, and nothing waits for it any more when the task ends
	leads bool
	// it may take as long as an attempt, and waits for its turn among those
	long bool
	// it may have to fetch the whole repository first, which takes minutes where that is large
	fetches bool
	// it runs a repository's tests, for minutes: it waits neither for attempts nor with what is quick
	tests bool
	// it waits for the resume while the task is paused; the others keep what was done,
	// or answer people
	held bool
	// the worker that carried out the effect before goes on with it: it is short, and belongs to that one
	joins bool
	// it asks a model, several times and for minutes, and has a fallback for when there is no answer
	asks bool
	// it creates something on GitHub, such as a comment, of which GitHub takes so many in an hour
	creates bool
}

// effects is the table of effects.
var effects = []effectTraits{
	{kind: DoBegin, outcomes: []Kind{KBegun}, waitsIn: []State{Queued, Announced}, leads: true, fetches: true, held: true},
	{kind: DoDecide, outcomes: []Kind{KDecided}, waitsIn: []State{Queued, Announced, Working, Diagnosing},
		leads: true, held: true, joins: true},
	{kind: DoAttempt, outcomes: []Kind{KAttemptEnded}, waitsIn: []State{Working}, long: true, held: true},
	{kind: DoAggregate, outcomes: []Kind{KAggregated}, waitsIn: []State{Working}, long: true, held: true},
	{kind: DoCancel},
	{kind: DoPush, outcomes: []Kind{KPushed, KPushRefused}, waitsIn: []State{Working}, fetches: true},
	{kind: DoPull, outcomes: []Kind{KPullOpened}, waitsIn: []State{PushedOut}, held: true, creates: true},
	{kind: DoEvidence, outcomes: []Kind{KEvidenced}, leads: true, tests: true, held: true},
	{kind: DoGate, outcomes: []Kind{KJudged}, waitsIn: []State{Checking}, leads: true, fetches: true, held: true},
	{kind: DoUpdate, outcomes: []Kind{KUpdated}, waitsIn: []State{Checking}, fetches: true, held: true},
	{kind: DoTakeBack, outcomes: []Kind{KTakenBack}, waitsIn: []State{Checking}, held: true},
	{kind: DoWatch, outcomes: []Kind{KWatched}},
	{kind: DoRerun, leads: true, held: true, creates: true},
	{kind: DoDiagnose, outcomes: []Kind{KDiagnosed}, waitsIn: []State{Diagnosing}, leads: true, held: true, asks: true},
	{kind: DoReview, outcomes: []Kind{KReviewed}, waitsIn: []State{Reviewing}, leads: true, held: true, asks: true},
	{kind: DoWeigh, outcomes: []Kind{KWeighed}, waitsIn: []State{Checking}, leads: true, held: true, asks: true},
	{kind: DoMemory, outcomes: []Kind{KMemoryCommitted}},
	{kind: DoAnnounce, outcomes: []Kind{KCommentPosted}, waitsIn: []State{Reviewing}, leads: true, held: true,
		joins: true, creates: true},
	{kind: DoEscalate, outcomes: []Kind{KEscalationOpened}, waitsIn: []State{Escalated}, held: true, creates: true},
	{kind: DoClose, creates: true},
	{kind: DoFinalReview, outcomes: []Kind{KFinalReviewed}, leads: true, held: true, asks: true, creates: true},
	{kind: DoReady, outcomes: []Kind{KReadied}, held: true, creates: true},
	{kind: DoDraft, outcomes: []Kind{KDrafted}, creates: true},
	{kind: DoSync, outcomes: []Kind{KSyncDone}, creates: true},
	{kind: DoReact, creates: true},
	{kind: DoReply, creates: true},
	{kind: DoRespond, creates: true},
	{kind: DoStudy, outcomes: []Kind{KFixStudied}, asks: true, creates: true},
}

// EffectKinds lists every kind of effect.
func EffectKinds() []EffectKind {
	kinds := make([]EffectKind, len(effects))
	for i, e := range effects {
		kinds[i] = e.kind
	}
	return kinds
}

// traits is the kind's line of the table; the zero line for a kind that another
// version knows.
func (k EffectKind) traits() effectTraits {
	i := slices.IndexFunc(effects, func(e effectTraits) bool { return e.kind == k })
	if i < 0 {
		return effectTraits{}
	}
	return effects[i]
}

// Known reports whether this version knows the kind: a newer one may have written it.
func (k EffectKind) Known() bool { return k.traits().kind != "" }

// Long reports whether an effect of the kind may take as long as an attempt.
func (k EffectKind) Long() bool { return k.traits().long }

// RunsTests reports whether an effect of the kind runs a repository's tests, beside attempts.
func (k EffectKind) RunsTests() bool { return k.traits().tests }

// Fetches reports whether an effect of the kind may have to fetch the whole repository first.
func (k EffectKind) Fetches() bool { return k.traits().fetches }

// Asks reports whether an effect of the kind asks a model, after a fetch where one is needed.
func (k EffectKind) Asks() bool { return k.traits().asks }

// Joins reports whether an effect of the kind has no job of its own where the outcome of another asks for it: the
// worker of that one goes on with it. A question is answered where it arises, and memory and comment are published
// together.
func (k EffectKind) Joins() bool { return k.traits().joins }

// Creates reports whether an effect of the kind creates something on GitHub.
func (k EffectKind) Creates() bool { return k.traits().creates }

// reports tells whether a fact of the kind f may be the outcome of an effect.
func (e effectTraits) reports(f Kind) bool {
	return e.kind != "" && (f == KDone || f == KEffectFailed || slices.Contains(e.outcomes, f))
}

// isOutcome tells whether only effects make a fact of the kind.
func (k Kind) isOutcome() bool {
	return slices.ContainsFunc(effects, func(e effectTraits) bool { return e.reports(k) })
}
