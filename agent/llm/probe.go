package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia/text"
)

// Probed is the result of a short test conversation with a model.
type Probed struct {
	Name          string    `json:"name"`  // Config.Name
	Model         string    `json:"model"` // the endpoint's name of the model
	Protocol      Protocol  `json:"protocol"`
	Tools         bool      `json:"tools"`          // it calls a tool, and accepts the result
	Parallel      bool      `json:"parallel"`       // it makes several calls at once
	Strict        bool      `json:"strict_schemas"` // its endpoint enforces schemas
	ReasoningKept bool      `json:"reasoning_kept"` // it reasons, and its endpoint accepts its reasoning back
	Cached        bool      `json:"cached"`         // its second answer used a cache for the first prompt
	Usable        bool      `json:"usable"`         // it can be used for attempts
	Weaker        []string  `json:"weaker,omitempty"`
	Advice        string    `json:"advice"` // what to change; empty: nothing
	Usage         Usage     `json:"usage"`  // of all calls
	Price         string    `json:"price"`  // source of the model's price, for users
	Priced        bool      `json:"priced"` // its price is known, and Usage includes the cost
	At            time.Time `json:"at"`
}

// Seen returns the names of the features that worked, for users.
func (p Probed) Seen() []string { return p.abilities(true) }

// Told returns what to change, and the features that the model works without, for users; "": nothing.
func (p Probed) Told() string {
	if !p.Usable || len(p.Weaker) == 0 {
		return p.Advice
	}
	return strings.TrimSpace(p.Advice + " It works, with less: " + strings.Join(p.Weaker, "; ") + ".")
}

// Unseen returns the names of the features that did not work.
func (p Probed) Unseen() []string { return p.abilities(false) }

func (p Probed) abilities(seen bool) (names []string) {
	for _, one := range []struct {
		name string
		seen bool
	}{{"tools", p.Tools}, {"parallel calls", p.Parallel}, {"strict schemas", p.Strict},
		{"reasoning given back", p.ReasoningKept}, {"caching", p.Cached}} {
		if one.seen == seen {
			names = append(names, one.name)
		}
	}
	return names
}

