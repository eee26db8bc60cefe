//test:plain
package render_test

import (
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; if that is wanted, run go test ./app/render -update\n%s", name, d)
	}
}

// everyCommand matches the list of all commands, which is the same in each help and has one golden copy, in
// reply/help-without-task.md.
var everyCommand = regexp.MustCompile(`(?s)(<summary>Every command</summary>\n).*?\n</details>`)

func withoutList(t *testing.T, help string) string {
	t.Helper()
	if n := len(everyCommand.FindAllString(help, -1)); n != 1 {
		t.Errorf("help lists all commands %d times", n)
	}
	return everyCommand.ReplaceAllString(help, "${1}…\n</details>")
}

// Every topic has a reply.
func TestEveryTopicIsAnswered(t *testing.T) {
	unknown := render.Reply(sia.Task{}, "topic:none", links, 0, "", nil, nil)
	for _, c := range command.Commands() {
		p, _ := command.Parse("/sia "+c.Name, "")
		if q, ok := p.Fact.(sia.Query); ok && render.Reply(sia.Task{}, "topic:"+q.Topic, links, 0, "", nil, nil) == unknown {
			t.Errorf("/sia %s is answered with %q", c.Name, unknown)
		}
	}
}

func TestEveryMoment(t *testing.T) {
	for name, task := range moments() {
		t.Run(name, func(t *testing.T) {
			golden(t, "status/"+name+".md", render.Status(task, links, now))
			golden(t, "pull/"+name+".md", render.PullTitle(task)+"\n\n"+render.PullBody(task, nil, links))
			golden(t, "reply/status-"+name+".md", render.StatusReply(task, links, 4711, ""))
			golden(t, "reply/help-"+name+".md", withoutList(t, render.Help(task)))
			check, err := json.MarshalIndent(render.CheckRun(task, inTree(task), links), "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, "check/"+name+".json", string(check)+"\n")
		})
	}
}

// A pull request is no draft where the repository's plan has no drafts, and where a person marked it ready.
func TestPullThatIsNoDraft(t *testing.T) {
	for want, task := range map[string]sia.Task{
		"\n\nSIA is still working on it: please don't merge it yet.\n":                 checking(),
		"\n\nSIA waits for a person: the status comment on the issue says for what.\n": escalated(),
		"- The pull request: #13\n": escalated(),
	} {
		task.Pull.Draft = false
		said := render.PullBody(task, nil, links)
		if task.Escalation != nil {
			said += "\n" + render.EscalationBody(task, *task.Escalation, links)
		}
		if !strings.Contains(said, want) || strings.Contains(said, "raft") {
			t.Errorf("want %q, not:\n%s", want, said)
		}
	}
}

// A waiting task says what it waits for, and who can continue it.
func TestWaitsForOthers(t *testing.T) {
	turn := queued()
	turn.BeginsAt = now
	golden(t, "status/waits-for-its-turn.md", render.Status(turn, links, now))
	turn.NoRoom = true
	golden(t, "status/waits-for-room.md", render.Status(turn, links, now))
	edited := working()
	edited.Edited = &sia.Edit{By: sia.Actor{Login: "mia"}, At: now}
	golden(t, "status/edited.md", render.Status(edited, links, now))
	read := passed()
	read.Edited = edited.Edited
	golden(t, "status/edited-before-the-pass.md", render.Status(read, links, now))
	golden(t, "pull/edited-before-the-pass.md", render.PullTitle(read)+"\n\n"+render.PullBody(read, nil, links))
	unwanted := passed()
	unwanted.Pull, unwanted.Aftermath = sia.Pull{ClosedBy: sia.Actor{Login: "noor"}}, sia.Abandoned
	golden(t, "status/closed-unmerged.md", render.Status(unwanted, links, now))
	blocked := escalated()
	blocked.Checks = []sia.Check{{Name: "docs", Colour: sia.Skipped}, {Name: "vet", Colour: sia.Green, Required: true},
		{Name: "test", Colour: sia.Blocked, Required: true, Why: "was not started; perhaps there is no runner for it"}}
	golden(t, "status/blocked.md", render.Status(blocked, links, now))
	for name, scope := range map[string]sia.HaltScope{
		"server": sia.ServerHalt, "repository": sia.RepositoryHalt(turn.Repo.ID), "installation": sia.InstallationHalt(5),
		"suspended": sia.SuspensionHalt(5),
	} {
		halted := queued()
		halted.State = sia.OnHold
		halted.Pause = &sia.Pause{From: sia.Queued, Kind: sia.PausedByHalt, Reason: "everything is paused", Scope: scope}
		golden(t, "status/halted-"+name+".md", render.Status(halted, links, now))
	}
}

// Policies' decisions are visible: the coder and the reason, that no attempt is worthwhile, and why a person is asked
// early.
func TestDecisionsAreShown(t *testing.T) {
	who := second()
	for i, name := range []string{"fast", "strong"} {
		who.Attempts[i].Coder = name
	}
	who.Attempts[1].Assigned = "strong is expected to resolve this task with a chance of 41 %, given that fast " +
		"failed, for 57 credits"
	golden(t, "status/several-coders.md", render.Status(who, links, now))
	worth := queued()
	worth.State = sia.OnHold
	worth.Pause = &sia.Pause{From: sia.Queued, Kind: sia.PausedByWorth,
		Reason: "for nobody left is the chance worth the cost: a solved task is worth 100 credits"}
	golden(t, "status/not-worth-it.md", render.Status(worth, links, now))
	waits := second()
	waits.State, waits.BeginsAt = sia.Queued, now
	golden(t, "status/waits-to-retry.md", render.Status(waits, links, now))
	early := escalated()
	early.Approaches = len(early.Prompts) + 2
	early.Escalation.Early = "a person is worth more than another approach: a predicted value of 0.71, above 0.65 " +
		"(ambiguity 0.30)"
	golden(t, "escalation/before-another.md", render.EscalationBody(early, *early.Escalation, links))
}

func TestInterventions(t *testing.T) {
	task := failed()
	cases := map[string]func(*sia.Intervention){
		"plain":    func(*sia.Intervention) {},
		"approved": func(iv *sia.Intervention) { iv.Review = sia.Review{Verdict: sia.Approved} },
		"major": func(iv *sia.Intervention) {
			iv.Review = sia.Review{Verdict: sia.Major, Points: []string{"It would weaken a test."}}
		},
		"amended": func(iv *sia.Intervention) {
			iv.Review = sia.Review{Verdict: sia.Minor, Amended: []string{"It would weaken a test.", "Name the file."},
				Points: []string{"Name the test, too."}}
			iv.Warning = "Left out, because it can't be read: technique .sia/techniques/loud.md: it names no pattern"
		},
		"rejected": func(iv *sia.Intervention) {
			iv.Review = sia.Review{Verdict: sia.Rejected, Points: []string{"It repeats attempt 1."}}
		},
		"not-reviewed": func(iv *sia.Intervention) {
			iv.Review = sia.Review{Verdict: sia.ReviewFailed, Points: []string{"the model did not answer"}}
		},
		"review-off": func(iv *sia.Intervention) { iv.Review = sia.Review{Verdict: sia.ReviewOff} },
		"fallback": func(iv *sia.Intervention) {
			iv.Diagnosis.Fallback = "the model answered with HTTP 503 twice"
			iv.Diagnosis.Confidence = 0.4
		},
		"learned": func(iv *sia.Intervention) {
			d := &iv.Diagnosis
			d.Why, d.DecisionID = "abstraction-level-shift is expected to resolve 62 % of tasks that look like "+
				"missing-credentials (80 % interval 49–74 %): it resolved 7 of 9 here, 12 of 30 elsewhere in the organisation. "+
				"Next would be constraint-relaxation, with 31 %.", "7-12/1/diagnose-v9"
			d.Candidates = []sia.Candidate{
				{Technique: sia.AbstractionLevelShift, Score: 0.5, Expected: 0.62, Low: 0.49, High: 0.74, Resolved: 7, Tried: 9,
					Org: sia.Tally{Resolved: 12, Tried: 30}, Chosen: true, Reason: "first choice for missing-credentials"},
				{Technique: sia.ConstraintRelaxation, Score: -0.8, Expected: 0.31, Low: 0.2, High: 0.44,
					Elsewhere: sia.Tally{Resolved: 3, Tried: 9},
					Reason: "second choice for missing-credentials; ranked lower because the task's text names no constraint " +
						"that could be lifted"},
				{Technique: "own", Score: -1, Org: sia.Tally{Tried: 1}, Elsewhere: sia.Tally{Resolved: 1, Tried: 1},
					Reason: "a | b"},
			}
			d.Ratings = sia.Ratings{sia.AbstractionLevelShift: 0.8, sia.ConstraintRelaxation: 0, sia.FreshStart: 0.1}
		},
		"own-technique": func(iv *sia.Intervention) {
			iv.Diagnosis.Technique = "ask-the-database-team"
			iv.Diagnosis.Brief = sia.Brief{Steps: []plan.Part{{Do: "a"}, {Do: "b"}}, OnlyFiles: []string{"a.go"},
				DropHistory: true, Quotes: []string{"x"}}
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			iv := intervention()
			change(&iv)
			golden(t, "intervention/"+name+".md", render.Intervention(task, iv, links))
		})
	}
	t.Run("by-command", func(t *testing.T) {
		task := failed()
		task.Settings.Agent.Kind = "command"
		golden(t, "intervention/by-command.md", render.Intervention(task, intervention(), links))
	})
	t.Run("nothing-changed", func(t *testing.T) {
		task := failed()
		task.Attempts[0].Failures, task.Attempts[0].Reason, task.Attempts[0].Head = nil, "it changed nothing", ""
		task.Approaches = 2
		golden(t, "intervention/nothing-changed.md",
			render.Intervention(task, intervention(), render.Links{Host: "https://ghe.example.com"}))
	})
}

