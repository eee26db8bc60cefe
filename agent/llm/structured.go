package llm

import (
	"encoding/json"
	"errors"
	"strings"
)

// errNoJSON says that a model did not answer with the object that was asked for.
var errNoJSON = errors.New("the model's answer holds no complete JSON object")

// askInWords asks for the object in the prompt.
func askInWords(s Schema) string {
	return "Answer with exactly one JSON object and nothing else: no prose, no code fence. It must satisfy this JSON " +
		"Schema:\n" + string(s.JSON)
}

// ExtractJSON finds the JSON object in a model's answer: the whole text, or the
// longest object in it, such as one in a code fence or amid prose. The result is
// valid JSON and begins with a brace.
func ExtractJSON(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	const most = 64 // starts that are looked at, so that the time is linear
	var best string
	for i, looked := 0, 0; i < len(text) && looked < most; looked++ {
		open := strings.IndexByte(text[i:], '{')
		if open < 0 {
			break
		}
		i += open
		dec := json.NewDecoder(strings.NewReader(text[i:]))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			i++
			continue
		}
		if len(raw) > len(best) {
			best = string(raw)
		}
		i += int(dec.InputOffset())
	}
	if best == "" {
		return nil, errNoJSON
	}
	return json.RawMessage(best), nil
}
