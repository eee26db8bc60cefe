package sia

import (
	"slices"
	"testing"
)

// compareRacers orders racers as in the list: each line is better than the next.
func TestBetterRacer(t *testing.T) {
	passes, fails := &CheckRun{Holds: true}, &CheckRun{Tests: []string{"A"}}
	cannot := &CheckRun{Missing: "there is no sandbox"}
	racer := func(coder string, checked, reproduced *CheckRun, a *AffectedTests, size int) Part {
		return Part{Kind: PartRacer, Coder: coder, Checked: checked, Reproduced: reproduced, Affected: a,
			Diff: DiffStat{Added: size}}
	}
	reaches, none := &AffectedTests{Ran: 9}, &AffectedTests{}
	breaks, breaksTwo := &AffectedTests{Ran: 9, Failed: []string{"A"}}, &AffectedTests{Ran: 9, Failed: []string{"A", "B"}}
	want := []Part{
		racer("it makes the test pass that shows the fault", passes, passes, breaks, 90),
		racer("whether it does is not known", passes, cannot, reaches, 80),
		racer("nothing shows the fault, and it breaks nothing", passes, nil, reaches, 81),
		racer("nothing is known, and it is smaller", passes, nil, nil, 10),
		racer("it reaches no test", passes, nil, none, 11),
		racer("it breaks a test that it reaches", passes, nil, breaks, 1),
		racer("it breaks two", passes, nil, breaksTwo, 1),
		racer("the test that shows the fault fails", passes, fails, reaches, 1),
		racer("the tests can't be run", cannot, passes, reaches, 1),
		racer("a test fails", fails, passes, reaches, 1),
		racer("two tests fail", &CheckRun{Tests: []string{"A", "B"}}, passes, reaches, 1),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortStableFunc(got, compareRacers)
	for i, p := range got {
		if p.Coder != want[i].Coder {
			t.Errorf("place %d has %q, want %q", i+1, p.Coder, want[i].Coder)
		}
	}
}

// Reproduction returns the last test that SIA saw fail.
func TestReproduction(t *testing.T) {
	part := func(command string, kind PartKind, holds bool) Part {
		return Part{Kind: kind, State: PartDone, Commit: "c", Checked: &CheckRun{Command: command, Holds: holds},
			Diff: DiffStat{Paths: []string{command + "_test"}}}
	}
	task := Task{Attempts: []Attempt{{Parts: []Part{part("first", PartTest, true)}},
		{Parts: []Part{part("last", PartTest, true), part("mended", PartOfPlan, true)}},
		{Parts: []Part{part("it passed", PartTest, false)}}, {}}}
	if command, paths := task.Reproduction(); command != "last" || !slices.Equal(paths, []string{"last_test"}) {
		t.Errorf("%q in %v", command, paths)
	}
	if command, _ := (&Task{Attempts: make([]Attempt, 2)}).Reproduction(); command != "" {
		t.Errorf("%q, though there is none", command)
	}
}