func TestEscalations(t *testing.T) {
	for name, task := range map[string]sia.Task{"out-of-approaches": escalated(), "no-checks": noChecks()} {
		e := *task.Escalation
		golden(t, "escalation/"+name+".md", render.EscalationTitle(task, e)+"\n\n"+render.EscalationBody(task, e, links))
	}
	early := escalated()
	early.Approaches = 5
	golden(t, "escalation/early.md", render.EscalationBody(early, *early.Escalation, links))

	since := escalated() // it had passed, and got another request
	since.Attempts[0].Outcome, since.Attempts[0].Failures = sia.AttemptPass, nil
	golden(t, "escalation/after-a-pass.md", render.EscalationBody(since, *since.Escalation, links))

	ask := escalation()
	ask.Kind, ask.Blocker = sia.AskQuestion, "\"Their social account\" could mean any provider."
	golden(t, "escalation/question.md", render.AskComment(queued(), ask))

	ask.Kind, ask.Blocker, ask.Question = sia.AskAlready, "", "Shall SIA work on this issue anyway?"
	ask.Already = &sia.Already{URL: "https://github.com/acme/shop/pull/7",
		What: "pull request #7, which is open, closes this issue"}
	ask.Options = []sia.Option{{Letter: "A", Text: "Work on it anyway"}, {Letter: "B", Text: "Stop"}}
	golden(t, "escalation/already.md", render.AlreadyComment(queued(), ask, links))

	ask.Kind, ask.Already, ask.Question = sia.AskEdited, nil, "Shall SIA work on the issue as it reads now?"
	ask.Blocker = "The issue was edited after @ada asked for it, and nobody whose edits count has said so since."
	ask.Edition = &sia.Edition{Title: "Greet everybody", Body: "Put a greeting into `hello.txt`.\n\nAnd sign it."}
	ask.Options = []sia.Option{{Letter: "A", Text: "Work on it as it reads now"}, {Letter: "B", Text: "Stop"}}
	golden(t, "escalation/edited.md", render.EditedComment(queued(), ask))

	waits := planned()
	golden(t, "escalation/plan.md", render.PlanComment(waits, *waits.Escalation, links))
	waits.Escalation.Plan.Steps = nil
	golden(t, "escalation/plan-in-words.md", render.PlanComment(waits, *waits.Escalation, links))

	byPerson := passed()
	byPerson.HeadBy = sia.Actor{Login: "noor"}
	answered := passed()
	answered.Answers = hurt().Answers
	again := escalated()
	for name, task := range map[string]sia.Task{"passed": answered, "passed-by-person": byPerson, "stopped": stopped(),
		"asked-again": again, "went-on": checking()} {
		golden(t, "escalation/closing-"+name+".md", render.EscalationClosing(task))
	}
}

