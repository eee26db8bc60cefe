package sia

// cell is the reaction to one kind of fact in one state: a move, or the reason
// why the fact is ignored.
type cell struct {
	move    func(*step)
	ignored string
}

// row contains the cells of one kind of fact.
type row map[State]cell

// on adds a move for some states.
func (r row) on(move func(*step), states ...State) row {
	for _, s := range states {
		r[s] = cell{move: move}
	}
	return r
}

// ignore adds states in which the fact is ignored, and the reason.
func (r row) ignore(reason string, states ...State) row {
	for _, s := range states {
		r[s] = cell{ignored: reason}
	}
	return r
}

// rest adds every state that is not yet in the row as ignored.
func (r row) rest(reason string) row {
	for _, s := range States {
		if _, ok := r[s]; !ok {
			r[s] = cell{ignored: reason}
		}
	}
	return r
}

// unfinished contains the states in which SIA works and waits for nobody.
var unfinished = []State{Queued, Working, PushedOut, Checking, Diagnosing, Reviewing, Announced}

// Reasons used by several rows.
const (
	late      = "late: the task has moved on since"
	hasEnded  = "the task has ended; `/sia start` starts it again"
	isBusy    = "SIA is working on it already; `/sia status` shows where it stands"
	noWaiting = "no question is open; `/sia status` shows where the task stands"
	noPlan    = "no plan waits for a yes; `/sia status` shows where the task stands"

	nothingToAccept = "there is no change to tests or protected paths that waits to be accepted"
)

// table is the complete transition table: for each kind of fact, each state.
// It is filled in init because moves refer to it (a paused task uses the row of
// the state that it resumes in).
var table map[Kind]row

