package app_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sim/ghsim"
)

// outcome executes an effect: those about checks and the pull request by the real worker, the others with made-up
// results.
func (w *world) outcome(f sia.Effect) (sia.Fact, error) {
	switch f.Kind {
	case sia.DoGate:
		if w.between != nil {
			return w.lookWhile(f)
		}
		w.ruleFirst()
		defer w.interfere()()
		return w.parts.Worker.Effect(w.ctx, w.task, f)
	case sia.DoRerun, sia.DoReady, sia.DoDraft, sia.DoWatch, sia.DoPull, sia.DoUpdate,
		sia.DoTakeBack:
		return w.parts.Worker.Effect(w.ctx, w.task, f)
	case sia.DoBegin:
		return w.begin()
	case sia.DoDecide:
		return w.decide(f), nil
	case sia.DoAttempt:
		w.start[f.Attempt] = string(w.task.Head) // the app expects the branch there
		w.count["attempt"]++
		return sia.AttemptEnded{End: sia.EndFinished, Commit: sia.SHA(fmt.Sprintf("%040x", f.Attempt)), Cost: 50,
			Diff: sia.DiffStat{Files: 1, Added: 1}, Hunks: []uint64{w.seed, uint64(f.Attempt)}}, nil
	case sia.DoPush:
		return w.push(f)
	case sia.DoEvidence:
		return w.evidence(f), nil
	case sia.DoDiagnose:
		if w.chance(0.1) {
			return sia.Diagnosed{Diagnosis: sia.Diagnosis{Summary: "nothing is left", Pattern: sia.Environment}}, nil
		}
		d := sia.Diagnosis{Summary: "so it is", Pattern: sia.Environment, Technique: sia.FreshStart,
			Prompt: fmt.Sprint("otherwise ", f.Key)}
		techniques := []sia.TechniqueID{sia.Decomposition, sia.ErrorPattern, sia.ToolChange, sia.FreshStart}
		d.Technique = techniques[w.task.Failures%len(techniques)]
		d.Brief = sia.Brief{Technique: d.Technique, Prompt: d.Prompt}
		return sia.Diagnosed{Diagnosis: d, Cost: 10}, nil
	case sia.DoReview:
		return sia.Reviewed{Review: sia.Review{Verdict: sia.Approved}}, nil
	case sia.DoWeigh:
		return sia.Weighed{SHA: f.SHA}, nil
	case sia.DoFinalReview:
		r := sia.FinalReview{SHA: f.SHA}
		if w.seed%7 == 0 || w.seed%7 == 3 { // not drawn, so that the worlds that failed before stay the same
			r.Demands = []sia.Demand{{Quote: "all of it", State: sia.DemandUnmet, Why: "it is not"}}
		}
		return sia.FinalReviewed{Review: r}, nil
	case sia.DoMemory:
		return sia.MemoryCommitted{SHA: "memory"}, nil
	case sia.DoAnnounce:
		return sia.CommentPosted{URL: "announced"}, nil
	case sia.DoEscalate:
		return sia.EscalationOpened{Issue: 1000 + f.Attempt, URL: "asked"}, nil
	case sia.DoStudy:
		return sia.FixStudied{Fix: sia.Fix{By: w.task.HeadBy, Head: f.SHA, Summary: "otherwise"}}, nil
	default:
		return sia.Done{}, nil
	}
}

// runsTests reports whether tests are run in the world, and pushes are delivered hours late. It is not drawn, so that
// the worlds that failed before stay the same.
func (w *world) runsTests() bool { return w.seed%10 == 6 }

// evidence returns the results of running a head's tests, which speak against every second head.
func (w *world) evidence(f sia.Effect) sia.Fact {
	if !w.runsTests() {
		return sia.Done{}
	}
	e := sia.TestEvidence{Head: f.SHA, Base: w.task.BaseSHA, Tests: 1}
	if f.SHA[len(f.SHA)-1]%2 == 0 {
		e.Red = []string{"src::TestA"}
		w.against[f.SHA] = true
		w.count["tests speak against a head"]++
		w.count["tests speak against a head while "+string(w.task.State)]++
	}
	return sia.Evidenced{Evidence: e}
}

