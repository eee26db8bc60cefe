package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// TaskID identifies a task permanently: one issue of one repository, "<repository id>-<issue number>".
type TaskID string

// NewTaskID returns the id of the task for an issue of a repository.
func NewTaskID(repo int64, issue int) TaskID { return TaskID(fmt.Sprintf("%d-%d", repo, issue)) }

// Repo identifies a repository on GitHub.
type Repo struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner" mask:"-"`
	Name  string `json:"name" mask:"-"`
}

// IssueAt is an issue of any repository.
type IssueAt struct {
	Repo  Repo `json:"repo"`
	Issue int  `json:"issue"`
}

// String returns owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Actor is the author of an action. The zero Actor is SIA itself.
type Actor struct {
	Login string `json:"login,omitempty" mask:"-"`
	ID    int64  `json:"id,omitempty"` // GitHub's user id
	// the operator of the server, by a command on its machine; Login is empty then
	Operator bool `json:"operator,omitempty"`
	Unknown  bool `json:"unknown,omitempty"` // not SIA, and GitHub does not report who
}

// Mention returns the actor's name for use in a sentence.
func (a Actor) Mention() string {
	switch {
	case a.Operator:
		return "whoever runs the server"
	case a.Login == "":
		return "somebody"
	}
	return "@" + a.Login
}

// State is a stage of a task's life cycle.
type State string

// The states of a task. Passed and Stopped are final until a person starts the task again.
const (
	Queued     State = "queued"     // waits to begin the next attempt
	Working    State = "working"    // an attempt is running, or its commit is being pushed
	PushedOut  State = "pushed"     // the commit is on the branch; the pull request is being opened or brought up to date
	Checking   State = "checking"   // the gate watches the checks of the head
	Diagnosing State = "diagnosing" // SIA diagnoses why the attempt failed
	Reviewing  State = "reviewing"  // the diagnosis is reviewed, its memory committed, its comment posted
	Announced  State = "announced"  // the comment is posted; the next attempt is about to begin
	Escalated  State = "escalated"  // a person has been asked
	OnHold     State = "paused"     // a person or a budget paused it
	Passed     State = "passed"     // every required check is green on the head
	Stopped    State = "stopped"    // a person or an event ended it
)

// States lists every state.
var States = []State{Queued, Working, PushedOut, Checking, Diagnosing, Reviewing, Announced, Escalated, OnHold, Passed,
	Stopped}

// Final reports whether nothing more happens in state s unless a person acts.
func (s State) Final() bool { return s == Passed || s == Stopped }

// TaskVersion is the version of the fields of [Task]: a release that adds one has a greater version than the release
// before. A program leaves tasks alone that one of a greater version wrote.
const TaskVersion = 1

