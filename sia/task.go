package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/plan"
)

// TaskID names a task for ever: one issue of one repository, "<repository id>-<issue number>".
type TaskID string

// NewTaskID is the id of the task for an issue of a repository.
func NewTaskID(repo int64, issue int) TaskID { return TaskID(fmt.Sprintf("%d-%d", repo, issue)) }

// Repo is a repository as GitHub names it.
type Repo struct {
	ID    int64  `json:"id"`
	Owner string `json:"owner" mask:"-"`
	Name  string `json:"name" mask:"-"`
}

// IssueAt is an issue of some repository.
type IssueAt struct {
	Repo  Repo `json:"repo"`
	Issue int  `json:"issue"`
}

// String is owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Actor is who did something. The zero Actor is SIA's own machinery.
type Actor struct {
	Login string `json:"login,omitempty" mask:"-"`
	ID    int64  `json:"id,omitempty"` // GitHub's user id
	// whoever runs the server, by a command on its machine; there is no login then
	Operator bool `json:"operator,omitempty"`
	Unknown  bool `json:"unknown,omitempty"` // somebody else than SIA, and GitHub does not tell who
}

// Mention is the actor in a sentence.
func (a Actor) Mention() string {
	switch {
	case a.Operator:
		return "whoever runs the server"
	case a.Login == "":
		return "somebody"
	}
	return "@" + a.Login
}

// State is where a task is in its life.
type State string

// The states. Passed and Stopped are final until a person starts the task again.
const (
	Queued     State = "queued"     // waits to begin the next attempt
	Working    State = "working"    // an attempt is running, or its commit is being pushed
	PushedOut  State = "pushed"     // the commit is on the branch; the pull request is being opened or brought up to date
	Checking   State = "checking"   // the gate watches the checks of the head
	Diagnosing State = "diagnosing" // SIA works out why the attempt failed
	Reviewing  State = "reviewing"  // the diagnosis is reviewed, its memory committed, its comment posted
	Announced  State = "announced"  // the comment stands; the next attempt is about to begin
	Escalated  State = "escalated"  // a person has been asked
	OnHold     State = "paused"     // a person or a budget paused it
	Passed     State = "passed"     // every required check is green on the head
	Stopped    State = "stopped"    // a person or an event ended it
)

// States lists every state.
var States = []State{Queued, Working, PushedOut, Checking, Diagnosing, Reviewing, Announced, Escalated, OnHold, Passed,
	Stopped}

// Final reports whether nothing more happens in s unless a person acts.
func (s State) Final() bool { return s == Passed || s == Stopped }

