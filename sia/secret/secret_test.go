//test:race
package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"pgregory.net/rapid"

	"github.com/sia-bot/sia/sia/secret"
)

// allShapes generate secrets; they are concatenated here so that the file itself contains none.
var allShapes = map[string]string{
	"github-pat":   `ghp_[A-Za-z0-9]{36}`,
	"github-oauth": `gho_[A-Za-z0-9]{36}`,
	"github-app-token": `gh[us]_[A-Za-z0-9]{36}|` + // and as GitHub makes them since 2026
		`ghs_[0-9]{5,7}_eyJhbGciOi[A-Za-z0-9_\-]{30}\.eyJ[A-Za-z0-9_\-]{120}\.[A-Za-z0-9_\-]{341}[AEIMQUYcgkosw048]`,
	"github-refresh-token":    `ghr_[A-Za-z0-9]{76}`,
	"github-fine-grained-pat": `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`,
	"gitlab-token":            `glpat-[A-Za-z0-9]{20}`,
	"api-key": `sk-[A-Za-z0-9]{32}|sk-proj-[A-Za-z0-9]{40}|sk-ant-api03-[A-Za-z0-9]{40}|` +
		`sk_live_[A-Za-z0-9]{24}|gsk_[A-Za-z0-9]{40}|npm_[A-Za-z0-9]{36}|SG\.[A-Za-z0-9]{22}\.[A-Za-z0-9]{43}`,
	"aws-access-token":       `(AKIA|ASIA)[A-Z2-7]{16}`,
	"gcp-api-key":            `AIza[A-Za-z0-9]{35}`,
	"slack-token":            `xoxb-[0-9]{12}-[0-9]{12}-[A-Za-z0-9]{24}|xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[a-f0-9]{64}`,
	"slack-webhook":          `T[A-Z0-9]{8}/B[A-Z0-9]{8}/[A-Za-z0-9]{24}`,
	"jwt":                    `eyJ[A-Za-z0-9]{20}\.eyJ[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}`,
	"vault-service-token":    `hvs\.[A-Za-z0-9]{90}`,
	"easypost-api-token":     `EZAK[a-z0-9]{54}`,
	"telegram-bot-api-token": `[0-9]{10}:A[A-Za-z0-9]{34}`,
	"private-key": `-----BEGIN (RSA |EC |OPENSSH |` +
		`)PRIVATE KEY-----\n[A-Za-z0-9]{64}\n[A-Za-z0-9]{20}\n-----END (RSA |EC |OPENSSH |)PRIVATE KEY-----`,
}

// around are contexts of a secret.
var around = []string{"%", "key=% and more", "\"%\"", "a line\n%\nanother", "(%)", "`%`", "x: %,",
	"+\tconst token = \"%\"\n"}

func TestMaskMasksEveryShape(t *testing.T) {
	for name, shape := range allShapes {
		t.Run(name, func(t *testing.T) {
			gen := rapid.StringMatching(shape)
			rapid.Check(t, func(t *rapid.T) {
				value := gen.Draw(t, "secret")
				place := rapid.SampledFrom(around).Draw(t, "around")
				switch name { // their form alone says nothing
				case "slack-webhook":
					place = strings.ReplaceAll(place, "%", "https://hooks.slack.com/services/%")
				case "telegram-bot-api-token":
					place = "telegram_token = \"%\"\n"
				}
				got := secret.Mask(strings.Replace(place, "%", value, 1))
				masked := "[secret: " + name + "]" + strings.Repeat("\n", strings.Count(value, "\n"))
				if want := strings.Replace(place, "%", masked, 1); got != want {
					t.Fatalf("%q became %q, want %q", value, got, want)
				}
			})
		})
	}
}

