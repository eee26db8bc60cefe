package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
)

// Fact is a behavior of GitHub that SIA relies on, and that can be tried.
type Fact struct {
	ID     string // section/name; it stays if the text changes
	Text   string // Markdown
	Source string // a page of docs.github.com, or another URL; empty: observed, but undocumented
	Needs  string // permissions that the probe needs: "checks:write contents:write"
	Probe  func(*Try)
}

// Facts returns all facts, in the order of the document.
func Facts() []Fact {
	return slices.Concat(answers(), deliveries(), tokens(), pushes(), pulls(), reviews(), checks(), workflows(), rules(),
		issues(), graphQL(), addresses(), limits())
}

// Verdict is the outcome of a fact.
type Verdict string

// Verdicts.
const (
	Holds    Verdict = "holds"
	Differs  Verdict = "differs"
	NotTried Verdict = "not tried"
)

// Result is the result of one fact.
type Result struct {
	ID       string  `json:"id"`
	Fact     string  `json:"fact"`
	Source   string  `json:"source,omitempty"`
	Verdict  Verdict `json:"verdict"`
	Expected string  `json:"expected,omitempty"` // if GitHub differs
	Answered string  `json:"answered,omitempty"`
	Why      string  `json:"why,omitempty"`    // why it was not tried
	Broken   bool    `json:"broken,omitempty"` // not tried because of an unrelated failure, such as of the network

	Exchanges []Exchange `json:"exchanges,omitempty"`
}

// missingPermissions lists the permissions that a fact needs and the installation lacks.
func missingPermissions(needs string, granted github.Permissions) string {
	var missing []string
	for _, need := range strings.Fields(needs) {
		permission, level, _ := strings.Cut(need, ":")
		switch have := granted[permission]; {
		case have == level, have == "write", have == "admin":
		default:
			missing = append(missing, fmt.Sprintf("%s: %s", permission, level))
		}
	}
	return strings.Join(missing, ", ")
}

// docs is the base URL of sources.
const docs = "https://docs.github.com/en/"

// sourceURL returns the full URL of a source.
func sourceURL(source string) string {
	if source == "" || strings.HasPrefix(source, "https://") {
		return source
	}
	return docs + source
}