// Task is the complete record of one issue that SIA was asked to resolve.
// Only [Step] changes it.
type Task struct {
	ID           TaskID `json:"id"`
	Version      int64  `json:"version"` // counts the events that were applied
	Installation int64  `json:"installation"`
	Repo         Repo   `json:"repo"`
	Issue        int    `json:"issue"`

	Title   string `json:"title"`
	Body    string `json:"body"`
	Edited  *Edit  `json:"edited,omitempty"`          // last edit since the last attempt began; nil: none
	AskedBy Actor  `json:"asked_by"`                  // who labelled the issue or wrote /sia start
	Author  string `json:"author,omitempty" mask:"-"` // login of the issue's author
	// the author's access to the repository when the last attempt began
	Access string `json:"access,omitempty" mask:"-"`
	// the label that started the task; removing it stops the task, even after the settings name
	// another label; empty: a command started it
	Label     string    `json:"label,omitempty" mask:"-"`
	LabelID   int64     `json:"label_id,omitempty"`        // GitHub's id of Label; 0: not known
	Labels    []string  `json:"labels,omitempty" mask:"-"` // the issue's labels when the last attempt began
	Forecast  *Forecast `json:"forecast,omitempty"`        // made before the first attempt; nil: no attempt has begun
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at"` // start of the present run; a restart resets it

	// a person wants the issue worked on in this run, even if something else resolves it
	Anyway bool `json:"anyway,omitempty"`

	BeginsAt time.Time `json:"begins_at,omitzero"` // the run waits for its turn until then; zero: it does not wait
	// it waits until BeginsAt because a daily budget has no room for the next attempt; then it is checked again
	NoRoom bool `json:"no_room,omitempty"`

	State State     `json:"state"`
	Since time.Time `json:"since"`           // when State was entered
	Ended string    `json:"ended,omitempty"` // why the task was stopped, for people
	// it has ended, and SIA can no longer read or write its data on GitHub
	Gone bool `json:"gone,omitempty"`
	// it ended while Gone: its memory is not written, and its question not closed
	Unwritten bool `json:"unwritten,omitempty"`
	// it ended because the issue was deleted or transferred; everything else can be written to
	IssueGone   bool     `json:"issue_gone,omitempty"`
	Transferred *IssueAt `json:"transferred,omitempty"` // the issue's new place; nil: not known or not transferred

	Settings Settings `json:"settings"` // in force since the last Begun
	// the file that Settings were read from, for people; empty: the defaults
	SettingsFrom string `json:"settings_from,omitempty" mask:"-"`
	// a warning for people, such as of a broken configuration file
	Warning string `json:"warning,omitempty"`
	// the kind of effect that failed, if Warning is about one: an effect of that kind that succeeds clears Warning
	WarningOf EffectKind `json:"warning_of,omitempty"`
	// the last warning about memory; writing memory clears it
	MemoryWarning string `json:"memory_warning,omitempty"`

	BaseBranch string `json:"base_branch" mask:"-"`
	BaseSHA    SHA    `json:"base_sha"`
	// the repository's rules for commits when the last attempt began
	Commits CommitRules `json:"commits,omitzero"`
	Branch  string      `json:"branch" mask:"-"`
	Head    SHA         `json:"head,omitempty"`   // the task's present head commit; empty before the first push
	HeadBy  Actor       `json:"head_by,omitzero"` // the person who pushed Head; zero: SIA did
	// the heads before Head, whoever pushed them, newest last, at most MaxFormer
	Former []SHA `json:"former,omitempty"`
	// the last head that passed or that a person pushed; no attempt starts before this commit of
	// the branch, because SIA must not drop that work; empty: everything may be replaced
	Kept SHA `json:"kept,omitempty"`
	// the conflicts with the base that the next attempt has to merge; nil: none
	Merging *Merging `json:"merging,omitempty"`
	// what the last update found to be merged already; nil: nothing
	Contained *Contained `json:"contained,omitempty"`
	Updates   int        `json:"updates,omitempty"` // number of merges of the base into the last attempt's work
	// how often the base conflicted with the branch after a pass of this run
	Conflicted int    `json:"conflicted,omitempty"`
	Moved      *Moved `json:"moved,omitempty"` // a person's push after the task had ended; nil: none
	Pull       Pull   `json:"pull,omitzero"`

	Attempts []Attempt `json:"attempts,omitempty"`
	Earlier  int       `json:"earlier,omitempty"` // number of attempts made before the present run
	// number of prompts tried before the present run
	EarlierTried  int            `json:"earlier_tried,omitempty"`
	Brief         Brief          `json:"brief,omitzero"`    // of the present or next attempt
	Prompts       []Prompt       `json:"prompts,omitempty"` // the distinct prompts tried, in order
	Approaches    int            `json:"approaches"`        // maximum number of distinct prompts in total
	Failures      int            `json:"failures"`          // failed attempts since the run's start or the last answer
	Interventions []Intervention `json:"interventions,omitempty"`
	Next          *Intervention  `json:"next,omitempty"`   // in preparation, in states diagnosing and reviewing
	Rounds        int            `json:"rounds,omitempty"` // number of rejections of the present diagnosis
	// techniques the reviewer rejected in this diagnosis
	Refused     []TechniqueID `json:"refused,omitempty"`
	Wanted      TechniqueID   `json:"wanted,omitempty" mask:"text"` // a person asked for it with /sia use
	WantedCoder string        `json:"wanted_coder,omitempty"`       // a person asked for it with /sia use
	// another coder makes the next attempt, if there is one
	Elsewhere bool `json:"elsewhere,omitempty"`
	// a person wants the task continued at any cost
	Worthwhile bool     `json:"worthwhile,omitempty"`
	Opening    *Opening `json:"opening,omitempty"` // the next attempt while its coder is being chosen; else nil

	Fix       *Fix      `json:"fix,omitempty"`     // a person's fix where SIA's attempts failed
	Ratings   []Rating  `json:"ratings,omitempty"` // 👍 and 👎, the last for each person and comment
	Aftermath Aftermath `json:"aftermath,omitempty"`
	Checks    []Check   `json:"checks,omitempty"` // of Head, at the last verdict
	// checks that reported on any head of the task, at most MaxReported; each is expected on later heads
	Reported []Reported `json:"reported,omitempty"`
	Waived   []string   `json:"waived,omitempty"` // checks that a person waived
	// checks that build or test the code according to a person, though SIA can't tell
	Vouched []string `json:"vouched,omitempty"`
	// rules of the base branch that block a merge and that no check satisfies, for people
	MergeRules []string `json:"merge_rules,omitempty"`
	// GitHub blocks the merge, and for no check or review that SIA sees
	MergeBlocked bool `json:"merge_blocked,omitempty"`
	// state of the pull request's checks since the task passed; nil: no required check has turned red
	Afterwards *Afterwards  `json:"afterwards,omitempty"`
	Gate       GateState    `json:"gate,omitzero"`
	Final      *FinalReview `json:"final,omitempty"` // of the last head that was reviewed; nil: none was
	// what the final review found missing in this run, and the follow-up's result; nil: nothing
	Omission   *Omission   `json:"omission,omitempty"`
	Accepted   []SHA       `json:"accepted,omitempty"`   // heads with test changes that a person accepted
	Lapsed     bool        `json:"lapsed,omitempty"`     // a person's acceptance was for another base and no longer holds
	Escalation *Escalation `json:"escalation,omitempty"` // the open or last question to a person
	Answers    []Answer    `json:"answers,omitempty"`
	Wishes     []Wish      `json:"wishes,omitempty"`  // open change requests on the pull request
	Settled    []int64     `json:"settled,omitempty"` // first comments of resolved threads, the most recent ones
	Owed       []Owed      `json:"owed,omitempty"`    // reports on change requests that are being posted
	Pause      *Pause      `json:"pause,omitempty"`   // set in state paused
	Credits    Ledger      `json:"credits"`

	AwaitMemory string `json:"await_memory,omitempty" mask:"-"` // the memory effect that the next step waits for

	Pending map[string]EffectKind `json:"pending,omitempty"` // effects that were emitted and have not reported
	// keys of effects that call a model and are not waited for any more, the last ones: their cost is booked when they end
	Dropped []string `json:"dropped,omitempty" mask:"-"`
	// ids of the last events from people, for deduplication
	Seen []string `json:"seen,omitempty" mask:"-"`
	// version of the last change that people can see
	Visible int64     `json:"visible"`
	SyncAt  time.Time `json:"sync_at,omitzero"` // time for which the last sync was scheduled
	Synced  int64     `json:"synced"`           // version that GitHub shows since the last sync

	Reset *CheckReset `json:"reset,omitempty"`
}

