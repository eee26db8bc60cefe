package coder_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/sia-bot/sia/policies"
	"github.com/sia-bot/sia/policies/coder"
)

// Every parameter has a range, and the error names it as the YAML does.
func TestParametersAreChecked(t *testing.T) {
	if err := shipped(t).Check(); len(err) > 0 {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[coder.Parameters]().NumField() {
		name := reflect.TypeFor[coder.Parameters]().Field(i).Tag.Get("yaml")
		for _, wrong := range []float64{-1e9, 1e9, math.NaN()} {
			p := shipped(t)
			switch f := reflect.ValueOf(&p).Elem().Field(i); {
			case f.Kind() == reflect.Float64:
				f.SetFloat(wrong)
			case math.IsNaN(wrong):
				continue
			default:
				f.SetInt(int64(wrong))
			}
			if _, err := coder.New(p); err == nil || !strings.Contains(err.Error(), "parameters."+name+": ") {
				t.Errorf("%s of %v: %v", name, wrong, err)
			}
		}
	}
}

func TestShippedTable(t *testing.T) {
	table, err := policies.ShippedCoders()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"openai/gpt-5-mini-2025-08-07":       "GPT-5 mini (2025-08-07) (medium reasoning)",
		"GPT-5":                              "GPT-5 (2025-08-07) (medium reasoning)",
		"anthropic/claude-opus-4-5-20251101": "Claude 4.5 Opus medium (20251101)",
		"o4-mini":                            "o4-mini (2025-04-16)",
		"openrouter/z-ai/glm-4.6":            "GLM-4.6 (T=1)",
		"gpt-5-turbo":                        "",
		"":                                   "",
	} {
		if got, ok := table.Of(name); got.Name != want || ok != (want != "") {
			t.Errorf("%q is %q, want %q", name, got.Name, want)
		}
	}
	if got, _ := table.Of("gpt-5"); !(got.Resolved > .5 && got.Resolved < .8 && got.Cost > 10 && got.Cost < 60) {
		t.Errorf("gpt-5 is %+v", got)
	}
}

func TestTableErrors(t *testing.T) {
	const row = `{name: a, resolved: .5, cost: 3, calls: 1}`
	for _, c := range []struct{ source, want string }{
		{"until: 2025-12\ncoders: [" + row + "]", ""},
		{"until: soon\ncoders: [" + row + "]", "until is \"soon\""},
		{"until: 2025-12\ncoders: [{name: a, resolved: 1.5, cost: 3}]", "coders[0].resolved is 1.5"},
		{"until: 2025-12\ncoders: [" + row + ", {name: b, resolved: .5, cost: 0}]", "coders[1].cost is 0"},
		{"until: 2025-12\ncoders: [{name: b, resolved: .5, cost: 1, calls: -1}]", "coders[0].calls is -1"},
		{"until: 2025-12\ncoders: [" + row + ", {name: v/A, resolved: .5, cost: 1}]", `coders[1]: the name "v/A"`},
		{"until: 2025-12\ncoders: [{name: a, price: 3}]", "price"},
	} {
		_, err := coder.ParseTable([]byte(c.source))
		if (c.want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.source, err, c.want)
		}
	}
}