// Task is everything SIA knows about one issue that it was asked to resolve.
// Only [Step] changes one.
type Task struct {
	ID           TaskID `json:"id"`
	Version      int64  `json:"version"` // counts the events that were applied
	Installation int64  `json:"installation"`
	Repo         Repo   `json:"repo"`
	Issue        int    `json:"issue"`

	Title   string `json:"title"`
	Body    string `json:"body"`
	Edited  *Edit  `json:"edited,omitempty"`          // of title or text since the last attempt began; nil: none
	AskedBy Actor  `json:"asked_by"`                  // who labelled the issue or wrote /sia start
	Author  string `json:"author,omitempty" mask:"-"` // login of who wrote the issue
	// what the author may do in the repository when the last attempt began
	Access string `json:"access,omitempty" mask:"-"`
	// that started it, so that taking it off stops the task, whatever the settings call it by then;
	// empty: a command did
	Label     string    `json:"label,omitempty" mask:"-"`
	LabelID   int64     `json:"label_id,omitempty"`        // GitHub's; 0: not known
	Labels    []string  `json:"labels,omitempty" mask:"-"` // of the issue, when the last attempt began
	Forecast  *Forecast `json:"forecast,omitempty"`        // before the first attempt; nil: it has not begun
	CreatedAt time.Time `json:"created_at"`
	StartedAt time.Time `json:"started_at"` // of the present run; a restart resets it

	// somebody wants the issue worked on in this run, whatever resolves it already
	Anyway bool `json:"anyway,omitempty"`

	BeginsAt time.Time `json:"begins_at,omitzero"` // the run waits until then for its turn; zero: it does not
	// it waits until then because a budget of the day has no room for the next attempt, and is looked at again
	NoRoom bool `json:"no_room,omitempty"`

	State State     `json:"state"`
	Since time.Time `json:"since"`           // when State was entered
	Ended string    `json:"ended,omitempty"` // why a stopped task was stopped, for people
	// it has ended, and GitHub can't be asked about it or written to any more
	Gone bool `json:"gone,omitempty"`
	// it ended so: its memory is not written, and its question not closed
	Unwritten bool `json:"unwritten,omitempty"`
	// it ended because the issue was deleted or transferred; the rest can be written to
	IssueGone   bool     `json:"issue_gone,omitempty"`
	Transferred *IssueAt `json:"transferred,omitempty"` // where to, where that is known

	Settings Settings `json:"settings"` // in force since the last Begun
	// the file that they are from, for people; empty: the defaults
	SettingsFrom string `json:"settings_from,omitempty" mask:"-"`
	// something people should know, such as a broken configuration file
	Warning string `json:"warning,omitempty"`
	// where Warning says that an effect could not be done, its kind: it ends when one of that kind is done
	WarningOf EffectKind `json:"warning_of,omitempty"`
	// the last one about memory, which ends when memory is written
	MemoryWarning string `json:"memory_warning,omitempty"`

	BaseBranch string `json:"base_branch" mask:"-"`
	BaseSHA    SHA    `json:"base_sha"`
	// what the repository asked of commits when the last attempt began
	Commits CommitRules `json:"commits,omitzero"`
	Branch  string      `json:"branch" mask:"-"`
	Head    SHA         `json:"head,omitempty"`   // the task's present head commit; empty before the first push
	HeadBy  Actor       `json:"head_by,omitzero"` // the person who pushed Head; zero when SIA did
	// the last heads before Head, SIA's and others', newest last, at most MaxFormer
	Former []SHA `json:"former,omitempty"`
	// no attempt starts before this commit of the branch, for that would drop what is not SIA's
	// to drop: the last head that passed or that a person pushed; empty: all may be replaced
	Kept SHA `json:"kept,omitempty"`
	// what the next attempt has to merge, because the base is in the branch's way; nil: nothing
	Merging *Merging `json:"merging,omitempty"`
	Updates int      `json:"updates,omitempty"` // how often the base was merged into what the last attempt did
	Moved   *Moved   `json:"moved,omitempty"`   // what a person pushed after the task had ended; nil: nothing
	Pull    Pull     `json:"pull,omitzero"`

	Attempts []Attempt `json:"attempts,omitempty"`
	Earlier  int       `json:"earlier,omitempty"` // how many of the attempts were made before the present run
	// how many of the prompts were tried before the present run
	EarlierTried  int            `json:"earlier_tried,omitempty"`
	Brief         Brief          `json:"brief,omitzero"`    // of the present or next attempt
	Prompts       []Prompt       `json:"prompts,omitempty"` // the distinct prompts tried, in order
	Approaches    int            `json:"approaches"`        // how many distinct prompts may be tried in all
	Failures      int            `json:"failures"`          // failed attempts since the run started or a person answered
	Interventions []Intervention `json:"interventions,omitempty"`
	Next          *Intervention  `json:"next,omitempty"`   // being prepared: diagnosing, reviewing
	Rounds        int            `json:"rounds,omitempty"` // rejections of the present diagnosis
	// techniques the reviewer rejected in this diagnosis
	Refused     []TechniqueID `json:"refused,omitempty"`
	Wanted      TechniqueID   `json:"wanted,omitempty" mask:"text"` // a person asked for it with /sia use
	WantedCoder string        `json:"wanted_coder,omitempty"`       // a person asked for it with /sia use
	// the next attempt is another coder's, if there is one
	Elsewhere bool `json:"elsewhere,omitempty"`
	// a person wants to go on whatever the cost
	Worthwhile bool     `json:"worthwhile,omitempty"`
	Opening    *Opening `json:"opening,omitempty"` // nil: it is not being decided who works

	Fix       *Fix      `json:"fix,omitempty"`     // what a person did where SIA could not
	Ratings   []Rating  `json:"ratings,omitempty"` // people's 👍 and 👎, the last of each person and comment
	Aftermath Aftermath `json:"aftermath,omitempty"`
	Checks    []Check   `json:"checks,omitempty"` // of Head, as last judged
	// what has reported on any head of the task, at most MaxReported: it is missed where it does not report
	Reported []Reported `json:"reported,omitempty"`
	Waived   []string   `json:"waived,omitempty"` // checks to go on without, as a person said
	// checks that build or test the code, as a person said, though SIA can't tell
	Vouched []string `json:"vouched,omitempty"`
	// rules of the base branch that stop a merge and that no check fulfils, for people
	MergeRules []string `json:"merge_rules,omitempty"`
	// what was seen of the pull request's checks since the task passed; nil: nothing that matters
	Afterwards *Afterwards  `json:"afterwards,omitempty"`
	Gate       GateState    `json:"gate,omitzero"`
	Final      *FinalReview `json:"final,omitempty"` // of the head that was read last; nil: none was
	// what it found not to be done in this run, and its result; nil: nothing
	Omission   *Omission   `json:"omission,omitempty"`
	Accepted   []SHA       `json:"accepted,omitempty"`   // heads with test changes that a person accepted
	Lapsed     bool        `json:"lapsed,omitempty"`     // what a person accepted was for another base
	Escalation *Escalation `json:"escalation,omitempty"` // the open or last question to a person
	Answers    []Answer    `json:"answers,omitempty"`
	Wishes     []Wish      `json:"wishes,omitempty"`  // what people asked for on the pull request, and is not dealt with
	Settled    []int64     `json:"settled,omitempty"` // first comments of threads that people resolved, the last ones
	Owed       []Owed      `json:"owed,omitempty"`    // what is being reported to them
	Pause      *Pause      `json:"pause,omitempty"`   // set in state paused
	Credits    Ledger      `json:"credits"`

	AwaitMemory string `json:"await_memory,omitempty" mask:"-"` // the memory effect that the next step waits for

	Pending map[string]EffectKind `json:"pending,omitempty"` // effects that were emitted and have not reported
	// ids of the last events from people, so that one counts once
	Seen []string `json:"seen,omitempty" mask:"-"`
	// version at which something that people see last changed
	Visible int64     `json:"visible"`
	SyncAt  time.Time `json:"sync_at,omitzero"` // when the last sync was scheduled for
	Synced  int64     `json:"synced"`           // version that GitHub was last made to show

	Reset *CheckReset `json:"reset,omitempty"`
}

