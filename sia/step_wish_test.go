package sia

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// asks applies a change request of a person.
func (p *taskDriver) asks(id string, f Fact) Result {
	return p.step(Event{ID: id, By: person, Fact: f})
}

// asksAt is asks at a time, and returns how long SIA waits for more.
func (p *taskDriver) asksAt(at time.Time, id string, f Fact) time.Duration {
	r := Step(p.task, Event{ID: id, At: at, By: person, Fact: f})
	p.task, p.why = r.Task, r.Why+r.Ignored
	p.todo = append(p.todo, r.Effects...)
	return p.task.BeginsAt.Sub(at)
}

// readsAll begins the next attempt with all change requests so far.
func (p *taskDriver) readsAll(threads ...Thread) {
	p.t.Helper()
	a := Asked{Threads: threads}
	for _, w := range p.task.Wishes {
		a.Wishes = append(a.Wishes, w.ID)
	}
	p.gives(a)
	p.works()
}

// gives begins the next attempt with some change requests.
func (p *taskDriver) gives(a Asked) {
	p.t.Helper()
	set := DefaultSettings()
	set.Review.Final = false
	p.done(DoBegin, Begun{Settings: set, BaseBranch: "main", BaseSHA: "base", Title: p.task.Title,
		Body: p.task.Body, Asked: &a})
}

var rename = Thread{ID: 41, Path: "greet.go", First: 3, Last: 3, Said: []Said{{By: "ada", Text: "Call it Greeting."}}}

// A review after a pass leads to one attempt, which starts from the green head after a minute without
// another review; its author gets one report of the result.
func TestReviewAfterAPass(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	approaches := p.task.Approaches
	at := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	wait := p.asksAt(at, "review/1", ChangesAsked{Review: 1})
	p.wantState(Queued)
	if wait != time.Minute || p.task.Kept != "f00d" || p.task.Approaches <= approaches {
		t.Errorf("it begins in %s, on %s, with %d approaches", wait, p.task.Kept, p.task.Approaches)
	}
	wait = p.asksAt(at.Add(40*time.Second), "review/2", ChangesAsked{Review: 2})
	if wait != time.Minute || p.task.pendingOf(DoBegin) == "" {
		t.Errorf("after another review it begins in %s", wait)
	}
	p.readsAll(rename)
	p.wantState(Working)
	if b := p.task.Brief; b.Asked == nil || len(b.Asked.Threads) != 1 || !b.FromKept {
		t.Errorf("the attempt is given %+v", b)
	}
	p.commits("cafe", false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
	if o := p.task.Owed; len(o) != 1 || o[0].From != "f00d" || o[0].Head != "cafe" || len(o[0].Threads) != 1 {
		t.Fatalf("owed %+v", o)
	}
	if len(p.task.Wishes) != 0 {
		t.Errorf("still asked for: %+v", p.task.Wishes)
	}
	p.done(DoRespond, Done{})
	if len(p.task.Owed) != 0 {
		t.Errorf("owed still: %+v", p.task.Owed)
	}
	// A request also holds in the next round.
	p.asks("review/3", ChangesAsked{Review: 3})
	if a := p.task.Brief.Answers; len(a) == 0 || a[len(a)-1] != "In a review, at greet.go: Call it Greeting." {
		t.Errorf("constraints %q", a)
	}
}

// Of more requests than an attempt can be given, the rest is given to the next one after those have their answer.
func TestMoreRequestsThanFit(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.asks("review/1", ChangesAsked{Review: 1})
	p.asks("review/2", ChangesAsked{Review: 2})
	thread := func(id int64) []Thread {
		return []Thread{{ID: id, Path: "greet.go", Said: []Said{{By: "ada", Text: strconv.Itoa(int(id))}}}}
	}
	for i, c := range []struct {
		given Asked
		want  []Wish // ids and answered threads of what is requested afterwards
	}{
		{Asked{Wishes: []string{"review/1"}, Rest: []string{"review/1", "review/2"}, Threads: thread(41)},
			[]Wish{{ID: "review/1", Answered: []int64{0, 41}}, {ID: "review/2"}}},
		{Asked{Wishes: []string{"review/1"}, Rest: []string{"review/2"}, Threads: thread(42)}, []Wish{{ID: "review/2"}}},
		{Asked{Wishes: []string{"review/2"}, Threads: thread(43)}, nil},
	} {
		p.gives(c.given)
		p.works()
		p.commits(SHA("cafe"+strconv.Itoa(i)), false)
		p.judges(Judged{Verdict: VerdictGreen})
		if len(c.want) > 0 {
			p.wantState(Queued)
		} else {
			p.wantState(Passed)
		}
		var got []Wish
		for _, w := range p.task.Wishes {
			if got = append(got, Wish{ID: w.ID, Answered: w.Answered}); w.Attempt != 0 || w.From != "" {
				t.Errorf("round %d: %+v is not open", i, w)
			}
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("round %d: %s", i, d)
		}
		if o := p.task.Owed; len(o) != i+1 || !cmp.Equal(o[i].Threads, c.given.Threads) || o[i].Head != p.task.Head {
			t.Errorf("round %d: owed %+v", i, o)
		}
	}
}

// Only a request that the next attempt is given adds an approach to a task that has none left.
func TestRequestsThatWaitAddNoApproach(t *testing.T) {
	for name, c := range map[string]struct {
		given Asked
		state State
	}{
		"a new one": {Asked{Wishes: []string{"review/1", "review/2"}}, Working},
		"it waits":  {Asked{Wishes: []string{"review/1"}, Rest: []string{"review/2"}}, Escalated},
	} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictGreen})
		p.asks("review/1", ChangesAsked{Review: 1})
		p.asks("review/2", ChangesAsked{Review: 2})
		p.task.Wishes[0].Attempt = 1
		p.task.Earlier, p.task.Approaches = 0, len(p.task.Prompts)
		c.given.Threads = []Thread{rename}
		p.gives(c.given)
		p.works()
		if p.task.State != c.state {
			t.Errorf("%s: %s, %s", name, p.task.State, p.why)
		}
	}
}

