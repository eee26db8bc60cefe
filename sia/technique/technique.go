package technique

import "github.com/sia-bot/sia/sia"

// Dir is the folder of a repository's own techniques, on its base branch.
const Dir = ".sia/techniques"

// Technique is a way to change the approach of the next attempt.
type Technique struct {
	ID            sia.TechniqueID     `mask:"text"`
	Name          string              // for headings: "Decomposition"
	When          string              // the situation it is for, as a clause without a full stop
	Ranks         map[sia.Pattern]int // rank by pattern that it answers; 1 is a first choice
	Preconditions []Precondition      // conditions that should hold
	Changes       []Change            // its changes of the brief, in order; at least one
	Prompt        string              // text for the model: the body of the file
	Path          string              // file that it was read from
	Shipped       bool                // built-in, not from a repository
	// Trial: the technique is on trial until its effect is shown. SIA's own proposals have it in their file; users'
	// techniques are used immediately unless they have it, too.
	Trial bool
}

// Answers reports whether t answers p.
func (t Technique) Answers(p sia.Pattern) bool { return t.Ranks[p] > 0 }

// Precondition is a property of a task that a technique needs to have an effect. A technique with an unmet precondition
// is ranked lower. It is not excluded, because the tests for preconditions are heuristics.
type Precondition string

// The preconditions.
const (
	NeedsFailure    Precondition = "failure"    // a check failed with a readable excerpt
	NeedsConstraint Precondition = "constraint" // the task names a constraint that may be lifted
	NeedsParts      Precondition = "parts"      // the task or the attempt's change has more than one part
	NeedsCommits    Precondition = "commits"    // earlier attempts left something behind
)

// Preconditions lists every precondition.
var Preconditions = []Precondition{NeedsFailure, NeedsConstraint, NeedsParts, NeedsCommits}

// Change is a transformation of a brief.
type Change string

// The changes. Each has an effect on the brief that does not depend on prose.
const (
	ChangeSteps   Change = "steps"   // Steps: parts, each with its own test
	ChangeReorder Change = "reorder" // Steps: the same parts in another order
	// ChangeLevel: Steps lead to an interface with a local double, or to the concrete case.
	ChangeLevel       Change = "level"
	ChangeTools       Change = "tools"        // Tools and WithoutTools
	ChangeRewrite     Change = "rewrite"      // Prompt: goal, constraints, done-when
	ChangeOnlyFiles   Change = "only-files"   // OnlyFiles: the relevant files
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
