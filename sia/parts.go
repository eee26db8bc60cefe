package sia

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia/plan"
)

// An attempt is pushed once and judged once. If a policy decides so, it consists of several
// agent runs: the parts of a plan, or racers that each do the whole task.

// PartKind is the kind of a part of an attempt.
type PartKind string

// The kinds of parts.
const (
	PartOfPlan PartKind = ""          // a step of the plan
	PartTest   PartKind = "reproduce" // a test that shows the fault, and nothing else
	PartRacer  PartKind = "racer"     // the whole task, in parallel to other racers
	PartMerge  PartKind = "merge"     // resolves conflicts between other parts
	PartMend   PartKind = "mend"      // fixes a check that fails after the parts were merged
)

// PartState is the state of a part.
type PartState string

// The states of a part.
const (
	PartWaiting PartState = "waiting"  // for the parts that it needs, or for its turn
	PartRunning PartState = "running"  // an agent works on it
	PartFailed  PartState = "failed"   // its last run failed; a policy decides what follows
	PartDone    PartState = "done"     // its done-when holds or can't be checked
	PartGivenUp PartState = "given up" // it is not tried again in this attempt
)

// Part is one part of an attempt and its state.
type Part struct {
	plan.Part
	Kind  PartKind  `json:"kind,omitempty"`
	State PartState `json:"state"`

	Coder    string `json:"coder,omitempty" mask:"-"` // the coder's name in the server's configuration
	Agent    string `json:"agent,omitempty"`          // agent and model
	Assigned string `json:"assigned,omitempty"`       // why the coder was chosen, for people; empty: the attempt's coder
	// another coder is being chosen for it
	Elsewhere bool     `json:"elsewhere,omitempty"`
	Failed    []string `json:"failed,omitempty" mask:"-"` // coders that failed it, in order

	Run   int `json:"run,omitempty"`   // number of its last run within the attempt; 0: none
	Tries int `json:"tries,omitempty"` // number of failed runs
	// the last progress that was shown, perhaps of an earlier run; nil: none
	Progress *Progress `json:"progress,omitempty"`

	Commit  SHA       `json:"commit,omitempty"` // its result, unpushed; empty: no change was needed
	Kept    SHA       `json:"kept,omitempty"`   // work in progress from which its next run continues
	Checked *CheckRun `json:"checked,omitempty"`
	// of a racer, in addition to Checked: as in AttemptEnded
	Affected   *AffectedTests `json:"affected,omitempty"`
	Reproduced *CheckRun      `json:"reproduced,omitempty"`
	Pushed     bool           `json:"pushed,omitempty"` // of a racer: its commit was pushed to be checked
	Reason     string         `json:"reason,omitempty"` // how its last run ended, for people
	Summary    string         `json:"summary,omitempty"`
	Ledger     *AttemptLedger `json:"ledger,omitempty"` // of all its runs
	Diff       DiffStat       `json:"diff,omitzero"`
	Hunks      []uint64       `json:"hunks,omitempty"`
	Turns      int            `json:"turns,omitempty"` // of all its runs
	Cost       Credits        `json:"cost,omitempty"`
	Reserved   Credits        `json:"reserved,omitempty"` // its share of the attempt's reservation
}

// CheckRun is a command that SIA ran in the sandbox to check whether something is done.
type CheckRun struct {
	Command string   `json:"command"`
	Holds   bool     `json:"holds"`                    // it showed what it was to show
	Ran     bool     `json:"ran,omitempty"`            // it passed, and its output names tests that ran
	Missing string   `json:"missing,omitempty"`        // why it could not be run; empty: it was run
	Excerpt string   `json:"excerpt,omitempty"`        // of its output, unless Holds; at most 15 lines
	Class   string   `json:"class,omitempty" mask:"-"` // of the failure, as package failure names it
	Tests   []string `json:"tests,omitempty"`          // failed tests
}

// runKey returns the key of the effect for an attempt's run; run 0 is the attempt's only one.
func runKey(t TaskID, attempt, run int) string {
	if run == 0 {
		return effectKey(t, attempt, DoAttempt, "")
	}
	return effectKey(t, attempt, DoAttempt, fmt.Sprintf("run-%d", run))
}

// PartOf returns the part that a run works on, and its number; nil for a run that makes the
// plan or does the whole attempt.
func (a *Attempt) PartOf(run int) (p *Part, number int) {
	for i := range a.Parts {
		if run > 0 && a.Parts[i].Run == run {
			return &a.Parts[i], i + 1
		}
	}
	return nil, 0
}

