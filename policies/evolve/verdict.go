package evolve

// Verdict is a verdict of a Gate, an Experiment or a Guardrail.
type Verdict string

// The verdicts. A gate passes, rejects or has too few tasks; an experiment continues, promotes or stops; a guardrail
// continues or rolls back.
const (
	Pass        Verdict = "pass"
	Reject      Verdict = "reject"
	NotReplayed Verdict = "not-replayed" // too few tasks; the proposal may continue
	GoOn        Verdict = "go-on"
	Promote     Verdict = "promote"
	StopHarm    Verdict = "stop-harm"   // the candidate is worse
	StopBroken  Verdict = "stop-broken" // the assignment is unfair, so the outcomes are invalid
	RollBack    Verdict = "roll-back"
)
