package app

import (
	"encoding/base64"
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
