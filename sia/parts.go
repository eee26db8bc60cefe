package sia

import (
	"fmt"
	"slices"

	"github.com/sia-bot/sia/sia/plan"
)

// An attempt is what is pushed once and judged once. Where a policy says so, several runs of
// agents go into it: the parts of a plan, or racers that each do the whole of it.

// PartKind says what a part of an attempt is.
type PartKind string

// The kinds of parts.
const (
	PartOfPlan PartKind = ""          // that the plan names
	PartTest   PartKind = "reproduce" // a test that shows the fault, and nothing else
	PartRacer  PartKind = "racer"     // the whole task, beside others who do the same
	PartMerge  PartKind = "merge"     // the conflicts between other parts
	PartMend   PartKind = "mend"      // what does not hold once the parts are put together
)

// PartState is how far a part is.
type PartState string

// The states of a part.
const (
	PartWaiting PartState = "waiting"  // for others that it needs, or for its turn
	PartRunning PartState = "running"  // an agent works on it
	PartFailed  PartState = "failed"   // its last run failed; it is decided what follows
	PartDone    PartState = "done"     // its done-when holds, as far as it can be checked
	PartGivenUp PartState = "given up" // it is not tried again in this attempt
)

// Part is one part of an attempt, as far as it is.
type Part struct {
	plan.Part
	Kind  PartKind  `json:"kind,omitempty"`
	State PartState `json:"state"`

	Coder    string `json:"coder,omitempty" mask:"-"` // its name in the server's configuration
	Agent    string `json:"agent,omitempty"`          // agent and model
	Assigned string `json:"assigned,omitempty"`       // why the coder was chosen, for people; empty: it is the attempt's
	// it is being decided which other coder tries it
	Elsewhere bool     `json:"elsewhere,omitempty"`
	Failed    []string `json:"failed,omitempty" mask:"-"` // coders that failed it, in order

	Run   int `json:"run,omitempty"`   // number of its last run within the attempt; 0: none
	Tries int `json:"tries,omitempty"` // runs that failed

	Commit  SHA       `json:"commit,omitempty"` // its result, unpushed; empty: nothing had to be changed
	Kept    SHA       `json:"kept,omitempty"`   // work in progress that its next run goes on from
	Checked *CheckRun `json:"checked,omitempty"`
	// of a racer, beside Checked: as of AttemptEnded
	Affected   *AffectedTests `json:"affected,omitempty"`
	Reproduced *CheckRun      `json:"reproduced,omitempty"`
	Pushed     bool           `json:"pushed,omitempty"` // of a racer: its commit was checked
	Reason     string         `json:"reason,omitempty"` // why its last run ended as it did, for people
	Summary    string         `json:"summary,omitempty"`
	Ledger     *AttemptLedger `json:"ledger,omitempty"` // of all its runs
	Diff       DiffStat       `json:"diff,omitzero"`
	Hunks      []uint64       `json:"hunks,omitempty"`
	Turns      int            `json:"turns,omitempty"` // of all its runs
	Cost       Credits        `json:"cost,omitempty"`
	Reserved   Credits        `json:"reserved,omitempty"` // of what is set aside for the attempt
}

// CheckRun is a command that SIA ran in the sandbox to see whether something is done.
type CheckRun struct {
	Command string   `json:"command"`
	Holds   bool     `json:"holds"`                    // what it was to show is so
	Ran     bool     `json:"ran,omitempty"`            // it passes, and its output names tests that ran
	Missing string   `json:"missing,omitempty"`        // why it could not be run; empty: it was
	Excerpt string   `json:"excerpt,omitempty"`        // of its output, where it does not hold; at most 15 lines
	Class   string   `json:"class,omitempty" mask:"-"` // of the failure, as package failure names it
	Tests   []string `json:"tests,omitempty"`          // that failed
}

// runKey names the effect of an attempt's run; 0 is the attempt's only one.
func runKey(t TaskID, attempt, run int) string {
	if run == 0 {
		return effectKey(t, attempt, DoAttempt, "")
	}
	return effectKey(t, attempt, DoAttempt, fmt.Sprintf("run-%d", run))
}

// PartOf is the part that a run is of, and its number; nil for a run that makes the plan,
// or all of the attempt.
func (a *Attempt) PartOf(run int) (p *Part, number int) {
	for i := range a.Parts {
		if run > 0 && a.Parts[i].Run == run {
			return &a.Parts[i], i + 1
		}
	}
	return nil, 0
}

// Divided reports whether several runs of agents go into the attempt.
func (a *Attempt) Divided() bool { return a.Structure != "" && a.Structure != plan.Whole }

// Needs are the numbers of the parts that each part rests on.
func (a *Attempt) Needs() [][]int {
	out := make([][]int, len(a.Parts))
	for i, p := range a.Parts {
		out[i] = p.Needs
	}
	return out
}

// Tops are the parts that are done and that no other such part rests on, in their order.
func (a *Attempt) Tops() []int { return plan.Tops(a.Needs(), a.numbers(PartDone)) }

// Running is how many parts agents work on.
func (a *Attempt) Running() int { return len(a.numbers(PartRunning)) }

// numbers are those of the parts in a state.
func (a *Attempt) numbers(state PartState) (out []int) {
	for i, p := range a.Parts {
		if p.State == state {
			out = append(out, i+1)
		}
	}
	return out
}

// RacersLeft is how many racers have a change that was not checked yet.
func (a *Attempt) RacersLeft() (n int) {
	for _, p := range a.Parts {
		if p.Kind == PartRacer && p.State == PartDone && !p.Pushed {
			n++
		}
	}
	return n
}

// RedRacers are the racers with a change that the checks have turned down for the next one's.
func (a *Attempt) RedRacers() (red []Part) {
	for _, p := range a.Parts {
		if p.Kind == PartRacer && p.Pushed && p.Coder != a.Coder {
			red = append(red, p)
		}
	}
	return red
}

// FailedCoders are the coders that the attempt has shown to fail at the task, in order.
func (a *Attempt) FailedCoders() (names []string) {
	for _, p := range a.RedRacers() {
		names = append(names, p.Coder)
	}
	if a.Outcome == AttemptFail && a.Coder != "" {
		names = append(names, a.Coder)
	}
	return names
}

// better orders racers: passing tests first, then fewer failing tests, then changes that make the test pass that shows
// the fault, then the tests that the change reaches, then the smaller change.
func better(a, b Part) int {
	x, y := a.rank(), b.rank()
	return slices.Compare(x[:], y[:])
}

// rank is where a racer stands by each of these, the lower the better; 1 where that is not known.
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

// Reproduction is the command of the last test that SIA saw fail for the task's fault, and the files of that test; ""
// where there is none.
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

// Aggregated: an attempt's parts were put together.
type Aggregated struct {
	Commit SHA      `json:"commit,omitempty"` // of all of them, unpushed; empty: nothing changed, or it may not leave
	Reason string   `json:"reason,omitempty"` // why it may not leave
	Diff   DiffStat `json:"diff,omitzero"`    // against the base
	Hunks  []uint64 `json:"hunks,omitempty"`
	// what two sides of the parts don't agree on; none: they do
	Conflicts []Conflict `json:"conflicts,omitempty"`
	Over      []int      `json:"over,omitempty"`   // numbers of the parts that conflict
	Checks    []CheckRun `json:"checks,omitempty"` // of the whole
	Lost      bool       `json:"lost,omitempty"`   // the results of parts are not on this machine any more
}

// Kind names the fact.
func (Aggregated) Kind() Kind { return KAggregated }
