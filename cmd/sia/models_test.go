package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/app"
)

// A configuration file may say the same in each way that YAML has: it is the operator's, and programs write it, too.
func TestModelsInAnyYAML(t *testing.T) {
	read := func(text string) (app.ModelsConfig, error) {
		t.Helper()
		name := filepath.Join(t.TempDir(), "sia.yml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := readModels(name)
		return c, err
	}
	plain, err := read(`
models:
  "4":  {url: http://x/v1, model: "4.10", reasoning: "3", context: 128000, price: {input: 1, output: 10}}
  big:  {url: http://x/v1, model: big, context: 1000000, timeout: 5m, price: {input: 1, output: 10}}
  huge: {url: http://x/v1, model: huge, context: 1000000, timeout: 5m, price: {input: 2, output: 10}}
roles: {coder: ["4", big], sia: [big]}
coders:
  one: {model: big, backups: ["4"]}
  two: {model: huge, backups: ["4"]}
`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (llm.Price{Input: 2, CachedInput: 2, Output: 10}); plain.Coders[1].Model.Price != want ||
		plain.SIA.Timeout != 5*time.Minute {
		t.Fatalf("%+v", plain)
	}
	got, err := read(`
model-url: &u http://x/v1
models:
  4: {url: *u, model: 4.10, reasoning: 3, context: 128_000, key_env:, price: &p {input: "1", output: 1e1, cached: ~}}
  big: &b
    url: *u
    model: big
    context: 1e6
    timeout: !!str 5m
    price: *p
    key_file:
  huge:
    model: huge
    price: &q {<<: [*p], input: 2.0}
    <<: *b
roles: {coder: [4, big], sia: &s [big], reviewer: }
coders:
  <<: {two: {model: huge, backups: [4]}, one: {model: huge}}
  one: {model: big, backups: [4], price: }
`)
	if diff := cmp.Diff(plain, got, cmpopts.IgnoreUnexported(app.ModelConfig{})); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"models: {a: &a {<<: *a, url: http://x, mode: y}}":               ":1:40: models.a.mode: there is no such setting",
		"models: {a: {url: http://x, model: y, context: 1.5}}":           "want a whole number from 0 to 1000000000",
		"models: {a: {url: http://x, model: [y]}}":                       ":1:36: models.a.model: want text; this is a list",
		"models: {a: {url: http://x, model: y}}\n---\nmodels: {b: {}}\n": ":3:7: a second YAML document; want one",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
