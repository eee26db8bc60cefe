package policies

import (
	"github.com/sia-bot/sia/policies/coder"
)

// Assign is by what it is decided who makes an attempt (package coder has the rule).
type Assign struct {
	Parameters coder.Parameters `yaml:"parameters"`
}

// Sections implements body.
func (p *Assign) Sections() map[string]any { return map[string]any{"parameters": &p.Parameters} }
