package render_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
	"github.com/sia-bot/sia/sim/apptest"
)

// part is a part of the story's plan, in a state.
func part(n int, state sia.PartState, needs ...int) sia.Part {
	p := []plan.Part{
		{Do: "Add a `Mailer` interface with a recorder in mail/mailer.go. Nothing calls it yet.",
			DoneWhen: "`go build ./mail` passes", Check: "go build ./mail"},
		{Do: "Send the confirmation from booking/handler.go", DoneWhen: "TestBookingSendsMail passes.",
			Check: "go test ./booking -run TestBookingSendsMail"},
		{Do: "Say in docs/mail.md how the sender is set up, and which of its settings have to be there before the " +
			"first mail leaves",
			DoneWhen: "docs/mail.md names MAIL_FROM", Check: "grep -q MAIL_FROM docs/mail.md"},
	}[n-1]
	p.Needs = needs
	out := sia.Part{Part: p, State: state}
	if state == sia.PartDone {
		out.Checked, out.Run, out.Cost = &sia.CheckRun{Command: p.Check, Holds: true}, n, 3000
	}
	return out
}

// red is the sandbox's result for the second part.
func red() *sia.CheckRun {
	return &sia.CheckRun{Command: "go test ./booking -run TestBookingSendsMail", Excerpt: log, Class: "test",
		Tests: []string{"TestBookingSendsMail"}}
}

// linear has one part done, one in progress, and one waiting.
func linear() sia.Task {
	t := working()
	a := &t.Attempts[0]
	a.Structure, a.Shape, a.Parallel = plan.Linear, "the issue asks for three things that build on each other", 1
	a.Parts = []sia.Part{part(1, sia.PartDone), part(2, sia.PartRunning, 1), part(3, sia.PartWaiting, 2)}
	return t
}

// parallel has a part that failed and is retried by another coder.
func parallel() sia.Task {
	t := linear()
	a := &t.Attempts[0]
	a.Coder, a.Assigned = "fast", "fast is expected to resolve this task with a chance of 61 %, for 20 credits"
	a.Structure, a.Shape, a.Parallel = plan.Parallel, "the issue asks for things that don't touch each other", 2
	p := part(2, sia.PartRunning, 1)
	p.Tries, p.Checked, p.Failed = 1, red(), []string{"fast"}
	p.Coder, p.Assigned = "strong", "fast failed at it, and strong is expected to do it with a chance of 48 %"
	a.Parts = []sia.Part{part(1, sia.PartDone), p, part(3, sia.PartRunning, 1)}
	return t
}

// merging has conflicting parts, which adds a part for the merge.
func merging() sia.Task {
	t := parallel()
	a := &t.Attempts[0]
	second := part(2, sia.PartDone, 1)
	second.Tries = 1
	a.Parts = []sia.Part{part(1, sia.PartDone), second, part(3, sia.PartDone, 1), {
		Kind: sia.PartMerge, State: sia.PartRunning, Part: plan.Part{Do: "Resolve the conflicts between part 2 (Send the " +
			"confirmation from booking/handler.go) and part 3 (Say in docs/mail.md). Keep what each of them is for.",
			DoneWhen: "no file holds both sides any more", Paths: []string{"go.mod"}, Needs: []int{2, 3}}}}
	return t
}

// mergedParts is merging after it passed, with the incompatibility of the parts fixed.
func mergedParts() sia.Task {
	t := merging()
	a := &t.Attempts[0]
	a.Parts[3].State = sia.PartDone
	a.Parts = append(a.Parts, sia.Part{Kind: sia.PartMend, State: sia.PartDone, Part: plan.Part{
		Do:       "The parts are put together, and this does not hold: `go vet ./...`. Mend it.",
		DoneWhen: "`go vet ./...` ends with 0", Check: "go vet ./...", Needs: []int{4}},
		Checked: &sia.CheckRun{Command: "go vet ./...", Holds: true}})
	return judged(t, sia.AttemptPass)
}