func TestMaskKeepsWhatIsAround(t *testing.T) {
	body := strings.Repeat("MIIEpAIBAAKCAQEA7v", 3)
	for in, want := range map[string]string{
		"https://x-access-token:v1.abcdef@github.com/a/b.git": "https://x-access-token:[secret: " +
			"password]@github.com/a/b.git",
		"postgres://me:hunter2@db:5432/x":                               "postgres://me:[secret: password]@db:5432/x",
		"postgres://me:hun@ter2@db:5432/x":                              "postgres://me:[secret: password]@db:5432/x",
		"postgres://me:h@nter2@db, ask ada@x.org":                       "postgres://me:[secret: password]@db, ask ada@x.org",
		"Authorization: Bearer abcdefgh12345":                           "Authorization: Bearer [secret: authorization]",
		"aws_secret_access_key = " + strings.Repeat("aB3/", 10):         "aws_secret_access_key = [secret: aws-secret]",
		"-----BEGIN PRIVATE KEY-----\n" + body + "\nnot of the key":     "[secret: private-key]\n\nnot of the key",
		"+-----BEGIN PRIVATE KEY-----\n+" + body + "\n+" + body:         "+[secret: private-key]\n\n",
		`"key": "-----BEGIN PRIVATE KEY-----\n` + body + `\n", "id": 1`: `"key": "[secret: private-key]\n", "id": 1`,
		`"key": "-----BEGIN PRIVATE KEY-----\n` + body + `\n` + body + `\r\n` + body + `==\n and`: `"key": "[secret: ` +
			`private-key]\n and`,
		`-----BEGIN PRIVATE KEY-----\\n` + body + `\\n` + body + `\\nMII`: `[secret: private-key]`,
		"see -----BEGIN PRIVATE KEY----- in the file, it " +
			"says": "see -----BEGIN PRIVATE KEY----- in the file, it says",
		"DB_PASSWORD=xK9vQ2mZ7pL4wR8t":                   "DB_PASSWORD=[secret: generic-api-key]",
		`"client_secret" => "8f3kQ0zLmN5vX2cB7yTr",`:     `"client_secret" => "[secret: generic-api-key]",`,
		"https://github.com/a/b.git@main":                "https://github.com/a/b.git@main",
		"sha 0123456789abcdef0123456789abcdef01234567":   "sha 0123456789abcdef0123456789abcdef01234567",
		"[secret: github-pat] and [secret: private-key]": "[secret: github-pat] and [secret: private-key]",
	} {
		if got := secret.Mask(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// A token of a sign-in service has thousands of characters of claims.
func TestLongJSONWebTokens(t *testing.T) {
	for _, claims := range []int{100, 600, 5000} {
		token := "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + strings.Repeat("c3ViIjoi", claims/8) + "." +
			strings.Repeat("bmF0dXJl", 40)
		if got, want := secret.Mask("it got "+token+" back"), "it got [secret: jwt] back"; got != want {
			t.Errorf("with %d characters of claims it became %.80q, want %q", claims, got, want)
		}
	}
}

func TestOrdinaryTextHoldsNoSecret(t *testing.T) {
	a, err := txtar.ParseFile(filepath.Join("testdata", "ordinary.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files) == 0 {
		t.Fatal("no files")
	}
	for _, f := range a.Files {
		for line := range strings.Lines(string(f.Data)) {
			for _, x := range new(secret.Masker).Find(line) {
				t.Errorf("%s: %s found %q in %q", f.Name, x.Rule, line[x.Start:x.End], line)
			}
		}
		if got := secret.Mask(string(f.Data)); got != string(f.Data) {
			t.Errorf("%s as a whole: %s", f.Name, cmp.Diff(string(f.Data), got))
		}
	}
}

func TestWhatIsNotSureRefusesNothing(t *testing.T) {
	for text, sure := range map[string]bool{
		"url = postgres://postgres:postgres@localhost/test": false,
		"API_TOKEN=xK9vQ2mZ7pL4wR8t":                        false,
		"ghp_" + strings.Repeat("aB3d", 9):                  true,
		"AKIA" + strings.Repeat("Q7ZL", 4):                  true,
	} {
		got := new(secret.Masker).Find(text)
		if len(got) != 1 || got[0].Sure != sure {
			t.Errorf("%q: %v, want one, sure %v", text, got, sure)
		}
	}
}

// A known value is found in every encoding, in any context.
func TestMaskerFindsKnownValuesInEveryForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.StringMatching(`[a-z0-9!$&+/=?"\\ ]{12,200}`).
			Filter(func(s string) bool { return strings.TrimSpace(s) == s }).Draw(t, "value")
		before := rapid.StringMatching(`[a-z:]{0,7}`).Draw(t, "before")
		after := rapid.StringMatching(`[a-z:]{0,7}`).Draw(t, "after")
		quoted, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		forms := map[string]string{
			"plain": value, "query": url.QueryEscape(value), "path": url.PathEscape(value),
			"json": strings.Trim(string(quoted), `"`),
			"hex":  hex.EncodeToString([]byte(value)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(value))),
		}
		m := &secret.Masker{}
		m.Know("model-key", value)
		for name, form := range forms {
			got := m.Mask("log: " + form + " end")
			if !strings.Contains(got, "[secret: model-key]") || strings.Contains(got, form) {
				t.Fatalf("%s: %q became %q", name, form, got)
			}
		}
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
			got := m.Mask(e.EncodeToString([]byte(before + value + after)))
			left := strings.ReplaceAll(got, "[secret: model-key]", "")
			if left == got || len(left) > 2*len(before+after)+8 {
				t.Fatalf("base64 of %q became %q", before+value+after, got)
			}
		}
	})
}

