package webhook

import "testing"

// The envelope of a JSON object is read; any other body is refused.
func TestEnvelope(t *testing.T) {
	for body, want := range map[string]envelope{
		`{"action":"opened","installation":{"id":7,"node_id":"x"},"repository":{"id":1,"full_name":"ada/bench"}}`: {
			"opened", 7, "ada/bench"},
		` { "check_run" : {"output":{"text":"a \\\" } ] b","n":[1,{"action":"no"}]}} , "action":"cr\u00e9ated\"" }`: {
			action: "créated\""},
		`{"installation":null,"repository":"none","action":null,"x":-1.5e3,"y":true}`: {},
		`{"repository":{"owner":{"full_name":"no"},"full_name":"a/b"}}`:               {repository: "a/b"},
	} {
		if got, err := readEnvelope([]byte(body)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
	for _, body := range []string{`{`, `[]`, `{"a":}`, `{"a"1}`, `{"a":1}}`, ``, `"`, `{"\`, `{"action":"a","x":[1,}`} {
		if got, err := readEnvelope([]byte(body)); err == nil {
			t.Errorf("%s: read as %+v", body, got)
		}
	}
}