// judged is a task with an attempt that was pushed and judged.
func judged(t sia.Task, outcome sia.AttemptOutcome) sia.Task {
	done := checking()
	a, d := &t.Attempts[0], done.Attempts[0]
	a.EndedAt, a.Head, a.Cost, a.Turns, a.Diff, a.Outcome = d.EndedAt, d.Head, d.Cost, d.Turns, d.Diff, outcome
	t.Head, t.Pull, t.Credits, t.Checks = done.Head, done.Pull, done.Credits, done.Checks
	t.State, t.Since = sia.Passed, clock(12)
	t.Checks[0].Colour = sia.Green
	if outcome != sia.AttemptPass {
		t.State, t.Checks[0].Colour = sia.Reviewing, sia.Red
	}
	return t
}

const faultTest = "go test ./booking -run TestPastDate"

// reproduced passed: SIA saw a test fail on the base, and pass with the change.
func reproduced() sia.Task {
	t := working()
	a := &t.Attempts[0]
	a.Structure, a.Shape, a.Parallel = plan.Reproduce, "the issue tells of a fault", 1
	a.Parts = []sia.Part{
		{Kind: sia.PartTest, State: sia.PartDone, Part: plan.Part{
			Do:       "Write a test that fails because of the fault that the issue tells of. Change nothing else.",
			DoneWhen: "the test fails on the code as it is, for the reason that the issue tells"},
			Checked: &sia.CheckRun{Command: faultTest, Holds: true}, Summary: "Added TestPastDate."},
		{State: sia.PartDone, Part: plan.Part{Do: "Resolve the issue, so that this test passes.",
			DoneWhen: "the test passes, and so does every test that passed before", Check: faultTest, Needs: []int{1}},
			Checked: &sia.CheckRun{Command: faultTest, Holds: true}},
	}
	return judged(t, sia.AttemptPass)
}

// unreproduced goes on without a test that shows the fault.
func unreproduced() sia.Task {
	t := reproduced()
	a := &t.Attempts[0]
	a.Shape = "the fault could not be reproduced by a test: the test passes on the code as it is"
	a.Parts[0].State, a.Parts[0].Tries = sia.PartGivenUp, 2
	a.Parts[0].Reason, a.Parts[0].Checked = "the test passes on the code as it is", &sia.CheckRun{Command: faultTest}
	a.Parts[1].Needs, a.Parts[1].Check = nil, ""
	a.Parts[1].Checked = &sia.CheckRun{Missing: "the repository names no command for its tests"}
	return t
}

// race has the second racer's change in the checks, after the first one's failed there.
func race() sia.Task {
	t := judged(working(), "")
	t.State, t.Checks[0].Colour = sia.Checking, sia.Running
	a := &t.Attempts[0]
	a.Structure, a.Parallel, a.Coder, a.Agent = plan.Race, 3, "strong", "builtin/big"
	a.Parts = []sia.Part{
		{Kind: sia.PartRacer, State: sia.PartDone, Coder: "fast", Agent: "builtin/small", Pushed: true,
			Checked: &sia.CheckRun{Command: "go test ./...", Holds: true}, Diff: sia.DiffStat{Files: 2, Added: 30, Deleted: 2}},
		{Kind: sia.PartRacer, State: sia.PartDone, Coder: "strong", Agent: "builtin/big", Pushed: true,
			Checked: &sia.CheckRun{Command: "go test ./...", Holds: true}, Diff: sia.DiffStat{Files: 3, Added: 61, Deleted: 4}},
		{Kind: sia.PartRacer, State: sia.PartDone, Coder: "other", Agent: "command/aider",
			Checked: &sia.CheckRun{Command: "go test ./...", Tests: []string{"TestA", "TestB"}},
			Diff:    sia.DiffStat{Files: 1, Added: 9}},
		{Kind: sia.PartRacer, State: sia.PartGivenUp, Coder: "slow", Reason: "time limit of 30m reached"},
	}
	return t
}

