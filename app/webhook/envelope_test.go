package webhook

import (
	"encoding/json"
	"testing"
)

// FuzzEnvelope: of a body that is JSON the envelope is what encoding/json reads; everything else is refused.
func FuzzEnvelope(f *testing.F) {
	for _, body := range []string{
		`{"action":"opened","installation":{"id":7,"node_id":"x"},"repository":{"id":1,"full_name":"ada/bench"}}`,
		` { "check_run" : {"output":{"text":"a \\\" } ] b","n":[1,{"action":"no"}]}} , "action":"cr\u00e9ated\"" }`,
		`{"installation":null,"repository":"none","action":null,"x":-1.5e3,"y":true}`,
		`{"installation":{"id":"7"}}`, `{"action":"a","action":"b"}`, `{`, `[]`, `{"a":}`, `{"a"1}`, `{"a":1}}`, ``, `"`,
		`{"\`, `{"action":"opened","x":[1,}`,
		`{"repository":{"owner":{"full_name":"no"},"full_name":"a/b"}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := readEnvelope(body)
		keys := map[string]json.RawMessage{}
		if json.Unmarshal(body, &keys) != nil {
			if err == nil && !json.Valid(body) {
				t.Errorf("%s: read as %+v", body, got)
			}
			return
		}
		var e envelope
		bad := keys["action"] != nil && json.Unmarshal(keys["action"], &e.action) != nil
		member := func(of json.RawMessage, name string, to any) {
			all := map[string]json.RawMessage{}
			if json.Unmarshal(of, &all) == nil && all[name] != nil {
				bad = bad || json.Unmarshal(all[name], to) != nil
			}
		}
		member(keys["installation"], "id", &e.installation)
		member(keys["repository"], "full_name", &e.repository)
		if !bad && (err != nil || got != e) {
			t.Errorf("%s: got %+v (%v), want %+v", body, got, err, e)
		}
	})
}
