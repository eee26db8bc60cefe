package llm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Unambiguous text is read up to its end; for other text the error has the position.
func TestLooseJSON(t *testing.T) {
	const slash = `\`
	for loose, want := range map[string]string{
		`{"a":"}","b":[1,{"c":null}]} and more`: `{"a":"}","b":[1,{"c":null}]}`,
		"{\"a\":\"x\n\ty\"}":                    `{"a":"x\n\u0009y"}`,
		`{"a":"</tool_call>"}</tool_call>`:      `{"a":"</tool_call>"}`,
		`{"a":1,}`:                              `{"a":1}`,
		`{"a":[1,2,],}`:                         `{"a":[1,2]}`,
		`{"a":{"b":1}`:                          `{"a":{"b":1}}`,
		"{\"a\":{\"b\":1}\n```":                 `{"a":{"b":1}}`,
		`{"a":{"b":1}</tool_call>`:              `{"a":{"b":1}}`,
		`[{"a":{"b":1}]`:                        `[{"a":{"b":1}}]`,
		`{"a":1}}`:                              `{"a":1}`,
		`{'a': 'it\'s "x"', 'b': [True, None]}`: `{"a":"it's \"x\"","b":[true,null]}`,
		`{"a":"""x "y"` + "\n" + `"""}`:         `{"a":"x \"y\"\n"}`,
		`{"a":"\d\x41é\u00e9` + slash + `n"}`:   `{"a":"\\d\u0041é\u00e9\n"}`,
		`{path:<|"|>a\b"c<|"|>,n:-1.5e3}`:       `{"path":"a\\b\"c","n":-1.5e3}`,
	} {
		got, n, err := readLoose(loose, false)
		if err != nil || got != want || !json.Valid([]byte(got)) {
			t.Errorf("%s: %s (%d bytes), want %s: %v", loose, got, n, want, err)
		}
	}
	for loose, want := range map[string]string{
		`{"a":`:                         "a value is missing, at byte 5, at its end",
		`{"a":1 "b":2}`:                 `a comma or } is missing, at byte 7, before "\"b\":2}"`,
		`{"a" 1}`:                       `a colon is missing, at byte 5, before "1}"`,
		`{"a":{"b":{"c":1}`:             "a comma or } is missing, at byte 17, at its end",
		`{"a":"x`:                       `a string has no end, at byte 5, before "\"x"`,
		`{"a":"x" y"}`:                  `a comma or } is missing, at byte 9, before "y\"}"`,
		`{"a":yes}`:                     `a value is missing, at byte 5, before "yes}"`,
		strings.Repeat("[", maxDepth+1): `it is nested over 64 deep, at byte 65, at its end`,
		"":                              "a value is missing, at byte 0, at its end",
	} {
		if got, _, err := readLoose(loose, false); err == nil || err.Error() != want {
			t.Errorf("%s: %s, %v, want %s", loose, got, err, want)
		}
	}
	if got, _, err := readLoose(`{"a":{"b":1}`, true); err == nil {
		t.Errorf("an end was added to what may have been cut off: %s", got)
	}
}

// The result is valid JSON; valid JSON is unchanged.
func FuzzLooseJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x\u00e9\n",null]}`, `{'a':"""x""",}`, "{a:<|\"|>\\\n<|\"|>", `[{"a":{}]`,
		`{"a":"\`} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		got, n, err := readLoose(text, cut)
		if n > len(text) || err == nil && !json.Valid([]byte(got)) {
			t.Fatalf("%q is %q, %d bytes: %v", text, got, n, err)
		}
		if !json.Valid([]byte(text)) || strings.Count(text, "[")+strings.Count(text, "{") > maxDepth {
			return
		}
		var want, have any
		if err != nil || json.Unmarshal([]byte(text), &want) != nil || json.Unmarshal([]byte(got), &have) != nil {
			t.Fatalf("%q is %q: %v", text, got, err)
		}
		if d := cmp.Diff(want, have); d != "" {
			t.Errorf("%q is %q (-want +got):\n%s", text, got, d)
		}
	})
}