// racing is the same while the racers work.
func racing() sia.Task {
	t := working()
	a := race().Attempts[0]
	a.EndedAt, a.Head, a.Cost, a.Diff, a.Summary = t.Attempts[0].EndedAt, "", 0, sia.DiffStat{}, ""
	a.Shape = "two coders are worth more than one: a chance of 71 % instead of 48 %"
	a.Parts = []sia.Part{a.Parts[0], {Kind: sia.PartRacer, State: sia.PartRunning, Coder: "strong", Agent: "builtin/big"}}
	a.Parts[0].Pushed = false
	t.Attempts[0] = a
	return t
}

// lost failed because a part was given up.
func lost() sia.Task {
	t := parallel()
	a := &t.Attempts[0]
	a.Parts[1].State, a.Parts[1].Tries = sia.PartGivenUp, 2
	a.Parts[2] = part(3, sia.PartDone, 1)
	a.Reason = "part 2 of 3 was not done: " + a.Parts[1].Do
	c := a.Parts[1].Checked
	a.Failures = []sia.CheckFailure{{Check: "part 2: " + c.Command, Excerpt: c.Excerpt, Class: c.Class, Tests: c.Tests,
		Signature: "part " + c.Command}}
	return judged(t, sia.AttemptFail)
}

// many has more parts than a comment can show, each with as much text as possible.
func many() sia.Task {
	t := parallel()
	a := &t.Attempts[0]
	a.Parts = nil
	for i, state := range []sia.PartState{sia.PartDone, sia.PartDone, sia.PartRunning, sia.PartFailed, sia.PartWaiting,
		sia.PartWaiting, sia.PartWaiting, sia.PartWaiting, sia.PartWaiting, sia.PartWaiting} {
		p := part(1, state)
		p.Do = fmt.Sprintf("Step %d of a plan in which every part has a rather long text of what is to be done in it", i+1)
		if state == sia.PartFailed {
			p.Tries, p.Reason = 1, "time limit of 30m reached"
		}
		a.Parts = append(a.Parts, p)
	}
	return t
}

// tasksWithParts returns the tasks with parts in their attempts, by name.
func tasksWithParts() map[string]sia.Task {
	unplanned := linear()
	unplanned.Attempts[0].Parts = nil
	whole := linear()
	a := &whole.Attempts[0]
	a.Structure, a.Parts, a.Shape = plan.Whole, nil,
		"no plan of parts could be worked by: part 1: check must have 1 to 500 bytes"
	aggregating := mergedParts()
	aggregating.State, aggregating.Attempts[0].Outcome = sia.Working, ""
	aggregating.Attempts[0].Aggregating, aggregating.Attempts[0].EndedAt = true, unplanned.Attempts[0].EndedAt
	held := parallel()
	held.State, held.Pause = sia.OnHold,
		&sia.Pause{From: sia.Working, By: sia.Actor{Login: "mia"}, Kind: sia.PausedByPerson, Reason: "asked to pause"}
	last := sia.Progress{Run: 3, Turn: 14, Tests: "The tests fail: go test ./booking, after <!-- 12 s -->"}
	told, raced, tight, planning := parallel(), racing(), many(), unplanned
	told.Attempts[0].Parts[1].Progress, told.Attempts[0].Parts[1].Run = &last, 3
	raced.Attempts[0].Parts[1].Progress, raced.Attempts[0].Parts[1].Run = &last, 3
	tight.Attempts[0].Parts[2].Progress, tight.Attempts[0].Parts[2].Run = &last, 3
	planning.Attempts = slices.Clone(planning.Attempts)
	planning.Attempts[0].Progress = &last
	return map[string]sia.Task{"told": told, "told-racing": raced, "told-tight": tight, "told-unplanned": planning,
		"linear": linear(), "parallel": parallel(), "merge": merging(), "together": mergedParts(),
		"reproduced": reproduced(), "unreproduced": unreproduced(), "race": race(), "racing": racing(), "lost": lost(),
		"many": many(), "unplanned": unplanned, "whole-after-all": whole, "aggregating": aggregating, "held": held}
}