// progressOf returns where the progress of a run is kept; nil: the run has ended.
func (a *Attempt) progressOf(run int) **Progress {
	switch p, _ := a.PartOf(run); {
	case !a.EndedAt.IsZero():
		return nil
	case p == nil && (run == 0 || run == a.Runs):
		return &a.Progress
	case p != nil && p.State == PartRunning:
		return &p.Progress
	}
	return nil
}

// Divided reports whether the attempt consists of several agent runs.
func (a *Attempt) Divided() bool { return a.Structure != "" && a.Structure != plan.Whole }

// Needs returns, for each part, the numbers of the parts that it depends on.
func (a *Attempt) Needs() [][]int {
	out := make([][]int, len(a.Parts))
	for i, p := range a.Parts {
		out[i] = p.Needs
	}
	return out
}

// Tops returns the done parts on which no other done part depends, in order.
func (a *Attempt) Tops() []int { return plan.Tops(a.Needs(), a.numbers(PartDone)) }

// Running returns the number of running parts.
func (a *Attempt) Running() int { return len(a.numbers(PartRunning)) }

// numbers returns the numbers of the parts in a state.
func (a *Attempt) numbers(state PartState) (out []int) {
	for i, p := range a.Parts {
		if p.State == state {
			out = append(out, i+1)
		}
	}
	return out
}

// RacersLeft returns the number of racers with a change that was not checked yet.
func (a *Attempt) RacersLeft() (n int) {
	for _, p := range a.Parts {
		if p.Kind == PartRacer && p.State == PartDone && !p.Pushed {
			n++
		}
	}
	return n
}

// RedRacers returns the racers with a change that failed the checks, so that the next racer's was pushed.
func (a *Attempt) RedRacers() (red []Part) {
	for _, p := range a.Parts {
		if p.Kind == PartRacer && p.Pushed && p.Coder != a.Coder {
			red = append(red, p)
		}
	}
	return red
}

// FailedCoders returns the coders that failed in the attempt, in order.
func (a *Attempt) FailedCoders() (names []string) {
	for _, p := range a.RedRacers() {
		names = append(names, p.Coder)
	}
	if a.Outcome == AttemptFail && a.Coder != "" {
		names = append(names, a.Coder)
	}
	return names
}

// compareRacers orders racers, the best first: by passing tests, by the number of failing tests, by whether the test
// that shows the fault passes, by the tests that the change reaches, and by the size of the change.
func compareRacers(a, b Part) int {
	x, y := a.rank(), b.rank()
	return slices.Compare(x[:], y[:])
}

// rank returns a racer's rank by each criterion of compareRacers, the lower the better; 1 if it is not known.
func (p Part) rank() (r [5]int) {
	r = [5]int{p.Checked.rank(), 0, p.Reproduced.rank(), 1, p.Diff.Added + p.Diff.Deleted}
	if c := p.Checked; c != nil && c.Missing == "" {
		r[1] = len(c.Tests)
	}
	if f := p.Affected; f != nil && len(f.Failed) > 0 {
		r[3] = 1 + len(f.Failed)
	} else if f != nil && f.Ran > 0 {
		r[3] = 0
	}
	return r
}

func (c *CheckRun) rank() int {
	switch {
	case c == nil || c.Missing != "":
		return 1
	case c.Holds:
		return 0
	}
	return 2
}

// Reproduction returns the command of the last test that failed because of the task's fault, and the files of that
// test; "" if there is none.
func (t *Task) Reproduction() (command string, paths []string) {
	for _, a := range slices.Backward(t.Attempts) {
		for _, p := range a.Parts {
			if p.Kind == PartTest && p.State == PartDone && p.Commit != "" && p.Checked != nil && p.Checked.Holds {
				return p.Checked.Command, p.Diff.Paths
			}
		}
	}
	return "", nil
}

// Aggregated: an attempt's parts were merged.
type Aggregated struct {
	Commit SHA      `json:"commit,omitempty"` // of all parts, unpushed; empty: nothing changed, or it may not be pushed
	Reason string   `json:"reason,omitempty"` // why it may not be pushed
	Diff   DiffStat `json:"diff,omitzero"`    // against the base
	Hunks  []uint64 `json:"hunks,omitempty"`
	// files in which parts conflict; empty: none
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Over      []int      `json:"over,omitempty"`   // numbers of the parts that conflict
	Checks    []CheckRun `json:"checks,omitempty"` // of the merged parts
	Lost      bool       `json:"lost,omitempty"`   // the results of parts are no longer on this machine
}

// Kind returns the kind of the fact.
func (Aggregated) Kind() Kind { return KAggregated }
