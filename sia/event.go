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
	By     Actor     `json:"by,omitzero"`               // the person, for facts that people make
	Origin Origin    `json:"origin,omitzero"`           // where a reaction or an answer belongs
	Effect string    `json:"effect,omitempty" mask:"-"` // the key of the effect that this is the outcome of
	Fact   Fact      `json:"-"`
}

// Origin is the comment or issue that a person's event came from.
type Origin struct {
	OnIssue int   `json:"on_issue,omitempty"` // issue or pull request number
	Comment int64 `json:"comment,omitempty"`  // 0: the issue itself
	Thread  int64 `json:"thread,omitempty"`   // a comment on a line of the pull request; 0: it is none
	Command bool  `json:"command,omitempty"`  // a command, to be answered when it can't be obeyed
}

// Kind names a kind of fact.
type Kind string

// Fact is what happened. The types below are all there are.
type Fact interface {
	Kind() Kind
}

// Facts that people and GitHub make.
type (
	// Start: somebody labelled the issue or wrote /sia start.
	Start struct {
		Installation  int64  `json:"installation"`
		Repo          Repo   `json:"repo"`
		Issue         int    `json:"issue"`
		Title         string `json:"title"`
		Body          string `json:"body"`
		DefaultBranch string `json:"default_branch" mask:"-"`
		Label         string `json:"label,omitempty" mask:"-"` // by which it was asked for; empty: by a command
		LabelID       int64  `json:"label_id,omitempty"`       // GitHub's, which stays when the label is renamed
		Text          string `json:"text,omitempty"`           // words after /sia start
		// it is to be worked on whatever resolves the issue already
		Anyway bool `json:"anyway,omitempty"`
		Wait   int  `json:"wait,omitempty"` // seconds until it may begin, for others of that person's come first
	}
	// Stop: /sia stop, the label taken off, the issue closed, the app uninstalled.
	Stop struct {
		Reason string `json:"reason"`
		// nothing can be shown any more: the app was uninstalled or the repository removed
		Gone bool `json:"gone,omitempty"`
		// the issue was deleted or transferred: everything else is still there
		IssueGone bool `json:"issue_gone,omitempty"`
		// the issue was transferred, and where to; nil: it was not, or nobody said where to
		Transferred *IssueAt `json:"transferred,omitempty"`
	}
	// PauseAsked: /sia pause or a switch.
	PauseAsked struct {
		Reason string    `json:"reason"`
		Scope  HaltScope `json:"scope,omitempty"` // what is paused as a whole; empty: the task alone
	}
	// Resume: /sia resume, with credits to add.
	Resume struct {
		Credits Credits   `json:"credits,omitempty"`
		Scope   HaltScope `json:"scope,omitempty"` // the tasks that go on; empty: the task alone
	}
	// Retry: /sia retry.
	Retry struct{}
	// Use: /sia use <technique>.
	Use struct {
		Technique TechniqueID `json:"technique,omitempty" mask:"text"`
		Coder     string      `json:"coder,omitempty"` // instead of a technique: who works next
	}
	// AnswerGiven: a ticked box, /sia answer, or words to the app.
	AnswerGiven struct {
		Letter string `json:"letter,omitempty" mask:"-"` // "A" to "D"
		Text   string `json:"text,omitempty"`
	}
	// NotAnswered: what happened in the issue of an open question is no answer to it.
	NotAnswered struct {
		Closed bool `json:"closed,omitempty"` // a person closed the issue; else people talk to one another
	}
	// AcceptTests: /sia accept-tests or the button.
	AcceptTests struct {
		SHA SHA `json:"sha,omitempty"` // the commit that the button stands on; empty: what waits is meant
	}
	// Edited: the issue's title or body changed.
	Edited struct {
		Title string `json:"title"`
		Body  string `json:"body"`
	}
	// Query: a command that only asks; or one that could not be understood or
	// was not permitted, with the answer already made.
	Query struct {
		Topic string `json:"topic" mask:"-"` // the name of a command that only asks, or say
		Text  string `json:"text,omitempty"` // say: the answer

		Obeyed bool `json:"obeyed,omitempty"` // it was a command that has been carried out, such as /sia learn
	}
	// ChangesAsked: a review of the pull request requests changes, a comment in a thread on a line asks
	// for some, or words on the pull request do. What a review and its threads say is read when the next
	// attempt begins.
	ChangesAsked struct {
		Review int64  `json:"review,omitempty"` // 0: it is no review
		Thread int64  `json:"thread,omitempty"` // the comment in a thread; 0: it is none
		Text   string `json:"text,omitempty"`   // the words, where it is neither
	}
	// ChangesWithdrawn: a review was dismissed, or its author approved since.
	ChangesWithdrawn struct {
		Review int64 `json:"review,omitempty"` // 0: every review of the person's
	}
	// ThreadSettled: a person resolved a thread of a review, or opened it again.
	ThreadSettled struct {
		Thread int64 `json:"thread"`          // its first comment
		Again  bool  `json:"again,omitempty"` // it is open again
	}
	// CheckSeen: GitHub hinted that checks of a commit changed.
	CheckSeen struct {
		SHA   SHA  `json:"sha"`
		Reset bool `json:"reset,omitempty"` // SIA's own was requested again, and waits to be shown
		Bad   bool `json:"bad,omitempty"`   // one of them ended, and not as a success
	}
	// BranchMoved: somebody else pushed to the task's branch.
	BranchMoved struct {
		SHA SHA `json:"sha"` // empty: the branch is gone
	}
	// Restored: the database was lost, and the task is rebuilt from memory. Task is
	// history: it has ended, and nothing of it is under way.
	Restored struct {
		Task Task `json:"task"`
		Show bool `json:"show,omitempty"` // it had not ended, so what GitHub shows of it is out of date
	}
	// PullClosed: the pull request was closed.
	PullClosed struct {
		Merged bool `json:"merged"`
		Head   SHA  `json:"head,omitempty"` // its head when it was closed; empty when that is not known
	}
	// Retargeted: somebody changed the branch that the pull request is to be merged into.
	Retargeted struct {
		Base string `json:"base" mask:"-"`
		SHA  SHA    `json:"sha,omitempty"` // that branch's head; empty where it is not known
	}
	// RepoMoved: the task's repository has another name, owner or installation, or the app is installed on it again.
	RepoMoved struct {
		Installation int64 `json:"installation"`
		Repo         Repo  `json:"repo"` // of the same id
	}
	// DraftChanged: somebody else than SIA made the pull request a draft, or marked it ready for review.
	DraftChanged struct {
		Draft bool `json:"draft"`
	}
	// PullReopened: a pull request of the task's branch was opened again.
	PullReopened struct {
		Number int    `json:"number"`
		NodeID string `json:"node_id" mask:"-"`
		URL    string `json:"url" mask:"-"`
	}
)

