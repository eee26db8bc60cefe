package llm

import (
	"encoding/json"
	"errors"
	"strings"
)

// errNoJSON means that a model's answer does not contain an object.
var errNoJSON = errors.New("the model's answer holds no complete JSON object")

// schemaPrompt returns the request for the object in the prompt.
func schemaPrompt(s Schema) string {
	return "Answer with exactly one JSON object and nothing else: no prose, no code fence. It must satisfy this JSON " +
		"Schema:\n" + string(s.JSON)
}

// ExtractJSON returns the JSON object in a model's answer: the whole text, or the longest object in it, such as one in
// a code fence or within prose. The result is valid JSON and starts with a brace.
func ExtractJSON(text string) (json.RawMessage, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	const limit = 64 // maximum number of braces to try, so that the time is linear
	var best string
	for i, looked := 0, 0; i < len(text) && looked < limit; looked++ {
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
