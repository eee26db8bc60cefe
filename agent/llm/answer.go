package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Bounds of an answer. What a model writes is a stranger's text.
const (
	maxCallBytes   = 4 << 20  // of one call's arguments
	maxAnswerCalls = 64       // of one answer
	maxTextBytes   = 8 << 20  // of its words
	maxOpaqueBytes = 16 << 20 // of its opaque parts
)

// errTooMuch is an answer that exceeds one of the bounds. Asking again would not help.
var errTooMuch = errors.New("the answer is more than one may be")

// answerReader puts an answer together as it comes in one of the dialects.
type answerReader interface {
	// event takes one event of a stream; done says that nothing follows.
	event(data []byte) (done bool, err error)
	// whole takes an answer that came in one piece.
	whole(body []byte) error
	// got is what has come so far.
	got() *answer
}

// answer is a model's answer as far as it has come, in whichever dialect.
type answer struct {
	text, refusal strings.Builder
	calls         []*partialCall
	opaque        []OpaquePart
	opaqueBytes   int
	thought       int    // bytes of reasoning
	finish        string // as the endpoint calls it
	usage         *Usage
	begun         bool   // the model has said anything
	ended         bool   // the answer is whole, whether or not the stream has an end of its own
	gateway       string // what the answer says that passes it on, such as a provider's name
}

// partialCall is a tool call whose arguments come in pieces.
type partialCall struct {
	id, name string
	args     strings.Builder
	closed   bool // nothing is added any more
}

// grow adds a piece to b, which may not exceed most bytes. It doubles what b has room
// for, so that a long text in short pieces costs little.
func grow(b *strings.Builder, piece []byte, most int, what string) error {
	if b.Len()+len(piece) > most {
		return fmt.Errorf("%w: %s has over %d KiB", errTooMuch, what, most>>10)
	}
	if b.Cap()-b.Len() < len(piece) {
		b.Grow(max(len(piece), 64))
	}
	b.Write(piece)
	return nil
}

func (a *answer) addText(piece []byte) error {
	a.begun = a.begun || len(piece) > 0
	return grow(&a.text, piece, maxTextBytes, "its text")
}

func (a *answer) addRefusal(piece []byte) error {
	a.begun = a.begun || len(piece) > 0
	return grow(&a.refusal, piece, maxTextBytes, "its refusal")
}

// newCall begins a call.
func (a *answer) newCall(id, name string) (*partialCall, error) {
	if len(a.calls) >= maxAnswerCalls {
		return nil, fmt.Errorf("%w: it makes over %d tool calls at once", errTooMuch, maxAnswerCalls)
	}
	a.begun = true
	c := &partialCall{id: id, name: name}
	a.calls = append(a.calls, c)
	return c, nil
}

func (c *partialCall) add(piece []byte) error {
	return grow(&c.args, piece, maxCallBytes, "a tool call")
}

// keep keeps an opaque part; a nil one is none.
func (a *answer) keep(p OpaquePart) error {
	if p.Raw == "" {
		return nil
	}
	if a.opaqueBytes += len(p.Raw); a.opaqueBytes > maxOpaqueBytes {
		return fmt.Errorf("%w: its reasoning has over %d KiB", errTooMuch, maxOpaqueBytes>>10)
	}
	a.begun = true
	a.opaque = append(a.opaque, p)
	return nil
}

// visible is how many parts that are no opaque ones have come.
func (a *answer) visible() int {
	n := len(a.calls)
	if a.text.Len() > 0 {
		n++
	}
	return n
}

// usedTokens is what an answer that broke off has used: what the endpoint said, or else
// an estimate. An answer that never began costs nothing.
func (a *answer) usedTokens(req Request) Usage {
	switch {
	case a.usage != nil && a.usage.Input > 0:
		u := *a.usage
		if u.Output == 0 || !a.ended { // an answer that is under way is not counted yet
			u.Output = max(u.Output, a.estimatedOutput())
			u.Estimated = true
		}
		return u
	case !a.begun:
		return Usage{}
	}
	return Usage{Input: req.Tokens(), Output: a.estimatedOutput(), Estimated: true}
}

func (a *answer) estimatedOutput() int {
	m := Message{Content: a.text.String() + a.refusal.String()}
	for _, c := range a.calls {
		m.ToolCalls = append(m.ToolCalls, ToolCall{Name: c.name, Arguments: c.args.String()})
	}
	return m.Tokens() + a.thought/4
}