// Facts that finished effects make.
type (
	// Begun: nothing stands in the way of the next attempt.
	Begun struct {
		Settings Settings `json:"settings"`
		// the file that they are from, for people, such as "acme/.github@1a2b3c4d5e6f:.sia/config.yml";
		// empty: the defaults
		SettingsFrom string   `json:"settings_from,omitempty" mask:"-"`
		Warning      string   `json:"warning,omitempty"`
		BaseBranch   string   `json:"base_branch" mask:"-"`
		BaseSHA      SHA      `json:"base_sha"`
		Title        string   `json:"title"`
		Body         string   `json:"body"`
		Labels       []string `json:"labels,omitempty" mask:"-"` // of the issue
		Author       string   `json:"author,omitempty" mask:"-"` // login of who wrote the issue
		// what that person may do in the repository, as GitHub says: none, read, triage, write, maintain
		// or admin
		Access string `json:"author_access,omitempty" mask:"-"`
		// a budget of the day has no room for the attempt: pause and say so
		Hold string `json:"hold,omitempty"`
		// of Hold: what running attempts have set aside is in the way, and may come back: wait for it
		Aside bool `json:"aside,omitempty"`

		Lessons []LessonRef `json:"lessons,omitempty"` // of earlier tasks, that the attempt gets
		// ids of lessons that fit as well and are kept from it, to measure their effect
		Withheld []string `json:"withheld,omitempty" mask:"-"`
		// lessons about tools, none of them among those
		ToolLessons []ToolLesson `json:"tool_lessons,omitempty"`

		Already *Already `json:"already,omitempty"` // what resolves the issue without SIA; nil: nothing is known to

		Asked *Asked `json:"asked,omitempty"` // what people ask for on the pull request; nil: nothing

		Commits CommitRules `json:"commits,omitzero"`

		Forecast *Forecast `json:"forecast,omitempty"` // of a first attempt
	}
	// AttemptEnded: the coding agent stopped.
	AttemptEnded struct {
		End     AttemptEnd `json:"end"`
		Reason  string     `json:"reason,omitempty"`
		Commit  SHA        `json:"commit,omitempty"` // unpushed; empty when nothing changed
		Diff    DiffStat   `json:"diff"`
		Hunks   []uint64   `json:"hunks,omitempty"`
		Turns   int        `json:"turns"`
		Cost    Credits    `json:"cost"`
		Tokens  Tokens     `json:"tokens,omitzero"`
		Edits   Edits      `json:"edits,omitzero"`
		Agent   string     `json:"agent,omitempty"` // the agent and the models that answered; empty: as it was begun
		Summary string     `json:"summary,omitempty"`
		LeftOut string     `json:"left_out,omitempty"` // what of its change is not kept and why, for people; empty: nothing
		Signals []Signal   `json:"signals,omitempty"`
		Risk    *Risk      `json:"risk,omitempty"`
		Ask     *Ask       `json:"ask,omitempty"` // when End is asked
		So      *So        `json:"so,omitempty"`  // it says that what is asked for is so already; nil: it does not
		// of a part: what SIA saw of its done-when, or of a racer's tests; nil: it was not looked
		Check *CheckRun `json:"check,omitempty"`
		// of an attempt that is no part, and of a racer: nil when none was run
		Affected *AffectedTests `json:"affected,omitempty"`
		// of a racer: the test that shows the fault, of an earlier attempt; nil: there is none that counts
		Reproduced *CheckRun      `json:"reproduced,omitempty"`
		Ledger     *AttemptLedger `json:"ledger,omitempty"`
		// ids of the lessons about tools that it met as it called them: those that it got, and those withheld
		LessonsShown    []string `json:"lessons_shown,omitempty" mask:"-"`
		LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
		// the results of parts are not on this machine any more: nothing was run
		Lost bool `json:"lost,omitempty"`
	}
	// Progressed: how far the attempt has come. It reports nothing that is waited for.
	Progressed struct {
		Attempt int    `json:"attempt"`
		Turn    int    `json:"turn"`
		Tests   string `json:"tests,omitempty"` // how its last run of the tests ended; empty: none since the last report
	}
	// Pushed: the attempt's commit is on the branch.
	Pushed struct {
		SHA     SHA    `json:"sha"`
		Made    SHA    `json:"made,omitempty"`    // the commit made here, in place of which GitHub signed this one
		Warning string `json:"warning,omitempty"` // for people: a rule that the commit does not fulfil
	}
	// PushRefused: the branch had moved, and Head is what stands there; or GitHub does
	// not take the change; or there is nothing to push any more.
	PushRefused struct {
		Head   SHA    `json:"head"`
		Reason string `json:"reason"`
		Change bool   `json:"change,omitempty"` // the attempt has failed: another push of it would be refused again
		Lost   bool   `json:"lost,omitempty"`   // the commit was in a mirror alone, and that is gone: it is made again
	}
	// PullOpened: the pull request exists.
	PullOpened struct {
		Number int    `json:"number"`
		NodeID string `json:"node_id" mask:"-"`
		URL    string `json:"url" mask:"-"`
		Draft  bool   `json:"draft,omitempty"`
	}
	// Readied: the pull request is ready for review; or why it can't be marked so.
	Readied struct {
		Refused string `json:"refused,omitempty"` // for people
	}
	// Drafted: the pull request is a draft again; or why it can't be made one.
	Drafted struct {
		Refused string `json:"refused,omitempty"` // for people
	}
	// Judged: the gate's verdict on a commit.
	Judged struct {
		SHA      SHA            `json:"sha"`
		Looked   time.Time      `json:"looked"` // when the gate began to read GitHub
		Verdict  GateVerdict    `json:"verdict"`
		Checks   []Check        `json:"checks,omitempty"`
		Explain  []string       `json:"explain"`
		Failures []CheckFailure `json:"failures,omitempty"`
		Signals  []Signal       `json:"signals,omitempty"`
		RerunIDs []int64        `json:"rerun_ids,omitempty"`
		Blamed   []int64        `json:"blamed,omitempty"`  // the red runs, of a red verdict
		Doubt    *Doubt         `json:"doubt,omitempty"`   // what was weighed about running red checks again
		Blocked  []Obstacle     `json:"blocked,omitempty"` // what a person has to see to
		// there is no signal, perhaps because the pull request is a draft
		Guarded bool `json:"guarded,omitempty"`
		// the branch can't be merged into its base: both sides changed the same
		Conflicts bool `json:"conflicts,omitempty"`
		// a rule wants the branch up to date with its base, and it is not
		Behind bool `json:"behind,omitempty"`
		// GitHub had not worked out yet how the pull request merges
		Unmerged bool `json:"unmerged,omitempty"`
		// what a person has to accept, where all of it are expectations that the issue may ask to be changed
		Weigh []string `json:"weigh,omitempty"`

		// the pull request as the look found it, where it is not what the task knows: there is no verdict then
		Found *Found `json:"found,omitempty"`
		// the commit of the base branch that the head stands on, where somebody else pushed it: perhaps they merged the base,
		// or moved the branch onto it; empty: not asked
		Base SHA `json:"base,omitempty"`
		// it changes there what the attempt had changed, and nothing else: there is no verdict yet
		Same bool `json:"same,omitempty"`
		// what reported on the commit, without SIA's own
		Reported []Reported `json:"reported,omitempty"`
		// rules of the base branch that stop a merge and that no check fulfils, for people
		MergeRules []string `json:"merge_rules,omitempty"`
	}
	// Watched: what a look at a pull request showed after its task had passed.
	Watched struct {
		SHA    SHA       `json:"sha"`
		Looked time.Time `json:"looked"`
		Red    []Check   `json:"red,omitempty"`   // required checks of the head that are red
		Found  *Found    `json:"found,omitempty"` // as of Judged
	}
	// Updated: the base was merged into the branch; or why it could not be. Without
	// conflicts and reason the branch is not where it was expected.
	Updated struct {
		SHA       SHA        `json:"sha,omitempty"` // the branch's head now
		From      SHA        `json:"from,omitempty"`
		Onto      SHA        `json:"onto,omitempty"` // the base's commit
		Conflicts []Conflict `json:"conflicts,omitempty"`
		Refused   string     `json:"refused,omitempty"` // for people
		Warning   string     `json:"warning,omitempty"` // as of Pushed
	}
	// Diagnosed: SIA's conclusion.
	Diagnosed struct {
		Diagnosis Diagnosis `json:"diagnosis"`
		Cost      Credits   `json:"cost"`
		Warning   string    `json:"warning,omitempty"` // for people: a technique file that can't be used
	}
	// Reviewed: the independent reviewer's verdict; Prompt replaces the
	// diagnosis' prompt when the verdict is minor or major and has points: it is
	// that prompt with the points added.
	Reviewed struct {
		Review Review  `json:"review"`
		Prompt string  `json:"prompt,omitempty"`
		Cost   Credits `json:"cost"`
	}
	// Evidenced: what running the tests that a head can reach has shown.
	Evidenced struct {
		Evidence TestEvidence `json:"evidence"`
	}
	// Weighed: for each of the changed expectations, the sentence of the issue that asks
	// for it; empty where there is none.
	Weighed struct {
		SHA    SHA      `json:"sha"`
		Quotes []string `json:"quotes,omitempty"`
		Why    string   `json:"why,omitempty"` // why the reviewer could not say
		Cost   Credits  `json:"cost"`
	}
	// FinalReviewed: what a fresh reviewer said of a green head, or why it was not asked.
	FinalReviewed struct {
		Review FinalReview `json:"review"`
		Cost   Credits     `json:"cost"`
	}
	// MemoryCommitted: the task's memory is on the memory branch, or GitHub does not take it there.
	MemoryCommitted struct {
		SHA     SHA    `json:"sha"`               // empty: it was not taken
		Warning string `json:"warning,omitempty"` // for people: that, or a file that was kept as a person left it
	}
	// CommentPosted: the intervention's comment stands.
	CommentPosted struct {
		URL string `json:"url" mask:"-"`
	}
	// EscalationOpened: the question has been asked where people see it.
	EscalationOpened struct {
		Question int `json:"question,omitempty"` // its number; 0: an older version's, which is the newest

		Issue int    `json:"issue"`
		URL   string `json:"url" mask:"-"`
	}
	// SyncDone: GitHub shows the task as of Version.
	SyncDone struct {
		Version int64 `json:"version"`
	}
	// Done: an effect without further consequence was carried out.
	Done struct{}
	// EffectFailed: an effect could not be carried out within its retries.
	EffectFailed struct {
		Effect EffectKind `json:"effect"`
		Reason string     `json:"reason"`         // for people: what failed and what to do
		Cost   Credits    `json:"cost,omitempty"` // of an attempt: what it had spent until then
		SHA    SHA        `json:"sha,omitempty"`  // the effect's
		Part   int        `json:"part,omitempty"` // the effect's
	}
)

