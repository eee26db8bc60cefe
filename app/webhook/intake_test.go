package webhook

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// A ticked box answers the question in its comment. A plan has no boxes: a ticked one belongs to an older question,
// and does not approve the plan.
func TestBoxesInAComment(t *testing.T) {
	tick := sia.Event{Origin: sia.Origin{OnIssue: 3, Comment: 8},
		Fact: sia.Edited{Body: "- [x] **A** — All of them\n- [ ] **B** — One"}}
	for _, c := range []struct {
		open sia.Escalation
		want sia.Fact // nil: the event is ignored
	}{
		{sia.Escalation{Kind: sia.AskQuestion, Issue: 3}, sia.AnswerGiven{Letter: "A"}},
		{sia.Escalation{Kind: sia.AskQuestion, Issue: 3, URL: "https://g/o/r/issues/3#issuecomment-8"},
			sia.AnswerGiven{Letter: "A"}},
		{sia.Escalation{Kind: sia.AskQuestion, Issue: 3, URL: "https://g/o/r/issues/3#issuecomment-9"}, nil},
		{sia.Escalation{Kind: sia.AskQuestion, Issue: 3, Answered: true}, nil},
		{sia.Escalation{Kind: sia.AskPlan, Issue: 3}, nil},
		{sia.Escalation{Kind: sia.AskIssue, Issue: 9}, nil},
	} {
		got, ok := interpret(sia.Task{Issue: 3, Escalation: &c.open}, tick)
		if ok != (c.want != nil) || ok && cmp.Diff(c.want, got.Fact) != "" {
			t.Errorf("%s, answered %v: %v %+v, want %+v", c.open.Kind, c.open.Answered, ok, got.Fact, c.want)
		}
	}
}

