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
	"slices"
	"strings"

	openai "github.com/sashabaranov/go-openai"
	"github.com/sia-bot/sia/agent/llm/usage"
)

// encodeResponses encodes req for the Responses dialect. The endpoint stores nothing: the reasoning is returned
// encrypted and sent back with the next request
// (https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items).
func encodeResponses(c *Client, req Request, l Learned, limit int) ([]byte, error) {
	store := false
	out := openai.CreateResponseRequest{Model: c.cfg.Model, Stream: !l.uses(formNoStream)}
	if l.accepts("max_output_tokens") {
		out.MaxOutputTokens = limit
	}
	if l.accepts("store") {
		out.Store = &store
	}
	if l.accepts("include") {
		out.Include = []openai.ResponseInclude{"reasoning.encrypted_content"}
	}
	if l.accepts("prompt_cache_key") {
		out.PromptCacheKey = conversationKey(req)
	}
	if effort := l.effort(c.cfg.Reasoning); effort != "" {
		out.Reasoning = &openai.ResponseReasoning{Effort: effort}
	}
	maker := c.maker(ProtocolResponses)
	ids := wireIDs(req.Messages, maker, l)
	input := []any{}
	for i, m := range req.withSchemaPrompt(l) {
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
			if l.accepts("strict") {
				tool["strict"] = false // the default is true
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

// conversationKey returns a key by which endpoints route the requests of a conversation to the same cache
// (https://developers.openai.com/api/docs/guides/prompt-caching). It is a hash of the start of the conversation,
// without the notes that are added there later.
func conversationKey(req Request) string {
	const begins = 1024 // bytes of a message
	h := sha256.New()
	for _, m := range req.Messages[:min(2, len(req.Messages))] {
		h.Write([]byte(m.Role + "\x00" + m.Content[:min(begins, len(m.Content))] + "\x00"))
	}
	return "sia-" + hex.EncodeToString(h.Sum(nil)[:12])
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// responsesItems returns the items of one message, with its opaque ones unchanged and in their positions. Items have no
// IDs, since the endpoint stores nothing that they could refer to. Reasoning without a following item, from an answer
// that was cut off, is left out: OpenAI's endpoint refuses it (https://github.com/openai/openai-agents-js/issues/546).
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
		return []any{messageItem(m.Role, text, l)}
	}
	opaque, visible := m.Opaque.of(maker), 0
	add := func(item map[string]any) {
		for ; len(opaque) > 0 && opaque[0].At <= visible; opaque = opaque[1:] {
			switch p := opaque[0]; {
			case p.Name != opaquePhase:
				items = append(items, json.RawMessage(p.Raw))
			case item["role"] != nil && l.accepts("phase"):
				item["phase"] = json.RawMessage(p.Raw)
			}
		}
		items = append(items, item)
		visible++
	}
	if text != "" {
		add(messageItem(m.Role, text, l))
	}
	for _, c := range m.ToolCalls {
		add(map[string]any{"type": "function_call", "call_id": ids(c.ID), "name": wireName(c.Name),
			"arguments": validArguments(c.Arguments)})
	}
	return items
}

// messageItem returns the item of a message: in its short form, which OpenAI's and vLLM's endpoints accept, or in the
// form of an answer.
func messageItem(role, text string, l Learned) map[string]any {
	if !l.uses(formTypedItems) {
		return map[string]any{"role": role, "content": text}
	}
	item := map[string]any{"type": "message", "role": role}
	block := map[string]any{"type": "input_text", "text": text}
	if role == RoleAssistant {
		item["id"], item["status"] = "msg_"+wireID(text), "completed"
		block["type"], block["annotations"] = "output_text", []any{}
	}
	item["content"] = []any{block}
	return item
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

// wholeResponse is an answer that is not streamed, or the response in the last event.
type wholeResponse struct {
	Status     string
	Error      json.RawMessage
	Incomplete struct{ Reason string } `json:"incomplete_details"`
	Output     []outputItem
	Usage      usage.Report
}

// outputItem is an item of an answer.
type outputItem struct {
	Type      string
	ID        string // item ID
	CallID    string `json:"call_id"` // omitted by some servers
	Name      string
	Arguments wireArguments
	Phase     json.RawMessage // of a message
	Content   []struct {      // of a message; reasoning has no output_text
		Type    string
		Text    wireText
		Refusal wireText
	}
	whole []byte // JSON of reasoning
}

// UnmarshalJSON keeps the JSON of reasoning, which is sent back unchanged.
func (o *outputItem) UnmarshalJSON(b []byte) error {
	type plain outputItem
	if _ = decodeWire(b, (*plain)(o)); o.Type == "reasoning" { // a value other than an object has no type
		o.whole = bytes.Clone(b)
	}
	return nil
}

// responsesReader reads answers of the Responses dialect. It assigns events to items by index, or, if a server omits or
// repeats that (https://github.com/lemonade-sdk/lemonade/issues/3607, https://github.com/BerriAI/litellm/pull/36375),
// by the IDs of items and calls.
type responsesReader struct {
	answer
	byOutput map[int]*partialCall    // calls by the index of their item
	byItem   map[string]*partialCall // calls by the ID of their item; nil: several have it
	texts    map[int]bool            // items with streamed text
	done     map[string]int          // number of complete items by type
}

func (r *responsesReader) partial() *answer { return &r.answer }

// event reads one event. The last one has the usage, and from most endpoints the complete answer again.
func (r *responsesReader) event(data []byte) (done bool, err error) {
	var e responsesEvent
	if err := decodeWire(data, &e); err != nil {
		return false, err
	}
	index := int(e.Index)
	switch e.Type {
	case "response.output_item.added": // the arguments of a call follow
		if e.Item.Type == "function_call" {
			_, err = r.callFor(e.Item, index, false)
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
		r.started, r.reasoningBytes = true, r.reasoningBytes+len(e.Delta)
		return false, nil
	case "response.function_call_arguments.delta":
		if call := r.callOf(e.ItemID, index); call != nil && !call.closed {
			r.lastForm.remember(data, "delta", call)
			return false, call.add(e.Delta)
		}
		return false, nil
	case "response.function_call_arguments.done": // the only event with arguments from some servers
		if call := r.callOf(e.ItemID, index); call != nil && call.args.Len() == 0 {
			return false, call.add(e.Arguments)
		}
		return false, nil
	case "response.output_item.done":
		return false, r.item(e.Item, index)
	case "response.completed", "response.done", "response.incomplete", "response.failed", "response.cancelled":
		return true, r.response(e.Response, data)
	case "error":
		return true, &endpointError{parseErrorBody(data)}
	case "":
		if parsed := parseErrorBody(data); parsed.isPresent() {
			return true, &endpointError{parsed}
		}
	}
	return false, nil
}

// callOf returns the call of an item.
func (r *responsesReader) callOf(id string, index int) *partialCall {
	return cmp.Or(r.byItem[id], r.byOutput[index])
}

// end ends the answer.
func (r *responsesReader) end() error {
	if !r.ended {
		return errTruncated
	}
	return nil
}

// whole reads an answer that is not streamed.
func (r *responsesReader) whole(body []byte) error {
	var all wholeResponse
	if err := decodeWire(body, &all); err != nil {
		return err
	}
	return r.response(all, body)
}

// response reads a complete response, encoded in data.
func (r *responsesReader) response(all wholeResponse, data []byte) error {
	switch {
	case isSet(all.Error), all.Status == "failed":
		return &endpointError{parseErrorBody(data)}
	case all.Output == nil && all.Status == "":
		return errNotProtocol
	}
	r.setUsage(all.Usage.Tokens())
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

// output reads the items in the last event, except those received before. If its calls have IDs of their own, each is
// the next one of its name that was received before (https://github.com/vllm-project/vllm/pull/47916).
func (r *responsesReader) output(items []outputItem) error {
	came, listed := maps.Clone(r.done), map[string]int{}
	known := func(o outputItem) bool { return o.Type == "function_call" && r.callByID(o) != nil }
	var renumbered []*partialCall
	if !slices.ContainsFunc(items, known) {
		renumbered = slices.Clone(r.calls)
	}
	for n, o := range items {
		if listed[o.Type]++; o.Type != "function_call" && listed[o.Type] <= came[o.Type] ||
			o.Type == "message" && came[o.Type] == 0 && r.text.Len()+r.refusal.Len() > 0 { // streamed before
			continue
		}
		var err error
		if i := slices.IndexFunc(renumbered, o.names); i >= 0 && o.Type == "function_call" {
			err = renumbered[i].complete(o)
			renumbered = slices.Delete(renumbered, i, i+1)
		} else {
			err = r.item(o, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// callID returns the ID of a call.
func (o outputItem) callID() string { return cmp.Or(o.CallID, o.ID) }

// names reports whether an item has the name of a call. Servers that give several calls the same ID or index
// (https://github.com/HKUDS/nanobot/pull/3943) may give them different names.
func (o outputItem) names(call *partialCall) bool {
	return o.Name == "" || call.name == "" || o.Name == call.name
}

// callByID returns the call with the ID and the name of an item; nil: there is none.
func (r *responsesReader) callByID(o outputItem) *partialCall {
	for _, call := range r.calls {
		if id := o.callID(); id != "" && call.id == id && o.names(call) {
			return call
		}
	}
	return nil
}

// callFor returns the call of an item, and starts it if needed. A complete item may have another ID than its start.
func (r *responsesReader) callFor(o outputItem, index int, complete bool) (*partialCall, error) {
	if call := r.callByID(o); call != nil {
		return call, nil
	}
	call := r.byOutput[index]
	if call != nil && o.names(call) && (o.callID() == "" || complete && !call.closed) {
		return call, nil
	}
	call, err := r.newCall(o.callID(), o.Name)
	if err != nil {
		return nil, err
	}
	if r.byOutput == nil {
		r.byOutput, r.byItem = map[int]*partialCall{}, map[string]*partialCall{}
	}
	r.byOutput[index] = call
	if _, twice := r.byItem[o.ID]; twice || o.ID == "" {
		call = nil // the ID identifies no item
	}
	r.byItem[o.ID] = call
	return r.byOutput[index], nil
}

// complete ends a call. It replaces or ignores streamed pieces.
func (c *partialCall) complete(o outputItem) error {
	c.closed, c.of.streamingText = true, false
	if n := len(o.Arguments); n > 0 && n != c.args.Len() { // otherwise they were streamed
		c.args.Reset()
		return c.add(o.Arguments)
	}
	return nil
}

// item reads a complete item. It replaces or ignores streamed pieces.
func (r *responsesReader) item(o outputItem, index int) error {
	if r.done == nil {
		r.done = map[string]int{}
	}
	r.done[o.Type]++
	switch o.Type {
	case "message":
		return r.message(o, index)
	case "function_call":
		call, err := r.callFor(o, index, true)
		if err != nil {
			return err
		}
		return call.complete(o)
	case "reasoning":
		r.reasoningBytes += len(o.whole)
		return r.addOpaque(OpaquePart{At: r.visibleParts(), Raw: string(o.whole)})
	}
	return nil
}

// message reads a complete message, unless its text was streamed before.
func (r *responsesReader) message(o outputItem, index int) error {
	inPieces := r.texts[index]
	delete(r.texts, index)
	if isSet(o.Phase) {
		at := r.visibleParts()
		if inPieces {
			at--
		}
		if err := r.addOpaque(OpaquePart{At: max(0, at), Name: opaquePhase, Raw: string(o.Phase)}); err != nil {
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
	r.streamingText = false
	return nil
}

// errNoChoices means that an answer has no choices.
var errNoChoices = errors.New("the answer holds no choices")

// endpointError is an error that the endpoint sends within an answer, or instead of one.
type endpointError struct{ body errorBody }

func (e *endpointError) Error() string { return fmt.Sprintf("the endpoint says: %s", e.body.message) }
