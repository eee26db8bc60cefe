package policies

import "github.com/sia-bot/sia/policies/coder"

// coders is the table of coders that ships. It lies beside the policies because it is data,
// and is none: it decides nothing.
const coders = "defaults/coders.yml"

// ShippedCoders is what is known of models before anything was seen (defaults/coders.yml).
// An error is a defect of the build.
func ShippedCoders() (coder.Table, error) {
	b, err := shipped.ReadFile(coders)
	if err != nil {
		return coder.Table{}, err
	}
	return coder.ParseTable(b)
}
