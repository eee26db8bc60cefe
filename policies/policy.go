package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia/invalid"
)

// Policy is one policy file, read. Its content is not changed after [Parse].
type Policy struct {
	Decision  Type
	Name      string
	Version   int // the author's own count, for people
	Reasoning string
	Selector  Selector
	Layer     Layer
	Source    string // the file as it was read
	Path      string // of the file in its repository; empty: it ships, or was read from elsewhere

	body body
}

// body is what policies of one type decide by: a *Decompose, *Assign, *Escalate, *Recover, *Rerun,
// *Interrupt or *bandit.Policy, after the type of decision.
type body interface {
	// Sections are the keys of the file that the body is read from, each with where it is read to.
	Sections() map[string]any
}

// checked is a body with fields of which type and range don't say all.
type checked interface {
	// Check lists what they don't say, each by its path in the file.
	Check() []invalid.Problem
}

// bodies makes the empty body of each type of decision.
var bodies = map[Type]func() body{
	TypeDecompose: func() body { return &Decompose{} },
	TypeAssign:    func() body { return &Assign{} },
	TypeEscalate:  func() body { return &Escalate{} },
	TypeRecover:   func() body { return &Recover{} },
	TypeRerun:     func() body { return &Rerun{} },
	TypeInterrupt: func() body { return &Interrupt{} },
	TypeTechnique: func() body { return &bandit.Policy{} },
}

// ID names this version of the policy for ever: its name, the author's count and a hash
// of its content, such as "escalate/1@1a2b3c4d5e6f".
func (p Policy) ID() string { return fmt.Sprintf("%s/%d@%s", p.Name, p.Version, p.Hash()) }

// Hash is 12 hexadecimal digits of SHA-256 over the content of the file.
func (p Policy) Hash() string {
	sum := sha256.Sum256([]byte(p.Source))
	return hex.EncodeToString(sum[:])[:12]
}

// Decompose is what a decompose policy decides by; the zero Decompose of another type.
func (p Policy) Decompose() Decompose { return bodyOf[*Decompose](p) }

// Assign is what an assign policy decides by; the zero Assign of another type.
func (p Policy) Assign() Assign { return bodyOf[*Assign](p) }

// Escalate is what an escalate policy decides by; the zero Escalate of another type.
func (p Policy) Escalate() Escalate { return bodyOf[*Escalate](p) }

// Recover is what a recover policy decides by; the zero Recover of another type.
func (p Policy) Recover() Recover { return bodyOf[*Recover](p) }

// Rerun is what a rerun policy decides by; the zero Rerun of another type.
func (p Policy) Rerun() Rerun { return bodyOf[*Rerun](p) }

// Interrupt is what an interrupt policy decides by; the zero Interrupt of another type.
func (p Policy) Interrupt() Interrupt { return bodyOf[*Interrupt](p) }

// Technique is what a technique policy decides by; the zero Policy of another type.
func (p Policy) Technique() bandit.Policy {
	t := bodyOf[*bandit.Policy](p)
	t.ID = p.ID()
	return t
}

func bodyOf[P interface{ *T }, T any](p Policy) (out T) {
	if b, ok := p.body.(P); ok {
		out = *b
	}
	return out
}
