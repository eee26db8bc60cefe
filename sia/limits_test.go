package sia

import "testing"

// stopped ends the running attempt by its time limit, with a commit or none.
func (p *taskDriver) stopped(commit SHA) {
	p.t.Helper()
	p.ends(AttemptEnded{End: EndTime, Reason: "the time limit of 20s was reached", Commit: commit, Cost: 100})
	if commit != "" {
		p.done(DoPush, Pushed{SHA: commit})
	}
}

// If an agent does the work and never finishes, the checks judge it after three attempts reached a limit.
func TestLimitsInARow(t *testing.T) {
	for name, commits := range map[string][]SHA{
		"each changed something": {"a1", "b2", "c3"}, "the first did": {"a1", "", ""}, "the second did": {"", "b2", ""}} {
		t.Run(name, func(t *testing.T) {
			p := &taskDriver{t: t}
			p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
			for i, sha := range commits {
				p.begins("")
				if p.stopped(sha); i < 2 {
					p.wantState(Queued)
				}
			}
			p.wantState(PushedOut)
			p.done(DoPull, PullOpened{Number: 12, NodeID: "n", URL: "u"})
			red := *p
			p.judges(Judged{Verdict: VerdictGreen})
			p.wantState(Passed)
			if a := p.task.Attempt(); a.Outcome != AttemptPass || a.Reason != "the time limit of 20s was reached" {
				t.Errorf("%s: %s", a.Outcome, a.Reason)
			}
			red.judges(Judged{Verdict: VerdictRed})
			red.wantState(Diagnosing)
		})
	}
}

// If none of the attempts changed anything, there is nothing to judge.
func TestLimitsWithoutWork(t *testing.T) {
	p := &taskDriver{t: t}
	p.says(Start{Installation: 1, Repo: Repo{ID: 9}, Issue: 3, Title: "Greet", DefaultBranch: "main"})
	for range maxConsecutive {
		p.begins("")
		p.stopped("")
	}
	if p.wantState(Diagnosing); p.task.Attempt().Reason != "3 limits reached in a row without finishing" {
		t.Errorf("it failed for: %s", p.task.Attempt().Reason)
	}
}

// An attempt that finds nothing to change in the work in progress that it continues leaves it to the checks, once.
func TestUnjudgedWork(t *testing.T) {
	for end, outcome := range map[AttemptEnd]AttemptOutcome{EndCancelled: AttemptCancelled, EndTime: AttemptCheckpoint} {
		p := &taskDriver{t: t}
		p.says(startFact(""))
		p.begins("")
		p.ends(AttemptEnded{End: end, Commit: "f00d"})
		p.done(DoPush, Pushed{SHA: "f00d"})
		p.begins("")
		p.ends(AttemptEnded{End: EndFinished, Unjudged: p.task.ContinuesUnjudged()})
		if a := p.task.Attempts; p.task.State != PushedOut || a[0].Outcome != outcome || a[1].Head != "f00d" {
			t.Fatalf("%s: %s, %s", end, p.task.State, p.why)
		}
		p.task.Attempts[1].Outcome = AttemptFail
		if p.task.Attempts = append(p.task.Attempts, Attempt{Number: 3, From: "f00d"}); p.task.ContinuesUnjudged() {
			t.Errorf("%s: its checks were red, and it counts as unjudged", end)
		}
	}
}
