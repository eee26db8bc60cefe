package sia

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Event is something that happened, as Step sees it.
type Event struct {
	ID     string    `json:"id" mask:"-"` // unique within the task: the effect's key, or a name made from the delivery
	At     time.Time `json:"at"`
	By     Actor     `json:"by,omitzero"`               // the person, for facts caused by people
	Origin Origin    `json:"origin,omitzero"`           // where to post a reaction or an answer
	Effect string    `json:"effect,omitempty" mask:"-"` // key of the effect that has this outcome
	// why everything in the repository is paused, and how that ends, for people, if the event may begin a run;
	// empty: nothing is paused as a whole
	Halted string `json:"halted,omitempty"`
	// version of the rules by which Step applied the event, see [Rules]; 0: an older version of SIA did
	Rules int  `json:"rules,omitempty"`
	Fact  Fact `json:"-"`
}

// Rules is the version of the rules of [Step]. An event of a task's log has the version by which it was applied, and
// [Replay] applies it by the same, so that a log gives the same task after the rules have changed:
//
//   - 1: test results are kept whatever the task does when they arrive; without a pull request no checks are watched;
//     an attempt's own commit counts as SIA's, whoever moved the branch to it; models' costs are booked although
//     nothing waits for their answers any more.
//   - 2: what people decided is kept once for the next run, however often it was said.
//   - 3: a removed test that failed in a check of an earlier head is kept apart from others that would pass.
const Rules = 3

// Origin is the comment or issue that a person's event came from.
type Origin struct {
	OnIssue int   `json:"on_issue,omitempty"` // issue or pull request number
	Comment int64 `json:"comment,omitempty"`  // 0: the issue itself
	Thread  int64 `json:"thread,omitempty"`   // a comment on a line of the pull request; 0: none
	Command bool  `json:"command,omitempty"`  // a command, which gets a reply when it is ignored
}

// Kind names a kind of fact.
type Kind string

// Fact is the content of an event. Its implementations are listed in facts.
type Fact interface {
	Kind() Kind
}

