package policies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sia-bot/sia/policies/bandit"
	"github.com/sia-bot/sia/sia/invalid"
)

// Policy is a parsed policy file. It is immutable after [Parse].
type Policy struct {
	Decision  Type
	Name      string
	Version   int // version number by the author
	Reasoning string
	Selector  Selector
	Layer     Layer
	Source    string // content of the file
	Path      string // path in its repository; empty: shipped, or read from elsewhere

	body body
}

// body has the parameters and rules of a policy: a *Decompose, *Assign, *Escalate, *Recover, *Rerun, *Interrupt or
// *bandit.Policy, depending on the type of decision.
type body interface {
	// Sections returns the body's keys in the file, each with a pointer to its field.
	Sections() map[string]any
}

// checked is a body with constraints beyond the types and ranges of its fields.
type checked interface {
	// Check returns violations of these constraints, each with its path in the file.
	Check() []invalid.Problem
}

// bodies returns an empty body for each type of decision.
var bodies = map[Type]func() body{
	TypeDecompose: func() body { return &Decompose{} },
	TypeAssign:    func() body { return &Assign{} },
	TypeEscalate:  func() body { return &Escalate{} },
	TypeRecover:   func() body { return &Recover{} },
	TypeRerun:     func() body { return &Rerun{} },
	TypeInterrupt: func() body { return &Interrupt{} },
	TypeTechnique: func() body { return &bandit.Policy{} },
}

// ID returns the permanent id of this version of the policy: its name, version and a hash of its content, such as
// "escalate/1@1a2b3c4d5e6f".
func (p Policy) ID() string { return fmt.Sprintf("%s/%d@%s", p.Name, p.Version, p.Hash()) }

// Hash returns 12 hexadecimal digits of the SHA-256 of the file's content.
func (p Policy) Hash() string {
	sum := sha256.Sum256([]byte(p.Source))
	return hex.EncodeToString(sum[:])[:12]
}

// Decompose returns the body of a decompose policy, else the zero Decompose.
func (p Policy) Decompose() Decompose { return bodyOf[*Decompose](p) }

// Assign returns the body of an assign policy, else the zero Assign.
func (p Policy) Assign() Assign { return bodyOf[*Assign](p) }

// Escalate returns the body of an escalate policy, else the zero Escalate.
func (p Policy) Escalate() Escalate { return bodyOf[*Escalate](p) }

// Recover returns the body of a recover policy, else the zero Recover.
func (p Policy) Recover() Recover { return bodyOf[*Recover](p) }

// Rerun returns the body of a rerun policy, else the zero Rerun.
func (p Policy) Rerun() Rerun { return bodyOf[*Rerun](p) }

// Interrupt returns the body of an interrupt policy, else the zero Interrupt.
func (p Policy) Interrupt() Interrupt { return bodyOf[*Interrupt](p) }

// Technique returns the body of a technique policy, else the zero Policy, with the policy's id.
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