// CheckReset is the last time that somebody asked for SIA's check run again. GitHub
// leaves the check suite queued until the run is written once more.
type CheckReset struct {
	SHA SHA    `json:"sha"`
	By  string `json:"by" mask:"-"` // id of the event
}

// Edit is a person's edit of the issue.
type Edit struct {
	By Actor     `json:"by,omitzero"`
	At time.Time `json:"at"`
}

// Moved is where a person moved the task's branch.
type Moved struct {
	SHA SHA   `json:"sha"` // empty: the branch is gone
	By  Actor `json:"by,omitzero"`
}

// Afterwards is the state of a pull request's checks after the task had passed. The pass stays with the commit that
// it was given to.
type Afterwards struct {
	SHA SHA       `json:"sha"` // the pull request's head then
	At  time.Time `json:"at"`
	Red []Check   `json:"red,omitempty"` // its required checks that are red; none: all are green again
}

// Pull is the task's pull request; Number 0 means there is none yet.
type Pull struct {
	Number int    `json:"number,omitempty"`
	NodeID string `json:"node_id,omitempty" mask:"-"` // for GraphQL
	URL    string `json:"url,omitempty" mask:"-"`
	Merged bool   `json:"merged,omitempty"`
	Draft  bool   `json:"draft,omitempty"` // as far as is known
	// SIA marked it ready for review, so it is made a draft again when work goes on
	Readied bool `json:"readied,omitempty"`
	// somebody else than SIA made it a draft: it is one until somebody marks it ready
	LeftDraft bool `json:"left_draft,omitempty"`
	// who closed it without merging it after the task had passed; then it is no longer the task's, and has no number
	ClosedBy Actor `json:"closed_by,omitzero"`
	// why it can't be marked ready, for people; it is tried again for the next attempt
	Refused string `json:"refused,omitempty"`
}