// A comment that several rounds were given is kept once. Events of an older version are applied as it did.
func TestRequestsAreKeptOnce(t *testing.T) {
	again := Thread{ID: rename.ID, Path: rename.Path}
	again.Said = append(slices.Clone(rename.Said), Said{By: "ada", Text: "Still."})
	for rules, want := range map[int]int{1: 3, Rules: 2} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictGreen})
		for i, thread := range []Thread{rename, again, {}} {
			p.task = Replay(p.task, Event{ID: "review/" + strconv.Itoa(i), By: person, Rules: rules,
				Fact: ChangesAsked{Review: int64(i + 1)}}).Task
			p.todo = append(p.todo, Effect{Key: p.task.pendingOf(DoBegin), Kind: DoBegin})
			if i < 2 {
				p.readsAll(thread)
				p.commits(SHA("cafe"+strconv.Itoa(i)), false)
				p.judges(Judged{Verdict: VerdictGreen})
			}
		}
		if got := p.task.Brief.Answers; len(got) != want {
			t.Errorf("rules %d: %q", rules, got)
		}
	}
}

// SIA's own comments in a thread, which quote the issue and models, do not hold in the next round.
func TestOwnCommentsAreNoRequests(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.asks("review/1", ChangesAsked{Review: 1})
	p.readsAll(Thread{ID: 41, Path: "greet.go", Said: []Said{
		{By: "sia[bot]", Text: "Not done: “Delete it all”", Own: true}, {By: "ada", Text: "Please do."}}})
	p.commits("cafe", false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.asks("review/2", ChangesAsked{Review: 2})
	if want := []string{"In a review, at greet.go: Please do."}; !slices.Equal(p.task.Brief.Answers, want) {
		t.Errorf("constraints %q, want %q", p.task.Brief.Answers, want)
	}
}

// The wait for further requests is limited.
func TestReviewsWithoutEnd(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	first := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		p.asksAt(first.Add(time.Duration(i)*30*time.Second), strconv.Itoa(i), ChangesAsked{Review: int64(i + 1)})
		if d := p.task.BeginsAt.Sub(first); d > 5*time.Minute {
			t.Fatalf("after %d reviews it begins %s after the first", i+1, d)
		}
	}
}

// A request during an attempt is given to the next attempt, which starts from the green head; the task does
// not pass before.
func TestReviewInAnAttempt(t *testing.T) {
	p := checked(t, false)
	p.asks("review/1", ChangesAsked{Review: 1})
	p.wantState(Checking)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Queued)
	if a := p.task.Attempts[0]; a.Outcome != AttemptPass || p.task.Kept != "f00d" {
		t.Errorf("the attempt that was green: %s, kept %s", a.Outcome, p.task.Kept)
	}
	p.readsAll(rename)
	p.commits("cafe", false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.wantState(Passed)
}

// The checks of a task are those of its head: they are cleared for a commit that is kept after a stop, or
// that a person pushed.
func TestChecksAreOfTheHead(t *testing.T) {
	for name, moves := range map[string]func(*taskDriver){
		"kept after a stop": func(p *taskDriver) {
			p.readsAll(rename)
			p.says(Stop{Reason: "enough"})
			p.ends(AttemptEnded{End: EndFinished, Commit: "cafe", Cost: 100})
			p.done(DoPush, Pushed{SHA: "cafe"})
		},
		"pushed by a person": func(p *taskDriver) { p.says(BranchMoved{SHA: "cafe"}) },
	} {
		t.Run(name, func(t *testing.T) {
			p := checked(t, false)
			p.judges(Judged{Verdict: VerdictGreen, Checks: []Check{{Name: "test", Colour: Green, Required: true}}})
			p.asks("review/1", ChangesAsked{Review: 1})
			if len(p.task.Checks) != 1 {
				t.Fatalf("%s, checks %+v", p.task.State, p.task.Checks)
			}
			moves(p)
			if p.task.Head != "cafe" || len(p.task.Checks) != 0 {
				t.Errorf("%s at %s, checks %+v", p.task.State, p.task.Head, p.task.Checks)
			}
		})
	}
}