// Text in the escalation of a plan is an answer to it.
func TestWordsToAPlan(t *testing.T) {
	task := sia.Task{Issue: 3, Escalation: &sia.Escalation{
		Kind: sia.AskPlan, Issue: 3, Options: []sia.Option{{Letter: "A", Text: "Go ahead"}, {Letter: "B", Text: "Stop here"}},
	}}
	for text, want := range map[string]sia.AnswerGiven{
		"go ahead": {Letter: "A"}, "A": {Letter: "A"}, "stop here": {Letter: "B"},
		"A, but in German":             {Letter: "A", Text: "but in German"},
		"go back to the drawing board": {Text: "go back to the drawing board"},
		"a good plan, yet too long":    {Text: "a good plan, yet too long"},
		"C":                            {},
		"A or B?":                      {},
	} {
		got, ok := interpret(task, sia.Event{Origin: sia.Origin{OnIssue: 3, Comment: 8, Command: true},
			Fact: sia.AnswerGiven{Text: text}})
		if d := cmp.Diff(want, got.Fact); !ok || d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

// Conversation in a question's issue is no answer, unless it names an option; a command always is one. SIA explains
// that once.
func TestTalkInAQuestionsIssue(t *testing.T) {
	open := sia.Escalation{Kind: sia.AskIssue, Issue: 9, Options: []sia.Option{{Letter: "A", Text: "Ask the shop owner"},
		{Letter: "B", Text: "Leave it out"}}}
	told, answered, settled := open, open, open
	told.Talk, answered.Answered, settled.Closed = true, true, true
	talk := sia.NotAnswered{}
	for _, c := range []struct {
		said    string
		command bool
		asked   sia.Escalation
		want    sia.Fact // nil: the event is ignored
	}{
		{"@grace, what do you think? I would ask the shop owner first.", false, open, talk},
		{"What does A mean?", false, open, talk},
		{"What does A mean?", false, told, nil},
		{"A or B?", false, open, talk},
		{"B", false, open, sia.AnswerGiven{Letter: "B"}},
		{"b, but who does it?", false, open, sia.AnswerGiven{Letter: "B", Text: "but who does it?"}},
		{"ask the shop owner", false, told, sia.AnswerGiven{Letter: "A"}},
		{"In English please.", false, open, sia.AnswerGiven{Text: "In English please."}},
		{"C", false, open, sia.AnswerGiven{}},
		{"<!-- B -->", false, open, nil},
		{"@grace, what do you think?", true, open, sia.AnswerGiven{Text: "@grace, what do you think?"}},
		{"...", true, open, sia.AnswerGiven{}},
		{"B", false, answered, nil},
	} {
		got, ok := interpret(sia.Task{Issue: 3, Escalation: &c.asked}, sia.Event{
			Origin: sia.Origin{OnIssue: 9, Comment: 8, Command: c.command}, Fact: sia.AnswerGiven{Text: c.said}})
		if ok != (c.want != nil) || ok && cmp.Diff(c.want, got.Fact) != "" {
			t.Errorf("%q: %v %+v, want %+v", c.said, ok, got.Fact, c.want)
		}
	}
	for issue, of := range map[int]map[*sia.Escalation]bool{
		9: {&open: true, &told: true, &answered: false, &settled: false}, 3: {&open: false},
	} {
		for asked, want := range of {
			if _, ok := interpret(sia.Task{Issue: 3, Escalation: asked}, sia.Event{Origin: sia.Origin{OnIssue: issue},
				Fact: sia.NotAnswered{Closed: true}}); ok != want {
				t.Errorf("closing #%d while %+v counts: %v", issue, asked, ok)
			}
		}
	}
}

// Another option than the chosen one is passed to the task, which reports who answered first. The chosen one again,
// free text, and several ticked boxes are ignored.
func TestSecondAnswer(t *testing.T) {
	task := sia.Task{Issue: 3, Answers: []sia.Answer{{Escalation: 1, Letter: "A"}}, Escalation: &sia.Escalation{Number: 1,
		Kind: sia.AskIssue, Issue: 9, Answered: true, Options: []sia.Option{{Letter: "A", Text: "this"},
			{Letter: "B", Text: "that"}, {Letter: "C", Text: "neither"}}}}
	box := func(a, b, c string) sia.Fact {
		return sia.Edited{Body: "- [" + a + "] **A** — this\n- [" + b + "] **B** — that\n- [" + c + "] **C** — neither"}
	}
	for _, c := range []struct {
		fact   sia.Fact
		letter string // empty: the event is ignored
	}{
		{box("x", "x", " "), "B"}, {box(" ", "x", " "), "B"}, {box("x", " ", " "), ""}, {box("x", "x", "x"), ""},
		{sia.AnswerGiven{Text: "B, please"}, "B"}, {sia.AnswerGiven{Text: "that"}, "B"}, {sia.AnswerGiven{Text: "A"}, ""},
		{sia.AnswerGiven{Text: "Well done."}, ""},
	} {
		got, ok := interpret(task, sia.Event{Origin: sia.Origin{OnIssue: 9}, Fact: c.fact})
		if a, _ := got.Fact.(sia.AnswerGiven); ok != (c.letter != "") || ok && a.Letter != c.letter {
			t.Errorf("%+v: %v %+v, want %q", c.fact, ok, got.Fact, c.letter)
		}
	}
	task.Answers = nil // SIA has decided on its own
	if _, ok := interpret(task, sia.Event{Origin: sia.Origin{OnIssue: 9}, Fact: box(" ", "x", " ")}); ok {
		t.Error("a box of a question that nobody answered counts")
	}
}

// Another pull request of the task's branch, such as a backport's, is not the task's: closing it or changing its base
// does not affect the task.
func TestAnotherPullOfTheBranch(t *testing.T) {
	task := sia.Task{Issue: 3, Pull: sia.Pull{Number: 12}}
	for _, fact := range []sia.Fact{sia.PullClosed{}, sia.PullClosed{Merged: true}, sia.Retargeted{Base: "v1"},
		sia.DraftChanged{}} {
		for pull, want := range map[int]bool{12: true, 13: false, 0: true} {
			if _, ok := interpret(task, sia.Event{Origin: sia.Origin{OnIssue: pull}, Fact: fact}); ok != want {
				t.Errorf("%+v of #%d counts: %v", fact, pull, ok)
			}
		}
	}
}

// A command is old if it was written before its task ended. Ids of comments tell only between new commands: a box that
// was ticked in SIA's question, or an older comment that was edited, may have ended the task later.
func TestIsOld(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	stop := func(comment int64, id string, command bool) sia.Event {
		return sia.Event{ID: id, Origin: sia.Origin{Comment: comment, Command: command}, Fact: sia.Stop{}}
	}
	found := func(at time.Time) sia.Fact { return sia.Judged{Found: &sia.Found{Closed: true, ClosedAt: at}} }
	for name, c := range map[string]struct {
		written time.Time
		edit    string
		ended   sia.Event
		want    bool
	}{
		"long before":          {noon.Add(-time.Hour), "", sia.Event{ID: "x", Fact: sia.PullClosed{}}, true},
		"just before":          {noon.Add(-time.Second), "", sia.Event{ID: "x", Fact: sia.PullClosed{}}, false},
		"after an unseen end":  {noon.Add(-time.Hour), "", sia.Event{ID: "x", Fact: found(noon.Add(-2 * time.Hour))}, false},
		"before an unseen end": {noon.Add(-time.Hour), "", sia.Event{ID: "x", Fact: found(noon.Add(-time.Minute))}, true},
		"just before a closing": {noon.Add(-time.Second), "",
			sia.Event{ID: "x", Fact: sia.PullClosed{ClosedAt: noon}}, true},
		"before the stop":           {noon.Add(-time.Second), "", stop(8, "comment/8", true), true},
		"after a late stop":         {noon.Add(-time.Hour), "", stop(6, "comment/6", true), false},
		"edited":                    {noon.Add(-time.Hour), "comment/7/ab", stop(6, "comment/6", true), true},
		"before a tick":             {noon.Add(-time.Hour), "", stop(6, "delivery", false), true},
		"after a tick":              {noon.Add(-time.Second), "", stop(8, "delivery", false), false},
		"before an edit to a stop":  {noon.Add(-time.Hour), "", stop(6, "comment/6/ab", true), true},
		"after an edit to a stop":   {noon.Add(-time.Second), "", stop(8, "comment/8/ab", true), false},
		"after a stop in a review":  {noon.Add(-time.Second), "", stop(0, "review/8/command", true), false},
		"before a stop in a review": {noon.Add(-time.Hour), "", stop(0, "review/8/command", true), true},
	} {
		command := sia.Intent{Changed: c.written, EditID: c.edit, Event: sia.Event{Origin: sia.Origin{Comment: 7}}}
		log := []store.EventRecord{{Event: stop(9, "comment/9", true), From: sia.Checking, To: sia.Stopped},
			{From: sia.Stopped, To: sia.Queued}, {Event: c.ended, From: sia.Checking, To: sia.Stopped},
			{From: sia.Stopped, To: sia.Stopped}}
		if got := isOld(command, noon, log); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Acceptance of tests is about a commit: SIA asks about each anew.
func TestWaitsSince(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var log []store.EventRecord
	for i, f := range []sia.Fact{
		sia.Judged{SHA: "a", Verdict: sia.VerdictTampered},
		sia.Judged{SHA: "b", Verdict: sia.VerdictPending},
		sia.Judged{SHA: "b", Verdict: sia.VerdictTampered},
		sia.CheckSeen{SHA: "b"},
		sia.Judged{SHA: "b", Verdict: sia.VerdictPending},
		sia.Judged{SHA: "b", Verdict: sia.VerdictTampered},
	} {
		log = append(log, store.EventRecord{Event: sia.Event{At: at.Add(time.Duration(i) * time.Minute), Fact: f}})
	}
	log = append(log, store.EventRecord{Event: sia.Event{At: at, Fact: sia.Judged{SHA: "a"}}, Ignored: "late"})
	if got := waitsSince("b", log); !got.Equal(at.Add(2 * time.Minute)) {
		t.Errorf("it waits since %v", got)
	}
	if got := waitsSince("c", log); !got.IsZero() {
		t.Errorf("a head without a verdict waits since %v", got)
	}
}
