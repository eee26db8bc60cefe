package policies

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/invalid"
)

// The choices of a decompose decision.
const (
	ChoiceWhole        = "whole"        // a single run
	ChoiceReproduce    = "reproduce"    // first a failing test, then the fix
	ChoiceLinear       = "linear"       // parts in sequence
	ChoiceParallel     = "parallel"     // independent parts
	ChoiceHierarchical = "hierarchical" // parts that depend on others
)

// Decompose decides how the work on a task is structured: as a whole, or if its size exceeds the threshold, by the
// structure that fits best.
type Decompose struct {
	Parameters DecomposeParameters `yaml:"parameters"`
	// Prompt is added to the instructions of the coder that makes the plan.
	Prompt string `yaml:"prompt"`
}

// DecomposeParameters are the weights of a task's size, and of the fit of each structure.
type DecomposeParameters struct {
	Complexity float64 `yaml:"complexity_weight" range:"0,5"` // × number of things that the issue asks for and names
	Size       float64 `yaml:"size_weight" range:"0,5"`       // × its length
	CodeRefs   float64 `yaml:"code_refs_weight" range:"0,5"`  // × whether it names files or symbols
	Steps      float64 `yaml:"steps_weight" range:"0,20"`     // × whether the instructions have steps already
	Threshold  float64 `yaml:"threshold" range:"0,20"`        // a task is split above it
	Words      float64 `yaml:"words" range:"1,1e5"`           // number of words that counts as 0.63

	Reproduce    float64 `yaml:"reproduce" range:"0,5"`    // fits a bug
	Linear       float64 `yaml:"linear" range:"0,5"`       // fits every task
	Order        float64 `yaml:"order" range:"0,5"`        // × words of order, for a linear structure
	Parallel     float64 `yaml:"parallel" range:"0,5"`     // fits many demands without order
	Hierarchical float64 `yaml:"hierarchical" range:"0,5"` // fits many demands that touch the architecture

	ManyDemands float64 `yaml:"many_demands" range:"1,100"` // number of demands that counts as 1
	ManyOrder   float64 `yaml:"many_order" range:"1,100"`   // number of words of order that counts as 1

	// techniques with steps that are separate parts; other steps are for a single run
	Enforce []string `yaml:"enforce"`

	MaxParts    int `yaml:"max_parts" range:"2,12"`  // maximum number of parts of a plan
	Parallelism int `yaml:"parallelism" range:"1,8"` // maximum number of concurrent parts

	Chance float64 `yaml:"chance" range:"0,0.2"` // share of randomised decisions, see [Answer.LeaveToChance]
}

// maxPrompt is the maximum length of a policy's prompt, in bytes.
const maxPrompt = 4 << 10

// Sections implements body.
func (d *Decompose) Sections() map[string]any {
	return map[string]any{"parameters": &d.Parameters, "prompt": &d.Prompt}
}

// Check implements checked.
func (d *Decompose) Check() (wrong []invalid.Problem) {
	if len(d.Prompt) > maxPrompt {
		wrong = append(wrong, invalid.Problem{Path: "prompt",
			Message: fmt.Sprintf("it has %d bytes; a prompt takes at most %d", len(d.Prompt), maxPrompt)})
	}
	return wrong
}

// Decide decides the structure of the work on a task. If parts cannot be checked here, the task is not split, because
// it would be unknown when the next part may begin.
func (d Decompose) Decide(c Context) Answer {
	p := d.Parameters
	size := p.size(c)
	large := score("", size...).Score
	a := Answer{Options: []Option{{Choice: ChoiceWhole, Score: p.Threshold}}}
	fits := p.fits(c)
	best := 0.0
	for _, f := range fits {
		best = max(best, f.Value)
	}
	for _, f := range fits {
		o := score(f.What, append(slices.Clip(size), Term{"fit", f.Value - best})...)
		o.AtOnce, o.MaxParts = 1, p.MaxParts
		if f.What == ChoiceParallel || f.What == ChoiceHierarchical {
			o.AtOnce = p.Parallelism
		}
		a.Options = append(a.Options, o)
	}
	a.choose()
	switch sum := termsText(score("", size...).Terms); {
	case large > p.Threshold && !c.Checkable:
		a.Reason = "whether a part is done can't be checked: there is no sandbox"
	case large > p.Threshold && c.Steps > 1 && !p.enforces(c):
		a.Reason = fmt.Sprintf("its %d steps are for one run", c.Steps)
	case large > p.Threshold:
		a.Reason = fmt.Sprintf("it is large enough to be taken apart, %.2f, above %.2f (%s); %s", large, p.Threshold, sum,
			p.why(c, fits, a.Choice))
	default:
		a.Reason = strings.TrimSuffix(fmt.Sprintf("it is not large enough to be taken apart: %.2f, not above %.2f (%s)",
			large, p.Threshold, sum), " ()")
	}
	return a
}

// size returns the terms of a task's size.
func (p DecomposeParameters) size(c Context) []Term {
	return []Term{
		{"complexity", p.Complexity * c.Task.Complexity},
		{"length", p.Size * saturate(float64(c.Task.Words)/p.Words)},
		{"code references", p.CodeRefs * yes(c.Task.CodeRefs > 0)},
		{"steps", p.Steps * yes(p.enforces(c))},
	}
}

// fits returns the possible structures, each with its fit. Steps in the instructions are done in order.
func (p DecomposeParameters) fits(c Context) []Term {
	many := math.Min(float64(c.Task.Demands)/p.ManyDemands, 1)
	ordered := math.Min(float64(c.Task.Order)/p.ManyOrder, 1)
	linear := Term{ChoiceLinear, p.Linear + p.Order*ordered}
	switch {
	case !c.Checkable:
		return nil
	case p.enforces(c):
		return []Term{linear}
	case c.Steps > 1: // they are for a single run
		return nil
	}
	return []Term{
		{ChoiceReproduce, p.Reproduce * yes(c.Task.Kind == KindBug)}, linear,
		{ChoiceParallel, p.Parallel * many * (1 - ordered)},
		{ChoiceHierarchical, p.Hierarchical * many * yes(c.Task.Architecture)},
	}
}

// why returns the reason for a structure, for display.
func (p DecomposeParameters) why(c Context, fits []Term, choice string) string {
	if c.Steps > 1 {
		return fmt.Sprintf("its %d steps are gone through one after the other", c.Steps)
	}
	by := map[string]string{
		ChoiceReproduce: "it is a bug, so a test shows it first",
		ChoiceLinear:    "its parts are done one after the other",
		ChoiceParallel:  fmt.Sprintf("its %d demands stand beside one another", c.Task.Demands),
		ChoiceHierarchical: fmt.Sprintf("its %d demands touch the architecture, and some will rest on others",
			c.Task.Demands),
	}[choice]
	return by + " (fit: " + termsText(fits) + ")"
}

// enforces reports whether the steps of the instructions are separate parts.
func (p DecomposeParameters) enforces(c Context) bool {
	return c.Steps > 1 && slices.Contains(p.Enforce, c.Technique)
}

// yes returns 1 for true, else 0.
func yes(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
