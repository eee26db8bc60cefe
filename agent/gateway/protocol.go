package gateway

import (
	"encoding/json"
	"errors"
)

// The ways of asking, as paths below the endpoint's base.
const (
	chatPath      = "/chat/completions"
	responsesPath = "/responses"
	messagesPath  = "/messages"
)

// protocol is one way of asking a model.
type protocol struct {
	path  string
	bound []string // fields that bound the answer's length, the one to set first
	drop  []string // fields that reach or cost more than an answer
}

// protocols by path. The fields are those of
// https://platform.openai.com/docs/api-reference/chat, …/responses and
// https://docs.anthropic.com/en/api/messages.
var protocols = map[string]protocol{
	chatPath: {chatPath, []string{"max_completion_tokens", "max_tokens"},
		[]string{"n", "service_tier", "web_search_options", "store", "metadata", "audio", "modalities"}},
	responsesPath: {responsesPath, []string{"max_output_tokens"},
		[]string{"background", "service_tier", "store", "previous_response_id", "conversation", "prompt", "metadata"}},
	messagesPath: {messagesPath, []string{"max_tokens"},
		[]string{"mcp_servers", "service_tier", "container", "metadata"}},
}

// request is one that was understood.
type request struct {
	protocol
	fields map[string]json.RawMessage
	model  string
	stream bool
	want   int // tokens of the answer; 0: not said
}

func (p protocol) parse(body []byte) (q request, err error) {
	q = request{protocol: p}
	if err := json.Unmarshal(body, &q.fields); err != nil {
		return q, err
	}
	if q.fields == nil {
		return q, errors.New("it is null")
	}
	read := func(name string, to any) {
		if raw, ok := q.fields[name]; ok && err == nil {
			err = json.Unmarshal(raw, to)
		}
	}
	read("model", &q.model)
	read("stream", &q.stream)
	for _, name := range p.bound {
		var n *int
		if read(name, &n); n != nil {
			q.want = max(q.want, *n)
		}
	}
	return q, err
}
