package policies

import (
	"github.com/sia-bot/sia/policies/coder"
)

// Assign decides which coder makes an attempt (package coder implements it).
type Assign struct {
	Parameters coder.Parameters `yaml:"parameters"`
}

// Sections implements body.
func (p *Assign) Sections() map[string]any { return map[string]any{"parameters": &p.Parameters} }
