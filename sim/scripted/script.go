package scripted

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path"
	"regexp"
	"time"
)

// Script is the behaviour of a scripted model. The first rule that matches answers.
type Script struct {
	Rules []Rule
}

// Rule matches requests and answers them. Every condition that is set must hold.
type Rule struct {
	Name   string // for people, in errors and records
	Model  string // the request's model, or a path.Match pattern of it; empty: any
	System string // regular expression over the system and developer messages, joined by blank lines
	User   string // regular expression over the user messages, joined by blank lines
	Last   string // regular expression over the last message, whatever its role
	Not    string // regular expression that the system and user text must not match
	From   int    // assistant messages in the request from which on the rule applies

	Turns  []Answer // the answer after From assistant messages, after From+1, …
	Repeat bool     // the last of Turns answers every later turn too; else the rule does not match there
}

// Answer is the model's output at one turn.
type Answer struct {
	Text   string
	Calls  []Call
	JSON   any           // marshalled as the text, when Text is empty
	Finish string        // empty: "tool_calls" when there are calls, else "stop"
	Usage  *Usage        // nil: estimated
	Delay  time.Duration // before the answer or the fault; ends early when the client disconnects
	Fault  *Fault        // instead of the answer
}

// Call is one tool call. Args is marshalled, unless it is a json.RawMessage or a string, which is sent unchanged, so
// that it can be invalid. A map of finish without a ledger gets an empty one, which is not counted: SIA asks a model
// for a missing one.
type Call struct {
	Name string
	Args any
}

// Usage is a count of tokens.
type Usage struct{ Input, Cached, Output int }

// Fault is an HTTP error, or no answer. With After, it occurs within a streamed answer: the connection is closed,
// stalls, or carries the error as an event.
type Fault struct {
	Status int               // 0: 500
	Header map[string]string // such as Retry-After
	Body   string            // empty: an error object of the protocol
	Code   string            // of the error object
	Reset  bool              // the connection is reset without an answer
	Stall  bool              // nothing more is sent until the client disconnects
	After  int               // chunks of a streamed answer before the fault; other answers fail at once
	Times  int               // how many requests fail before the answer is given; 0: all
}

// rule is a Rule with compiled patterns.
type rule struct {
	Rule
	system, user, last, not *regexp.Regexp
}

func (s Script) compile() ([]rule, error) {
	rules := make([]rule, len(s.Rules))
	for i, r := range s.Rules {
		c := rule{Rule: r}
		for _, p := range []struct {
			to   **regexp.Regexp
			text string
		}{{&c.system, r.System}, {&c.user, r.User}, {&c.last, r.Last}, {&c.not, r.Not}} {
			if p.text == "" {
				continue
			}
			re, err := regexp.Compile(p.text)
			if err != nil {
				return nil, fmt.Errorf("script rule %d %q: %w", i+1, r.Name, err)
			}
			*p.to = re
		}
		if _, err := path.Match(r.Model, ""); err != nil {
			return nil, fmt.Errorf("script rule %d %q: model %q: %w", i+1, r.Name, r.Model, err)
		}
		if len(r.Turns) == 0 {
			return nil, fmt.Errorf("script rule %d %q: it has no turns", i+1, r.Name)
		}
		for j, a := range r.Turns {
			if a.Fault != nil && a.Fault.Status != 0 && (a.Fault.Status < 200 || a.Fault.Status > 599) {
				return nil, fmt.Errorf("script rule %d %q: turn %d: no HTTP status %d", i+1, r.Name, j+1, a.Fault.Status)
			}
			if _, _, err := a.message(0); err != nil {
				return nil, fmt.Errorf("script rule %d %q: turn %d: %w", i+1, r.Name, j+1, err)
			}
		}
		rules[i] = c
	}
	return rules, nil
}

// answer returns the index of the rule's answer to q, and whether it has one.
func (r rule) answer(q Request) (int, bool) {
	if r.Model != "" {
		if ok, _ := path.Match(r.Model, q.Model); !ok {
			return 0, false
		}
	}
	is := func(re *regexp.Regexp, text string) bool { return re == nil || re.MatchString(text) }
	if !is(r.system, q.System()) || !is(r.user, q.User()) || !is(r.last, q.Last()) {
		return 0, false
	}
	if r.not != nil && r.not.MatchString(q.System()+"\n\n"+q.User()) {
		return 0, false
	}
	n := q.Turn() - r.From
	if n >= len(r.Turns) && r.Repeat {
		n = len(r.Turns) - 1
	}
	return n, n >= 0 && n < len(r.Turns)
}

// message is the answer in the protocol's format, with its finish reason.
func (a Answer) message(turn int) (Message, string, error) {
	m := Message{Role: "assistant", Content: a.Text}
	if a.Text == "" && a.JSON != nil {
		b, err := json.Marshal(a.JSON)
		if err != nil {
			return m, "", fmt.Errorf("json: %w", err)
		}
		m.Content = string(b)
	}
	for i, c := range a.Calls {
		call := ToolCall{ID: fmt.Sprintf("call_%d_%d", turn, i), Type: "function"}
		call.Function.Name = c.Name
		switch args := c.Args.(type) {
		case nil:
			call.Function.Arguments = "{}"
		case string:
			call.Function.Arguments = args
		case json.RawMessage:
			call.Function.Arguments = string(args)
		default:
			b, err := json.Marshal(withLedger(c.Name, args))
			if err != nil {
				return m, "", fmt.Errorf("call %s: %w", c.Name, err)
			}
			call.Function.Arguments = string(b)
		}
		m.ToolCalls = append(m.ToolCalls, call)
	}
	finish := a.Finish
	if finish == "" {
		finish = "stop"
		if len(m.ToolCalls) > 0 {
			finish = "tool_calls"
		}
	}
	return m, finish, nil
}

// emptyLedger is what withLedger adds to the arguments of a call that has others after it.
const emptyLedger = `"ledger":[],`

// withLedger returns the arguments of a call, for finish with a ledger.
func withLedger(tool string, args any) any {
	of, is := args.(map[string]any)
	if _, has := of["ledger"]; tool != "finish" || !is || has {
		return args
	}
	of = maps.Clone(of)
	of["ledger"] = []any{}
	return of
}

// status is the HTTP status of a fault.
func (f Fault) status() int {
	if f.Status == 0 {
		return http.StatusInternalServerError
	}
	return f.Status
}
