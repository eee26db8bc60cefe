package secret

import (
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// ownRules returns rules from the issuers' documentation, looser than gitleaks' so that truncated tokens and new
// lengths are found: GitHub
// (https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/), GitLab, AWS
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html), Google, Slack, OpenAI and issuers with
// the same format, Stripe, JWT (RFC 7519), PEM (RFC 7468), credentials in URLs (RFC 3986, 3.2.1) and headers (RFC 9110,
// 11.6.2).
func ownRules() []*shapeRule {
	rules := []*shapeRule{
		{id: "private-key", keywords: []string{"private key"}, extend: keyEnd,
			expr: keyHeader},
		{id: "github-pat", keywords: []string{"ghp_"}, expr: lazyregexp.New(`\bghp_` + githubTail)},
		{id: "github-oauth", keywords: []string{"gho_"}, expr: lazyregexp.New(`\bgho_` + githubTail)},
		{id: "github-app-token", keywords: []string{"ghu_", "ghs_"}, expr: lazyregexp.New(`\bgh[us]_` + githubTail),
			before: defaultBefore, after: appTokenAfter},
		{id: "github-refresh-token", keywords: []string{"ghr_"}, expr: lazyregexp.New(`\bghr_` + githubTail)},
		{id: "github-fine-grained-pat", keywords: []string{"github_pat_"},
			expr: lazyregexp.New(`\bgithub_pat_[A-Za-z0-9_]{20,}`)},
		{id: "gitlab-token", keywords: []string{"glpat-", "glptt-", "glrt-", "gldt-", "glcbt-", "glsoat-"},
			expr: lazyregexp.New(`\bgl(?:pat|ptt|rt|dt|cbt|soat)-[A-Za-z0-9_\-]{20,}`)},
		{id: "api-key", keywords: []string{"sk-", "sk_", "rk_", "rk-"}, refuse: isWordy,
			expr: lazyregexp.New(`\b[sr]k[-_](?:(?:proj|ant|svcacct|admin|or|live|test|prod|api\d\d|v1)[-_]){0,3}` +
				`[A-Za-z0-9_\-]{20,}`)},
		{id: "api-key", keywords: []string{"gsk_", "xai-", "hf_", "npm_", "dop_v1_", "shpat_", "sg.", "pypi-", "r8_",
			"pplx-"}, refuse: isWordy,
			expr: lazyregexp.New(`\b(?:gsk_|xai-|hf_|npm_|dop_v1_|shpat_|SG\.|pypi-|r8_|` +
				`pplx-)[A-Za-z0-9_\-]{20,}(?:\.[A-Za-z0-9_\-]{20,})?`)},
		{id: "aws-access-token", keywords: []string{"a3t", "akia", "asia", "abia", "acca"},
			expr:   lazyregexp.New(`\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`),
			refuse: func(v string) bool { return strings.HasSuffix(v, "EXAMPLE") }},
		{id: "aws-secret", keywords: []string{"secret", "session"},
			refuse: func(v string) bool { return strings.Contains(v, "EXAMPLE") },
			expr: lazyregexp.New(`(?i)\b(?:aws_?)?(?:secret_?access_?key|` +
				`session_?token)["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+=]{30,})`)},
		{id: "gcp-api-key", keywords: []string{"aiza"}, expr: lazyregexp.New(`\bAIza[A-Za-z0-9_\-]{35}`)},
		{id: "google-token", keywords: []string{"ya29."}, expr: lazyregexp.New(`\bya29\.[A-Za-z0-9_\-.]{20,}`)},
		{id: "slack-token", keywords: []string{"xox", "xapp-"},
			expr: lazyregexp.New(`\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9\-]{10,}`)},
		{id: "slack-webhook", keywords: []string{"hooks.slack.com"},
			expr: lazyregexp.New(`hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/+]{20,})`)},
		{id: "vault-service-token", keywords: []string{"hvs."}, expr: lazyregexp.New(`\bhvs\.[A-Za-z0-9_\-]{20,}`)},
		{id: "vault-service-token", keywords: []string{"s."}, expr: lazyregexp.New(`\bs\.([A-Za-z0-9]{24})\b`),
			refuse: hasNoDigit, entropy: 4, before: 1, after: 26},
		{id: "jwt", keywords: []string{"eyj"}, before: defaultBefore, after: jwtAfter,
			expr: lazyregexp.New(`\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`)},
	}
	for _, r := range rules {
		r.sure = true
	}
	// These are not sure, because they are common in tests and development setups.
	rules = append(rules,
		&shapeRule{id: "password", keywords: []string{"://"}, at: userPassword},
		&shapeRule{id: "authorization", keywords: []string{"authorization"},
			expr: lazyregexp.New(`(?i)\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?` +
				`(?:(?:bearer|basic|token)\s+)([A-Za-z0-9._~+/=\-]{8,})`)},
	)
	for _, r := range rules {
		if r.before > 0 {
			continue
		}
		r.before, r.after = defaultBefore, defaultAfter
	}
	return rules
}

// appTokenAfter is the window for an installation token, which is a JSON web token of about 520 characters since 2026.
// A match that ends at a dot or a hyphen at the end of a window would not be followed.
// https://github.blog/changelog/2026-05-15-github-app-installation-tokens-per-request-override-header/
const appTokenAfter = 4096

// jwtAfter is the window for a part of a JSON web token. Tokens of services that list a user's groups have some
// kilobytes of claims; servers accept headers of at most 16 KiB.
const jwtAfter = 16 << 10

// githubTail matches the part of GitHub's tokens after the prefix, including the dots and hyphens of JSON web tokens,
// but no full stop at the end.
const githubTail = `[A-Za-z0-9_]{16,}(?:[A-Za-z0-9_.\-]*[A-Za-z0-9_])?`

// isWordy reports whether a value consists of words joined by hyphens, such as the name of a CSS class: it has no run
// of sixteen letters and digits with a digit or with both cases.
func isWordy(value string) bool {
	for _, run := range strings.FieldsFunc(value, func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		digits := strings.ContainsAny(run, "0123456789")
		cases := strings.ToLower(run) != run && strings.ToUpper(run) != run
		if len(run) >= 16 && (digits || cases) {
			return false
		}
	}
	return true
}