// CheckReset is the last request to re-run SIA's check run. GitHub leaves the check
// suite queued until the run is written again.
type CheckReset struct {
	SHA SHA    `json:"sha"`
	By  string `json:"by" mask:"-"` // id of the event
}

// Edit is a person's edit of the issue.
type Edit struct {
	By Actor     `json:"by,omitzero"`
	At time.Time `json:"at"`
}

// Moved is the commit to which a person moved the task's branch.
type Moved struct {
	SHA SHA   `json:"sha"` // empty: the branch was deleted
	By  Actor `json:"by,omitzero"`
}

// Afterwards is the state of a pull request's checks after the task had passed. The verdict on the commit that passed
// does not change.
type Afterwards struct {
	SHA SHA       `json:"sha"` // the pull request's head at At
	At  time.Time `json:"at"`
	Red []Check   `json:"red,omitempty"` // its red required checks; empty: all are green again
}

// Pull is the task's pull request; Number 0 means there is none yet.
type Pull struct {
	Number int    `json:"number,omitempty"`
	NodeID string `json:"node_id,omitempty" mask:"-"` // for GraphQL
	URL    string `json:"url,omitempty" mask:"-"`
	Merged bool   `json:"merged,omitempty"`
	Draft  bool   `json:"draft,omitempty"` // last known state
	// SIA marked it ready for review, and makes it a draft again when work continues
	Readied bool `json:"readied,omitempty"`
	// somebody other than SIA made it a draft: it stays one until somebody marks it ready
	LeftDraft bool `json:"left_draft,omitempty"`
	// who closed it without merging it after the task had passed; the task then has no pull request, and Number is 0
	ClosedBy Actor `json:"closed_by,omitzero"`
	// why it can't be marked ready, for people; the next attempt tries again
	Refused string `json:"refused,omitempty"`
}

