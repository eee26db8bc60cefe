package secret

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

var update = flag.Bool("update", false, "write gitleaks.json from the module's rules")

// TestTableIsGitleaks compares the embedded table with the module's rules.
func TestTableIsGitleaks(t *testing.T) {
	v := viper.New()
	v.SetConfigType("toml")
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		t.Fatal(err)
	}
	var raw config.ViperConfig
	if err := v.Unmarshal(&raw); err != nil {
		t.Fatal(err)
	}
	theirs, err := raw.Translate()
	if err != nil {
		t.Fatal(err)
	}
	want := gitleaksFile{Allow: allows(theirs.Allowlists)}
	for _, r := range theirs.GetOrderedRules() {
		if r.Regex == nil || r.Path != nil {
			continue // about a file's name, which a text does not have
		}
		want.Rules = append(want.Rules, tableRule{
			ID: r.RuleID, Expr: r.Regex.String(), Group: r.SecretGroup, Entropy: r.Entropy, Keywords: r.Keywords,
			Allow: allows(r.Allowlists),
		})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(want); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("gitleaks.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(b.String(), string(gitleaksTable)); d != "" {
		t.Errorf("gitleaks.json is not the module's table; run with -update (-module +table):\n%s", d)
	}
}

// allows returns gitleaks' allowlists without those of paths and commits.
func allows(lists []*config.Allowlist) []allowRule {
	var out []allowRule
	for _, l := range lists {
		a := allowRule{All: l.MatchCondition == config.AllowlistMatchAnd, Match: l.RegexTarget != "",
			StopWords: slices.Sorted(slices.Values(l.StopWords))}
		for _, r := range l.Regexes {
			a.Exprs = append(a.Exprs, r.String())
		}
		if len(a.Exprs)+len(a.StopWords) > 0 {
			out = append(out, a)
		}
	}
	return out
}
