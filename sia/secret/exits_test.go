package secret_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sia-bot/sia/sia/secret"
)

var token = "ghp_" + strings.Repeat("aB3d", 9)

// In JSON, only string values are masked; everything else is unchanged.
func TestMaskJSON(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", `a "quoted" key`)
	const mark = "[secret: github-pat]"
	for in, want := range map[string]string{
		`{"b": "see %", "a": ["\u003cplain\u003e", 12345678901234567, true, null, {"c":"%"}]}`: `{"b": "see #", ` +
			`"a": ["\u003cplain\u003e", 12345678901234567, true, null, {"c":"#"}]}`,
		`{"%" : "stays"}`:               `{"%" : "stays"}`,
		`"it is a \"quoted\" key, \\"`:  `"it is [secret: model-key], \\"`,
		`"" `:                           `"" `,
		`7`:                             `7`,
		"no JSON: %":                    "no JSON: #",
		`{"cut": "%`:                    `{"cut": "#`,
		"{\n  \"pretty\": \"x %\"\n}\n": "{\n  \"pretty\": \"x #\"\n}\n",
	} {
		marks := strings.NewReplacer("%", token, "#", mark)
		if got := string(m.MaskJSON([]byte(marks.Replace(in)))); got != marks.Replace(want) {
			t.Errorf("%s became\n%s, want\n%s", in, got, want)
		}
	}
	if got := string(secret.MaskJSON([]byte(`"` + token + `"`))); got != `"`+mark+`"` {
		t.Errorf("without known values: %s", got)
	}
}

// Masked JSON has the same structure and equals the document with each string masked.
func FuzzMaskJSON(f *testing.F) {
	f.Add(`{"a": ["` + token + `", {"b\"": "\u0022\\"}], "c": 1e3}`)
	f.Add(`"\ud800` + token + `"`)
	f.Fuzz(func(t *testing.T, doc string) {
		var before, after any
		if json.Unmarshal([]byte(doc), &before) != nil {
			return
		}
		masked := secret.MaskJSON([]byte(doc))
		if err := json.Unmarshal(masked, &after); err != nil {
			t.Fatalf("%q became %q: %v", doc, masked, err)
		}
		if d := cmp.Diff(walked(before), after); d != "" {
			t.Fatalf("%q became %q: %s", doc, masked, d)
		}
	})
}

// walked returns a decoded document with its strings masked.
func walked(v any) any {
	switch v := v.(type) {
	case string:
		return secret.Mask(v)
	case []any:
		for i := range v {
			v[i] = walked(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = walked(v[k])
		}
	}
	return v
}

func TestHandlerMasksMessagesAndAttributes(t *testing.T) {
	m := &secret.Masker{}
	m.Know("model-key", "a key without a shape")
	var out bytes.Buffer
	log := slog.New(m.Handler(slog.NewTextHandler(&out, nil))).With("with", token).WithGroup("g")
	log.Info("message "+token, "string", "x "+token, "error", fmt.Errorf("wrapped: %w", errors.New(token)), "known",
		"a key without a shape",
		slog.Group("group", "in", token), "struct", struct{ Plain string }{token}, "list", []string{token}, "number", 7)
	got := out.String()
	if strings.Contains(got, token) || strings.Contains(got, "without a shape") {
		t.Errorf("a secret in the log: %s", got)
	}
	for _, want := range []string{"with=", "g.string=\"x [secret: github-pat]\"", "g.number=7", "[secret: model-key]"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
}
