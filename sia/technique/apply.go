package technique

import (
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/plan"
)

// Input is the input for the changes of a technique. The zero Input is usable: a change without data uses its simplest
// form.
type Input struct {
	Title, Body string             // title and body of the task
	Prompt      string             // instructions from the diagnosis; may be empty
	Pattern     sia.Pattern        // diagnosed pattern
	Failures    []sia.CheckFailure // failures of the attempt
	Touched     []string           // paths that the failed attempt changed

	// The repository. Read may be nil; its errors mean that a file is not used.
	Files []string // every path, separated by slashes
	Read  func(path string) ([]byte, error)

	Tools []string // names of the agent's tools; empty: unknown

	// Proposals of the diagnosis. Each is checked against the above. An invalid one is dropped and replaced by rules.
	Steps      []plan.Part
	Unsuitable []string // tools to remove
	Context    []string // relevant files
	Examples   []string // files to follow as examples
	Constraint string   // constraint to lift
	Level      string   // "up": interface and double; "down": the concrete case
}

// Limits on a brief, so that no technique overloads the context.
const (
	maxSteps    = 8
	maxStepText = 500             // characters of a step's words
	maxBundle   = 2 * maxStepText // characters of a bundled step; a prompt shows no more
	maxContext  = 8               // files
	maxExamples = 3
	maxQuotes   = 6
)

// Apply returns the next attempt's brief, derived from the present one. The instructions of the diagnosis and of the
// technique become its prompt, and the technique's changes are applied.
//
// Users' answers, the approved plan and lessons are kept (Answers, FollowUp, Asked, Plan, Lessons, TestHints,
// ToolLessons). Quotes and examples are kept unless a change clears the context. All other changes of an earlier
// technique are undone, so that an attempt shows the effect of one technique. The present brief is not modified.
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

// joinParagraphs joins non-empty paragraphs with empty lines.
func joinParagraphs(parts ...string) string {
	kept := slices.DeleteFunc(parts, func(s string) bool { return strings.TrimSpace(s) == "" })
	return strings.Join(kept, "\n\n")
}