// AttemptEnd says how the coding agent stopped.
type AttemptEnd string

// The ways in which an attempt stops.
const (
	EndFinished  AttemptEnd = "finished"  // the agent says that it is done, which decides nothing
	EndTime      AttemptEnd = "time"      // time limit: checkpoint
	EndTurns     AttemptEnd = "turns"     // turn limit: checkpoint
	EndCredits   AttemptEnd = "credits"   // credit limit: checkpoint
	EndStuck     AttemptEnd = "stuck"     // interrupted: about to get stuck
	EndAsked     AttemptEnd = "asked"     // the agent asks a person, or proposes a plan, before it works
	EndCancelled AttemptEnd = "cancelled" // a person stopped or paused it
	EndError     AttemptEnd = "error"     // model or machine could not go on
)

// Ask is the agent's question before it works, or the plan that it proposes.
type Ask struct {
	Question string   `json:"question,omitempty"`
	Why      string   `json:"why,omitempty"`
	Options  []string `json:"options,omitempty"`
	Plan     *Plan    `json:"plan,omitempty"` // instead of a question, from an attempt that plans
}

// Found is a pull request as a look found it, where it is not what the task knows.
type Found struct {
	Head   SHA    `json:"head,omitempty"`
	By     Actor  `json:"by,omitzero"` // the author of that commit, as far as GitHub tells
	Closed bool   `json:"closed,omitempty"`
	Merged bool   `json:"merged,omitempty"`
	Gone   bool   `json:"gone,omitempty"`          // GitHub does not know the pull request any more
	Base   string `json:"base,omitempty" mask:"-"` // the branch that it is to be merged into, where that is another
	BaseAt SHA    `json:"base_at,omitempty"`       // that branch's head; empty where it is not known
}