// finishes are the reasons to stop in the words of those endpoints that have others:
// Anthropic's, Gemini's, Mistral's, z.ai's and Bedrock's.
var finishes = map[string]string{
	"end_turn": FinishStop, "stop_sequence": FinishStop, "eos": FinishStop, "completed": FinishStop, "STOP": FinishStop,
	"tool_use": FinishToolCalls, "function_call": FinishToolCalls,
	"max_tokens": FinishLength, "MAX_TOKENS": FinishLength, "max_output_tokens": FinishLength,
	"model_length": FinishLength, "model_context_window_exceeded": FinishLength, "incomplete": FinishLength,
	"refusal": FinishContentFilter, "SAFETY": FinishContentFilter, "RECITATION": FinishContentFilter,
	"PROHIBITED_CONTENT": FinishContentFilter, "BLOCKLIST": FinishContentFilter, "SPII": FinishContentFilter,
	"sensitive": FinishContentFilter, "guardrail_intervened": FinishContentFilter,
	"content_filtered": FinishContentFilter,
}

// responseOf turns an answer to req into ours; most is how many tokens it might have.
func (c *Client) responseOf(a *answer, s seenAnswer, req Request, d Protocol, most int) (Response, *Error) {
	resp := Response{
		Message: Message{Role: RoleAssistant, Content: a.text.String()},
		Finish:  a.finish,
		Model:   c.cfg.Model,
		Client:  c.cfg.Name,
	}
	if known, ok := finishes[a.finish]; ok {
		resp.Finish = known
	}
	if resp.Message.Content == "" {
		resp.Message.Content = a.refusal.String() // a refusal is text too
	}
	if len(a.calls) == 0 {
		a.readTextCalls(&resp.Message, req.Tools)
	}
	c.takeCalls(a, &resp, req)
	if a.usage != nil {
		resp.Usage = *a.usage
	}
	if resp.Usage.Input == 0 { // an endpoint that does not count must not look free
		resp.Usage = Usage{Input: req.Tokens(), Output: a.estimatedOutput(), Estimated: true}
	}
	resp.Usage.USD = c.cfg.Price.Cost(resp.Usage)
	if len(resp.Message.ToolCalls) > 0 || len(a.opaque) > 0 {
		resp.Message.Opaque = &Opaque{Maker: c.maker(d), Parts: a.opaque}
	}
	if c.fullWindow(resp, a, most) {
		return Response{Lost: resp.Usage}, &Error{Client: c.cfg.Name, Kind: KindContextLength, Status: s.status,
			Message: "the window is full: the model had no room for an answer"}
	}
	return resp, nil
}

// takeCalls takes over the calls, each with an id of its own.
func (c *Client) takeCalls(a *answer, resp *Response, req Request) {
	taken := map[string]bool{}
	for _, m := range req.Messages {
		for _, call := range m.ToolCalls {
			taken[call.ID] = true
		}
	}
	for i, call := range a.calls {
		id := call.id
		if id == "" || taken[id] { // some servers leave it out, or begin anew in each answer; results must name one
			id = wireID(fmt.Sprintf("%s_%d_%d", id, len(req.Messages), i))
		}
		taken[id] = true
		resp.Message.ToolCalls = append(resp.Message.ToolCalls,
			ToolCall{ID: id, Name: call.name, Arguments: plainArguments(call.args.String())})
	}
	if n := len(a.calls); n > 0 && resp.Finish != FinishLength && a.usage != nil {
		// Ollama and others call an answer that was cut "stop" or "tool_calls".
		if last := resp.Message.ToolCalls[n-1].Arguments; last != "" && !json.Valid([]byte(last)) &&
			req.MaxOutput > 0 && a.usage.Output >= req.MaxOutput {
			resp.Finish = FinishLength
		}
	}
}

// plainArguments is a call's arguments, taken out of the string in which some models wrap
// the object.
func plainArguments(args string) string {
	var inner string
	if strings.HasPrefix(args, `"`) && json.Unmarshal([]byte(args), &inner) == nil && strings.HasPrefix(inner, "{") {
		return inner
	}
	return args
}

// fullWindow reports whether an answer ended because the conversation leaves it no room:
// at its length without any output, or before the length asked for with the window full.
// Xiaomi's and others answer so, where most refuse.
// https://github.com/earendil-works/pi/blob/main/packages/ai/src/utils/overflow.ts
func (c *Client) fullWindow(resp Response, a *answer, most int) bool {
	if resp.Finish != FinishLength {
		return false
	}
	if a.finish == "model_context_window_exceeded" {
		return true
	}
	empty := resp.Message.Content == "" && len(resp.Message.ToolCalls) == 0
	if a.usage == nil {
		return empty && !a.begun
	}
	u := *a.usage
	return u.Output == 0 && empty || u.Output < most && u.Input+u.Output >= c.cfg.Window*99/100
}