// Facts caused by people and by GitHub.
type (
	// Start: somebody labelled the issue or wrote /sia start.
	Start struct {
		Installation  int64  `json:"installation"`
		Repo          Repo   `json:"repo"`
		Issue         int    `json:"issue"`
		Title         string `json:"title"`
		Body          string `json:"body"`
		DefaultBranch string `json:"default_branch" mask:"-"`
		Label         string `json:"label,omitempty" mask:"-"` // the label that was added; empty: a command
		LabelID       int64  `json:"label_id,omitempty"`       // GitHub's id of Label, which survives a rename
		Text          string `json:"text,omitempty"`           // words after /sia start
		// work on the issue even if something else resolves it
		Anyway bool `json:"anyway,omitempty"`
		Wait   int  `json:"wait,omitempty"` // seconds until it may begin, because other tasks of that person come first
	}
	// Stop: /sia stop, the label removed, the issue closed, the app uninstalled.
	Stop struct {
		Reason string `json:"reason"`
		// GitHub can't be written to any more: the app was uninstalled or the repository removed
		Gone bool `json:"gone,omitempty"`
		// the issue was deleted or transferred, and the repository still exists
		IssueGone bool `json:"issue_gone,omitempty"`
		// where the issue was transferred to; nil: it was not, or the place is unknown
		Transferred *IssueAt `json:"transferred,omitempty"`
	}
	// PauseAsked: /sia pause or a switch.
	PauseAsked struct {
		Reason string    `json:"reason"`
		Scope  HaltScope `json:"scope,omitempty"` // the scope to pause; empty: this task alone
	}
	// Resume: /sia resume, with credits to add.
	Resume struct {
		Credits Credits   `json:"credits,omitempty"`
		Scope   HaltScope `json:"scope,omitempty"` // the scope to resume; empty: this task alone
	}
	// Retry: /sia retry.
	Retry struct{}
	// Use: /sia use <technique>.
	Use struct {
		Technique TechniqueID `json:"technique,omitempty" mask:"text"`
		Coder     string      `json:"coder,omitempty"` // the coder of the next attempt, instead of a technique
	}
	// AnswerGiven: a ticked box, /sia answer, or words to the app.
	AnswerGiven struct {
		Letter string `json:"letter,omitempty" mask:"-"` // "A" to "D"
		Text   string `json:"text,omitempty"`
	}
	// NotAnswered: a comment in, or the closing of, the issue of an open question does not answer it.
	NotAnswered struct {
		Closed bool `json:"closed,omitempty"` // a person closed the issue; else people comment to one another
	}
	// AcceptTests: /sia accept-tests or the button.
	AcceptTests struct {
		SHA SHA `json:"sha,omitempty"` // commit of the check run with the button; empty: the head that waits
	}
	// Edited: the issue's title or body changed.
	Edited struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}
	// Query: a command that only asks for information; or one that could not be
	// understood or was not permitted, with a ready answer.
	Query struct {
		Topic string `json:"topic" mask:"-"` // the name of a command that only asks, or "say"
		Text  string `json:"text,omitempty"` // topic say: the answer

		Obeyed bool `json:"obeyed,omitempty"` // the command has been carried out, such as /sia learn
	}
	// ChangesAsked: a review, a comment in a thread on a line, or a comment on the pull request
	// requests changes. The text of a review and its threads is read when the next attempt begins.
	ChangesAsked struct {
		Review int64  `json:"review,omitempty"` // id of the review; 0: not a review
		Thread int64  `json:"thread,omitempty"` // id of the comment in a thread; 0: not in a thread
		Text   string `json:"text,omitempty"`   // the text of a comment that is neither
	}
	// ChangesWithdrawn: a review was dismissed, or its author approved since.
	ChangesWithdrawn struct {
		Review int64 `json:"review,omitempty"` // 0: every review of the person's
	}
	// ThreadSettled: a person resolved a thread of a review, or opened it again.
	ThreadSettled struct {
		Thread int64 `json:"thread"`          // its first comment
		Again  bool  `json:"again,omitempty"` // the thread was opened again
	}
	// CheckSeen: GitHub hinted that checks of a commit changed.
	CheckSeen struct {
		SHA   SHA  `json:"sha"`
		Reset bool `json:"reset,omitempty"` // a re-run of SIA's own check run was requested
		Bad   bool `json:"bad,omitempty"`   // one of them completed without success
	}
	// BranchMoved: somebody other than SIA pushed to the task's branch.
	BranchMoved struct {
		SHA SHA `json:"sha"` // empty: the branch was deleted
	}
	// Restored: the database was lost, and the task is rebuilt from memory. Task has
	// ended, and has no pending effects.
	Restored struct {
		Task Task `json:"task"`
		Show bool `json:"show,omitempty"` // the task had not ended in its record, so GitHub shows an outdated state
	}
	// PullClosed: the pull request was closed.
	PullClosed struct {
		Merged bool `json:"merged"`
		Head   SHA  `json:"head,omitempty"` // its head when it was closed; empty: not known

		ClosedAt time.Time `json:"closed_at,omitzero"` // zero: not known
	}
	// Retargeted: somebody changed the base branch of the pull request.
	Retargeted struct {
		Base string `json:"base" mask:"-"`
		SHA  SHA    `json:"sha,omitempty"` // the head of Base; empty: not known
	}
	// RepoMoved: the repository's name, owner or installation changed, or the app was installed on it again.
	RepoMoved struct {
		Installation int64 `json:"installation"`
		Repo         Repo  `json:"repo"` // has the same id
	}
	// DraftChanged: somebody other than SIA made the pull request a draft, or marked it ready for review.
	DraftChanged struct {
		Draft bool `json:"draft"`
	}
	// PullReopened: a pull request of the task's branch was reopened.
	PullReopened struct {
		Number int    `json:"number"`
		NodeID string `json:"node_id" mask:"-"`
		URL    string `json:"url" mask:"-"`
	}
)

