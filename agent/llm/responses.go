package llm

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

// encodeResponses is req in the dialect of Responses. Nothing is kept at the endpoint: the
// reasoning comes back to us encrypted, and goes there again with the next request
// (https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items).
func encodeResponses(c *Client, req Request, l Learned, most int) ([]byte, error) {
	store := false
	out := openai.CreateResponseRequest{Model: c.cfg.Model, Stream: !l.wants(formNoStream)}
	if l.takes("max_output_tokens") {
		out.MaxOutputTokens = most
	}
	if l.takes("store") {
		out.Store = &store
	}
	if l.takes("include") {
		out.Include = []openai.ResponseInclude{"reasoning.encrypted_content"}
	}
	if l.takes("prompt_cache_key") {
		out.PromptCacheKey = conversationKey(req)
	}
	if effort := l.effort(c.cfg.Reasoning); effort != "" {
		out.Reasoning = &openai.ResponseReasoning{Effort: effort}
	}
	maker := c.maker(ProtocolResponses)
	ids := wireIDs(req.Messages, maker, l)
	input := []any{}
	for i, m := range req.inWords(l) {
		if i == 0 && m.Role == RoleSystem {
			out.Instructions = validText(m.Content)
			continue
		}
		input = append(input, responsesItems(m, maker, ids, l)...)
	}
	out.Input = input
	out.ExtraBody = map[string]any{}
	if len(req.Tools) > 0 {
		var tools []any
		for _, t := range req.Tools {
			tool := map[string]any{"type": "function", "name": t.Name, "description": t.Description,
				"parameters": t.parameters(l)}
			if l.takes("strict") {
				tool["strict"] = false // it is true where nothing is said
			}
			tools = append(tools, tool)
		}
		out.ExtraBody["tools"] = tools
	}
	if s := req.Schema; s != nil {
		switch l.Schema {
		case modeSchema:
			out.ExtraBody["text"] = map[string]any{"format": map[string]any{"type": "json_schema", "name": s.Name,
				"schema": s.JSON, "strict": s.Strict}}
		case modeObject:
			out.ExtraBody["text"] = map[string]any{"format": map[string]any{"type": "json_object"}}
		}
	}
	return json.Marshal(out)
}

