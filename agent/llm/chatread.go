package llm

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// chatChunk is a chunk of a stream, or a complete answer.
type chatChunk struct {
	Choices  []chatChoice
	Usage    usage.Report
	Provider string
	Object   string // "error" for an error
	Error    json.RawMessage
	Errors   json.RawMessage
	Message  json.RawMessage // error message, if there are no choices
	BaseResp struct {        // MiniMax's, also in successful answers
		Status wireNumber `json:"status_code"`
	} `json:"base_resp"`
}

// chatChoice is a choice of a chunk or of a complete answer. SIA requests only one, but Copilot puts each call into a
// choice of its own (https://github.com/karthink/gptel/pull/1284). Moonshot's includes the usage. Perplexity sends the
// message so far with each piece (https://github.com/open-webui/open-webui/issues/9927), and some servers do so at the
// end.
type chatChoice struct {
	Index  wireNumber
	Finish string `json:"finish_reason"`
	// OpenRouter's; may be the only sign of a failure (https://github.com/OleksandrChekhovskyi/hax/pull/15)
	NativeFinish   string `json:"native_finish_reason"`
	Delta, Message *chatMessage
	Usage          usage.Report
}

// chatMessage is a delta or a message.
type chatMessage struct {
	Content  wireContent
	Refusal  wireText
	Calls    []chatCall    `json:"tool_calls"`
	Function *chatFunction `json:"function_call"` // predecessor of tool calls
	chatOpaque
}

// wireContent is a text, which some servers send as a list of blocks (https://github.com/HKUDS/nanobot/issues/2494).
// Mistral's thinking blocks are opaque (https://docs.mistral.ai/capabilities/reasoning/).
type wireContent struct{ text, thinking []byte }

// UnmarshalJSON ignores values of other types.
func (c *wireContent) UnmarshalJSON(b []byte) error {
	if b[0] != '[' {
		return (*wireText)(&c.text).UnmarshalJSON(b)
	}
	var blocks []any
	_ = json.Unmarshal(b, &blocks) // b is valid
	for _, one := range blocks {
		block, _ := one.(map[string]any)
		c.text = append(append(c.text, textOf(one)...), textOf(block["text"])...)
		c.thinking = append(c.thinking, textOf(block["thinking"])...)
		parts, _ := block["thinking"].([]any)
		for _, part := range parts {
			part, _ := part.(map[string]any)
			c.thinking = append(c.thinking, textOf(part["text"])...)
		}
	}
	return nil
}

func textOf(v any) string {
	s, _ := v.(string)
	return s
}

// chatReader reads answers of chat completions, including those that deviate from the protocol.
type chatReader struct {
	answer
	byIndex  map[int]*partialCall
	texts    [len(opaqueTexts)]strings.Builder
	lists    [len(opaqueLists)][]json.RawMessage
	extra    chatExtra
	thinking strings.Builder // from content blocks
	extended []*partialCall  // calls with arguments in the current chunk
}

// volume returns the size of everything read except arguments.
func (r *chatReader) volume() int {
	return r.text.Len() + r.refusal.Len() + r.reasoningBytes + r.opaqueBytes + len(r.calls) + r.thinking.Len()
}

func (r *chatReader) partial() *answer { return &r.answer }

// event reads one chunk.
func (r *chatReader) event(data []byte) (done bool, err error) {
	before := r.volume()
	r.extended, r.lastForm.call = r.extended[:0], nil
	if err := r.read(data); err != nil {
		return false, err
	}
	if len(r.extended) == 1 && r.volume() == before {
		r.lastForm.remember(data, "arguments", r.extended[0])
	}
	return false, nil
}

// whole reads an answer that is not streamed.
func (r *chatReader) whole(body []byte) error {
	if err := r.read(body); err != nil {
		return err
	}
	r.ended = true
	if r.finish == "" && !r.started {
		return errNoChoices
	}
	return r.finishOpaque()
}

// end ends the answer.
func (r *chatReader) end() error {
	if r.finish == "" && !r.started {
		return errTruncated
	}
	return r.finishOpaque()
}

// read reads a chunk, or a complete answer.
func (r *chatReader) read(data []byte) error {
	var c chatChunk
	if err := decodeWire(data, &c); err != nil {
		if parsed := parseErrorBody(data); parsed.isPresent() { // Gemini wraps an error in a list
			return &endpointError{parsed}
		}
		return err
	}
	r.gateway = cmp.Or(c.Provider, r.gateway)
	r.setUsage(c.Usage.Tokens())
	for _, one := range c.Choices {
		if err := r.choice(one); err != nil {
			return err
		}
	}
	if isSet(c.Error) || isSet(c.Errors) || c.Object == "error" || c.BaseResp.Status != 0 ||
		isSet(c.Message) && c.Choices == nil {
		return &endpointError{parseErrorBody(data)}
	}
	return nil
}

// choice reads a choice.
func (r *chatReader) choice(c chatChoice) error {
	if c.Finish != "" && failures[r.finish] == "" {
		r.finish = c.Finish
	}
	if f := strings.ToLower(c.NativeFinish); failures[f] != "" {
		r.finish = f
	}
	r.setUsage(c.Usage.Tokens())
	switch first := c.Index == 0; {
	case c.Delta != nil:
		return r.message(c.Delta, first)
	case c.Message != nil && (!r.started || !first):
		return r.message(c.Message, first)
	}
	return nil
}

// message reads a delta or a message. Only the first choice has the text.
func (r *chatReader) message(m *chatMessage, first bool) error {
	if first {
		if err := r.addText(m.Content.text); err != nil {
			return err
		}
		if err := r.addReasoning(&r.thinking, m.Content.thinking); err != nil {
			return err
		}
	}
	if err := r.addRefusal(m.Refusal); err != nil {
		return err
	}
	for _, c := range m.Calls {
		if err := r.call(c); err != nil {
			return err
		}
	}
	if m.Function != nil {
		if err := r.call(chatCall{Index: new(wireNumber), Function: *m.Function}); err != nil {
			return err
		}
	}
	return r.addOpaqueFields(m.chatOpaque)
}
