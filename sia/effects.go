package sia

import "slices"

// EffectKind names a kind of effect.
type EffectKind string

// The kinds of effects. One file of app/work carries out each, and each has one line in the table below.
const (
	// read the issue, the settings and the base, and decide whether the next attempt may start
	DoBegin     EffectKind = "begin"
	DoDecide    EffectKind = "decide"    // let the policies in force answer a question, and log the answer
	DoAttempt   EffectKind = "attempt"   // run the coding agent; commit its change, unpushed
	DoAggregate EffectKind = "aggregate" // merge an attempt's parts, and test the result in the sandbox
	DoCancel    EffectKind = "cancel"    // stop the running attempt
	DoPush      EffectKind = "push"      // push the attempt's commit to the task's branch
	DoPull      EffectKind = "pull"      // make sure there is a draft pull request
	DoEvidence  EffectKind = "evidence"  // run the tests that the head can reach, in the sandbox
	DoGate      EffectKind = "gate"      // read the checks of the head and judge them
	DoUpdate    EffectKind = "update"    // merge the base into the task's branch
	DoTakeBack  EffectKind = "take-back" // reset the branch to the head that was green before the follow-up
	DoWatch     EffectKind = "watch"     // read the checks of a pull request that has passed
	DoRerun     EffectKind = "rerun"     // request a re-run of checks
	DoDiagnose  EffectKind = "diagnose"  // diagnose why the attempt failed and what to try
	DoReview    EffectKind = "review"    // review the diagnosis independently
	DoWeigh     EffectKind = "weigh"     // let the reviewer decide whether the issue asks for the changed expectations
	DoMemory    EffectKind = "memory"    // commit the task's memory
	DoAnnounce  EffectKind = "announce"  // post the intervention's comment
	DoEscalate  EffectKind = "escalate"  // open the escalation issue, or ask on the task's issue
	DoClose     EffectKind = "close"     // close the escalation issue with the result
	// let a fresh reviewer compare the change with the issue, and post the result
	DoFinalReview EffectKind = "final-review"
	DoReady       EffectKind = "ready" // mark the pull request ready for review
	DoDraft       EffectKind = "draft" // make the pull request a draft again
	DoSync        EffectKind = "sync"  // make status comment, labels and check run show the task's present state
	DoReact       EffectKind = "react" // add a reaction to an issue or comment
	DoReply       EffectKind = "reply" // answer a person's comment
	// report on change requests, in the threads of the pull request where people made them
	DoRespond EffectKind = "respond"
	DoStudy   EffectKind = "study" // find out what a person did differently, and propose it as a technique
)

// effectTraits are the properties of one kind of effect that Step uses. Everything else that
// depends on the kind is in a move.
type effectTraits struct {
	kind EffectKind
	// the facts that it may report, in addition to Done and EffectFailed, which every effect may report
	outcomes []Kind
	// the states that depend on it: if it fails in one of them, the task is paused, and
	// resuming repeats the effect. If there are none, a failure only causes a warning; a wait
	// for one commit of memory is recorded in Task.AwaitMemory.
	waitsIn []State
	// it leads to the next attempt: only the newest of its kind counts, a worker drops
	// an older one, and a task that ends drops all of them
	leads bool
	// it may take as long as an attempt, and waits for its turn among those
	long bool
	// it may have to fetch the whole repository first, which takes minutes where that is large
	fetches bool
	// it runs a repository's tests, for minutes: it is queued apart from attempts and from short effects
	tests bool
	// while the task is paused it is held until the resume; the others save finished work
	// or answer people
	held bool
	// the worker that carried out the previous effect carries it out too: it is short, and belongs to that effect
	joins bool
	// it calls a model, several times and for minutes, and has a fallback for a missing answer
	asks bool
	// it creates content on GitHub, such as a comment, which GitHub rate-limits by the hour
	creates bool
}

// effects is the table of the kinds of effects.
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
	{kind: DoRerun, outcomes: []Kind{KRerunRefused}, leads: true, held: true, creates: true},
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

// EffectKinds returns every kind of effect.
func EffectKinds() []EffectKind {
	kinds := make([]EffectKind, len(effects))
	for i, e := range effects {
		kinds[i] = e.kind
	}
	return kinds
}

// traits returns the kind's line of the table; the zero line for a kind of another
// version.
func (k EffectKind) traits() effectTraits {
	i := slices.IndexFunc(effects, func(e effectTraits) bool { return e.kind == k })
	if i < 0 {
		return effectTraits{}
	}
	return effects[i]
}

// Known reports whether this version has the kind: a newer one may have stored it.
func (k EffectKind) Known() bool { return k.traits().kind != "" }

// Long reports whether an effect of the kind may take as long as an attempt.
func (k EffectKind) Long() bool { return k.traits().long }

// RunsTests reports whether an effect of the kind runs a repository's tests, apart from attempts.
func (k EffectKind) RunsTests() bool { return k.traits().tests }

// Fetches reports whether an effect of the kind may have to fetch the whole repository first.
func (k EffectKind) Fetches() bool { return k.traits().fetches }

// Asks reports whether an effect of the kind calls a model, after a fetch if one is needed.
func (k EffectKind) Asks() bool { return k.traits().asks }

// Joins reports whether an effect of the kind has no job of its own if it follows from the outcome of another effect:
// the worker of that effect carries it out too. So a question is answered where it arises, and memory and comment are
// published together.
func (k EffectKind) Joins() bool { return k.traits().joins }

// Creates reports whether an effect of the kind creates content on GitHub.
func (k EffectKind) Creates() bool { return k.traits().creates }

// canReport reports whether a fact of the kind f may be the outcome of an effect.
func (e effectTraits) canReport(f Kind) bool {
	return e.kind != "" && (f == KDone || f == KEffectFailed || slices.Contains(e.outcomes, f))
}

// isOutcome reports whether facts of the kind are outcomes of effects.
func (k Kind) isOutcome() bool {
	return slices.ContainsFunc(effects, func(e effectTraits) bool { return e.canReport(k) })
}
