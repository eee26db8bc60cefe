package app

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// Values of --agent-env are masked in every form in which commands may print them, although they don't look like
// secrets. Common words are not masked.
func TestAgentEnvIsMasked(t *testing.T) {
	const value = "correct horse battery staple 7"
	t.Setenv("SIA_TEST_PASSPHRASE", value)
	const short = "S3same-7" // too short for its base64 to be recognized as encoded text
	t.Setenv("SIA_TEST_PASSWORD", short)
	t.Setenv("SIA_TEST_STAGE", "production")
	t.Setenv("SIA_TEST_OTHER", "not allowed, not known")
	m := Config{AgentEnv: []string{"SIA_TEST_PASSPHRASE", "SIA_TEST_PASSWORD", "SIA_TEST_STAGE",
		"SIA_TEST_ABSENT"}}.secrets()
	for _, text := range []string{"it is " + value + ".", base64.StdEncoding.EncodeToString([]byte("x:" + value)),
		base64.StdEncoding.EncodeToString([]byte("x:" + short)),
		strings.ReplaceAll(value, " ", "%20"), strings.ReplaceAll(value, " ", "+")} {
		if got := m.Mask(text); !strings.Contains(got, "[secret: agent-env]") {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"in production", "not allowed, not known"} {
		if got := m.Mask(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Words that a setting has in the place of a secret are left in what SIA writes, and the settings are named.
func TestUnmaskedSettings(t *testing.T) {
	t.Setenv("SIA_TEST_REGION", "us-east-1")
	const token = "b4Wk1GX0pZ3v"
	c := Config{DB: "postgres://postgres:postgres@localhost/postgres", AgentEnv: []string{"SIA_TEST_REGION"},
		TraceHeaders: map[string]string{"x-scope": "anonymous", "authorization": "Basic " + token}}
	c.GitHub.WebhookSecret = token + "2"
	c.Models.Coder = ModelConfig{Name: "coder", URL: "http://localhost:1234/v1", Model: "m", Key: "lm-studio"}
	c.Notify.URL = "https://chat.example.com/hooks/incoming?token=" + token + "3"
	want := []string{"the password in --db", "x-scope of --trace-headers", "the key of the model coder",
		"SIA_TEST_REGION of --agent-env"}
	if got := c.Unmasked(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	const ordinary = "postgres on us-east-1, asked by lm-studio; POST /hooks/incoming at https://chat.example.com/hooks"
	m := c.secrets()
	if got := m.Mask(ordinary); got != ordinary {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"Basic " + token, token + "2", token + "3"} {
		if got := m.Mask(text); strings.Contains(got, token) {
			t.Errorf("%q became %q", text, got)
		}
	}
	c.Notify.URL = "https://chat.example.com/hooks/incoming"
	if got := c.Unmasked(); !slices.Contains(got, "--notify-url") {
		t.Errorf("%q", got)
	}
}

// A model that is requested in two ways is listed twice, and probed twice.
func TestOneModelInTwoWays(t *testing.T) {
	quick := ModelConfig{URL: "https://models.example/v1", Model: "m", Reasoning: "low"}
	slow := quick
	slow.Reasoning = "high"
	named := ModelsConfig{Coder: quick, Coders: []CoderConfig{{Name: "quick", Model: quick}, {Name: "slow", Model: slow}}}.
		Named()
	if len(named) != 2 || named[0].Name != "coder" || named[1].Name != "slow" || named[0].key() == named[1].key() {
		t.Errorf("%+v", named)
	}
}

// TestPublicURLIsAHost: the pages are at the root of a host, so an address below it is rejected.
func TestPublicURLIsAHost(t *testing.T) {
	for address, ok := range map[string]bool{"https://h.invalid": true, "https://h.invalid/": true,
		"https://h.invalid/path": false, "https://h.invalid/?x": false} {
		if err := (Config{PublicURL: address}).CheckAddresses(); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