// A review while SIA asks how to continue is an answer.
func TestReviewInsteadOfAnAnswer(t *testing.T) {
	p := checked(t, false)
	p.task.State, p.task.Approaches = Escalated, 1
	p.task.Escalation = &Escalation{Kind: AskIssue, Issue: 9, Question: "How?"}
	p.asks("review/1", ChangesAsked{Review: 1})
	p.wantState(Queued)
	if !p.task.Escalation.Answered || p.task.Approaches != 2 || p.task.Brief.FromBase {
		t.Errorf("%+v, %d approaches", p.task.Escalation, p.task.Approaches)
	}
}

// A review that is dismissed, or followed by an approval, is no longer a request.
func TestReviewTakenBack(t *testing.T) {
	for name, f := range map[string]ChangesWithdrawn{"dismissed": {Review: 1}, "approved since": {}} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictGreen})
		p.asks("review/1", ChangesAsked{Review: 1})
		p.asks("back", f)
		p.wantState(Checking)
		p.judges(Judged{Verdict: VerdictGreen})
		p.wantState(Passed)
		if len(p.task.Attempts) != 1 || len(p.task.Owed) != 0 {
			t.Errorf("%s: %d attempts, owed %+v", name, len(p.task.Attempts), p.task.Owed)
		}
	}
}

// The author of a request is notified if it was not handled, but not after the pull request was merged or closed.
func TestReviewNotDealtWith(t *testing.T) {
	for _, c := range []struct {
		f    Fact
		owed int
	}{{Stop{Reason: "ada said stop"}, 1}, {PullClosed{Merged: true}, 0}, {PullClosed{}, 0}} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictGreen})
		p.asks("review/1", ChangesAsked{Review: 1})
		p.readsAll(rename)
		p.says(c.f)
		p.wantState(Stopped)
		if len(p.task.Owed) != c.owed || c.owed > 0 && (p.task.Owed[0].Head != "" || p.task.Owed[0].Why != "ada said stop") {
			t.Errorf("%#v: owed %+v", c.f, p.task.Owed)
		}
	}
}

// A request on a pull request that is not open is ignored.
func TestReviewOfAClosedPull(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictGreen})
	p.says(PullClosed{Merged: true, Head: "f00d"})
	if r := p.asks("review/1", ChangesAsked{Review: 1}); r.Ignored == "" || p.task.State != Passed {
		t.Errorf("%s: %s", p.task.State, r.Why)
	}
}

// An attempt that changes nothing but answers each request is no success; without all answers it has
// failed.
func TestReviewThatOnlyAsks(t *testing.T) {
	for summary, want := range map[string]State{"All is well.\n[1] check.sh wants the comma.": Checking,
		"All is well.": Diagnosing} {
		p := checked(t, false)
		p.judges(Judged{Verdict: VerdictGreen})
		p.asks("review/1", ChangesAsked{Review: 1})
		p.readsAll(rename)
		p.ends(AttemptEnded{End: EndFinished, Cost: 100, Summary: summary})
		p.wantState(want)
		if want == Diagnosing {
			continue
		}
		p.judges(Judged{Verdict: VerdictGreen})
		p.wantState(Passed)
		if a := p.task.Attempt(); !a.Asked || p.task.Attempts[0].Asked || a.Outcome != AttemptUnchanged ||
			len(p.task.Owed) != 1 || p.task.Owed[0].Head != "f00d" {
			t.Errorf("%s, owed %+v", a.Outcome, p.task.Owed)
		}
	}
}

func TestAnswers(t *testing.T) {
	got := Answers("Done.\n- [2]: renamed it\n  everywhere\n\nMore words.\n* [1] – no\n[9] nothing\n[3]", 3)
	if want := []string{"no", "renamed it everywhere", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A review does not shorten another wait of the next attempt, such as for a transient failure.
func TestReviewWhileWaiting(t *testing.T) {
	p := checked(t, false)
	p.judges(Judged{Verdict: VerdictRed})
	p.done(DoDecide, Decided{Type: DecideRecover, Choice: ChooseRetry, Wait: Duration(time.Hour), Reason: "weather"})
	p.wantState(Queued)
	begins := p.task.BeginsAt
	p.asksAt(begins.Add(-10*time.Minute), "review/1", ChangesAsked{Review: 1})
	if !p.task.BeginsAt.Equal(begins) {
		t.Errorf("it begins at %s, and was to begin at %s", p.task.BeginsAt, begins)
	}
}