func TestMaskerKnowsAKeyFileByItsLines(t *testing.T) {
	line := func(c string) string { return strings.Repeat(c+"9/", 16) }
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + line("aZ") + "\n" + line("bY") + "\n-----END RSA PRIVATE KEY-----\n"
	m := &secret.Masker{}
	m.Know("app-key", key)
	if got, want := m.Mask("line two is "+line("bY")+"."), "line two is [secret: app-key]."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	whole := m.Mask(base64.StdEncoding.EncodeToString([]byte(key)))
	if left := strings.ReplaceAll(whole, "[secret: app-key]", ""); len(left) > 100 {
		t.Errorf("the key's file in base64 became %q", whole)
	}
	if got := m.Mask("-----BEGIN RSA PRIVATE KEY-----"); got != "-----BEGIN RSA PRIVATE KEY-----" {
		t.Errorf("a header alone became %q", got)
	}
}

func TestMaskerForgetsOldPassingValues(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", "a fixed value")
	value := func(i int) string { return fmt.Sprintf("token number %d of many", i) }
	for i := range 300 {
		m.Passing("installation-token", value(i))
	}
	for text, want := range map[string]string{
		"a fixed value": "[secret: model-key]",
		value(299):      "[secret: installation-token]",
		value(0) + " ":  value(0) + " ",
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	m.Know("too-short", "dev")
	if got := m.Mask("dev"); got != "dev" {
		t.Errorf("a value too short to be known became %q", got)
	}
}

// A text in which each removed secret reveals the next is masked completely in bounded time.
func TestMaskOfATextMadeAgainstIt(t *testing.T) {
	one, two := "ghp_"+strings.Repeat("aB3d", 9), "AKIA"+strings.Repeat("Q7ZL", 4)
	got := secret.Mask(strings.Repeat(one+"."+two, 2000) + strings.Repeat(two, 2000))
	if strings.Contains(got, "aB3d") || strings.Contains(got, "Q7ZLQ7ZLQ7ZLQ7ZL.") {
		t.Errorf("something is left: %.300q", got)
	}
	if again := secret.Mask(got); again != got {
		t.Errorf("not idempotent: %.300q", again)
	}
}

func FuzzMask(f *testing.F) {
	for _, s := range []string{
		"token ghp_" + strings.Repeat("a1", 18) + " and https://a:bcd@c", "-----BEGIN PRIVATE KEY-----",
		"authorization: bearer [secret: jwt]",
		"[secret: [secret: x]]", "sk-" + strings.Repeat("a1B2", 8) + "ghp_" + strings.Repeat("c3", 20), "key=\xff\xfe\x00",
		"AKIA" + strings.Repeat("Q7ZL", 9),
		"password: 'xK9vQ2mZ7pL4wR8t'\r\n", "hvs." + strings.Repeat("aB3d", 30),
		"kind: Secret\ndata:\n  a: " + strings.Repeat("aGVs", 9),
	} {
		f.Add(s)
	}
	known := &secret.Masker{}
	known.Know("model-key", "0123456789abcdef")
	f.Fuzz(func(t *testing.T, s string) {
		once := known.Mask(s)
		if twice := known.Mask(once); twice != once {
			t.Errorf("not idempotent: %q, %q, %q", s, once, twice)
		}
		if len(once) > 16*len(s) {
			t.Errorf("%d bytes became %d", len(s), len(once))
		}
		if got := known.Find(once); len(got) > 0 {
			t.Errorf("%q still holds %v", once, got)
		}
		end := 0
		for _, x := range known.Find(s) {
			if x.Start < end || x.End <= x.Start || x.End > len(s) {
				t.Errorf("%q: %v out of order or bounds", s, x)
			}
			end = x.End
		}
		if strings.Count(s, "\n") != strings.Count(once, "\n") {
			t.Errorf("line breaks were lost: %q, %q", s, once)
		}
	})
}