func TestParts(t *testing.T) {
	for name, task := range tasksWithParts() {
		t.Run(name, func(t *testing.T) {
			status := render.Status(task, links, now)
			if n := apptest.VisibleWords(status); n > apptest.WordLimits["status"] {
				t.Errorf("%d words are visible:\n%s", n, status)
			}
			golden(t, "parts/status-"+name+".md", status)
			golden(t, "parts/pull-"+name+".md", render.PullBody(task, nil, links))
			check := render.CheckRun(task, inTree(task), links)
			golden(t, "parts/check-"+name+".md", check.Title+"\n\n"+check.Summary)
		})
	}
	iv := intervention()
	iv.Diagnosis.Summary = "The handler calls a hosted provider, whose key is not there when the checks run."
	golden(t, "parts/intervention-lost.md", render.Intervention(lost(), iv, links))
	unchecked := lost()
	unchecked.Attempts[0].Failures, unchecked.Attempts[0].Head = nil, ""
	unchecked.Attempts[0].Parts[1].Checked, unchecked.Attempts[0].Parts[1].Reason = nil,
		"the limit of 60 turns was reached"
	golden(t, "parts/intervention-lost-unchecked.md", render.Intervention(unchecked, iv, links))
}

func TestPartMessages(t *testing.T) {
	var b strings.Builder
	say := func(message string) { b.WriteString(message + "----\n") }
	task := mergedParts()
	task.Attempts[0].Parts[0].Summary = "Added it.\n\nFixes #7 [skip ci]"
	for n := range task.Attempts[0].Parts {
		say(render.PartMessage(task, task.Attempts[0], n+1))
	}
	say(render.PartMessage(race(), race().Attempts[0], 2))
	say(render.PartMessage(reproduced(), reproduced().Attempts[0], 1))
	say(render.PartsMergeMessage(task, task.Attempts[0], []int{2, 3}))
	say(render.PartsMergeMessage(task, task.Attempts[0], []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}))
	stopped := task.Attempts[0]
	stopped.Outcome = sia.AttemptCancelled
	say(render.PartMessage(task, stopped, 3))
	golden(t, "parts/commit.txt", b.String())
	got, want := render.PartMessage(task, task.Attempts[0], 9), render.CommitMessage(task, task.Attempts[0])
	if got != want {
		t.Errorf("of no part: %s", got)
	}
}

