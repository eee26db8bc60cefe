package sia

// TechniqueID names a technique: the id in its Markdown front matter.
type TechniqueID string

// The ten built-in techniques. A repository may add its own.
const (
	Decomposition         TechniqueID = "decomposition"
	ToolChange            TechniqueID = "tool-change"
	PromptRestructuring   TechniqueID = "prompt-restructuring"
	ContextPruning        TechniqueID = "context-pruning"
	ExampleInjection      TechniqueID = "example-injection"
	ConstraintRelaxation  TechniqueID = "constraint-relaxation"
	DependencyReordering  TechniqueID = "dependency-reordering"
	AbstractionLevelShift TechniqueID = "abstraction-level-shift"
	ErrorPattern          TechniqueID = "error-pattern-recognition"
	FreshStart            TechniqueID = "fresh-start"
)

// Pattern names a pattern of failure.
type Pattern string

// The patterns that a diagnosis may name.
const (
	InterdependentComponents  Pattern = "interdependent-components"
	ExternalDependencyBlocker Pattern = "external-dependency-blocker"
	WrongTool                 Pattern = "wrong-tool"
	UnclearInstructions       Pattern = "unclear-instructions"
	ContextOverload           Pattern = "context-overload"
	MissingExample            Pattern = "missing-example"
	OverConstrained           Pattern = "over-constrained"
	WrongOrder                Pattern = "wrong-order"
	WrongAbstractionLevel     Pattern = "wrong-abstraction-level"
	RepeatedError             Pattern = "repeated-error"
	AccumulatedCruft          Pattern = "accumulated-cruft"
	UnclearSpecification      Pattern = "unclear-specification"
	MissingCredentials        Pattern = "missing-credentials"
	Environment               Pattern = "environment"
	FlakyCheck                Pattern = "flaky-check"
	UnknownPattern            Pattern = "unknown"
)

// Patterns lists every pattern, in display order.
var Patterns = []Pattern{
	InterdependentComponents, ExternalDependencyBlocker, WrongTool, UnclearInstructions,
	ContextOverload, MissingExample, OverConstrained, WrongOrder, WrongAbstractionLevel,
	RepeatedError, AccumulatedCruft, UnclearSpecification, MissingCredentials,
	Environment, FlakyCheck, UnknownPattern,
}