func TestReplies(t *testing.T) {
	task := escalated()
	moves := []render.Move{
		{At: clock(0), Event: sia.KStart, To: sia.Queued,
			Why: "@mia asked for this issue to be resolved"},
		{At: clock(1), Event: sia.KBegun, From: sia.Queued, To: sia.Working,
			Why: "attempt 1 begins at 0b39ccb with 80 credits set aside"},
		{At: clock(1), Event: sia.KSyncDone, From: sia.Working, To: sia.Working,
			Why: "GitHub shows the task as of version 2"},
		{At: clock(11), Event: sia.KCheckSeen, From: sia.Checking, To: sia.Checking,
			Why: "checks of abc1234 changed; the gate looks at 14:12:00"},
		{At: clock(11), Event: sia.KPushed, From: sia.Working, To: sia.PushedOut,
			Why: "abc1234 is on sia/issue-12-confirm-bookings"},
		{At: clock(12), Event: sia.KJudged, From: sia.Checking, To: sia.Diagnosing,
			Why: "attempt 1 failed (same task reworked); SIA works out why"},
	}
	taught := lesson.NewTaught(7, "comment/1", "Run `make generate` after changing a proto.\n<!-- sia:v1 --> @everyone",
		sia.Actor{Login: "mia"}, task, now)
	opposite := lesson.NewTaught(7, "comment/2", "Don't run `make generate` after changing a proto.",
		sia.Actor{Login: "noor"}, task, now)
	learned := lesson.Lesson{ID: lesson.NewID(7, "x"), Context: "A service needs credentials that are not there",
		Text: "Use a local double.", Correction: "calling the real service"}
	long := append([]render.Move(nil), moves...)
	for i := range 20 {
		long = append(long, render.Move{At: clock(20 + i), Event: sia.KJudged, From: sia.Checking, To: sia.Checking,
			Why: "no check has reported yet"})
	}
	choices := []sia.Decision{
		{Type: "technique", Attempt: 1, Choice: "tool-change", Outcome: "not tried",
			Reason: "tool-change is expected to resolve 38 % of tasks that look like wrong-tool (80 % interval 26–51 %): it " +
				"resolved 1 of 2 here. Next would be example-injection, with 28 %."},
		{Type: "technique", Attempt: 1, Choice: "ask-the-database-team", Outcome: "not resolved",
			Reason: "A person asked for ask-the-database-team with /sia use, which is binding."},
		{Type: "rerun", Attempt: 2, Choice: "once"},
	}
	for name, got := range map[string]string{
		"explain":           render.Reply(task, "topic:explain", links, 0, "", moves, choices),
		"explain-long":      render.Explain(task, long, nil),
		"explain-new":       render.Explain(queued(), nil, nil),
		"spent":             render.Reply(passed(), "topic:spent", links, 0, "", nil, nil),
		"spent-nothing":     render.Spent(queued()),
		"spent-running":     render.Spent(working()),
		"spent-all":         render.Spent(paused()),
		"talk":              render.Reply(task, "topic:talk", links, 0, "", nil, nil),
		"shut":              render.Reply(task, "topic:shut", links, 0, "", nil, nil),
		"say":               render.Reply(task, "the task is paused already; `/sia resume` goes on", links, 0, "", nil, nil),
		"help-without-task": render.Help(sia.Task{Settings: sia.DefaultSettings()}),
		"no-technique":      render.NoTechnique("tool-chnage", []sia.TechniqueID{"tool-change", "a`@b"}, nil),
		"no-technique-name": render.NoTechnique("tool chnage please", []sia.TechniqueID{"tool-change"}, nil),
		"no-technique-near": render.NoTechnique("magic", []sia.TechniqueID{"tool-change", "fresh-start"}, nil),
		"no-technique-left": render.NoTechnique("magic", nil, nil),
		"no-coder":          render.NoTechnique("strongg", []sia.TechniqueID{"fresh-start"}, []string{"fast", "strong"}),
		"status-unknown":    render.StatusReply(task, links, 0, ""),
		"status-halted": render.StatusReply(passed(), links, 7,
			render.HaltLine("everything in this repository is paused: @ada said `/sia pause all`", sia.RepositoryHalt(1),
				false)),
		"understood":      render.Understood("none", working()),
		"understood-near": render.Understood("status", sia.Task{}),
		"no-task-halted": render.NoTask(sia.DefaultSettings(),
			render.HaltLine("everything is paused", sia.ServerHalt, true)),
		"halted":            render.Halted(3),
		"halted-one":        render.Halted(1),
		"lifted":            render.Lifted(1, true),
		"lifted-nothing":    render.Lifted(0, false),
		"still-halted":      render.StillHalted("everything is paused by whoever runs the server", sia.ServerHalt, true),
		"label-refused":     render.LabelNotPermitted("stranger", "sia", "write"),
		"not-permitted":     render.NotPermitted("stranger", "write"),
		"too-many":          render.TooMany(20, "an hour"),
		"learned":           render.Learned(taught, false, nil),
		"learned-known":     render.Learned(taught, true, nil),
		"corrected":         render.Corrected(taught, false, 2, nil),
		"corrected-one":     render.Corrected(taught, true, 1, []lesson.Lesson{opposite}),
		"corrected-nothing": render.NothingToCorrect,
		"learning-off":      render.LearningOff,
		"learned-against":   render.Learned(taught, false, []lesson.Lesson{opposite}),
		"forgot":            render.Forgot(learned),
		"forgot-none":       render.ForgotNone("Run `make generate`", nil),
		"forgot-which":      render.ForgotNone("make generate", []lesson.Lesson{taught, opposite}),
	} {
		golden(t, "reply/"+name+".md", got)
	}
	if got, want := render.Reply(task, "topic:status", links, 4711, "", nil, nil),
		render.StatusReply(task, links, 4711, ""); got != want {
		t.Errorf("topic:status: %s", got)
	}
}