// StaysDraft reports whether SIA leaves it a draft: it may not mark it ready, or somebody made it one.
func (p Pull) StaysDraft() bool { return p.Draft && (p.Refused != "" || p.LeftDraft) }

// AttemptOutcome says how an attempt ended.
type AttemptOutcome string

// The outcomes of an attempt, as memory files spell them. The empty outcome
// means that it runs or is being judged.
const (
	AttemptPass       AttemptOutcome = "pass"
	AttemptFail       AttemptOutcome = "fail"
	AttemptCheckpoint AttemptOutcome = "checkpoint" // a limit was reached; work in progress was kept
	AttemptError      AttemptOutcome = "error"      // something outside the attempt kept it from being judged
	AttemptCancelled  AttemptOutcome = "cancelled"  // a person stopped or paused it
	// it asked a question or proposed a plan before working; costs no approach
	AttemptAsked AttemptOutcome = "asked"
	// it was to do what a green head lacks, and left that head as it is, rightly or not: neither a success nor a failure
	AttemptUnchanged AttemptOutcome = "unchanged"
)

// Attempt is one run of the coding agent.
type Attempt struct {
	Number     int         `json:"number"` // 1-based, never reused within a task
	StartedAt  time.Time   `json:"started_at"`
	EndedAt    time.Time   `json:"ended_at,omitzero"`
	Coder      string      `json:"coder,omitempty" mask:"-"` // its name in the server's configuration
	Agent      string      `json:"agent,omitempty"`          // agent and model, such as "builtin/gpt-5"
	Assigned   string      `json:"assigned,omitempty"`       // why the coder was chosen, for people
	PromptHash string      `json:"prompt_hash" mask:"-"`
	Technique  TechniqueID `json:"technique,omitempty"`
	// it makes a plan and changes nothing; costs no approach, and is never judged
	Planning bool           `json:"planning,omitempty"`
	Answers  int            `json:"answers,omitempty"` // how many of people's words it was given as constraints
	Asked    bool           `json:"asked,omitempty"`   // it was given what people asked for on the pull request
	Demands  int            `json:"demands,omitempty"` // how many demands it was given that a green head did not meet
	Outcome  AttemptOutcome `json:"outcome,omitempty"`
	Reason   string         `json:"reason,omitempty"` // why it ended so, for people
	// the commit of the branch that it went on from; empty: it began at the base
	From SHA      `json:"from,omitempty"`
	Head SHA      `json:"head,omitempty"` // the commit it pushed, or is judged by
	Diff DiffStat `json:"diff,omitzero"`
	// hashes of the normalised hunks of its diff against the base, sorted
	Hunks    []uint64       `json:"hunks,omitempty"`
	Turns    int            `json:"turns,omitempty"`
	Reserved Credits        `json:"reserved,omitempty"`
	Cost     Credits        `json:"cost,omitempty"`
	Tokens   Tokens         `json:"tokens,omitzero"`
	Edits    Edits          `json:"edits,omitzero"`
	Failures []CheckFailure `json:"failures,omitempty"`
	Passing  []string       `json:"passing,omitempty"` // names of the green criteria when judged, sorted
	Signals  []Signal       `json:"signals,omitempty"`
	Risk     *Risk          `json:"risk,omitempty"` // at its worst; nil: it was not watched
	// the result of the tests that its change can reach, before it was pushed; nil: none was run
	Affected *AffectedTests `json:"affected,omitempty"`
	Summary  string         `json:"summary,omitempty"` // the agent's own words; decides nothing
	// what of its change is not in the commit and why, in sentences for people; empty: nothing
	LeftOut string         `json:"left_out,omitempty"`
	Ledger  *AttemptLedger `json:"ledger,omitempty"` // what it leaves to whoever goes on; nil: nothing
	// how far it was when that was last shown; nil: it was not
	Progress *Progress `json:"progress,omitempty"`

	// how the work hangs together; empty: one run does all of it
	Structure plan.Structure `json:"structure,omitempty"`
	Shape     string         `json:"shape,omitempty"`     // why so, for people
	Parts     []Part         `json:"parts,omitempty"`     // in order; none before there is a plan
	Parallel  int            `json:"parallel,omitempty"`  // runs at once, at most
	MaxParts  int            `json:"max_parts,omitempty"` // of a plan
	// the branch's head when it began, which its commit may replace
	Start       SHA  `json:"start,omitempty"`
	Runs        int  `json:"runs,omitempty"`        // of agents that went into it; 0: one
	Asking      int  `json:"asking,omitempty"`      // number of the part that it is decided about; 0: none
	Aggregating bool `json:"aggregating,omitempty"` // its parts are being put together

	// ids of the lessons of earlier tasks that it got
	LessonsShown []string `json:"lessons_shown,omitempty" mask:"-"`
	// ids of those that fit as well and were kept from it
	LessonsWithheld []string `json:"lessons_withheld,omitempty" mask:"-"`
}