// Facts that are outcomes of effects.
type (
	// Begun: the inputs of the next attempt have been read.
	Begun struct {
		Settings Settings `json:"settings"`
		// the file that Settings were read from, for people, such as
		// "acme/.github@1a2b3c4d5e6f:.sia/config.yml"; empty: the defaults
		SettingsFrom string `json:"settings_from,omitempty" mask:"-"`
		Warning      string `json:"warning,omitempty"`
		BaseBranch   string `json:"base_branch" mask:"-"`
		BaseSHA      SHA    `json:"base_sha"`
		Title        string `json:"title"`
		Body         string `json:"body"`
		// the person whose edit gave the issue Body, if that differs from the task's and the person's edits count
		EditedBy Actor    `json:"edited_by,omitzero"`
		Replaces string   `json:"replaces,omitempty"`        // [Brief.Hash] of the text that the task had before that edit
		Labels   []string `json:"labels,omitempty" mask:"-"` // of the issue
		Author   string   `json:"author,omitempty" mask:"-"` // login of the issue's author
		// the author's permission in the repository on GitHub: none, read, triage, write, maintain or admin
		Access string `json:"author_access,omitempty" mask:"-"`
		// why a daily budget has no room for the attempt, for people; empty: there is room
		Hold string `json:"hold,omitempty"`
		// Hold is caused by credits that running attempts have reserved and may return: wait for them
		Aside bool `json:"aside,omitempty"`

		Lessons []LessonRef `json:"lessons,omitempty"` // lessons of earlier tasks for the attempt
		// ids of matching lessons that are withheld, to measure their effect
		Withheld []string `json:"withheld,omitempty" mask:"-"`
		// lessons about tools, which are in neither list above
		ToolLessons []ToolLesson `json:"tool_lessons,omitempty"`

		Already *Already `json:"already,omitempty"` // what resolves the issue without SIA; nil: nothing known

		Asked *Asked `json:"asked,omitempty"` // change requests on the pull request; nil: none

		Commits CommitRules `json:"commits,omitzero"`

		Forecast *Forecast `json:"forecast,omitempty"` // of a first attempt
	}
	// AttemptEnded: the coding agent stopped.
	AttemptEnded struct {
		End     AttemptEnd  `json:"end"`
		Reason  string      `json:"reason,omitempty"`
		Commit  SHA         `json:"commit,omitempty"` // unpushed; empty when nothing changed
		Diff    DiffStat    `json:"diff"`
		Hunks   []uint64    `json:"hunks,omitempty"`
		Turns   int         `json:"turns"`
		Cost    Credits     `json:"cost"`
		Tokens  Tokens      `json:"tokens,omitzero"`
		Edits   Edits       `json:"edits,omitzero"`
		Agent   string      `json:"agent,omitempty"` // the agent and the models that answered; empty: as at the start
		Summary string      `json:"summary,omitempty"`
		LeftOut string      `json:"left_out,omitempty"` // what the commit leaves out and why, for people; empty: nothing
		Built   string      `json:"built,omitempty"`    // the same where nobody has to decide: builds, setup
		Signals []Signal    `json:"signals,omitempty"`
		Risk    *Risk       `json:"risk,omitempty"`
		Ask     *Ask        `json:"ask,omitempty"` // set when End is asked
		Claim   *ClaimCheck `json:"so,omitempty"`  // the coder's claim that the issue is resolved already; nil: none
		// of a part: SIA's run of its done-when command, or of a racer's tests; nil: not run
		Check *CheckRun `json:"check,omitempty"`
		// of an attempt without parts, and of a racer; nil: none was run
		Affected *AffectedTests `json:"affected,omitempty"`
		// of a racer: the run of an earlier attempt's test that shows the fault; nil: there is no such test
		Reproduced *CheckRun      `json:"reproduced,omitempty"`
		Ledger     *AttemptLedger `json:"ledger,omitempty"`
		// ids of the lessons about the tools that it called: those shown, and those withheld
		LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
		LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
		// it changed nothing, and the branch has work in progress that no check has judged
		Unjudged bool `json:"unjudged,omitempty"`
		// the results of parts are no longer on this machine, so nothing was run
		Lost bool `json:"lost,omitempty"`
	}
	// Progressed: a progress report of the running attempt. No move waits for it.
	Progressed struct {
		Attempt int    `json:"attempt"`
		Run     int    `json:"run,omitempty"` // 0: the attempt's only one
		Turn    int    `json:"turn"`
		Tests   string `json:"tests,omitempty"` // result of its last test run; empty: none since the last report
	}
	// Pushed: the attempt's commit is on the branch.
	Pushed struct {
		SHA     SHA    `json:"sha"`
		Made    SHA    `json:"made,omitempty"`    // the local commit that GitHub replaced by the signed commit SHA
		Warning string `json:"warning,omitempty"` // for people: a rule that the commit breaks
	}
	// PushRefused: the branch had moved to Head; or GitHub rejects the change; or the
	// commit to push no longer exists.
	PushRefused struct {
		Head   SHA    `json:"head"`
		Reason string `json:"reason"`
		Change bool   `json:"change,omitempty"` // GitHub rejects the change and would again: the attempt has failed
		Lost   bool   `json:"lost,omitempty"`   // the commit existed only in a mirror that is gone: it is made again
	}
	// PullOpened: the pull request was opened, or existed.
	PullOpened struct {
		Number int    `json:"number"`
		NodeID string `json:"node_id" mask:"-"`
		URL    string `json:"url" mask:"-"`
		Draft  bool   `json:"draft,omitempty"`
	}
	// Readied: the pull request is ready for review, or can't be marked ready.
	Readied struct {
		Refused string `json:"refused,omitempty"` // why it can't, for people
	}
	// Drafted: the pull request is a draft again, or can't be made one.
	Drafted struct {
		Refused string `json:"refused,omitempty"` // why it can't, for people
	}
	// RerunRefused: GitHub refuses to run checks again.
	RerunRefused struct {
		SHA    SHA     `json:"sha"`
		Runs   []int64 `json:"runs"`           // ids of their workflow runs
		Reason string  `json:"reason"`         // for people
		Some   bool    `json:"some,omitempty"` // other checks are run again
	}
	// Judged: the gate's verdict on a commit.
	Judged struct {
		SHA      SHA            `json:"sha"`
		Looked   time.Time      `json:"looked"` // when the gate began to read from GitHub
		Verdict  GateVerdict    `json:"verdict"`
		Checks   []Check        `json:"checks,omitempty"`
		Explain  []string       `json:"explain"`
		Failures []CheckFailure `json:"failures,omitempty"`
		Signals  []Signal       `json:"signals,omitempty"`
		RerunIDs []int64        `json:"rerun_ids,omitempty"`
		Blamed   []int64        `json:"blamed,omitempty"`  // the red runs, for verdict red
		Doubt    *Doubt         `json:"doubt,omitempty"`   // the estimate for running red checks again
		Blocked  []Obstacle     `json:"blocked,omitempty"` // obstacles that only a person can remove
		// checks have no result, perhaps because the pull request is a draft
		Guarded bool `json:"guarded,omitempty"`
		// the branch conflicts with its base
		Conflicts bool `json:"conflicts,omitempty"`
		// a rule requires the branch to be up to date with its base, and it is not
		Behind bool `json:"behind,omitempty"`
		// GitHub had not computed yet whether the pull request can be merged
		Unmerged bool `json:"unmerged,omitempty"`
		// what a person has to accept, if all of it are changed expectations that the issue may ask for
		Weigh []string `json:"weigh,omitempty"`

		// the pull request's state, if it differs from the task's record; there is no verdict then
		Found *Found `json:"found,omitempty"`
		// the base commit of a head that somebody else pushed, who may have merged the base or rebased
		// the branch onto it; empty: not determined
		Base SHA `json:"base,omitempty"`
		// relative to Base the head contains exactly the attempt's change: there is no verdict yet
		Same bool `json:"same,omitempty"`
		// checks that reported on the commit, without SIA's own
		Reported []Reported `json:"reported,omitempty"`
		// rules of the base branch that block a merge and that no check satisfies, for people
		MergeRules []string `json:"merge_rules,omitempty"`
		// GitHub blocks the merge, and for no check or review that SIA sees
		MergeBlocked bool `json:"merge_blocked,omitempty"`
	}
	// Watched: the state of a pull request after its task had passed.
	Watched struct {
		SHA          SHA       `json:"sha"`
		Looked       time.Time `json:"looked"`
		Red          []Check   `json:"red,omitempty"`           // required checks of the head that are red
		Found        *Found    `json:"found,omitempty"`         // as in Judged
		Conflicts    bool      `json:"conflicts,omitempty"`     // as in Judged
		Unmerged     bool      `json:"unmerged,omitempty"`      // as in Judged
		MergeBlocked bool      `json:"merge_blocked,omitempty"` // as in Judged
	}
	// Updated: the base was merged into the branch, or could not be, or the branch contains it. If SHA,
	// Conflicts, Refused and Contained are empty, the branch has moved.
	Updated struct {
		SHA       SHA        `json:"sha,omitempty"` // the branch's head now
		From      SHA        `json:"from,omitempty"`
		Onto      SHA        `json:"onto,omitempty"` // the base's commit
		Conflicts []Conflict `json:"conflicts,omitempty"`
		Refused   string     `json:"refused,omitempty"`   // why the merge failed, for people
		Contained bool       `json:"contained,omitempty"` // the branch contains Onto already
		Warning   string     `json:"warning,omitempty"`   // as in Pushed
	}
	// Diagnosed: SIA's conclusion.
	Diagnosed struct {
		Diagnosis Diagnosis `json:"diagnosis"`
		Cost      Credits   `json:"cost"`
		Warning   string    `json:"warning,omitempty"` // for people: a technique file that can't be used
	}
	// Reviewed: the independent reviewer's verdict. If it is minor or major and has
	// points, Prompt is the diagnosis' prompt with the points added, and replaces it.
	Reviewed struct {
		Review Review  `json:"review"`
		Prompt string  `json:"prompt,omitempty"`
		Cost   Credits `json:"cost"`
	}
	// Evidenced: the results of running the tests that a head can reach.
	Evidenced struct {
		Evidence TestEvidence `json:"evidence"`
	}
	// Weighed: for each of the changed expectations, the sentence of the issue that asks
	// for it; empty if there is none.
	Weighed struct {
		SHA    SHA      `json:"sha"`
		Quotes []string `json:"quotes,omitempty"`
		Why    string   `json:"why,omitempty"` // why the reviewer gave no answer
		Cost   Credits  `json:"cost"`
	}
	// FinalReviewed: a fresh reviewer's review of a green head, or why there is none.
	FinalReviewed struct {
		Review FinalReview `json:"review"`
		Cost   Credits     `json:"cost"`
	}
	// MemoryCommitted: the task's memory is on the memory branch, or GitHub rejected it.
	MemoryCommitted struct {
		SHA     SHA    `json:"sha"`               // empty: rejected
		Warning string `json:"warning,omitempty"` // for people: the rejection, or a file with a person's edits that was kept
	}
	// CommentPosted: the intervention's comment was posted.
	CommentPosted struct {
		URL string `json:"url" mask:"-"`
	}
	// EscalationOpened: the question was posted.
	EscalationOpened struct {
		Question int `json:"question,omitempty"` // its number; 0: the newest question, in events of an older version

		Issue int    `json:"issue"`
		URL   string `json:"url" mask:"-"`
	}
	// SyncDone: GitHub shows the task as of Version.
	SyncDone struct {
		Version int64 `json:"version"`
	}
	// Done: an effect that has no other outcome was carried out.
	Done struct{}
	// EffectFailed: an effect could not be carried out within its retries.
	EffectFailed struct {
		Effect EffectKind `json:"effect"`
		Reason string     `json:"reason"`         // for people: what failed and what to do
		Cost   Credits    `json:"cost,omitempty"` // of an attempt: credits spent until it failed
		SHA    SHA        `json:"sha,omitempty"`  // the effect's
		Part   int        `json:"part,omitempty"` // the effect's
	}

	// EffectDelayed reports that an outage delays an effect, which is retried until the outage ends. It is no outcome.
	EffectDelayed struct {
		Key    string     `json:"key" mask:"-"` // the effect's
		Effect EffectKind `json:"effect"`
		Reason string     `json:"reason"` // for people: what is down
	}
)