// StaysDraft reports whether SIA leaves it a draft, because it may not mark it ready or somebody made it one.
func (p Pull) StaysDraft() bool { return p.Draft && (p.Refused != "" || p.LeftDraft) }

// AttemptOutcome is the way in which an attempt ended.
type AttemptOutcome string

// The outcomes of an attempt, as memory files spell them. An empty outcome
// means that the attempt runs or is being judged.
const (
	AttemptPass       AttemptOutcome = "pass"
	AttemptFail       AttemptOutcome = "fail"
	AttemptCheckpoint AttemptOutcome = "checkpoint" // a limit was reached; work in progress was kept
	AttemptError      AttemptOutcome = "error"      // something outside the attempt kept it from being judged
	AttemptCancelled  AttemptOutcome = "cancelled"  // a person stopped or paused it
	// it asked a question or proposed a plan before working; costs no approach
	AttemptAsked AttemptOutcome = "asked"
	// it was to add what a green head lacks, and left that head unchanged: neither a success nor a failure
	AttemptUnchanged AttemptOutcome = "unchanged"
)

// Attempt is one run of the coding agent.
type Attempt struct {
	Number     int         `json:"number"` // 1-based, never reused within a task
	StartedAt  time.Time   `json:"started_at"`
	EndedAt    time.Time   `json:"ended_at,omitzero"`
	Coder      string      `json:"coder,omitempty" mask:"-"` // the coder's name in the server's configuration
	Agent      string      `json:"agent,omitempty"`          // agent and model, such as "builtin/gpt-5"
	Assigned   string      `json:"assigned,omitempty"`       // why the coder was chosen, for people
	PromptHash string      `json:"prompt_hash" mask:"-"`
	Technique  TechniqueID `json:"technique,omitempty"`
	// it makes a plan and changes nothing; it costs no approach and is never judged
	Planning bool           `json:"planning,omitempty"`
	Answers  int            `json:"answers,omitempty"` // number of people's answers that it was given as constraints
	Asked    bool           `json:"asked,omitempty"`   // it was given change requests from the pull request
	Demands  int            `json:"demands,omitempty"` // number of unmet demands of a green head that it was given
	Outcome  AttemptOutcome `json:"outcome,omitempty"`
	Reason   string         `json:"reason,omitempty"` // why it ended with this outcome, for people
	// the commit of the branch that it started from; empty: it started at the base
	From SHA      `json:"from,omitempty"`
	Head SHA      `json:"head,omitempty"` // the commit that it pushed, or by which it is judged
	Diff DiffStat `json:"diff,omitzero"`
	// hashes of the normalised hunks of its diff against the base, sorted
	Hunks    []uint64       `json:"hunks,omitempty"`
	Turns    int            `json:"turns,omitempty"`
	Reserved Credits        `json:"reserved,omitempty"`
	Cost     Credits        `json:"cost,omitempty"`
	Tokens   Tokens         `json:"tokens,omitzero"`
	Edits    Edits          `json:"edits,omitzero"`
	Failures []CheckFailure `json:"failures,omitempty"`
	Passing  []string       `json:"passing,omitempty"` // names of the criteria that were green at the verdict, sorted
	Signals  []Signal       `json:"signals,omitempty"`
	Risk     *Risk          `json:"risk,omitempty"` // the highest risk seen; nil: it was not watched
	// results of the tests that its change can reach, before the push; nil: none was run
	Affected *AffectedTests `json:"affected,omitempty"`
	Summary  string         `json:"summary,omitempty"` // the agent's own words; decides nothing
	// what the commit leaves out of its change and why, in sentences for people; empty: nothing
	LeftOut string         `json:"left_out,omitempty"`
	Built   string         `json:"built,omitempty"`
	Ledger  *AttemptLedger `json:"ledger,omitempty"` // its notes for the next attempt; nil: none
	// the last progress that was shown; nil: none
	Progress *Progress `json:"progress,omitempty"`

	// structure of the work; empty: one run does all of it
	Structure plan.Structure `json:"structure,omitempty"`
	Shape     string         `json:"shape,omitempty"`     // reason for Structure, for people
	Parts     []Part         `json:"parts,omitempty"`     // in order; none before there is a plan
	Parallel  int            `json:"parallel,omitempty"`  // maximum number of concurrent runs
	MaxParts  int            `json:"max_parts,omitempty"` // maximum number of parts of a plan
	// the branch's head when it began; its commit may replace it
	Start       SHA  `json:"start,omitempty"`
	Runs        int  `json:"runs,omitempty"`        // number of agent runs; 0: one
	Asking      int  `json:"asking,omitempty"`      // number of the part that a policy is being asked about; 0: none
	Aggregating bool `json:"aggregating,omitempty"` // its parts are being merged

	// ids of the lessons of earlier tasks that it was given
	LessonsShown []string `json:"lessons_shown,omitempty" mask:"-"`
	// ids of matching lessons that were withheld from it
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
}

