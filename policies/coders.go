package policies

import "github.com/sia-bot/sia/policies/coder"

// ShippedCoders is what is known of models before anything was seen (defaults/coders.yml). It is a part of the program,
// and a test reads it. It lies beside the policies because it is data, and is none: it decides nothing.
func ShippedCoders() coder.Table {
	b, err := shipped.ReadFile("defaults/coders.yml")
	if err != nil {
		panic("policies: " + err.Error())
	}
	t, err := coder.ParseTable(b)
	if err != nil {
		panic("policies: " + err.Error())
	}
	return t
}
