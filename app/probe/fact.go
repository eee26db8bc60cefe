package probe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/github"
)

// Fact is something that GitHub does and SIA relies on.
type Fact struct {
	ID     string // section/name; it stays when the text changes
	Text   string // Markdown
	Source string // a page of docs.github.com, or the whole address of something else; empty: seen, and not written down
	Needs  string // permissions that the probe needs: "checks:write contents:write"
	Probe  func(*Try)
	NotFor string // why there is no probe: what it would need
}

// Facts are all of them, in the order in which people read them.
func Facts() []Fact {
	return slices.Concat(answers(), deliveries(), tokens(), pushes(), pulls(), reviews(), checks(), workflows(), rules(),
		issues(), graphQL(), addresses(), limits())
}

// Verdict is the result of a fact.
type Verdict string

// The verdicts.
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
	Expected string  `json:"expected,omitempty"` // where GitHub differs
	Answered string  `json:"answered,omitempty"`
	Why      string  `json:"why,omitempty"`    // it was not tried
	Broken   bool    `json:"broken,omitempty"` // not tried because something failed that should not: the network, say

	Exchanges []Exchange `json:"exchanges,omitempty"`
}

// lacking are the permissions that a fact needs and an installation was not granted.
func lacking(needs string, granted github.Permissions) string {
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

// docs is where paths of sources are beneath.
const docs = "https://docs.github.com/en/"

// address is the whole address of a source.
func address(source string) string {
	if source == "" || strings.HasPrefix(source, "https://") {
		return source
	}
	return docs + source
}