// joinOnce appends sentences, unless they are there: parts may leave out the same.
func joinOnce(all, more string) string {
	if strings.Contains(all, more) {
		return all
	}
	return strings.TrimSpace(all + " " + more)
}

// Solved reports whether the task was solved before an attempt began: the attempt started from a head that had passed,
// only to add what reviewers found missing there.
func (t *Task) Solved(a Attempt) bool {
	return a.From != "" && (a.Asked || a.Demands > 0) && t.PassedOn(a.From)
}

// PassedOn reports whether an attempt has passed on a commit that is or was the branch's head.
func (t *Task) PassedOn(head SHA) bool {
	return slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Outcome == AttemptPass && a.Head == head })
}

// LastTried returns the last attempt that did not leave a green head unchanged; nil if there is none.
func (t *Task) LastTried() *Attempt {
	for i := range slices.Backward(t.Attempts) {
		if t.Attempts[i].Outcome != AttemptUnchanged {
			return &t.Attempts[i]
		}
	}
	return nil
}

// book adds the cost and use of one agent run.
func (a *Attempt) book(f AttemptEnded) {
	a.Turns, a.Cost = a.Turns+f.Turns, a.Cost+f.Cost
	a.Tokens, a.Edits = a.Tokens.Add(f.Tokens), a.Edits.Add(f.Edits)
	a.LeftOut, a.Built = joinOnce(a.LeftOut, f.LeftOut), joinOnce(a.Built, f.Built)
}

// Progress is the last reported progress of an attempt, or of one of its parts.
type Progress struct {
	At      time.Time `json:"at"`
	Run     int       `json:"run,omitempty"` // number of the run; 0: the attempt's only one
	Turn    int       `json:"turn"`
	Tests   string    `json:"tests,omitempty"`   // result of its last test run; empty: none was reported
	TestsAt time.Time `json:"tests_at,omitzero"` // when that was reported
}

// DiffStat summarises an attempt's change against the base commit.
type DiffStat struct {
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Paths   []string `json:"paths,omitempty"` // at most 50
}

// CheckFailure is one red check with what its log shows.
type CheckFailure struct {
	Check     string   `json:"check"`
	URL       string   `json:"url,omitempty"`
	Excerpt   string   `json:"excerpt"`            // at most 15 lines; empty: nothing was found, or the log was not read
	Others    []string `json:"others,omitempty"`   // other excerpts that may show the cause, the most likely first
	Line      int      `json:"line,omitempty"`     // 1-based first line of the excerpt in the log; 0: no log
	Signature string   `json:"signature" mask:"-"` // equal for the same failure
	Class     string   `json:"class" mask:"-"`
	Tests     []string `json:"tests,omitempty"` // names of failed tests
}

// CheckColour is the result of a criterion.
type CheckColour string

// The colours of a check.
const (
	Green   CheckColour = "green"
	Red     CheckColour = "red"
	Running CheckColour = "running"
	Excused CheckColour = "excused" // red, but not caused by the attempt; Why is the reason
	Skipped CheckColour = "skipped" // nothing ran, here or elsewhere, so there is no result
	Blocked CheckColour = "blocked" // no result before a person acts; Why names the obstacle
)