// Solved reports whether the task was solved before an attempt began: it went on from a head that had passed, with
// nothing but what reviewers find missing there.
func (t *Task) Solved(a Attempt) bool {
	return a.From != "" && (a.Asked || a.Demands > 0) && t.PassedOn(a.From)
}

// PassedOn reports whether an attempt has passed on a commit that is the branch's head, or was.
func (t *Task) PassedOn(head SHA) bool {
	return slices.ContainsFunc(t.Attempts, func(a Attempt) bool { return a.Outcome == AttemptPass && a.Head == head })
}

// LastTried is the last attempt, but for those that left a green head as it is; nil: there is none.
func (t *Task) LastTried() *Attempt {
	for i := range slices.Backward(t.Attempts) {
		if t.Attempts[i].Outcome != AttemptUnchanged {
			return &t.Attempts[i]
		}
	}
	return nil
}

// book adds what a run of an agent took.
func (a *Attempt) book(f AttemptEnded) {
	a.Turns, a.Cost = a.Turns+f.Turns, a.Cost+f.Cost
	a.Tokens, a.Edits = a.Tokens.Add(f.Tokens), a.Edits.Add(f.Edits)
	if !strings.Contains(a.LeftOut, f.LeftOut) { // parts may leave out the same
		a.LeftOut = strings.TrimSpace(a.LeftOut + " " + f.LeftOut)
	}
}

// Progress is how far an attempt has come.
type Progress struct {
	At      time.Time `json:"at"`
	Turn    int       `json:"turn"`
	Tests   string    `json:"tests,omitempty"`   // how its last run of the tests ended; empty: none that it reported
	TestsAt time.Time `json:"tests_at,omitzero"` // when that was reported
}

// DiffStat counts an attempt's change against the base commit.
type DiffStat struct {
	Files   int      `json:"files"`
	Added   int      `json:"added"`
	Deleted int      `json:"deleted"`
	Paths   []string `json:"paths,omitempty"` // at most 50
}

