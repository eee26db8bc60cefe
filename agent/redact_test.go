package agent_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/tool"
)

// shapes generate secrets; they are put together here so that the file itself
// holds none.
var shapes = map[string]string{
	"GitHub token": `gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`,
	"GitLab token": `glpat-[A-Za-z0-9]{20}`,
	"API key":      `sk-[A-Za-z0-9]{32}|sk-proj-[A-Za-z0-9]{40}|sk-ant-api03-[A-Za-z0-9]{40}|sk_live_[A-Za-z0-9]{24}|gsk_[A-Za-z0-9]{40}|npm_[A-Za-z0-9]{36}`,
	"AWS key":      `(AKIA|ASIA)[A-Z2-7]{16}`,
	"Google key":   `AIza[A-Za-z0-9]{35}`,
	"Slack token":  `xoxb-[0-9]{12}-[A-Za-z0-9]{20}`,
	"JWT":          `eyJ[A-Za-z0-9]{20}\.eyJ[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}`,
	"private key":  `-----BEGIN (RSA |EC |OPENSSH |)PRIVATE KEY-----\n[A-Za-z0-9]{64}\n[A-Za-z0-9]{20}\n-----END (RSA |EC |OPENSSH |)PRIVATE KEY-----`,
}

func TestRedactMasksEveryShape(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			gen := rapid.StringMatching(shape)
			rapid.Check(t, func(t *rapid.T) {
				secret := gen.Draw(t, "secret")
				around := rapid.SampledFrom([]string{"%", "key=% and more", "\"%\"", "a line\n%\nanother", "(%)", "`%`", "x: %,"}).Draw(t, "around")
				got := agent.Redact(strings.Replace(around, "%", secret, 1))
				if want := strings.Replace(around, "%", "[redacted: "+name+"]", 1); got != want {
					t.Fatalf("%q became %q, want %q", secret, got, want)
				}
			})
		})
	}
}

func TestRedactKeepsWhatIsAround(t *testing.T) {
	for in, want := range map[string]string{
		"https://x-access-token:v1.abcdef@github.com/a/b.git":   "https://x-access-token:[redacted: password]@github.com/a/b.git",
		"postgres://me:hunter2@db:5432/x":                       "postgres://me:[redacted: password]@db:5432/x",
		"Authorization: Bearer abcdefgh12345":                   "Authorization: Bearer [redacted: token]",
		"aws_secret_access_key = " + strings.Repeat("aB3/", 10): "aws_secret_access_key = [redacted: AWS secret]",
		"-----BEGIN PRIVATE KEY-----\nMIIcut off":               "[redacted: private key]",
		"https://github.com/a/b.git@main":                       "https://github.com/a/b.git@main",
		"risk-assessment-of-everything-here is prose":           "risk-assessment-of-everything-here is prose",
		"sha 0123456789abcdef0123456789abcdef01234567":          "sha 0123456789abcdef0123456789abcdef01234567",
	} {
		if got := agent.Redact(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("token ghp_" + strings.Repeat("a1", 18) + " and https://a:bcd@c")
	f.Add("-----BEGIN PRIVATE KEY-----")
	f.Add("authorization: bearer [redacted: token]")
	f.Fuzz(func(t *testing.T, s string) {
		once := agent.Redact(s)
		if twice := agent.Redact(once); twice != once {
			t.Errorf("not idempotent: %q, %q, %q", s, once, twice)
		}
	})
}

func FuzzSanitize(f *testing.F) {
	for _, s := range []string{"a<!-- b -->c", "<!<!-- x -->-- y -->", "<!-- open", "a\u200b\u202e\U000E0041\r\nb", "<!--->", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := agent.Sanitize(s)
		if strings.Contains(got, "<!--") || strings.IndexFunc(got, tool.Hidden) >= 0 || !utf8.ValidString(got) {
			t.Errorf("%q became %q", s, got)
		}
		if again := agent.Sanitize(got); again != got {
			t.Errorf("not idempotent: %q, %q, %q", s, got, again)
		}
	})
}
