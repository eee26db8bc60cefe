package evolve

// Verdict is what follows.
type Verdict string

// The verdicts. A gate passes or rejects, or could not tell; an experiment goes on, promotes
// or stops; a guardrail goes on or rolls back.
const (
	Pass        Verdict = "pass"
	Reject      Verdict = "reject"
	NotReplayed Verdict = "not-replayed" // too few tasks to tell: the proposal may go on, and says so
	GoOn        Verdict = "go-on"
	Promote     Verdict = "promote"
	StopHarm    Verdict = "stop-harm"   // the candidate does worse
	StopBroken  Verdict = "stop-broken" // what assigns tasks is not fair: the outcomes say nothing
	RollBack    Verdict = "roll-back"
)
