package work

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/gitops"
	"github.com/sia-bot/sia/sia/secret"
)

// A commit answers for the secrets that it adds, line by line, and not for what
// the base had.
func TestLeaksInAHunk(t *testing.T) {
	token, other := "ghp_"+strings.Repeat("aB3d", 9), "ghp_"+strings.Repeat("Zy8x", 9)
	key := []string{"+-----BEGIN PRIVATE KEY-----", "+" + strings.Repeat("aB3d", 16), "+-----END PRIVATE KEY-----"}
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"added": {[]string{" a", "+b = " + token, "+c = " + other},
			[]string{"`f:11` (github-pat)", "`f:12` (github-pat)"}},
		"beside a change":        {[]string{" old = " + token, "+new", "-gone"}, nil},
		"moved within":           {[]string{"-a = " + token, "+b = " + token}, nil},
		"exchanged":              {[]string{"-a = " + token, "+a = " + other}, []string{"`f:10` (github-pat)"}},
		"taken away":             {[]string{"-a = " + token}, nil},
		"over several lines":     {append([]string{" a"}, key...), []string{"`f:11` (private-key)"}},
		"a guess":                {[]string{"+API_TOKEN=xK9vQ2mZ7pL4wR8t"}, nil},
		"an address for a test":  {[]string{"+postgres://postgres:postgres@localhost/test"}, nil},
		"no newline at the end":  {[]string{"+" + token, `\ No newline at end of file`}, []string{"`f:10` (github-pat)"}},
		"documentation's tokens": {[]string{"+AKIAIOSFODNN7EXAMPLE", "+ghp_" + strings.Repeat("x", 36)}, nil},
	} {
		if d := cmp.Diff(c.want, hunkLeaks(&secret.Masker{}, "f", gitops.Hunk{NewStart: 10, Lines: c.lines})); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
