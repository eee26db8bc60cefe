package secret

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// gitleaksTable is the default rules of gitleaks v8.30.1
// (https://github.com/gitleaks/gitleaks/blob/v8.30.1/config/gitleaks.toml) as
// table_test.go writes them.
//
//go:embed gitleaks.json
var gitleaksTable []byte

// table is gitleaks' rules, in their order.
type table struct {
	Rules []tableRule `json:"rules"`
	Allow []allow     `json:"allow"` // for every rule
}

type tableRule struct {
	ID       string   `json:"id"`
	Expr     string   `json:"expr"`
	Group    int      `json:"group,omitempty"`
	Entropy  float64  `json:"entropy,omitempty"`
	Keywords []string `json:"keywords"`
	Allow    []allow  `json:"allow,omitempty"`
}

// genericRule is gitleaks' guess: a random-looking value that is assigned to what
// is called a key, a token or a password.
const genericRule = "generic-api-key"

// replaced are rules of gitleaks that ours stand for, and why.
var replaced = []string{
	"private-key",                                           // ours finds one that was cut off, too
	"vault-service-token",                                   // one of its keywords, "s.", is in most lines of code
	"jwt",                                                   // its keyword, "ey", is in every other line
	"github-pat", "github-fine-grained-pat", "github-oauth", // ours take any length, so that
	"github-app-token", "github-refresh-token", // a cut or a new one is found
	"aws-access-token", "gcp-api-key", // likewise
	"slack-bot-token", "slack-legacy-bot-token", "slack-legacy-token", // likewise
	"slack-user-token", "slack-app-token", "slack-webhook-url", // likewise
}

// hints are rules that go by a name nearby and any value of some length, and
// hit ordinary code: they mask, and refuse nothing.
var hints = []string{genericRule, "kubernetes-secret-yaml", "curl-auth-header", "curl-auth-user", "hashicorp-tf-password"}

// gitleaks reads the table.
func gitleaks() []*rule {
	var t table
	if err := json.Unmarshal(gitleaksTable, &t); err != nil {
		panic("secret: gitleaks.json: " + err.Error()) // it is part of the program, and a test reads it
	}
	for i := range t.Allow {
		t.Allow[i].compile()
	}
	out := make([]*rule, 0, len(t.Rules))
	for _, r := range t.Rules {
		if slices.Contains(replaced, r.ID) {
			continue
		}
		x := &rule{
			id: r.ID, keywords: r.Keywords, expr: lazy(r.Expr), group: r.Group, entropy: r.Entropy, sure: !slices.Contains(hints, r.ID),
			before: usualBefore, after: usualAfter, refuse: digest,
		}
		for i := range r.Allow {
			r.Allow[i].compile()
		}
		x.allow = slices.Concat(t.Allow, r.Allow)
		switch r.ID {
		case genericRule:
			x.at, x.refuse = assigned, harmless
		case "kubernetes-secret-yaml":
			x.before = 512 // the document's kind may stand after its values
		}
		out = append(out, x)
	}
	return out
}

func (a *allow) compile() {
	for _, e := range a.Exprs {
		a.exprs = append(a.exprs, lazy(e))
	}
}

var (
	hexDigest = regexp.MustCompile(`^(?i)(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$`)
	// integrity is how package managers write checksums: go.sum, npm, Subresource
	// Integrity.
	integrity = regexp.MustCompile(`^(?:h1:|sha(?:1|256|384|512)[-:=])`)
	hexOnly   = regexp.MustCompile(`^(?i)(?:0x)?[0-9a-f]+$`)
)

// digest reports a Git object id or a checksum, which logs and diffs are full of.
func digest(value string) bool { return hexDigest.MatchString(value) || integrity.MatchString(value) }

// harmless is what the guess must leave alone besides: what has no ten letters
// and digits in a row that mix both and are not hexadecimal, such as a name in
// code, a path, or a key of a cache.
func harmless(value string) bool {
	for _, run := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("-_./+=:", r) }) {
		if len(run) >= 10 && !digitless(run) && !hexOnly.MatchString(run) {
			return false
		}
	}
	return true
}

// digitless reports a value without a digit: a name, in code.
func digitless(value string) bool { return !strings.ContainsAny(value, "0123456789") }