// CheckFailure is one red check, read.
type CheckFailure struct {
	Check     string   `json:"check"`
	URL       string   `json:"url,omitempty"`
	Excerpt   string   `json:"excerpt"`            // at most 15 lines
	Others    []string `json:"others,omitempty"`   // other places of the log that may tell why, the most likely first
	Line      int      `json:"line,omitempty"`     // 1-based first line of the excerpt in the log; 0 when there is no log
	Signature string   `json:"signature" mask:"-"` // equal for the same failure
	Class     string   `json:"class" mask:"-"`
	Tests     []string `json:"tests,omitempty"` // names of failed tests
}

// CheckColour is what a criterion counts as.
type CheckColour string

// The colours of a check.
const (
	Green   CheckColour = "green"
	Red     CheckColour = "red"
	Running CheckColour = "running"
	Excused CheckColour = "excused" // red, but not the attempt's doing; Why says so
	Skipped CheckColour = "skipped" // nothing ran, here or elsewhere, so it says nothing
	Blocked CheckColour = "blocked" // it says nothing before a person acts; Why says what stands in the way
)

// Check is one criterion of the task: a check run, a commit status or a workflow run of the head.
type Check struct {
	Name     string      `json:"name"`
	Colour   CheckColour `json:"colour"`
	Required bool        `json:"required"`
	URL      string      `json:"url,omitempty"`
	Why      string      `json:"why,omitempty"`
	// for people: what made the check, such as "workflow CI on pull_request", "app codecov" or "commit status"
	From   string `json:"from,omitempty"`
	Unsure bool   `json:"unsure,omitempty"` // it is green, and SIA can't tell whether it builds or tests the code
	Code   bool   `json:"code,omitempty"`   // as far as SIA can tell, the check ran the repository's code at the head
}

// Reported is a check that reported on a commit, as it is known from one commit to the next.
type Reported struct {
	Name string `json:"name"`
	// slug of the app that made the check run; empty: it is a commit status
	App      string `json:"app,omitempty"`
	Workflow string `json:"workflow,omitempty"`       // of a job of GitHub Actions: the path of its workflow file
	Event    string `json:"event,omitempty" mask:"-"` // that triggered that workflow, such as pull_request
	Whole    bool   `json:"whole,omitempty"`          // it is the run itself: its jobs were skipped, or there is none
}

// MaxReported bounds [Task.Reported].
const MaxReported = 100

// Obstacle is a required check that says nothing before a person acts.
type Obstacle struct {
	Check  string `json:"check"`
	Reason string `json:"reason"`           // its state, as the rest of a sentence about the check
	URL    string `json:"url,omitempty"`    // where it can be seen
	Absent bool   `json:"absent,omitempty"` // it never reported
	Missed bool   `json:"missed,omitempty"` // and nothing requires it: it is only expected
	// it says nothing of whether the change is right, so that a person may say to go on without it
	Waivable bool `json:"waivable,omitempty"`
}

// Prompt is one distinct prompt that was tried.
type Prompt struct {
	Version   int            `json:"version"` // 1-based
	Hash      string         `json:"hash" mask:"-"`
	Technique TechniqueID    `json:"technique,omitempty"`
	Outcome   AttemptOutcome `json:"outcome,omitempty"`
}

// GateState is the gate's book-keeping. The gate looks at GitHub at most once
// per settle window; hints only change when it looks.
type GateState struct {
	Seq   int       `json:"seq"`             // of the look that is scheduled or running; never reused
	Due   time.Time `json:"due,omitzero"`    // when it looks
	Hint  time.Time `json:"hint,omitzero"`   // when GitHub last said that checks of the head changed
	Since time.Time `json:"since,omitzero"`  // when the present head began to be watched
	Based bool      `json:"based,omitempty"` // it is known on which commit of the base somebody else's push stands
	Looks int       `json:"looks,omitempty"` // looks at the present head that found it unfinished
	// looks in a row at which GitHub had not worked out how the pull request merges
	Unmerged int     `json:"unmerged,omitempty"`
	Reruns   int     `json:"reruns,omitempty"` // re-runs asked for on the present head
	Failed   []int64 `json:"failed,omitempty"` // the runs that the last red verdict blamed
	Waits    int     `json:"waits,omitempty"`  // how often these were waited out, and then run again
	// one of the re-runs was for doubt: red checks that might be red by chance
	Doubted bool     `json:"doubted,omitempty"`
	Explain []string `json:"explain,omitempty"` // the last verdict's reasons
	// the head is green, but tests or protected files were changed: a person accepts that or stops
	AwaitsPerson bool `json:"awaits_person,omitempty"`
	// what the reviewer was last asked about expectations that changed; nil: nothing yet
	Weighing *Weighing `json:"weighing,omitempty"`
	// what running the tests of the present head has shown; nil: nothing yet
	Evidence *TestEvidence `json:"evidence,omitempty"`
}