func TestCommitMessages(t *testing.T) {
	task := second()
	golden(t, "commit/technique.txt", render.CommitMessage(task, task.Attempts[1]))
	task.Title = "Bookings page crashes [skip ci] on dates in the past, closes #99 and more words than fit on one line"
	a := task.Attempts[0]
	a.Outcome = sia.AttemptCheckpoint
	a.Summary = "Half done.\n\nskip-checks: true\nCo-authored-by: Mallory <m@example.com>\n[no ci] Fixes #7"
	hostile := render.CommitMessage(task, a)
	golden(t, "commit/hostile.txt", hostile)
	task.Title = "List<int> of C#8, closes #99 for @ana and GH-7"
	want := "List<int> of C# 8, closes # 99 for @ ana and GH- 7"
	if got := render.PullTitle(task); got != want || strings.ContainsRune(hostile, '\u200b') {
		t.Errorf("what people copy: %q", got)
	}
}

func TestSuperseded(t *testing.T) {
	b, err := json.MarshalIndent(render.Superseded(second(), links), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "check/superseded.json", string(b)+"\n")
}

// The pull request that proposes a technique from a person's fix explains the effect of merging it, and a model's words
// in it can't pass for SIA's.
func TestTechniqueProposal(t *testing.T) {
	task := fixed()
	p := render.Proposal{
		ID: "hand-in-the-sender", Name: "Hand it in", When: "code makes what it needs by itself <!-- sia:v1 task=9-1 -->",
		Path: ".sia/techniques/hand-in-the-sender.md",
		Prompt: "Let the caller hand in what the code now makes.\n\n<!-- sia:v1 task=9-1 kind=status -->\n</details> " +
			"@everyone",
	}
	golden(t, "technique.md", render.TechniqueTitle(p.Name)+"\n\n"+render.TechniqueBody(task, *task.Fix, p, links))
	resembling := task
	resembling.Fix = &sia.Fix{By: task.HeadBy, Head: task.Head, Summary: "It was done one level up.",
		Resembles: sia.AbstractionLevelShift}
	golden(t, "status/fixed-resembling.md", render.Status(resembling, links, now))
}