// AttemptEnd is the way in which the coding agent stopped.
type AttemptEnd string

// The ways in which an attempt stops.
const (
	EndFinished  AttemptEnd = "finished"  // the agent reported that it is done; the checks decide
	EndTime      AttemptEnd = "time"      // time limit: checkpoint
	EndTurns     AttemptEnd = "turns"     // turn limit: checkpoint
	EndCredits   AttemptEnd = "credits"   // credit limit: checkpoint
	EndStuck     AttemptEnd = "stuck"     // interrupted: about to get stuck
	EndAsked     AttemptEnd = "asked"     // the agent asks a person, or proposes a plan, before it works
	EndCancelled AttemptEnd = "cancelled" // a person stopped or paused it
	EndError     AttemptEnd = "error"     // model or machine failed
)

// Ask is the agent's question before it works, or its proposed plan.
type Ask struct {
	Question string   `json:"question,omitempty"`
	Why      string   `json:"why,omitempty"`
	Options  []string `json:"options,omitempty"`
	Plan     *Plan    `json:"plan,omitempty"` // instead of a question, from an attempt that plans
}

// Found is the state of a pull request on GitHub that differs from the task's record.
type Found struct {
	Head   SHA    `json:"head,omitempty"`
	By     Actor  `json:"by,omitzero"` // the author of Head, if GitHub reports one
	Closed bool   `json:"closed,omitempty"`
	Merged bool   `json:"merged,omitempty"`
	Gone   bool   `json:"gone,omitempty"`          // the pull request no longer exists on GitHub
	Base   string `json:"base,omitempty" mask:"-"` // the new base branch; empty: unchanged
	BaseAt SHA    `json:"base_at,omitempty"`       // the head of Base; empty: not known

	ClosedAt time.Time `json:"closed_at,omitzero"` // zero: it is open, or the time is not known
}