// probeTool is the tool that a probed model must call.
var probeTool = ToolSpec{Name: "look_up", Description: "Looks up the value of one key.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","description":"the key"}},` +
		`"required":["key"],"additionalProperties":false}`)}

// probeSystem returns a system prompt that, with the tools, is long enough for caching: some of Anthropic's models
// require 4,096 tokens. It also detects endpoints that truncate prompts, as Ollama does at 4,096. It fits into a window
// of 8,192, which is enough for attempts.
func probeSystem(tools []ToolSpec) string {
	const line = "one two three four five six seven eight nine ten\n" // one token per word
	lines := 450
	for _, t := range tools {
		lines -= t.Tokens() / 10
	}
	return "You test a connection. Do exactly what you are asked, briefly. What follows is filler and means nothing.\n" +
		strings.Repeat(line, max(lines, 1))
}

// Probe has one conversation of two turns with a tool call, and asks one question with a schema. It uses the configured
// output limit and the tools of attempts, so that refusals of either are found before the first attempt. Errors of the
// model are reported in Advice.
func (c *Client) Probe(ctx context.Context, tools []ToolSpec) (p Probed) {
	p = Probed{Name: c.cfg.Name, Model: c.cfg.Model, Price: PriceSource(c.cfg.Model, c.cfg.Price),
		Priced: c.cfg.Price.Known(),
		At:     c.cfg.Now().UTC().Truncate(time.Second)}
	defer func() {
		p.Protocol, p.Weaker = c.Protocol(), c.Weaker()
	}()
	req := Request{Tools: append(slices.Clone(tools), probeTool), Messages: []Message{
		{Role: RoleSystem, Content: probeSystem(tools)},
		{Role: RoleUser, Content: "Call look_up with the keys alpha and beta, both at once. Then say their values."}}}
	ask := func(req Request) (Response, error) {
		resp, err := c.Complete(ctx, req)
		p.Usage = p.Usage.Add(resp.Spent())
		return resp, err
	}
	allowed := c.MaxOutput()
	first, err := ask(req)
	if first.CutWhileThinking() && c.MaxOutput() > allowed { // the limit was raised
		first, err = ask(req)
	}
	if err != nil {
		p.Advice = c.errorAdvice(ctx, err)
		return p
	}
	if len(first.Message.ToolCalls) == 0 {
		p.Advice = noCallAdvice(first, c.MaxOutput())
		return p
	}
	p.Parallel = len(first.Message.ToolCalls) > 1
	if u := first.Usage; !u.Estimated && 2*u.Input < req.Tokens() {
		p.Advice = fmt.Sprintf(
			"It counted %d tokens of a prompt of about %d: its endpoint may cut prompts short. Give it a larger "+
				"context (Ollama: OLLAMA_CONTEXT_LENGTH, or the model's num_ctx).", u.Input, req.Tokens())
	}
	req.Messages = append(req.Messages, first.Message)
	for _, call := range first.Message.ToolCalls {
		req.Messages = append(req.Messages, Message{Role: RoleTool, ToolCallID: call.ID, Content: "42"})
	}
	second, err := ask(req)
	if err != nil {
		p.Advice = c.errorAdvice(ctx, err)
		return p
	}
	p.Tools, p.Usable = true, true
	if a, b := first.Usage, second.Usage; !a.Estimated && a.Input == b.Input && a.Input > 0 &&
		(a.Input >= minCutPrompt || 2*a.Input < req.Tokens()) {
		p.Usable = false
		p.Advice = fmt.Sprintf("Its endpoint cuts prompts short at %d tokens and does not say so. Give it a larger context "+
			"(Ollama: OLLAMA_CONTEXT_LENGTH, or the model's num_ctx).", a.Input)
	}
	p.Cached = second.Usage.CachedInput > 0
	if !p.Cached && second.Usage.CacheWrite > 0 { // the endpoint was only now found to accept cache marks
		again, err := ask(req)
		p.Cached = err == nil && again.Usage.CachedInput > 0
	}
	dropped := c.dropsReasoning(req)
	p.ReasoningKept = len(first.Message.Opaque.of(c.maker(c.Protocol()))) > 0 && !dropped
	third, err := ask(Request{Messages: []Message{{Role: RoleSystem, Content: "Answer with JSON."},
		{Role: RoleUser, Content: `Answer with {"ok": "yes"}, unless your answer is held to another form.`}},
		Schema: &probeSchema})
	p.Strict = c.followsSchema(third, err)
	p.Advice = strings.TrimSpace(p.Advice + " " + c.unseenAdvice(p, dropped))
	return p
}

// probeSchema is a schema that an answer matches only if the endpoint enforces it.
var probeSchema = Schema{Name: "probe", Strict: true, JSON: json.RawMessage(`{"type":"object","properties":{"well":` +
	`{"type":"boolean"}},"required":["well"],"additionalProperties":false}`)}

// followsSchema reports whether an answer matches probeSchema. If an endpoint accepts a schema without enforcing it,
// schemas are part of the prompt from now on. An empty, truncated or withheld answer is inconclusive.
func (c *Client) followsSchema(r Response, err error) bool {
	l := c.Learned()
	if l.Schema != modeSchema {
		return false
	}
	var answer map[string]bool
	if json.Unmarshal([]byte(r.Message.Content), &answer) == nil && len(answer) == 1 {
		if _, well := answer["well"]; well {
			return true
		}
	}
	var e *Error
	answered := r.Finish == FinishStop && strings.TrimSpace(r.Message.Content) != ""
	if answered && (err == nil || errors.As(err, &e) && e.Kind == KindMalformed) {
		next := l.clone()
		next.Schema = modePlain
		c.cfg.Memory.learn(c.Key(), l, next)
	}
	return false
}

// unseenAdvice describes each feature that did not work, and what to change.
func (c *Client) unseenAdvice(p Probed, dropsReasoning bool) string {
	l := c.Learned()
	var all []string
	say := func(seen bool, what string) {
		if !seen {
			all = append(all, what)
		}
	}
	say(p.Parallel, "It made one call where two were asked for, so attempts take more turns: use a model that makes "+
		"several calls at once, if it has few turns.")
	if l.Schema == modeSchema {
		say(p.Strict, "Whether its endpoint holds answers to a schema was not seen: it gave no whole answer to that.")
	} else {
		say(p.Strict, "Its endpoint does not hold answers to a schema: SIA says the schema in the prompt instead, and there "+
			"is nothing to change.")
	}
	switch {
	case dropsReasoning:
		say(p.ReasoningKept, "Its endpoint does not take the model's reasoning back, so it thinks anew in each turn: set "+
			"another protocol or endpoint of the model, or let it reason less.")
	case c.cfg.Reasoning == "none" || c.cfg.Reasoning != l.effort(c.cfg.Reasoning): // not requested, or refused
	default:
		say(p.ReasoningKept, "No reasoning came with its answers: if the model can reason, set its reasoning, such as high.")
	}
	say(p.Cached, "Nothing of the second prompt was read from a cache, so each turn costs the whole conversation: turn "+
		"prompt caching on at its endpoint (vLLM: --enable-prefix-caching), or lower budget.task.")
	return strings.Join(all, " ")
}

// dropsReasoning reports whether the endpoint refuses the model's reasoning.
func (c *Client) dropsReasoning(req Request) bool {
	l := c.Learned()
	for _, name := range []string{"reasoning_content", "reasoning", "reasoning_details", "thinking", "include"} {
		if !l.accepts(name) {
			return true
		}
	}
	return c.restricted.get(conversationKey(req)).opaqueUpTo != ""
}

// minCutPrompt is the smallest prompt, in tokens, that counts as truncated if a longer one has the same count: Ollama
// truncates to its window, or to half of it (https://github.com/esengine/DeepSeek-Reasonix/pull/10245). A smaller one
// counts too, if it has less than half of the tokens that SIA estimates.
const minCutPrompt = 2000

// CutAdvice returns how to fix an answer that was cut off; allowed is SIA's limit in tokens.
func CutAdvice(r Response, allowed int) string {
	if r.Usage.Estimated || nearLimit(r.Usage.Output, allowed) {
		return fmt.Sprintf("SIA allows it %d tokens: set max_output of the model higher in the file of --config, "+
			"or let it reason less", allowed)
	}
	return "let it reason less, or raise the limit of its endpoint"
}

// noCallAdvice describes an answer without a tool call and how to fix it; allowed is SIA's limit in tokens.
func noCallAdvice(r Response, allowed int) string {
	quote := ""
	if words := strings.Join(strings.Fields(text.Clip(r.Message.Content, 200)), " "); words != "" {
		quote = " It said: " + words
	}
	switch r.Finish {
	case FinishContentFilter:
		return "The model's provider withheld the answer (content filter). Use a model of another provider." + quote
	case FinishLength:
		return fmt.Sprintf("Its answer was cut off after %d tokens, before it called the tool that it was asked to call. ",
			r.Usage.Output) + text.Sentence(CutAdvice(r, allowed)) + quote
	}
	return "It answered without calling the tool that it was asked to call. " + useTools + quote
}

// errorAdvice returns in one or two sentences why the model can't be used and how to fix that.
func (c *Client) errorAdvice(ctx context.Context, err error) string {
	var e *Error
	if !errors.As(err, &e) {
		if ctx.Err() != nil {
			return "It did not answer in time. Check that the model's endpoint is up and fast enough, " +
				"or raise the model's timeout."
		}
		return err.Error()
	}
	why := cmp.Or(e.Message, fmt.Sprintf("%s (HTTP %d)", e.Kind, e.Status))
	if strings.Contains(e.Advice(), strings.TrimRight(strings.TrimSpace(e.Message), ".")) && e.Message != "" {
		return e.Advice()
	}
	return why + ": " + e.Advice()
}
