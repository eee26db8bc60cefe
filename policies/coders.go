package policies

import _ "embed"

//go:embed defaults/coders.yml
var coders []byte

// CoderTable is defaults/coders.yml, the table of coders that ships; package coder reads it.
func CoderTable() []byte { return coders }