// TestNoPartIsHarmful renders attempts with only hostile words in their parts, in every state.
func TestNoPartIsHarmful(t *testing.T) {
	skips := regexp.MustCompile(`(?i)\[(skip|no|ci|actions)`)
	rapid.Check(t, func(t *rapid.T) {
		var task sia.Task
		fill(reflect.ValueOf(&task).Elem(), func() string { return hostile().Draw(t, "text") })
		task.State = rapid.SampledFrom(sia.States).Draw(t, "state")
		a := &task.Attempts[1]
		a.Outcome = rapid.SampledFrom([]sia.AttemptOutcome{"", sia.AttemptPass, sia.AttemptFail}).Draw(t, "outcome")
		a.Structure = rapid.SampledFrom([]plan.Structure{plan.Linear, plan.Parallel, plan.Hierarchical, plan.Reproduce,
			plan.Race, plan.Whole}).Draw(t, "structure")
		a.Aggregating = rapid.Bool().Draw(t, "aggregating")
		for len(a.Parts) < rapid.IntRange(0, plan.MaxParts+2).Draw(t, "parts") {
			a.Parts = append(a.Parts, a.Parts[0])
		}
		for i := range a.Parts {
			p := &a.Parts[i]
			p.State = rapid.SampledFrom([]sia.PartState{sia.PartWaiting, sia.PartRunning, sia.PartFailed, sia.PartDone,
				sia.PartGivenUp}).Draw(t, "part")
			p.Kind = rapid.SampledFrom([]sia.PartKind{sia.PartOfPlan, sia.PartTest, sia.PartRacer, sia.PartMerge,
				sia.PartMend}).Draw(t, "kind")
			p.Pushed, p.Tries = rapid.Bool().Draw(t, "pushed"), rapid.IntRange(0, 5).Draw(t, "tries")
			if p.Checked = nil; rapid.Bool().Draw(t, "checked") {
				p.Checked = &sia.CheckRun{Command: hostile().Draw(t, "command"), Excerpt: hostile().Draw(t, "excerpt"),
					Holds: rapid.Bool().Draw(t, "holds")}
				if rapid.Bool().Draw(t, "missing") {
					p.Checked.Missing = hostile().Draw(t, "why")
				}
			}
		}
		iv := task.Interventions[0]
		iv.After = a.Number
		all := map[string]string{"status": render.Status(task, links, now), "pull": render.PullBody(task, nil, links),
			"intervention": render.Intervention(task, iv, links), "check": render.CheckRun(task, inTree(task), links).Summary,
			"check text": render.CheckRun(task, inTree(task), links).Text}
		for name, body := range all {
			if _, ok := render.ParseMarker(body); ok || strings.Contains(body, "<!--") || len(body) > render.MaxBody {
				t.Fatalf("%s: forged a marker, or is too long:\n%s", name, body)
			}
			limit, ok := apptest.WordLimits[map[string]string{"status": "status", "intervention": string(sia.DoAnnounce)}[name]]
			if ok && apptest.VisibleWords(body) > limit {
				t.Fatalf("%s: %d words are visible, and %d are enough:\n%s", name, apptest.VisibleWords(body), limit, body)
			}
			page := toHTML(t, body)
			if strings.Count(page, "<details>") != strings.Count(page, "</details>") || strings.Contains(page, "<script") ||
				strings.Contains(page, "<img") || strings.Contains(page, "<input") {
				t.Fatalf("%s: broken layout:\n%s", name, page)
			}
		}
		for n := range a.Parts {
			for _, message := range []string{render.PartMessage(task, *a, n+1),
				render.PartsMergeMessage(task, *a, []int{n + 1, 99})} {
				s, _, _ := strings.Cut(message, "\n")
				if utf8.RuneCountInString(s) > 72 || strings.TrimSpace(s) == "" || skips.MatchString(message) {
					t.Fatalf("a subject that is too long or empty, or a commit that skips checks: %q", message)
				}
			}
		}
	})
}

// TestManyLongPartsFit checks the limits at ten times a plan's maximum.
func TestManyLongPartsFit(t *testing.T) {
	task := lost()
	a := &task.Attempts[0]
	long := strings.Repeat("日 ", 2500)
	for range 10 * plan.MaxParts {
		p := part(2, sia.PartFailed, 1)
		p.Do, p.DoneWhen, p.Reason, p.Assigned, p.Coder, p.Summary = long, long, long, long, long, long
		p.Checked = &sia.CheckRun{Command: long, Excerpt: strings.Repeat(long[:2000]+"\n", 30), Tests: []string{long, long}}
		p.Tries = 1
		a.Parts = append(a.Parts, p)
	}
	a.Shape = long
	for _, outcome := range []sia.AttemptOutcome{"", sia.AttemptFail} {
		a.Outcome = outcome
		task.State = sia.Working
		check := render.CheckRun(task, inTree(task), links)
		for name, body := range map[string]string{"status": render.Status(task, links, now),
			"pull": render.PullBody(task, nil, links), "check": check.Summary, "text": check.Text,
			"intervention": render.Intervention(task, intervention(), links)} {
			if len(body) > render.MaxBody || !utf8.ValidString(body) {
				t.Errorf("%s: %d bytes", name, len(body))
			}
		}
	}
}
