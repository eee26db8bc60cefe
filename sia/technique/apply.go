package technique

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Input is what the changes of a technique are made from. The zero Input is
// usable: a change that finds nothing to work with makes its plainest form.
type Input struct {
	Title, Body string             // the task's text
	Prompt      string             // the instructions that the diagnosis wrote; may be empty
	Pattern     sia.Pattern        // what the diagnosis found
	Failures    []sia.CheckFailure // of the failed attempt
	Touched     []string           // paths that the failed attempt changed

	// The repository. Read may be nil; its errors mean that a file is not used.
	Files []string // every path, separated by slashes
	Read  func(path string) ([]byte, error)

	Tools []string // the names of the tools that the agent has; empty: unknown

	// What the diagnosis proposes. Each proposal is checked against the above
	// and dropped when it does not hold; then it is derived by rules.
	Steps      []plan.Part
	Unsuitable []string // tools to take away
	Context    []string // the few files that matter
	Examples   []string // files that show the shape wanted
	Constraint string   // the one constraint to lift
	Level      string   // "up": interface and double; "down": the concrete case
}

// Limits of a brief, so that a technique never becomes the overload that
// another one cures.
const (
	maxSteps    = 8
	maxStepText = 500             // characters of a step's words
	maxBundle   = 2 * maxStepText // characters of several in one; a prompt gives no more
	maxContext  = 8               // files
	maxExamples = 3
	maxQuotes   = 6
)

// Apply makes the next attempt's brief out of the present one. The instructions of the diagnosis
// and of the technique become its prompt, and the technique's changes are made.
//
// What people said, the plan they approved and what was learned stays (Answers, FollowUp, Asked, Plan,
// Lessons, TestHints, ToolLessons). Quotes and examples stay unless a change clears the context. Everything
// else that an earlier technique changed is undone, so that an attempt shows the effect of one
// technique. The present brief is not modified.
func Apply(present sia.Brief, t Technique, in Input) sia.Brief {
	b := sia.Brief{
		Technique: t.ID,
		Plan:      present.Plan,
		Answers:   slices.Clone(present.Answers),
		FollowUp:  present.FollowUp,
		Asked:     present.Asked,
		Lessons:   slices.Clone(present.Lessons),
		TestHints: slices.Clone(present.TestHints),

		ToolLessons: slices.Clone(present.ToolLessons),

		Quotes:   slices.Clone(present.Quotes),
		Examples: slices.Clone(present.Examples),
	}
	instructions := strings.TrimSpace(in.Prompt)
	for _, c := range t.Changes {
		switch c {
		case ChangeSteps:
			b.Steps = splitSteps(in)
		case ChangeReorder:
			b.Steps = reorderSteps(present.Steps, in)
		case ChangeLevel:
			b.Steps = levelSteps(in)
			b.Examples = addExamples(b.Examples, interfaceExamples(in))
		case ChangeTools:
			b.Tools, b.WithoutTools = chooseTools(in)
			instructions = joinParagraphs(instructions, describeTools(b.Tools, b.WithoutTools))
		case ChangeRewrite:
			instructions = rewriteBrief(present, in)
			b.Quotes = addQuotes(b.Quotes, in.Failures, 2)
		case ChangeOnlyFiles:
			b.OnlyFiles = contextFiles(in)
			b.Quotes, b.Examples = nil, nil
		case ChangeDropHistory:
			b.DropHistory = true
		case ChangeExamples:
			b.Examples = addExamples(repositoryExamples(in), b.Examples)
		case ChangeRelax:
			b.Relaxed = chooseConstraint(in)
			b.Steps = relaxSteps(b.Relaxed, in)
			instructions = joinParagraphs(instructions, "Lifted for the first step, and put back in the last: "+b.Relaxed)
		case ChangeQuote:
			b.Quotes = addQuotes(b.Quotes, in.Failures, maxQuotes)
		case ChangeFromBase:
			b.FromBase = true
			b.Quotes, b.Examples = nil, nil
		}
	}
	b.Prompt = joinParagraphs(instructions, t.Prompt)
	return b
}

// joinParagraphs puts non-empty paragraphs beneath each other.
func joinParagraphs(parts ...string) string {
	kept := slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(kept, "\n\n")
}