// Weighing is whether the issue asks for expectations that a head changed. The same
// changes of one head are weighed once.
type Weighing struct {
	SHA      SHA      `json:"sha"`
	Findings []string `json:"findings"`
	Done     bool     `json:"done,omitempty"`   // the reviewer has answered, or could not
	Quotes   []string `json:"quotes,omitempty"` // of the issue, one for each finding; empty where there is none
}

// Of reports whether it is about these findings of a head.
func (w *Weighing) Of(head SHA, findings []string) bool {
	return w != nil && w.SHA == head && slices.Equal(w.Findings, findings)
}

// AskedFor reports whether the issue asks for everything that was changed.
func (w *Weighing) AskedFor() bool {
	return w != nil && w.Done && len(w.Findings) > 0 && len(w.Quotes) == len(w.Findings) && !slices.Contains(w.Quotes, "")
}

// EscalationKind says what form a question to a person takes.
type EscalationKind string

// The kinds of question.
const (
	AskIssue    EscalationKind = "issue"     // an issue of its own: SIA is out of approaches
	AskQuestion EscalationKind = "question"  // a comment on the task's issue: the agent asks before it works
	AskNoChecks EscalationKind = "no-checks" // an issue of its own: there is no signal to go by
	AskBlocked  EscalationKind = "blocked"   // an issue of its own: a required check says nothing before a person acts
	AskPlan     EscalationKind = "plan"      // a comment on the task's issue: the agent's plan waits for a yes
	AskAlready  EscalationKind = "already"   // on the task's issue: something else resolves it, or has to come first
	AskEdited   EscalationKind = "edited"    // a comment on the task's issue: its text is not the one that was asked for
)

// AboutSomething reports whether answers to such a question mean nothing without what
// was shown beside it: a plan, what resolves the issue already, or its edited text.
// Nothing is learned of them.
func (k EscalationKind) AboutSomething() bool {
	return k == AskPlan || k == AskAlready || k == AskEdited
}

// OnIssue reports whether such a question is a comment on the task's own issue, rather
// than an issue of its own.
func (k EscalationKind) OnIssue() bool { return k == AskQuestion || k.AboutSomething() }

// Escalation is one question to a person.
type Escalation struct {
	Number   int            `json:"number"` // 1-based within the task
	Kind     EscalationKind `json:"kind"`
	Blocker  string         `json:"blocker"`
	Early    string         `json:"early,omitempty"` // why a person is asked although approaches are left
	Question string         `json:"question"`
	Options  []Option       `json:"options"`
	Plan     *Plan          `json:"plan,omitempty"`    // of the kind plan: what is proposed
	Stale    bool           `json:"stale,omitempty"`   // of the kind plan: the issue was edited since
	Already  *Already       `json:"already,omitempty"` // of the kind already: what resolves the issue
	Edition  *Edition       `json:"edition,omitempty"` // of the kind edited: what the issue reads now
	Issue    int            `json:"issue,omitempty"`   // the escalation issue's number once it is open
	URL      string         `json:"url,omitempty" mask:"-"`
	AskedAt  time.Time      `json:"asked_at"`
	Waives   []string       `json:"waives,omitempty"`  // of the kind blocked: checks to go on without by an option
	Vouches  []string       `json:"vouches,omitempty"` // of the kind no-checks: checks that run the code by an option
	Answered bool           `json:"answered,omitempty"`
	Closed   bool           `json:"closed,omitempty"` // SIA has its issue closed
	Talk     bool           `json:"talk,omitempty"`   // people were told that talk in its issue is no answer
	Shut     bool           `json:"shut,omitempty"`   // people were told that closing its issue is none
}

