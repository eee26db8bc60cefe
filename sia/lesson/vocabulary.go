package lesson

import "github.com/sia-bot/sia/sia"

// The texts of lessons from outcomes. They are SIA's own, so that the author of an issue cannot write into the next
// attempt's prompt.

// patternWords are the texts of a pattern: the situation, what to avoid, and the earlier behaviour.
type patternWords struct{ when, avoid, before string }

var patternVocabulary = map[sia.Pattern]patternWords{
	sia.MissingCredentials: {"a service needs credentials that are not there", "Don't wire the real service in: " +
		"its credentials are not there.", "calling the real service without its credentials"},
	sia.ExternalDependencyBlocker: {"a service outside can't be reached", "Don't depend on the outside service while " +
		"the checks run.", "reaching for a service outside"},
	sia.InterdependentComponents: {"parts of the change break each other",
		"Don't change the connected parts all at once.", "changing connected parts all at once"},
	sia.WrongTool: {"the tool does not fit the job", "Don't go on with a tool that refuses the job.",
		"going on with a tool that did not fit"},
	sia.UnclearInstructions: {"the issue leaves the exact result open and a check demands it", "Don't guess the " +
		"exact result; read what the check compares with.", "guessing the exact result"},
	sia.ContextOverload: {"too much is in view", "Don't read the whole repository.", "reading more than the " +
		"task needs"},
	sia.MissingExample: {"the shape that is wanted is not obvious", "Don't invent a shape of your own.",
		"inventing a shape"},
	sia.OverConstrained: {"the constraints can't all be met at once", "Don't try to meet every constraint in " +
		"one step.", "meeting every constraint at once"},
	sia.WrongOrder: {"a step needs what comes after it", "Don't begin with what depends on the rest.",
		"beginning with what depends on the rest"},
	sia.WrongAbstractionLevel: {"the work is at the wrong level", "Don't patch the detail where the interface is " +
		"what has to change.", "patching at the wrong level"},
	sia.RepeatedError: {"the same error comes back", "Don't try again before the cause of the error is found.",
		"trying again without finding the cause"},
	sia.AccumulatedCruft: {"leftovers of earlier tries are in the way", "Don't build on what earlier tries " +
		"left behind.", "building on leftovers"},
	sia.UnclearSpecification: {"the issue does not say what is wanted", "Don't choose for people what the issue " +
		"leaves open; ask.", "choosing what the issue leaves open"},
	sia.Environment: {"the environment of the checks lacks something", "Don't rely on what the " +
		"environment of the checks does not have.", "relying on what the environment lacks"},
	sia.FlakyCheck: {"a check fails now and then by itself", "Don't change code to please a check that " +
		"fails by itself.", "changing code for a check that fails by itself"},
}

// testVocabulary is the advice for a test of a pattern's case. For the other patterns a test needs a line of a log.
var testVocabulary = map[sia.Pattern]string{
	sia.MissingCredentials:        "have a test cover that without the real service",
	sia.ExternalDependencyBlocker: "have a test cover that without the service outside",
	sia.InterdependentComponents:  "have a test cover those parts together",
	sia.UnclearInstructions:       "have a test compare with the exact result",
	sia.UnclearSpecification:      "have a test hold what people decided",
	sia.Environment:               "have a test cover that without what is lacking there",
	sia.FlakyCheck:                "have a test cover that and come out the same every time",
}

// anyTest is the advice for a test of any other case.
const anyTest = "have a test cover that case"

var techniqueVocabulary = map[sia.TechniqueID]string{
	sia.Decomposition: "Do one part at a time, each with its own test, and run the tests of the earlier parts " +
		"after each.",
	sia.ToolChange: "Use the tool that fits: create what is new, edit what is there.",
	sia.PromptRestructuring: "Write down goal, constraints and what must be true at the end, from what the checks " +
		"compare with, before you change anything.",
	sia.ContextPruning:       "Start from the few files that matter and leave the others alone.",
	sia.ExampleInjection:     "Find something of the same shape in this repository and follow it.",
	sia.ConstraintRelaxation: "Work without the hardest constraint first, and put it back as the last step.",
	sia.DependencyReordering: "Build first what the rest depends on.",
	sia.AbstractionLevelShift: "Work one level up or down: change the interface where the detail resisted, or the " +
		"detail where the interface did.",
	sia.ErrorPattern: "Mend the cause of that very error first, and see that it is gone before you go on.",
	sia.FreshStart:   "Start over from the base branch and keep the change small.",
}

// localDouble is the advice of an abstraction level shift when an external service is missing.
const localDouble = "Put the service behind an interface with a local double that records what it was asked, and " +
	"leave the real service to be plugged in later."

// techniqueAdvice returns a technique's advice to a coding agent about a pattern; "" for a repository's own technique.
func techniqueAdvice(id sia.TechniqueID, p sia.Pattern) string {
	if id == sia.AbstractionLevelShift && (p == sia.MissingCredentials || p == sia.ExternalDependencyBlocker) {
		return localDouble
	}
	return techniqueVocabulary[id]
}

// blockerPatterns are the patterns that no technique resolves, only a workaround.
var blockerPatterns = map[sia.Pattern]bool{
	sia.MissingCredentials: true, sia.ExternalDependencyBlocker: true, sia.Environment: true,
	sia.OverConstrained: true, sia.FlakyCheck: true,
}
