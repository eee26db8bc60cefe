package sia

import (
	"fmt"
	"strings"
)

// AllowList names the repositories that a server works in, as owner/name, or as owner/* for all of an
// owner's. If it is empty the server works wherever it is installed. GitHub's names are case-insensitive.
type AllowList []string

// Has reports whether the server works in a repository.
func (l AllowList) Has(r Repo) bool {
	for _, one := range l {
		owner, name, _ := strings.Cut(one, "/")
		if strings.EqualFold(owner, r.Owner) && (name == "*" || strings.EqualFold(name, r.Name)) {
			return true
		}
	}
	return len(l) == 0
}

// Check returns an error if an entry names no repository.
func (l AllowList) Check() error {
	for _, one := range l {
		owner, name, ok := strings.Cut(one, "/")
		if !ok || owner == "" || name == "" || strings.ContainsAny(owner, "*? ") ||
			name != "*" && strings.ContainsAny(name, "*?/ ") {
			return fmt.Errorf("%q names no repository: write owner/name, or owner/* for all of an owner's", one)
		}
	}
	return nil
}