// Doubt is the estimate whether red checks are red by chance, and the decision
// whether to run them again.
type Doubt struct {
	Checks []string `json:"checks"` // the red ones
	Good   float64  `json:"good"`   // prior probability that the attempt is right, 0–1
	Flake  float64  `json:"flake"`  // probability that all of them fail although it is right, 0–1
	Chance float64  `json:"chance"` // probability that it is right, given that all of them failed, 0–1
	Cost   float64  `json:"cost"`   // cost of the re-run as a share of another attempt with its checks, 0–1
	Rerun  bool     `json:"rerun"`  // the checks are run again, once
}

// GateVerdict is the gate's conclusion about a commit.
type GateVerdict string

// The gate's verdicts.
const (
	VerdictGreen    GateVerdict = "green"    // every required check is green
	VerdictRed      GateVerdict = "red"      // a required check is red, caused by the attempt
	VerdictPending  GateVerdict = "pending"  // not finished, or not settled
	VerdictNone     GateVerdict = "none"     // there is no check, or none ran
	VerdictBlocked  GateVerdict = "blocked"  // a required check has no result before a person acts
	VerdictRerun    GateVerdict = "rerun"    // transient or flaky failure: run these checks again
	VerdictTampered GateVerdict = "tampered" // green, but tests or protected paths were touched: a person must accept
)