// conversationKey brings the requests of a conversation to the same cache
// (https://developers.openai.com/api/docs/guides/prompt-caching). It is made of how the
// conversation begins, without what is added there when it is condensed.
func conversationKey(req Request) string {
	const begins = 1024 // bytes of a message
	h := sha256.New()
	for _, m := range req.Messages[:min(2, len(req.Messages))] {
		h.Write([]byte(m.Role + "\x00" + m.Content[:min(begins, len(m.Content))] + "\x00"))
	}
	return "sia-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// responsesItems are the items of one message: its opaque ones word for word, and where
// they stood. Items have no ids of the endpoint's, which keeps nothing that they could
// name. Reasoning that nothing followed, because the answer was cut, is left out: OpenAI's
// endpoint refuses it (https://github.com/openai/openai-agents-js/issues/546).
func responsesItems(m Message, maker string, ids func(string) string, l Learned) (items []any) {
	text := validText(m.Content)
	if text == "" && len(m.ToolCalls) == 0 {
		text = emptyText
	}
	switch m.Role {
	case RoleTool:
		return []any{map[string]any{"type": "function_call_output", "call_id": ids(m.ToolCallID), "output": text}}
	case RoleAssistant:
	default:
		return []any{map[string]any{"role": m.Role, "content": text}}
	}
	opaque, visible := m.Opaque.of(maker), 0
	add := func(item map[string]any) {
		for ; len(opaque) > 0 && opaque[0].At <= visible; opaque = opaque[1:] {
			switch p := opaque[0]; {
			case p.Name != opaquePhase:
				items = append(items, json.RawMessage(p.Raw))
			case item["role"] != nil && l.takes("phase"):
				item["phase"] = json.RawMessage(p.Raw)
			}
		}
		items = append(items, item)
		visible++
	}
	if text != "" {
		add(map[string]any{"role": m.Role, "content": text})
	}
	for _, c := range m.ToolCalls {
		add(map[string]any{"type": "function_call", "call_id": ids(c.ID), "name": wireName(c.Name),
			"arguments": validArguments(c.Arguments)})
	}
	return items
}

// responsesEvent is an event of a stream.
type responsesEvent struct {
	Type      string
	Index     wireNumber `json:"output_index"`
	Item      outputItem
	ItemID    string `json:"item_id"`
	Response  wholeResponse
	Delta     wireText
	Arguments wireText
}

// wholeResponse is an answer that came in one piece, or what the last event says of it.
type wholeResponse struct {
	Status     string
	Error      json.RawMessage
	Incomplete struct{ Reason string } `json:"incomplete_details"`
	Output     []outputItem
	Usage      wireUsage
}

// outputItem is an item of an answer.
type outputItem struct {
	Type      string
	ID        string // of the item
	CallID    string `json:"call_id"` // some servers leave it out
	Name      string
	Arguments wireArguments
	Phase     json.RawMessage // of a message
	Content   []struct {      // likewise; that of reasoning is no output_text
		Type    string
		Text    wireText
		Refusal wireText
	}
	whole []byte // of reasoning, as it stands
}

// UnmarshalJSON keeps what goes back word for word.
func (o *outputItem) UnmarshalJSON(b []byte) error {
	type plain outputItem
	if _ = decodeWire(b, (*plain)(o)); o.Type == "reasoning" { // what is no object has no type
		o.whole = bytes.Clone(b)
	}
	return nil
}

// responsesReader reads answers of the Responses dialect. What belongs together is told by the
// index of the item; where a server leaves it out, or gives it to several
// (https://github.com/lemonade-sdk/lemonade/issues/3607,
// https://github.com/BerriAI/litellm/pull/36375), by the ids of items and calls.
type responsesReader struct {
	answer
	byOutput map[int]*partialCall    // calls by the index of their item
	byItem   map[string]*partialCall // and by its id
	texts    map[int]bool            // items with words that arrive in pieces
	done     map[string]int          // how many items of each kind came whole
}

func (r *responsesReader) got() *answer { return &r.answer }

// event reads one event. The last holds the usage, and with most endpoints the whole
// answer once more.
func (r *responsesReader) event(data []byte) (done bool, err error) {
	var e responsesEvent
	if err := decodeWire(data, &e); err != nil {
		return false, err
	}
	index := int(e.Index)
	switch e.Type {
	case "response.output_item.added": // the arguments of a call follow in pieces
		if e.Item.Type == "function_call" {
			_, err = r.callFor(e.Item, index)
		}
		return false, err
	case "response.output_text.delta":
		if r.texts == nil {
			r.texts = map[int]bool{}
		}
		r.texts[index] = true
		return false, r.addText(e.Delta)
	case "response.refusal.delta":
		return false, r.addRefusal(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.begun, r.thought = true, r.thought+len(e.Delta)
		return false, nil
	case "response.function_call_arguments.delta":
		if call := r.callOf(e.ItemID, index); call != nil && !call.closed {
			r.like.remember(data, "delta", call)
			return false, call.add(e.Delta)
		}
		return false, nil
	case "response.function_call_arguments.done": // some send nothing else of them
		if call := r.callOf(e.ItemID, index); call != nil && call.args.Len() == 0 {
			return false, call.add(e.Arguments)
		}
		return false, nil
	case "response.output_item.done":
		return false, r.item(e.Item, index)
	case "response.completed", "response.done", "response.incomplete", "response.failed", "response.cancelled":
		return true, r.response(e.Response, data)
	case "error":
		return true, &saidError{saidIn(data)}
	case "":
		if said := saidIn(data); said.any() {
			return true, &saidError{said}
		}
	}
	return false, nil
}

// callOf is the call of an item.
func (r *responsesReader) callOf(id string, index int) *partialCall {
	if call := r.byItem[id]; call != nil {
		return call
	}
	return r.byOutput[index]
}

// end ends the answer.
func (r *responsesReader) end() error {
	if !r.ended {
		return errBrokenOff
	}
	return nil
}

// whole reads an answer that came in one piece.
func (r *responsesReader) whole(body []byte) error {
	var all wholeResponse
	if err := decodeWire(body, &all); err != nil {
		return err
	}
	return r.response(all, body)
}

// response takes over a whole response, which stands in data.
func (r *responsesReader) response(all wholeResponse, data []byte) error {
	switch {
	case isSet(all.Error), all.Status == "failed":
		return &saidError{saidIn(data)}
	case all.Output == nil && all.Status == "":
		return errNotProtocol
	}
	r.count(all.Usage)
	if err := r.output(all.Output); err != nil {
		return err
	}
	r.ended = true
	switch {
	case all.Status == "incomplete" && all.Incomplete.Reason == "content_filter":
		r.finish = FinishContentFilter
	case all.Status == "incomplete":
		r.finish = FinishLength
	case len(r.calls) > 0:
		r.finish = FinishToolCalls
	default:
		r.finish = FinishStop
	}
	return nil
}

// output reads the items that the last event lists, without those that came before.
func (r *responsesReader) output(items []outputItem) error {
	came, listed := maps.Clone(r.done), map[string]int{}
	for n, o := range items {
		if listed[o.Type]++; o.Type != "function_call" && listed[o.Type] <= came[o.Type] ||
			o.Type == "message" && came[o.Type] == 0 && r.text.Len()+r.refusal.Len() > 0 { // it came in pieces
			continue
		}
		if err := r.item(o, n); err != nil {
			return err
		}
	}
	return nil
}

// callFor is the call of an item, which begins with it unless it has begun.
func (r *responsesReader) callFor(o outputItem, index int) (*partialCall, error) {
	id := cmp.Or(o.CallID, o.ID)
	for _, call := range r.calls {
		if id != "" && call.id == id {
			return call, nil
		}
	}
	if call := r.byOutput[index]; call != nil && id == "" {
		return call, nil
	}
	call, err := r.newCall(id, o.Name)
	if err != nil {
		return nil, err
	}
	if r.byOutput == nil {
		r.byOutput, r.byItem = map[int]*partialCall{}, map[string]*partialCall{}
	}
	r.byOutput[index] = call
	if o.ID != "" {
		r.byItem[o.ID] = call
	}
	return call, nil
}

// item reads an item that is whole. Its pieces that came before are replaced or passed over.
func (r *responsesReader) item(o outputItem, index int) error {
	if r.done == nil {
		r.done = map[string]int{}
	}
	r.done[o.Type]++
	switch o.Type {
	case "message":
		return r.message(o, index)
	case "function_call":
		call, err := r.callFor(o, index)
		if err != nil {
			return err
		}
		call.closed, r.flowing = true, false
		if n := len(o.Arguments); n > 0 && n != call.args.Len() { // else they came in pieces
			call.args.Reset()
			return call.add(o.Arguments)
		}
	case "reasoning":
		r.thought += len(o.whole)
		return r.keep(OpaquePart{At: r.visible(), Raw: string(o.whole)})
	}
	return nil
}

// message reads a message that is whole. Its words may be here already.
func (r *responsesReader) message(o outputItem, index int) error {
	inPieces := r.texts[index]
	delete(r.texts, index)
	if isSet(o.Phase) {
		at := r.visible()
		if inPieces {
			at--
		}
		if err := r.keep(OpaquePart{At: max(0, at), Name: opaquePhase, Raw: string(o.Phase)}); err != nil {
			return err
		}
	}
	for _, part := range o.Content {
		if inPieces {
			break
		}
		var err error
		switch part.Type {
		case "output_text", "text":
			err = r.addText(part.Text)
		case "refusal":
			err = r.addRefusal(part.Refusal)
		}
		if err != nil {
			return err
		}
	}
	r.flowing = false
	return nil
}

// errNoChoices is an answer that holds none.
var errNoChoices = errors.New("the answer holds no choices")

// saidError is an endpoint's error in the midst of an answer, or in its place.
type saidError struct{ said said }

func (e *saidError) Error() string { return fmt.Sprintf("the endpoint says: %s", e.said.message) }