// Check is one criterion of the task: a check run, a commit status or a workflow run of the head.
type Check struct {
	Name     string      `json:"name"`
	Colour   CheckColour `json:"colour"`
	Required bool        `json:"required"`
	URL      string      `json:"url,omitempty"`
	Why      string      `json:"why,omitempty"`
	// for people: the check's source, such as "workflow CI on pull_request", "app codecov" or "commit status"
	From   string `json:"from,omitempty"`
	Unsure bool   `json:"unsure,omitempty"` // it is green, and SIA can't tell whether it builds or tests the code
	Code   bool   `json:"code,omitempty"`   // the check ran the repository's code at the head, as SIA detected
}

// Reported identifies a check that reported on a commit, independent of the commit.
type Reported struct {
	Name string `json:"name"`
	// slug of the app that created the check run; empty: a commit status
	App      string `json:"app,omitempty"`
	Workflow string `json:"workflow,omitempty"`       // path of the workflow file, for a job of GitHub Actions
	Event    string `json:"event,omitempty" mask:"-"` // event that triggered the workflow, such as pull_request
	Whole    bool   `json:"whole,omitempty"`          // the workflow run itself: its jobs were skipped, or it has none
}

// MaxReported is the maximum length of [Task.Reported].
const MaxReported = 100

// Obstacle is a required check that has no result before a person acts.
type Obstacle struct {
	Check  string `json:"check"`
	Reason string `json:"reason"`           // its state, as the end of a sentence about the check
	URL    string `json:"url,omitempty"`    // address of the check
	Absent bool   `json:"absent,omitempty"` // it never reported
	Missed bool   `json:"missed,omitempty"` // it never reported, and is expected but not required
	// its result does not depend on whether the change is right, so that a person may waive it
	Waivable bool `json:"waivable,omitempty"`
	Pull     bool `json:"pull,omitempty"` // it is no check: the pull request does not show the head
}

// Prompt is one distinct prompt that was tried.
type Prompt struct {
	Version   int            `json:"version"` // 1-based
	Hash      string         `json:"hash" mask:"-"`
	Technique TechniqueID    `json:"technique,omitempty"`
	Outcome   AttemptOutcome `json:"outcome,omitempty"`
}

// GateState is the gate's book-keeping. The gate reads GitHub at most once
// per settle window; hints only change the time of the read.
type GateState struct {
	Seq   int       `json:"seq"`             // number of the look that is scheduled or running; never reused
	Due   time.Time `json:"due,omitzero"`    // time of that look
	Hint  time.Time `json:"hint,omitzero"`   // time at which GitHub last reported a change of the head's checks
	Since time.Time `json:"since,omitzero"`  // time since which the present head is watched
	Based bool      `json:"based,omitempty"` // the base commit of somebody else's push is known
	Looks int       `json:"looks,omitempty"` // number of looks at the present head that found it unfinished
	// consecutive looks at which GitHub had not computed yet whether the pull request can be merged
	Unmerged int `json:"unmerged,omitempty"`
	Reruns   int `json:"reruns,omitempty"` // re-runs requested on the present head
	// ids of the workflow runs that GitHub refused to run again
	Unrepeatable []int64 `json:"unrepeatable,omitempty"`
	Failed       []int64 `json:"failed,omitempty"` // the runs that the last red verdict names
	Waits        int     `json:"waits,omitempty"`  // number of delayed re-runs of these
	// one of the re-runs was for checks that might be red by chance
	Doubted bool     `json:"doubted,omitempty"`
	Explain []string `json:"explain,omitempty"` // the last verdict's reasons
	// the head is green, but changes tests or protected files: a person accepts that or stops the task
	AwaitsPerson bool `json:"awaits_person,omitempty"`
	// the last question to the reviewer about changed expectations; nil: none yet
	Weighing *Weighing `json:"weighing,omitempty"`
	// results of running the tests of the present head; nil: none yet
	Evidence *TestEvidence `json:"evidence,omitempty"`
}