// The kinds of fact.
const (
	KStart            Kind = "start"
	KStop             Kind = "stop"
	KPause            Kind = "pause"
	KResume           Kind = "resume"
	KRetry            Kind = "retry"
	KUse              Kind = "use"
	KAnswer           Kind = "answer"
	KNotAnswered      Kind = "not_answered"
	KApprove          Kind = "approve"
	KAcceptTests      Kind = "accept_tests"
	KEdited           Kind = "edited"
	KQuery            Kind = "query"
	KRated            Kind = "rated"
	KChangesAsked     Kind = "changes_asked"
	KChangesWithdrawn Kind = "changes_withdrawn"
	KThreadSettled    Kind = "thread_settled"
	KCheckSeen        Kind = "check_seen"
	KProgressed       Kind = "progressed"
	KBranchMoved      Kind = "branch_moved"
	KRestored         Kind = "restored"
	KPullClosed       Kind = "pull_closed"
	KPullReopened     Kind = "pull_reopened"
	KRetargeted       Kind = "retargeted"
	KRepoMoved        Kind = "repo_moved"
	KDraftChanged     Kind = "draft_changed"
	KBegun            Kind = "begun"
	KDecided          Kind = "decided"
	KAggregated       Kind = "aggregated"
	KAttemptEnded     Kind = "attempt_ended"
	KPushed           Kind = "pushed"
	KPushRefused      Kind = "push_refused"
	KPullOpened       Kind = "pull_opened"
	KJudged           Kind = "judged"
	KDiagnosed        Kind = "diagnosed"
	KReviewed         Kind = "reviewed"
	KWeighed          Kind = "weighed"
	KFinalReviewed    Kind = "final_reviewed"
	KMemoryCommitted  Kind = "memory_committed"
	KCommentPosted    Kind = "comment_posted"
	KEscalationOpened Kind = "escalation_opened"
	KSyncDone         Kind = "sync_done"
	KDone             Kind = "done"
	KEffectFailed     Kind = "effect_failed"
	KEffectDelayed    Kind = "effect_delayed"
	KFixStudied       Kind = "fix_studied"
	KReadied          Kind = "readied"
	KRerunRefused     Kind = "rerun_refused"
	KDrafted          Kind = "drafted"
	KUpdated          Kind = "updated"
	KWatched          Kind = "watched"
	KTakenBack        Kind = "taken_back"
	KEvidenced        Kind = "evidenced"
)

