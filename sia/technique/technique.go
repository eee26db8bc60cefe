package technique

import "github.com/sia-bot/sia/sia"

// Dir is where a repository keeps techniques of its own, on its base branch.
const Dir = ".sia/techniques"

// Technique is one way to change the approach.
type Technique struct {
	ID            sia.TechniqueID     `mask:"text"`
	Name          string              // for headings: "Decomposition"
	When          string              // the situation it is for, as a clause without a full stop
	Ranks         map[sia.Pattern]int // the patterns it answers; 1 is a first choice, larger numbers come later
	Preconditions []Precondition      // what should hold for a try
	Changes       []Change            // what it does to the brief, in this order; at least one
	Prompt        string              // what the model gets: the body of the file
	Path          string              // the file it was read from
	Shipped       bool                // it came with SIA, not from a repository
	// Trial: it has to prove itself before it is one among the others. SIA's own proposals say so in
	// their file; what people write is used at once unless they say so too.
	Trial bool
}

// Answers reports whether t answers p.
func (t Technique) Answers(p sia.Pattern) bool { return t.Ranks[p] > 0 }

// Precondition names something about a task that a technique needs to have an effect. A technique
// is ranked lower when one of its preconditions does not hold. It is not excluded, because the
// tests for preconditions read words and may be wrong.
type Precondition string

// The preconditions.
const (
	NeedsFailure    Precondition = "failure"    // a check failed with a readable excerpt
	NeedsConstraint Precondition = "constraint" // the task's text names a constraint that may be lifted
	NeedsParts      Precondition = "parts"      // the task or the attempt's change has more than one part
	NeedsCommits    Precondition = "commits"    // earlier attempts left something behind
)

// Preconditions lists every precondition.
var Preconditions = []Precondition{NeedsFailure, NeedsConstraint, NeedsParts, NeedsCommits}

// Change names one transformation of a brief.
type Change string

// The changes. Each is implemented by one function of this package, and each
// leaves a mark on the brief that does not depend on prose.
const (
	ChangeSteps   Change = "steps"   // Steps: parts, each with its own test
	ChangeReorder Change = "reorder" // Steps: the same parts in another order
	// ChangeLevel: Steps lead to an interface with a local double, or to the concrete case.
	ChangeLevel       Change = "level"
	ChangeTools       Change = "tools"        // Tools and WithoutTools
	ChangeRewrite     Change = "rewrite"      // Prompt: goal, constraints, done-when
	ChangeOnlyFiles   Change = "only-files"   // OnlyFiles: the named few
	ChangeDropHistory Change = "drop-history" // DropHistory
	ChangeExamples    Change = "examples"     // Examples from the repository
	ChangeRelax       Change = "relax"        // Relaxed, and its restoration as the last step
	ChangeQuote       Change = "quote"        // Quotes: the error's own lines
	ChangeFromBase    Change = "from-base"    // FromBase, and nothing carried over
)

// Changes lists every change.
var Changes = []Change{
	ChangeSteps, ChangeReorder, ChangeLevel, ChangeTools, ChangeRewrite, ChangeOnlyFiles,
	ChangeDropHistory, ChangeExamples, ChangeRelax, ChangeQuote, ChangeFromBase,
}
