package sia

import "testing"

// A repeated effect has the same First key and inputs as the failed one, because that may have written to GitHub before
// it failed.
func TestDoneAgain(t *testing.T) {
	failing := func(t *testing.T, p *taskDriver, kind EffectKind) {
		t.Helper()
		first := p.effectOf(kind)
		for range 2 {
			before := p.effectOf(kind)
			p.done(kind, EffectFailed{Effect: kind, Reason: "GitHub does not answer", SHA: before.SHA, Part: before.Part})
			p.wantState(OnHold)
			p.says(Resume{})
			f := p.effectOf(kind)
			if f.Key == before.Key || f.First() != first.Key || f.Seq != first.Seq || f.SHA != first.SHA ||
				f.Attempt != first.Attempt {
				t.Errorf("%+v does %+v again", f, first)
			}
		}
	}
	t.Run("a question", func(t *testing.T) {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictBlocked, Blocked: []Obstacle{{Check: "e2e", Reason: "asks a person to act"}}})
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		failing(t, p, DoEscalate)
	})
	t.Run("a push", func(t *testing.T) {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictRed, Failures: []CheckFailure{{Check: "test"}}})
		p.done(DoDecide, Decided{Type: DecideRecover, Choice: ChooseRetry})
		p.begins("")
		p.ends(AttemptEnded{End: EndFinished, Commit: "c0ffee", Cost: 100})
		failing(t, p, DoPush)
		p.done(DoPush, Pushed{SHA: "c0ffee"})
		p.wantState(PushedOut)
	})
	t.Run("a comment", func(t *testing.T) {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictRed, Failures: []CheckFailure{{Check: "test"}}})
		p.done(DoDecide, Decided{Type: DecideRecover, Choice: ChooseSIA})
		p.done(DoDiagnose, Diagnosed{Diagnosis: Diagnosis{Pattern: "unknown", Technique: Decomposition,
			Brief: Brief{Technique: Decomposition, Prompt: "in two steps"}}})
		p.done(DoDecide, Decided{Type: DecideEscalate, Choice: ChooseGoOn})
		p.done(DoReview, Reviewed{Review: Review{Verdict: Approved}})
		p.done(DoMemory, MemoryCommitted{SHA: "m"})
		failing(t, p, DoAnnounce)
		p.done(DoAnnounce, CommentPosted{URL: "u"})
		p.wantState(Announced)
	})
}

// A failed update is not repeated automatically: resuming looks at the head, which may have changed.
func TestAnUpdateFails(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
	p.done(DoUpdate, EffectFailed{Effect: DoUpdate, Reason: "GitHub does not answer"})
	p.wantState(OnHold)
	p.says(Resume{})
	p.wantState(Checking)
	if p.waitsFor(DoUpdate) || !p.waitsFor(DoGate) {
		t.Errorf("under way are %v", p.task.Pending)
	}
	p.judges(Judged{Verdict: VerdictGreen, Conflicts: true})
	if f := p.effectOf(DoUpdate); f.SHA != p.task.Head {
		t.Errorf("%+v merges into another head", f)
	}
}

// effectOf returns the pending effect of a kind.
func (p *taskDriver) effectOf(kind EffectKind) Effect {
	p.t.Helper()
	for _, f := range p.todo {
		if f.Kind == kind && p.task.Pending[f.Key] != "" {
			return f
		}
	}
	p.t.Fatalf("no %s is waited for: %s, %s", kind, p.task.State, p.why)
	return Effect{}
}
