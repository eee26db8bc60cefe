package llm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// textForm is a form in which open models write a call as text. Servers without a parser for it pass the text through.
type textForm struct {
	// marks around a call; the end may be missing
	begin, end string
	// read reads the calls after begin; n is their end, which may be after an end mark that is part of a string.
	read func(r *textReader, body string) (calls []textCall, n int, err error)
}

// textCall is a call that was written as text.
type textCall struct{ name, args string }

// textForms are the known forms. textcalls_test.go has an example of each, with its source.
var textForms = []textForm{
	{"<tool_call>", "</tool_call>", (*textReader).tagged},
	{"<tools>", "</tools>", (*textReader).objects},
	{"<function=", "</function>", inTags(qwenArguments, "</function>")},
	{"<invoke name=", "</invoke>", inTags(invokeArguments, "</invoke>")},
	{"<|tool_call_begin|>", "<|tool_call_end|>", (*textReader).named},
	{"<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", (*textReader).named},
	{toFunctions, "<|call|>", (*textReader).named},
	{"<|channel|>commentary to=", "<|call|>", (*textReader).named},
	{"[TOOL_CALLS]", "[/TOOL_CALLS]", (*textReader).named},
	{"<|tool_call|>", "<|/tool_call|>", (*textReader).named},
	{"<|tool_call_start|>", "<|tool_call_end|>", (*textReader).objects},
	{"<TOOLCALL>", "</TOOLCALL>", (*textReader).named},
	{"<|tool_call>", "<tool_call|>", (*textReader).called},
	{"<|python_tag|>", "<|eom_id|>", (*textReader).objects},
	{"<|python_start|>", "<|python_end|>", (*textReader).objects},
}

// toFunctions is the only mark that could be the end of a word.
const toFunctions = "to=functions."

// aroundCalls matches other marks around calls.
var aroundCalls = lazyregexp.New(
	`(?s)<\|channel\|>analysis<\|message\|>.*?<\|end\|>|` +
		`<\|(?:tool_calls_section_(?:begin|end)|end|start)\|>(?:assistant)?|` +
		`<\|channel\|>(?:analysis|commentary)(?:<\|message\|>)?|<｜tool▁calls▁(?:begin|end)｜>|` +
		`</?(?:minimax:tool_call|tool_calls|function_calls|tool_call)>|` +
		"```(?:json|tool_code)?\\s*```")

// maxCandidates is the maximum number of positions at which a call is tried, and maxPasses how often, on average, each
// byte may be read, so that the time is linear.
const (
	maxCandidates = 256
	maxPasses     = 16
)

// textReader reads the calls in the text of an answer.
type textReader struct {
	text   string
	tools  []ToolSpec
	cut    bool   // the answer was cut off: a call without an end is incomplete
	left   int    // bytes that may still be read
	next   []int  // next position of each form, or the length of the text
	unread string // error of the first invalid call
}

func newTextReader(text string, tools []ToolSpec, cut bool) *textReader {
	return &textReader{text: text, tools: tools, cut: cut, left: maxPasses*len(text) + 64<<10,
		next: slices.Repeat([]int{-1}, len(textForms))}
}

// readTextCalls parses the calls that a model wrote as text. Only calls of offered tools count; anything else stays
// prose. unread is the error of an invalid call; "": none.
func (a *answer) readTextCalls(m *Message, tools []ToolSpec, cut bool) (unread string) {
	if len(tools) == 0 {
		return ""
	}
	r := newTextReader(strings.ReplaceAll(m.Content, "｜DSML｜", ""), tools, cut)
	calls, prose := r.marked()
	if len(calls) == 0 {
		calls, prose = r.bare()
	}
	for _, call := range calls[:min(len(calls), maxAnswerCalls)] {
		c, err := a.newCall("", call.name)
		if err == nil {
			if err = c.add([]byte(call.args)); err != nil {
				a.calls = a.calls[:len(a.calls)-1]
			}
		}
		if err != nil && r.unread == "" {
			r.unread = err.Error()
		}
	}
	if len(a.calls) > 0 {
		m.Content = strings.TrimSpace(aroundCalls.ReplaceAllString(prose, ""))
	}
	return r.unread
}

