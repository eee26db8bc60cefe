package secret

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// gitleaksTable has the default rules of gitleaks v8.30.1
// (https://github.com/gitleaks/gitleaks/blob/v8.30.1/config/gitleaks.toml) as table_test.go writes them.
//
//go:embed gitleaks.json
var gitleaksTable []byte

// gitleaksFile is the structure of gitleaks.json: gitleaks' rules in their order.
type gitleaksFile struct {
	Rules []tableRule `json:"rules"`
	Allow []allowRule `json:"allow"` // for every rule
}

type tableRule struct {
	ID       string      `json:"id"`
	Expr     string      `json:"expr"`
	Group    int         `json:"group,omitempty"`
	Entropy  float64     `json:"entropy,omitempty"`
	Keywords []string    `json:"keywords"`
	Allow    []allowRule `json:"allow,omitempty"`
}

// genericRule is gitleaks' heuristic rule for a random-looking value assigned to a key, a token or a password.
const genericRule = "generic-api-key"

// replacedRules are rules of gitleaks that our own rules replace, and why.
var replacedRules = []string{
	"private-key",                                           // ours also finds truncated keys
	"vault-service-token",                                   // one of its keywords, "s.", is in most lines of code
	"jwt",                                                   // its keyword, "ey", is in every other line
	"github-pat", "github-fine-grained-pat", "github-oauth", // ours accept any length, so that
	"github-app-token", "github-refresh-token", // truncated and new tokens are found
	"aws-access-token", "gcp-api-key", // likewise
	"slack-bot-token", "slack-legacy-bot-token", "slack-legacy-token", // likewise
	"slack-user-token", "slack-app-token", "slack-webhook-url", // likewise
}

// hintRules match any value of some length near a name, so they match ordinary code. They only mask and are no reason
// to reject a commit.
var hintRules = []string{genericRule, "kubernetes-secret-yaml", "curl-auth-header", "curl-auth-user",
	"hashicorp-tf-password"}

// gitleaksRules parses the embedded file.
func gitleaksRules() []*shapeRule {
	var t gitleaksFile
	if err := json.Unmarshal(gitleaksTable, &t); err != nil {
		panic("secret: gitleaks.json: " + err.Error()) // impossible: a test parses the embedded file
	}
	for i := range t.Allow {
		t.Allow[i].compile()
	}
	out := make([]*shapeRule, 0, len(t.Rules))
	for _, r := range t.Rules {
		if slices.Contains(replacedRules, r.ID) {
			continue
		}
		x := &shapeRule{
			id: r.ID, keywords: r.Keywords, expr: lazyregexp.New(r.Expr), group: r.Group, entropy: r.Entropy,
			sure:   !slices.Contains(hintRules, r.ID),
			before: defaultBefore, after: defaultAfter, refuse: isDigest,
		}
		for i := range r.Allow {
			r.Allow[i].compile()
		}
		x.allow = slices.Concat(t.Allow, r.Allow)
		switch r.ID {
		case genericRule:
			x.at, x.refuse = assignedValue, isHarmless
		case "kubernetes-secret-yaml":
			x.before = 512 // the document's kind may follow its values
		}
		out = append(out, x)
	}
	return out
}

func (a *allowRule) compile() {
	for _, e := range a.Exprs {
		a.exprs = append(a.exprs, lazyregexp.New(e))
	}
}

var (
	hexDigest = lazyregexp.New(`^(?i)(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$`)
	// integrityHash matches checksums in the format of package managers: go.sum, npm, Subresource Integrity.
	integrityHash = lazyregexp.New(`^(?:h1:|sha(?:1|256|384|512)[-:=])`)
	hexOnly       = lazyregexp.New(`^(?i)(?:0x)?[0-9a-f]+$`)
)

// isDigest reports whether a value is a Git object id or a checksum, which are common in logs and diffs.
func isDigest(value string) bool {
	return hexDigest.MatchString(value) || integrityHash.MatchString(value)
}

// isHarmless reports whether the generic rule must ignore a value, such as a name in code, a path or a cache key. A
// value is harmless unless ten or more of its characters in a row mix letters and digits and are not hexadecimal.
func isHarmless(value string) bool {
	for _, run := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./+=:", r) }) {
		if len(run) >= 10 && !hasNoDigit(run) && !hexOnly.MatchString(run) {
			return false
		}
	}
	return true
}

// hasNoDigit reports whether a value has no digit, like most names in code.
func hasNoDigit(value string) bool { return !strings.ContainsAny(value, "0123456789") }