// ruleFirst changes the rules before some of the looks that use the cached ones.
func (w *world) ruleFirst() {
	now := w.clock.Now()
	if w.moves < w.temper.moves && now.Sub(w.looked) < time.Minute && w.chance(0.15) {
		w.moves++
		if !w.skip[w.moves] {
			w.count["rule before a look"]++
			w.moveOf(rand.New(rand.NewPCG(w.seed, uint64(1000+w.moves))), "rule")
		}
	}
	w.looked = now
}

// interfere changes the pull request during some looks. No look can notice further changes between two requests.
func (w *world) interfere() (done func()) {
	w.during = false
	if w.moves >= w.temper.moves || !w.chance(0.15) {
		return func() {}
	}
	w.moves++
	r := rand.New(rand.NewPCG(w.seed, uint64(1000+w.moves)))
	after := r.IntN(10)
	w.meanwhile = func() {
		if after--; after >= 0 {
			return
		}
		w.meanwhile = nil
		if !w.skip[w.moves] {
			w.count["move in a look"]++
			w.during = true
			w.moveOf(r, oneOf(r, "push", "bot push", "weird push", "force push", "close", "retarget"))
		}
	}
	return func() { w.meanwhile = nil }
}

// begin lets the next attempt begin, at the present base branch.
func (w *world) begin() (sia.Fact, error) {
	base := "main"
	if w.task.Pull.Number != 0 && !w.task.Pull.Merged {
		p, err := w.sim.Pull(w.repo, w.task.Pull.Number)
		if err != nil {
			return nil, err
		}
		base = p.BaseRef
	}
	return sia.Begun{Settings: w.set, BaseBranch: base, BaseSHA: sia.SHA(w.head(base)), Title: w.task.Title,
		Body: w.task.Body}, nil
}

func (w *world) decide(f sia.Effect) sia.Fact {
	d := sia.Decided{Type: f.Question, Reason: "so it is", Agent: "played"}
	switch f.Question {
	case sia.DecideDecompose:
		d.Choice, d.AtOnce, d.MaxParts = string(plan.Whole), 1, 1
	case sia.DecideAssign:
		d.Choice = "coder"
	case sia.DecideEscalate:
		d.Choice = sia.ChooseGoOn
	default:
		d.Choice = sia.ChooseSIA
		switch n := w.rng.IntN(10); {
		case n == 0 && w.task.Head != "":
			d.Choice, d.Wait = sia.ChooseRerun, sia.Duration(time.Minute)
		case n == 1:
			d.Choice = sia.ChooseRetry
		case n == 2:
			d.Choice = sia.ChoosePerson
		}
	}
	return d
}

// push pushes an attempt's result to the task's branch like the app, unless somebody else pushed meanwhile.
func (w *world) push(f sia.Effect) (sia.Fact, error) {
	if now := w.head(w.task.Branch); now != w.start[f.Attempt] {
		return sia.PushRefused{Head: sia.SHA(now), Reason: "somebody else pushed meanwhile"}, nil
	}
	w.pushes++
	sha, err := w.sim.PushAsBot(w.repo, w.task.Branch, ghsim.BotPush{Login: "sia[bot]", Message: "What was asked for",
		Token: ghsim.OwnToken, Files: map[string]string{fmt.Sprintf("src/made%d.go", w.pushes): "package src\n"}})
	if err != nil {
		return nil, err
	}
	return sia.Pushed{SHA: sia.SHA(sha), Made: f.SHA}, nil
}

// head returns the head of a branch; empty: none.
func (w *world) head(branch string) string {
	all, err := w.sim.Branches(w.repo)
	w.must(err)
	return all[branch]
}