// AboutChecks reports whether the question is what to do where checks don't say
// enough. Its last option ends the task, any other answer has the gate look again.
func (e Escalation) AboutChecks() bool { return e.Kind == AskNoChecks || e.Kind == AskBlocked }

// Answer is a person's answer to an escalation.
type Answer struct {
	Escalation int            `json:"escalation"`
	Kind       EscalationKind `json:"kind,omitempty"`     // of the escalation
	Question   string         `json:"question,omitempty"` // of the escalation; empty in answers that an older SIA kept
	By         Actor          `json:"by"`
	Letter     string         `json:"letter,omitempty" mask:"-"`
	Text       string         `json:"text"`
	At         time.Time      `json:"at"`
}

// LastAnswer is a person's answer to the last question; false where it has none.
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

// PauseKind says what kind of thing paused a task, from which follows what can be
// done about it.
type PauseKind string

// The kinds of pause.
const (
	PausedByPerson  PauseKind = "person"  // somebody asked for it
	PausedByTrouble PauseKind = "trouble" // something can't be done now, and perhaps can later
	PausedByCredits PauseKind = "credits" // the task's credits are used up
	PausedByPushes  PauseKind = "pushes"  // somebody pushes to the branch whenever an attempt ends
	PausedByWorth   PauseKind = "worth"   // no coder's chance justifies its cost
	PausedByHalt    PauseKind = "halt"    // with everything in its repository, its installation or on this server
)

// Pause says why a task is paused and where it resumes.
type Pause struct {
	From   State     `json:"from"`
	By     Actor     `json:"by,omitzero"`
	Kind   PauseKind `json:"kind,omitempty"`
	Reason string    `json:"reason"`
	Held   []Effect  `json:"held,omitempty"`  // effects that wait for the resume
	Scope  HaltScope `json:"scope,omitempty"` // of the kind halt: what is paused as a whole
}

// Waits reports whether the task goes on only when a person acts: it was asked for
// an answer, paused, or shown what to accept.
func (t *Task) Waits() bool {
	return t.State == Escalated || t.State == OnHold || t.State == Checking && t.Gate.AwaitsPerson
}

// AsksAboutChecks reports whether a person is asked what to do where the checks don't say enough.
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

// ApproachesTried is how many distinct prompts the present run has tried, and of how many
// at most, as people read it: the repository's setting, which only people's answers exceed.
func (t *Task) ApproachesTried() (tried, most int) {
	tried = len(t.Prompts) - min(t.EarlierTried, len(t.Prompts))
	return tried, max(tried, t.Settings.SIA.MaxApproaches)
}

// ApproachesLeft is how many more distinct prompts may be tried.
func (t *Task) ApproachesLeft() int { return max(0, t.Approaches-len(t.Prompts)) }

// UsedTechniques lists the techniques of this task's interventions, in order.
func (t *Task) UsedTechniques() []TechniqueID {
	used := make([]TechniqueID, len(t.Interventions))
	for i, iv := range t.Interventions {
		used[i] = iv.Diagnosis.Technique
	}
	return used
}

// Used reports whether a technique was tried in this task.
func (t *Task) Used(id TechniqueID) bool { return slices.Contains(t.UsedTechniques(), id) }

// Refs are the names under which GitHub's events find the task: its issue, pull
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

// IssueRef names an issue or pull request of a task's repository.
func IssueRef(n int) string { return fmt.Sprintf("issue:%d", n) }

// BranchRef names a branch of a task's repository.
func BranchRef(b string) string { return "branch:" + b }

// CommitRef names a commit of a task's repository.
func CommitRef(sha SHA) string { return "commit:" + string(sha) }
