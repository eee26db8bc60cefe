package sia

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// read returns a task with a pushed attempt in a repository with final reviews.
func read(t *testing.T, draft bool) *taskDriver {
	t.Helper()
	p := &taskDriver{t: t, reads: true}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	p.begins("")
	p.commits("f00d", draft)
	return p
}

// said returns a review with remarks.
func said(sha SHA) FinalReviewed {
	return FinalReviewed{Cost: Credit, Review: FinalReview{SHA: sha, URL: "r",
		Demands: []Demand{{Quote: "Greet", State: DemandUnclear, Why: "nobody says whom"}}}}
}

// With any review, the pull request is marked ready and the task passes: only the
// gate decides.
func TestFinalReviewDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		out  Fact
		want FinalReview
	}{
		"it is not sure": {said("f00d"), FinalReview{SHA: "f00d", Done: true, URL: "r",
			Demands: []Demand{{Quote: "Greet", State: DemandUnclear, Why: "nobody says whom"}}}},
		"it is silent": {FinalReviewed{Review: FinalReview{SHA: "f00d"}}, FinalReview{SHA: "f00d", Done: true}},
		"the model is down": {FinalReviewed{Review: FinalReview{SHA: "f00d", Why: "no answer"}},
			FinalReview{SHA: "f00d", Done: true, Why: "no answer"}},
		"GitHub is down": {EffectFailed{Effect: DoFinalReview, Reason: "no answer"},
			FinalReview{SHA: "f00d", Done: true, Why: "no answer"}},
	} {
		for _, draft := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				p := read(t, draft)
				p.judges(Judged{Verdict: VerdictGreen})
				if !p.waitsFor(DoFinalReview) || p.waitsFor(DoReady) {
					t.Fatalf("under way are %v", p.task.Pending)
				}
				p.done(DoFinalReview, c.out)
				if draft {
					p.done(DoReady, Readied{})
				}
				p.judges(Judged{Verdict: VerdictGreen})
				p.wantState(Passed)
				if d := cmp.Diff(&c.want, p.task.Final); d != "" || p.task.Warning != "" {
					t.Errorf("warned of %q; %s", p.task.Warning, d)
				}
			})
		}
	}
}

// If the checks turn red during the review, their verdict counts, and the review is kept for
// people.
func TestRedWhileRead(t *testing.T) {
	p := read(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.says(CheckSeen{SHA: "f00d"})
	p.done(DoFinalReview, said("f00d"))
	if p.waitsFor(DoReady) || !p.waitsFor(DoGate) {
		t.Fatalf("it is marked ready before the gate looks: %v", p.task.Pending)
	}
	p.judges(Judged{Verdict: VerdictRed})
	p.wantState(Diagnosing)

	p = read(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.says(PauseAsked{})
	p.says(Resume{})
	p.judges(Judged{Verdict: VerdictGreen}) // keeps waiting
	p.wantState(Checking)
	if p.waitsFor(DoReady) || !strings.Contains(p.why, "is reading") {
		t.Errorf("%v: %s", p.task.Pending, p.why)
	}
	p.says(PauseAsked{})
	p.says(Resume{})
	p.judges(Judged{Verdict: VerdictRed})
	p.wantState(Diagnosing)
	p.done(DoFinalReview, said("f00d"))
	p.wantState(Diagnosing)
	if p.task.Final.URL != "r" || p.task.Credits.Spent < Credit {
		t.Errorf("%+v, %s spent", p.task.Final, p.task.Credits.Spent)
	}
}

// Each head is read once; a review of an earlier head is only paid for.
func TestEachHeadIsReadOnce(t *testing.T) {
	p := read(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.done(DoFinalReview, said("f00d"))
	p.says(PauseAsked{})
	p.says(Resume{})
	p.judges(Judged{Verdict: VerdictGreen})
	if p.waitsFor(DoFinalReview) {
		t.Errorf("the same head is read again: %v", p.task.Pending)
	}
	p.says(Stop{Reason: "enough"})
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet"})
	p.begins("")
	p.commits("f00d2", true)
	p.judges(Judged{Verdict: VerdictGreen})
	if !p.waitsFor(DoFinalReview) {
		t.Fatalf("another head is not read: %v", p.task.Pending)
	}
	spent := p.task.Credits.Spent
	p.done(DoFinalReview, said("f00d"))
	if p.task.Final.Done || p.task.Final.SHA != "f00d2" || p.task.Credits.Spent != spent+Credit {
		t.Errorf("%+v, %s spent: %s", p.task.Final, p.task.Credits.Spent-spent, p.why)
	}
}

// There is no review if the repository turns it off, no credits are left, or a person pushed
// the head.
func TestNotRead(t *testing.T) {
	for name, change := range map[string]func(*Task){
		"switched off": func(t *Task) { t.Settings.Review.Final = false },
		"no credits":   func(t *Task) { t.Credits.Budget = t.Credits.Spent },
		"a person's":   func(t *Task) { t.HeadBy = person },
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, false)
			change(&p.task)
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			if p.task.Final != nil {
				t.Errorf("it was read: %+v", p.task.Final)
			}
		})
	}
}

// A review that ends while the task is paused is kept, and applied on resume.
func TestReadWhilePaused(t *testing.T) {
	p := read(t, true)
	p.judges(Judged{Verdict: VerdictGreen})
	p.says(PauseAsked{})
	p.done(DoFinalReview, said("f00d"))
	p.wantState(OnHold)
	if p.waitsFor(DoReady) {
		t.Fatalf("a paused task is marked ready: %v", p.task.Pending)
	}
	p.says(Resume{})
	p.done(DoReady, Readied{})
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}
