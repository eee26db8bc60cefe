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
	ChoiceWhole        = "whole"        // one run does all of it
	ChoiceReproduce    = "reproduce"    // first a test that shows the fault, then what makes it pass
	ChoiceLinear       = "linear"       // parts, one after the other
	ChoiceParallel     = "parallel"     // parts that stand beside one another
	ChoiceHierarchical = "hierarchical" // parts that rest on others
)

// Structures lists the choices of a decompose decision.
func Structures() []string {
	return []string{ChoiceWhole, ChoiceReproduce, ChoiceLinear, ChoiceParallel, ChoiceHierarchical}
}

// Decompose is by what it is decided how the work on a task hangs together: as a whole, or
// where its size exceeds the threshold, by the structure that fits it best.
type Decompose struct {
	Parameters DecomposeParameters `yaml:"parameters"`
	// Prompt goes to the coder that makes the plan, beside what a plan has to be.
	Prompt string `yaml:"prompt"`
}

// DecomposeParameters weigh how large a task is, and how well each structure fits it.
type DecomposeParameters struct {
	Complexity float64 `yaml:"complexity_weight" range:"0,5"` // × how many things the issue asks for and names
	Size       float64 `yaml:"size_weight" range:"0,5"`       // × how long it is
	CodeRefs   float64 `yaml:"code_refs_weight" range:"0,5"`  // × whether it names files or symbols
	Steps      float64 `yaml:"steps_weight" range:"0,20"`     // × whether the instructions have steps already
	Threshold  float64 `yaml:"threshold" range:"0,20"`        // a task is taken apart above it
	Words      float64 `yaml:"words" range:"1,1e5"`           // of an issue with a length that counts as 0.63

	Reproduce    float64 `yaml:"reproduce" range:"0,5"`    // fits a bug
	Linear       float64 `yaml:"linear" range:"0,5"`       // fits every task
	Order        float64 `yaml:"order" range:"0,5"`        // × words that tell an order: it fits better
	Parallel     float64 `yaml:"parallel" range:"0,5"`     // fits many demands without an order
	Hierarchical float64 `yaml:"hierarchical" range:"0,5"` // fits many demands that touch the architecture

	ManyDemands float64 `yaml:"many_demands" range:"1,100"` // demands that count in full
	ManyOrder   float64 `yaml:"many_order" range:"1,100"`   // words of order that count in full

	// techniques with steps that are done one by one; other steps go to the one run
	Enforce []string `yaml:"enforce"`

	MaxParts    int `yaml:"max_parts" range:"2,12"`  // of a plan
	Parallelism int `yaml:"parallelism" range:"1,8"` // parts that are worked on at once

	Chance float64 `yaml:"chance" range:"0,0.2"` // share of decisions left to chance, as of [Answer.LeaveToChance]
}

// maxPrompt bounds the prompt of a policy, in bytes.
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

// Decide says how the work on a task hangs together. What can't be checked here is not taken
// apart: nobody could tell when the next part may begin.
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
		a.Reason = "whether a part is done can't be checked on this server, which has no sandbox"
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

// size is what speaks for taking a task apart.
func (p DecomposeParameters) size(c Context) []Term {
	return []Term{
		{"complexity", p.Complexity * c.Task.Complexity},
		{"length", p.Size * saturate(float64(c.Task.Words)/p.Words)},
		{"code references", p.CodeRefs * yes(c.Task.CodeRefs > 0)},
		{"steps", p.Steps * yes(p.enforces(c))},
	}
}

// fits are the structures that are possible, each with how well it fits. Steps that
// the instructions have already are gone through in their order.
func (p DecomposeParameters) fits(c Context) []Term {
	many := math.Min(float64(c.Task.Demands)/p.ManyDemands, 1)
	ordered := math.Min(float64(c.Task.Order)/p.ManyOrder, 1)
	linear := Term{ChoiceLinear, p.Linear + p.Order*ordered}
	switch {
	case !c.Checkable:
		return nil
	case p.enforces(c):
		return []Term{linear}
	case c.Steps > 1: // they are for one run
		return nil
	}
	return []Term{
		{ChoiceReproduce, p.Reproduce * yes(c.Task.Kind == KindBug)}, linear,
		{ChoiceParallel, p.Parallel * many * (1 - ordered)},
		{ChoiceHierarchical, p.Hierarchical * many * yes(c.Task.Architecture)},
	}
}

// why says in words what speaks for a structure.
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

// enforces reports whether the instructions have steps that are gone through one by one.
func (p DecomposeParameters) enforces(c Context) bool {
	return c.Steps > 1 && slices.Contains(p.Enforce, c.Technique)
}

// yes is 1 for what is so.
func yes(so bool) float64 {
	if so {
		return 1
	}
	return 0
}
