// Package defaults holds tables that ship with SIA, as text. It imports nothing of ours.
package defaults

import _ "embed"

//go:embed coders.yml
var coders []byte

// Coders is coders.yml: what is known of models before anything was seen.
func Coders() []byte { return coders }