func (Start) Kind() Kind            { return KStart }
func (Stop) Kind() Kind             { return KStop }
func (PauseAsked) Kind() Kind       { return KPause }
func (Resume) Kind() Kind           { return KResume }
func (Retry) Kind() Kind            { return KRetry }
func (Use) Kind() Kind              { return KUse }
func (AnswerGiven) Kind() Kind      { return KAnswer }
func (NotAnswered) Kind() Kind      { return KNotAnswered }
func (AcceptTests) Kind() Kind      { return KAcceptTests }
func (Edited) Kind() Kind           { return KEdited }
func (Query) Kind() Kind            { return KQuery }
func (ChangesAsked) Kind() Kind     { return KChangesAsked }
func (ChangesWithdrawn) Kind() Kind { return KChangesWithdrawn }
func (ThreadSettled) Kind() Kind    { return KThreadSettled }
func (CheckSeen) Kind() Kind        { return KCheckSeen }
func (Progressed) Kind() Kind       { return KProgressed }
func (BranchMoved) Kind() Kind      { return KBranchMoved }
func (Restored) Kind() Kind         { return KRestored }
func (PullClosed) Kind() Kind       { return KPullClosed }
func (PullReopened) Kind() Kind     { return KPullReopened }
func (Retargeted) Kind() Kind       { return KRetargeted }
func (RepoMoved) Kind() Kind        { return KRepoMoved }
func (DraftChanged) Kind() Kind     { return KDraftChanged }
func (Begun) Kind() Kind            { return KBegun }
func (AttemptEnded) Kind() Kind     { return KAttemptEnded }
func (Pushed) Kind() Kind           { return KPushed }
func (PushRefused) Kind() Kind      { return KPushRefused }
func (PullOpened) Kind() Kind       { return KPullOpened }
func (Judged) Kind() Kind           { return KJudged }
func (Diagnosed) Kind() Kind        { return KDiagnosed }
func (Reviewed) Kind() Kind         { return KReviewed }
func (Weighed) Kind() Kind          { return KWeighed }
func (FinalReviewed) Kind() Kind    { return KFinalReviewed }
func (MemoryCommitted) Kind() Kind  { return KMemoryCommitted }
func (CommentPosted) Kind() Kind    { return KCommentPosted }
func (EscalationOpened) Kind() Kind { return KEscalationOpened }
func (SyncDone) Kind() Kind         { return KSyncDone }
func (Done) Kind() Kind             { return KDone }
func (EffectFailed) Kind() Kind     { return KEffectFailed }
func (EffectDelayed) Kind() Kind    { return KEffectDelayed }
func (Readied) Kind() Kind          { return KReadied }
func (RerunRefused) Kind() Kind     { return KRerunRefused }
func (Drafted) Kind() Kind          { return KDrafted }
func (Updated) Kind() Kind          { return KUpdated }
func (Watched) Kind() Kind          { return KWatched }
func (Evidenced) Kind() Kind        { return KEvidenced }

