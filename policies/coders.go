package policies

import "github.com/sia-bot/sia/policies/coder"

// ShippedCoders returns the prior knowledge about models (defaults/coders.yml). It panics on error; a test reads the
// embedded file. The file is data next to the policies, not a policy.
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