// Weighing is the reviewer's answer whether the issue asks for expectations that a head changed.
// The same changes of one head are weighed once.
type Weighing struct {
	SHA      SHA      `json:"sha"`
	Findings []string `json:"findings"`
	Done     bool     `json:"done,omitempty"`   // the reviewer has answered or failed to
	Quotes   []string `json:"quotes,omitempty"` // from the issue, one for each finding; empty if the issue has none
}

// Of reports whether w is about these findings of a head.
func (w *Weighing) Of(head SHA, findings []string) bool {
	return w != nil && w.SHA == head && slices.Equal(w.Findings, findings)
}

// AskedFor reports whether the issue asks for all of the changes.
func (w *Weighing) AskedFor() bool {
	return w != nil && w.Done && len(w.Findings) > 0 && len(w.Quotes) == len(w.Findings) && !slices.Contains(w.Quotes, "")
}

// EscalationKind is the form of a question to a person.
type EscalationKind string

// The kinds of escalation.
const (
	AskIssue    EscalationKind = "issue"     // an issue of its own: SIA is out of approaches
	AskQuestion EscalationKind = "question"  // a comment on the task's issue: the agent asks before it works
	AskNoChecks EscalationKind = "no-checks" // an issue of its own: no check has a usable result
	AskBlocked  EscalationKind = "blocked"   // an issue of its own: a required check has no result before a person acts
	AskPlan     EscalationKind = "plan"      // a comment on the task's issue: the agent's plan needs approval
	AskAlready  EscalationKind = "already"   // on the task's issue: something else resolves it, or has to come first
	AskEdited   EscalationKind = "edited"    // a comment on the task's issue: its text was edited after SIA was asked
)

// NeedsContext reports whether answers to such a question mean nothing without what the
// question shows: a plan, what resolves the issue already, or its edited text. No lesson
// is learned from them.
func (k EscalationKind) NeedsContext() bool {
	return k == AskPlan || k == AskAlready || k == AskEdited
}

// OnIssue reports whether such a question is a comment on the task's own issue, rather
// than an issue of its own.
func (k EscalationKind) OnIssue() bool { return k == AskQuestion || k.NeedsContext() }

// Escalation is one question to a person.
type Escalation struct {
	Number   int            `json:"number"` // 1-based within the task
	Kind     EscalationKind `json:"kind"`
	Blocker  string         `json:"blocker"`
	Early    string         `json:"early,omitempty"` // why a person is asked while approaches are left
	Question string         `json:"question"`
	Options  []Option       `json:"options"`
	Plan     *Plan          `json:"plan,omitempty"`    // kind plan: the proposed plan
	Stale    bool           `json:"stale,omitempty"`   // kind plan: the issue was edited since
	Already  *Already       `json:"already,omitempty"` // kind already: what resolves the issue
	Edition  *Edition       `json:"edition,omitempty"` // kind edited: the issue's present text
	Issue    int            `json:"issue,omitempty"`   // the escalation issue's number once it is open
	URL      string         `json:"url,omitempty" mask:"-"`
	AskedAt  time.Time      `json:"asked_at"`
	Waives   []string       `json:"waives,omitempty"`  // kind blocked: checks that an option waives
	Vouches  []string       `json:"vouches,omitempty"` // kind no-checks: checks that an option confirms to run the code
	Answered bool           `json:"answered,omitempty"`
	Closed   bool           `json:"closed,omitempty"` // SIA closes its issue
	Talk     bool           `json:"talk,omitempty"`   // SIA has replied that discussion in its issue is no answer
	Shut     bool           `json:"shut,omitempty"`   // SIA has replied that closing its issue is no answer
}

// AboutChecks reports whether the question is what to do because the checks' results are
// insufficient. Its last option ends the task; on any other answer the gate looks again.
func (e Escalation) AboutChecks() bool { return e.Kind == AskNoChecks || e.Kind == AskBlocked }

// Answer is a person's answer to an escalation.
type Answer struct {
	Escalation int            `json:"escalation"`
	Kind       EscalationKind `json:"kind,omitempty"`     // of the escalation
	Question   string         `json:"question,omitempty"` // of the escalation; empty if an older version stored it
	By         Actor          `json:"by"`
	Letter     string         `json:"letter,omitempty" mask:"-"`
	Text       string         `json:"text"`
	At         time.Time      `json:"at"`
}