// callsInReasoning reports whether an answer has a call within its reasoning: a server takes unclosed reasoning for the
// whole answer.
func (a *answer) callsInReasoning(tools []ToolSpec) bool {
	for _, p := range a.opaque {
		if calls, _ := newTextReader(unquote(p.Raw), tools, false).marked(); len(calls) > 0 {
			return true
		}
	}
	return false
}

// marked reads the calls between marks, and returns the prose around them.
func (r *textReader) marked() (calls []textCall, prose string) {
	var b strings.Builder
	code := codeState{text: r.text}
	at, written := 0, 0
	for looked := 0; looked < maxCandidates && len(calls) < maxAnswerCalls && r.left > 0; looked++ {
		from, form := r.nextMark(at)
		if form == nil {
			break
		}
		at = from + len(form.begin)
		code.advance(from)
		if code.quoted() || form.begin == toFunctions && from > 0 && isLiteralByte(r.text[from-1]) {
			continue
		}
		got, n, err := form.read(r, r.text[at:])
		got, unknown := r.matchTools(got)
		beginsLine := strings.TrimSpace(r.text[code.line:from]) == ""
		if err = cmp.Or(err, unknown); err != nil && r.isIntended(r.text[at:], beginsLine) {
			r.fault(fmt.Errorf("what follows %s is no call: %w", strings.TrimSpace(form.begin), err))
		}
		if len(got) == 0 {
			continue
		}
		calls = append(calls, got...)
		b.WriteString(r.text[written:from])
		at = r.skipEnd(at+n, form.end)
		written = at
		code.skip(at)
	}
	return calls, b.String() + r.text[written:]
}

// nextMark returns the position of the next mark at or after at; form is nil if there is none.
func (r *textReader) nextMark(at int) (from int, form *textForm) {
	from = len(r.text)
	for i := range textForms {
		if r.next[i] < at {
			r.next[i] = len(r.text)
			if n := strings.Index(r.text[min(at, len(r.text)):], textForms[i].begin); n >= 0 {
				r.next[i] = at + n
			}
		}
		if r.next[i] < from {
			from, form = r.next[i], &textForms[i]
		}
	}
	return from, form
}

// isIntended reports whether a mark starts a call, as opposed to being mentioned in prose.
func (r *textReader) isIntended(body string, beginsLine bool) bool {
	body = strings.TrimLeft(body, " \t\r\n\"'`")
	if beginsLine || body == "" || strings.IndexByte("{[<", body[0]) >= 0 {
		return true
	}
	for _, t := range r.tools {
		if strings.HasPrefix(body, t.Name) && !isLiteralByte((body + " ")[len(t.Name)]) {
			return true
		}
	}
	return false
}

// fault records the error of the first invalid call.
func (r *textReader) fault(err error) {
	if r.unread == "" {
		r.unread = err.Error()
	}
}

// matchTools returns the calls of offered tools, with the tools' names.
func (r *textReader) matchTools(calls []textCall) (taken []textCall, err error) {
	for _, c := range calls {
		if t, is := toolNamed(c.name, r.tools); is {
			taken = append(taken, textCall{t.Name, c.args})
			continue
		}
		err = errNoName
		if c.name != "" {
			err = fmt.Errorf("there is no tool %q", text.Clip(c.name, 60))
		}
	}
	return taken, err
}

var errNoName = errors.New("it names no tool")

// skipEnd returns the position after the end mark if that comes next, ignoring closing braces, brackets and fences;
// otherwise at.
func (r *textReader) skipEnd(at int, end string) int {
	rest := strings.TrimLeft(r.text[at:], " \t\r\n}]`")
	if in, is := strings.CutPrefix(rest, end); is || rest == "" {
		return len(r.text) - len(in)
	}
	return at
}