func init() {
	table = map[Kind]row{
		// People and GitHub.
		KStart: row{}.on((*step).restart, Stopped, Passed).
			ignore(isBusy, unfinished...).
			on((*step).startAnyway, Escalated).
			ignore("the task is paused; `/sia resume` goes on where it stopped", OnHold),
		KStop: row{}.on((*step).stop, append([]State{Escalated, OnHold}, unfinished...)...).
			on((*step).stopAfterEnd, Passed, Stopped),
		KPause: row{}.on((*step).pauseAsked, append([]State{Escalated, OnHold}, unfinished...)...).rest(hasEnded),
		KResume: row{}.on((*step).resume, OnHold).
			on((*step).topUp, append([]State{Escalated}, unfinished...)...).
			rest(hasEnded),
		KRetry: row{}.on((*step).retry, OnHold, Stopped, Escalated, Checking).
			ignore(isBusy, Queued, Working, PushedOut, Diagnosing, Reviewing, Announced).
			ignore("the checks are green; `/sia start` followed by words says what is wanted besides", Passed),
		KUse: row{}.on((*step).use, append([]State{Escalated, OnHold}, unfinished...)...).rest(hasEnded),
		KAnswer: row{}.on((*step).answer, Escalated).on((*step).answerMeanwhile, Checking).
			on((*step).paused, OnHold).on((*step).answeredAlready, Queued, Working, PushedOut, Diagnosing, Reviewing,
			Announced, Passed, Stopped),
		KNotAnswered: row{}.on((*step).notAnswered, Escalated, Checking).on((*step).paused, OnHold).rest(noWaiting),
		KApprove: row{}.on((*step).approve, Escalated).
			ignore("the task is paused; `/sia resume` goes on where it stopped", OnHold).
			ignore(hasEnded, Passed, Stopped).rest(noPlan),
		KAcceptTests: row{}.on((*step).acceptTests, Checking).
			ignore("the task is paused; `/sia resume` goes on where it stopped", OnHold).
			rest(nothingToAccept),
		KEdited: row{}.on((*step).edited, append([]State{Escalated, OnHold}, unfinished...)...).rest(hasEnded),
		KQuery:  row{}.on((*step).query, States...),
		KRated:  row{}.on((*step).rated, States...),
		KChangesAsked: row{}.on((*step).changesAsked, append([]State{Escalated, OnHold, Passed}, unfinished...)...).
			on((*step).changesTooLate, Stopped),
		KChangesWithdrawn: row{}.on((*step).changesWithdrawn, append([]State{Escalated, OnHold, Passed}, unfinished...)...).
			ignore("nothing that was asked for waits", Stopped),
		KThreadSettled: row{}.on((*step).threadSettled, States...),
		KCheckSeen: row{}.on((*step).checkSeen, Checking).
			on((*step).checkSeenWhileAsked, Escalated).
			ignore("the pull request is not open yet; SIA looks at its checks when it is", PushedOut).
			ignore("paused: SIA looks at the checks again on resume", OnHold).
			on((*step).checkSeenAfterPass, Passed).
			rest("no verdict is waited for"),
		KProgressed: row{}.on((*step).progressed, Working).rest("no attempt is at work"),
		KBranchMoved: row{}.on((*step).branchMoved, append([]State{Escalated, OnHold}, unfinished...)...).
			on((*step).branchMovedAfterEnd, Passed, Stopped),
		KRestored: row{}.rest("the task is known: the database outranks its memory"),
		KPullClosed: row{}.on((*step).pullClosed, append([]State{Escalated, OnHold, Passed}, unfinished...)...).
			on((*step).closedAfterStop, Stopped),

		KRetargeted: row{}.on((*step).retargeted, append([]State{Escalated, OnHold, Passed}, unfinished...)...).
			ignore("the task is stopped already", Stopped),

		KRepoMoved: row{}.on((*step).repoMoved, States...),

		KDraftChanged: row{}.on((*step).draftChanged, append([]State{Escalated, OnHold, Passed}, unfinished...)...).
			ignore("the task is stopped already", Stopped),

		KPullReopened: row{}.on((*step).pullReopened, Passed, Stopped).
			rest("the pull request is open, as far as SIA knows"),

		// Outcomes of effects. While the task is paused they are applied to the
		// state that it resumes in.
		KBegun:   row{}.on((*step).begun, Queued, Announced).on((*step).paused, OnHold).rest(late),
		KDecided: row{}.on((*step).decided, Queued, Announced, Working, Diagnosing).on((*step).paused, OnHold).rest(late),
		KAttemptEnded: row{}.on((*step).attemptEnded, Working).on((*step).paused, OnHold).
			on((*step).attemptEndedLate, Stopped, Queued).rest(late),
		KAggregated: row{}.on((*step).aggregated, Working).on((*step).paused, OnHold).
			on((*step).aggregatedLate, Stopped, Queued).rest(late),
		KPushed: row{}.on((*step).pushed, Working).on((*step).paused, OnHold).
			on((*step).pushedLate, Stopped, Queued).rest(late),
		KPushRefused: row{}.on((*step).pushRefused, Working).on((*step).paused, OnHold).
			on((*step).pushRefusedLate, Stopped, Queued).rest(late),
		KPullOpened: row{}.on((*step).pullOpened, PushedOut).on((*step).paused, OnHold).
			on((*step).pullOpenedLate, Queued, Working, Checking, Diagnosing, Reviewing, Announced, Escalated, Passed, Stopped),
		KJudged: row{}.on((*step).judged, Checking).on((*step).judgedWhileAsked, Escalated).
			ignore("paused: SIA looks at the checks again on resume", OnHold).rest(late),
		KWatched:   row{}.on((*step).watched, Passed).rest(late),
		KDiagnosed: row{}.on((*step).diagnosed, Diagnosing).on((*step).paused, OnHold).rest(late),
		KEvidenced: row{}.on((*step).evidenced, append([]State{Escalated}, unfinished...)...).
			on((*step).paused, OnHold).rest(late),
		KReviewed: row{}.on((*step).reviewed, Reviewing).on((*step).paused, OnHold).rest(late),
		KWeighed: row{}.on((*step).weighed, append([]State{Escalated}, unfinished...)...).
			on((*step).paused, OnHold).rest(late),
		KFinalReviewed: row{}.on((*step).finalReviewed, append([]State{Escalated, Passed, Stopped}, unfinished...)...).
			on((*step).paused, OnHold),
		KMemoryCommitted: row{}.on((*step).memoryCommitted, Reviewing, Escalated).on((*step).paused, OnHold).
			on((*step).memoryNoted, Queued, Working, PushedOut, Checking, Diagnosing, Announced, Passed, Stopped),
		KCommentPosted: row{}.on((*step).announced, Reviewing).on((*step).paused, OnHold).rest(late),
		KEscalationOpened: row{}.on((*step).escalationOpened, Escalated).on((*step).paused, OnHold).on((*step).escalationLate,
			append([]State{Passed, Stopped}, unfinished...)...),
		KFixStudied:   row{}.on((*step).fixStudied, States...),
		KRerunRefused: row{}.on((*step).rerunRefused, Checking, Escalated).on((*step).paused, OnHold).rest(late),
		KReadied: row{}.on((*step).readied, append([]State{Escalated, Passed, Stopped}, unfinished...)...).
			on((*step).paused, OnHold),
		KDrafted: row{}.on((*step).drafted, append([]State{Escalated, Passed, Stopped}, unfinished...)...).
			on((*step).paused, OnHold),
		KUpdated: row{}.on((*step).updated, Checking).on((*step).paused, OnHold).on((*step).updatedLate, Queued, Working,
			PushedOut, Diagnosing, Reviewing, Announced, Escalated, Passed, Stopped),
		KTakenBack: row{}.on((*step).takenBack, Checking).on((*step).paused, OnHold).on((*step).takenBackLate, Queued,
			Working, PushedOut, Diagnosing, Reviewing, Announced, Escalated, Passed, Stopped),
		KSyncDone:      row{}.on((*step).syncDone, States...),
		KDone:          row{}.on((*step).done, States...),
		KEffectDelayed: row{}.on((*step).effectDelayed, States...),
		KEffectFailed: row{}.on((*step).effectFailed, append([]State{Escalated}, unfinished...)...).
			on((*step).paused, OnHold).on((*step).effectFailedLate, Passed, Stopped),
	}
}