// LastAnswer returns a person's answer to the last question, and whether there is one.
func (t *Task) LastAnswer() (Answer, bool) {
	if t.Escalation == nil || !t.Escalation.Answered {
		return Answer{}, false
	}
	i := slices.IndexFunc(t.Answers, func(a Answer) bool { return a.Escalation == t.Escalation.Number })
	if i < 0 {
		return Answer{}, false
	}
	return t.Answers[i], true
}

// PauseKind is the kind of reason for a pause. What people can do about the pause depends on it.
type PauseKind string

// The kinds of pause.
const (
	PausedByPerson  PauseKind = "person"  // a person asked for it
	PausedByTrouble PauseKind = "trouble" // an operation failed that may succeed later
	PausedByCredits PauseKind = "credits" // the task's credits are used up
	PausedByPushes  PauseKind = "pushes"  // somebody pushes to the branch whenever an attempt ends
	PausedByWorth   PauseKind = "worth"   // no coder's chance of success justifies its cost
	PausedByHalt    PauseKind = "halt"    // everything in its repository, its installation or on this server is paused
)

// Pause is the reason of a pause and the state in which the task resumes.
type Pause struct {
	From   State     `json:"from"`
	By     Actor     `json:"by,omitzero"`
	Kind   PauseKind `json:"kind,omitempty"`
	Reason string    `json:"reason"`
	Held   []Effect  `json:"held,omitempty"`  // effects that wait for the resume
	Scope  HaltScope `json:"scope,omitempty"` // kind halt: the scope that is paused
}

// Waits reports whether the task continues only when a person acts: answers a question,
// resumes it, or accepts changes.
func (t *Task) Waits() bool {
	return t.State == Escalated || t.State == OnHold || t.State == Checking && t.Gate.AwaitsPerson
}

// AsksAboutChecks reports whether an open question asks what to do about insufficient checks.
func (t *Task) AsksAboutChecks() bool {
	return t.State == Escalated && !t.Escalation.Answered && t.Escalation.AboutChecks()
}

// Attempt returns the present attempt, or nil before the first.
func (t *Task) Attempt() *Attempt {
	if len(t.Attempts) == 0 {
		return nil
	}
	return &t.Attempts[len(t.Attempts)-1]
}

// ApproachesTried returns how many distinct prompts the present run has tried, and the maximum
// to show to people: the repository's setting, which only people's answers can exceed.
func (t *Task) ApproachesTried() (tried, most int) {
	tried = len(t.Prompts) - min(t.EarlierTried, len(t.Prompts))
	return tried, max(tried, t.Settings.SIA.MaxApproaches)
}

// ApproachesLeft returns how many more distinct prompts may be tried.
func (t *Task) ApproachesLeft() int { return max(0, t.Approaches-len(t.Prompts)) }

// UsedTechniques returns the techniques of this task's interventions, in order.
func (t *Task) UsedTechniques() []TechniqueID {
	used := make([]TechniqueID, len(t.Interventions))
	for i, iv := range t.Interventions {
		used[i] = iv.Diagnosis.Technique
	}
	return used
}

// Used reports whether a technique was tried in this task.
func (t *Task) Used(id TechniqueID) bool { return slices.Contains(t.UsedTechniques(), id) }

// Refs returns the names under which GitHub's events find the task: its issue, pull
// request, escalation issue, branch and head commits.
func (t *Task) Refs() []string {
	refs := []string{IssueRef(t.Issue), BranchRef(t.Branch)}
	if t.Pull.Number != 0 {
		refs = append(refs, IssueRef(t.Pull.Number))
	}
	if t.Escalation != nil && t.Escalation.Issue != 0 {
		refs = append(refs, IssueRef(t.Escalation.Issue))
	}
	if t.Head != "" {
		refs = append(refs, CommitRef(t.Head))
	}
	for _, a := range t.Attempts {
		if a.Head != "" && a.Head != t.Head {
			refs = append(refs, CommitRef(a.Head))
		}
	}
	return refs
}

// IssueRef returns the ref of an issue or pull request of a task's repository.
func IssueRef(n int) string { return fmt.Sprintf("issue:%d", n) }

// BranchRef returns the ref of a branch of a task's repository.
func BranchRef(b string) string { return "branch:" + b }

// CommitRef returns the ref of a commit of a task's repository.
func CommitRef(sha SHA) string { return "commit:" + string(sha) }