// facts contains one value of each kind of fact, in the order of the kinds.
var facts = []Fact{
	Start{}, Stop{}, PauseAsked{}, Resume{}, Retry{}, Use{}, AnswerGiven{}, NotAnswered{}, Approve{}, AcceptTests{},
	Edited{}, Query{}, Rated{}, ChangesAsked{}, ChangesWithdrawn{}, ThreadSettled{},
	CheckSeen{}, Progressed{}, BranchMoved{}, Restored{}, PullClosed{}, PullReopened{}, Retargeted{}, RepoMoved{},
	DraftChanged{}, EffectDelayed{},
	Begun{}, Decided{},
	Aggregated{},
	AttemptEnded{}, Pushed{}, PushRefused{},
	PullOpened{},
	Judged{}, Diagnosed{}, Reviewed{}, Weighed{}, FinalReviewed{}, MemoryCommitted{}, CommentPosted{}, EscalationOpened{},
	SyncDone{}, Done{}, EffectFailed{}, FixStudied{}, Readied{}, Drafted{}, Updated{}, Watched{},
	Evidenced{}, TakenBack{}, RerunRefused{},
}

// MarshalJSON encodes the event and the kind of its fact.
func (e Event) MarshalJSON() ([]byte, error) {
	type plain Event
	var kind Kind
	if e.Fact != nil {
		kind = e.Fact.Kind()
	}
	return json.Marshal(struct {
		plain
		Kind Kind `json:"kind"`
		Fact Fact `json:"fact"`
	}{plain(e), kind, e.Fact})
}

// UnmarshalJSON decodes the output of MarshalJSON; an unknown kind is an error.
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	var v struct {
		plain
		Kind Kind            `json:"kind"`
		Fact json.RawMessage `json:"fact"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	for _, f := range facts {
		if f.Kind() != v.Kind {
			continue
		}
		p := reflect.New(reflect.TypeOf(f))
		if err := json.Unmarshal(v.Fact, p.Interface()); err != nil {
			return fmt.Errorf("event %s: fact %s: %w", v.ID, v.Kind, err)
		}
		*e = Event(v.plain)
		e.Fact = p.Elem().Interface().(Fact)
		return nil
	}
	return fmt.Errorf("event %s: unknown kind %q", v.ID, v.Kind)
}