// Doubt is whether red checks were thought to be red by chance, and what was
// weighed.
type Doubt struct {
	Checks []string `json:"checks"` // the red ones
	Good   float64  `json:"good"`   // the chance that the attempt is right, before its checks are known; 0–1
	Flake  float64  `json:"flake"`  // the chance that all of them fail although it is right; 0–1
	Chance float64  `json:"chance"` // that it is right, as all of them failed; 0–1
	Cost   float64  `json:"cost"`   // of the re-run, as a share of another attempt's with its checks; 0–1
	Rerun  bool     `json:"rerun"`  // they are run again, once
}

// GateVerdict is what the gate concludes about a commit.
type GateVerdict string

// The gate's verdicts.
const (
	VerdictGreen    GateVerdict = "green"    // every required check is green
	VerdictRed      GateVerdict = "red"      // a required check is red and it is the attempt's doing
	VerdictPending  GateVerdict = "pending"  // not finished, or not settled
	VerdictNone     GateVerdict = "none"     // no check at all, or none that ran
	VerdictBlocked  GateVerdict = "blocked"  // a required check says nothing before a person acts
	VerdictRerun    GateVerdict = "rerun"    // transient failure or chance: run these again
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
	KFixStudied       Kind = "fix_studied"
	KReadied          Kind = "readied"
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
func (Readied) Kind() Kind          { return KReadied }
func (Drafted) Kind() Kind          { return KDrafted }
func (Updated) Kind() Kind          { return KUpdated }
func (Watched) Kind() Kind          { return KWatched }
func (Evidenced) Kind() Kind        { return KEvidenced }

// facts has one value of each kind, in the order of the kinds.
var facts = []Fact{
	Start{}, Stop{}, PauseAsked{}, Resume{}, Retry{}, Use{}, AnswerGiven{}, NotAnswered{}, Approve{}, AcceptTests{},
	Edited{}, Query{}, Rated{}, ChangesAsked{}, ChangesWithdrawn{}, ThreadSettled{},
	CheckSeen{}, Progressed{}, BranchMoved{}, Restored{}, PullClosed{}, PullReopened{}, Retargeted{}, RepoMoved{},
	DraftChanged{},
	Begun{}, Decided{},
	Aggregated{},
	AttemptEnded{}, Pushed{}, PushRefused{},
	PullOpened{},
	Judged{}, Diagnosed{}, Reviewed{}, Weighed{}, FinalReviewed{}, MemoryCommitted{}, CommentPosted{}, EscalationOpened{},
	SyncDone{}, Done{}, EffectFailed{}, FixStudied{}, Readied{}, Drafted{}, Updated{}, Watched{},
	Evidenced{}, TakenBack{},
}

// MarshalJSON writes the event with its fact's kind beside it.
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

// UnmarshalJSON reads what MarshalJSON wrote; an unknown kind is an error.
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
