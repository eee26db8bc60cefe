package agent

import "regexp"

// secret is one shape of secret. Where the pattern has a group named keep, that
// part stays.
type secret struct {
	name string
	re   *regexp.Regexp
}

// secrets are shapes that are secrets with near certainty, from their issuers'
// documents: GitHub
// (https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/),
// AWS (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html),
// GitLab, Slack, Stripe, npm, Google, PEM (RFC 7468) and JWT (RFC 7519).
var secrets = []secret{
	{"private key", regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)`)},
	{"GitHub token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9_.\-]{20,}`)},
	{"GitHub token", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{20,}`)},
	{"GitLab token", regexp.MustCompile(`\bgl(?:pat|ptt|rt|dt|cbt|soat)-[A-Za-z0-9_\-]{20,}`)},
	{"API key", regexp.MustCompile(`\b(?:sk|rk|pk)[-_](?:(?:proj|ant|svcacct|admin|or|live|test)[-_])?[A-Za-z0-9_\-]{20,}`)},
	{"API key", regexp.MustCompile(`\b(?:gsk_|xai-|hf_|npm_|dop_v1_|shpat_|SG\.)[A-Za-z0-9_.\-]{20,}`)},
	{"AWS key", regexp.MustCompile(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`)},
	{"AWS secret", regexp.MustCompile(`(?i)(?P<keep>aws_?(?:secret_?access_?key|session_?token)["']?\s*[:=]\s*["']?)[A-Za-z0-9/+=]{30,}`)},
	{"Google key", regexp.MustCompile(`\bAIza[A-Za-z0-9_\-]{35}`)},
	{"Google token", regexp.MustCompile(`\bya29\.[A-Za-z0-9_\-.]{20,}`)},
	{"Slack token", regexp.MustCompile(`\bxox[a-z]-[A-Za-z0-9\-]{10,}|\bxapp-[A-Za-z0-9\-]{10,}`)},
	{"Slack webhook", regexp.MustCompile(`hooks\.slack\.com/services/[A-Za-z0-9/]{20,}`)},
	{"JWT", regexp.MustCompile(`\beyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*`)},
	{"password", regexp.MustCompile(`(?i)(?P<keep>\b[a-z][a-z0-9+.\-]{1,20}://[^\s:/@"'<>\[]{0,100}:)[^\s:/@"'<>\[][^\s/@"'<>]{2,200}(?P<end>@)`)},
	{"token", regexp.MustCompile(`(?i)(?P<keep>\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=\-]{8,}`)},
}

// Redact masks what has the shape of a secret: "[redacted: GitHub token]". It
// knows shapes, not meanings: a password in prose stays. It is idempotent. Redact
// before cutting a text, since half a token has no shape.
func Redact(s string) string {
	for _, k := range secrets {
		s = k.re.ReplaceAllString(s, k.replacement())
	}
	return s
}

func (k secret) replacement() string {
	r := "[redacted: " + k.name + "]"
	if k.re.SubexpIndex("keep") > 0 {
		r = "${keep}" + r
	}
	if k.re.SubexpIndex("end") > 0 {
		r += "${end}"
	}
	return r
}
