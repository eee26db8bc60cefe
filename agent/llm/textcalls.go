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

// textForm is a form in which open models write a call as text, and in which servers
// without a parser for it pass it through.
type textForm struct {
	// what stands around a call; its end may be missing
	begin, end string
	// read reads the calls that follow begin; n is where they end. That may be beyond an end that stands in a string.
	read func(r *textReader, body string) (calls []textCall, n int, err error)
}

// textCall is a call that was written as text.
type textCall struct{ name, args string }

// textForms are the forms; textcalls_test.go has a call in each of them, and where that can be seen.
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

// toFunctions is the one mark that could be the end of a word.
const toFunctions = "to=functions."

// aroundCalls is what else such text holds.
var aroundCalls = lazyregexp.New(
	`(?s)<\|channel\|>analysis<\|message\|>.*?<\|end\|>|` +
		`<\|(?:tool_calls_section_(?:begin|end)|end|start)\|>(?:assistant)?|` +
		`<\|channel\|>(?:analysis|commentary)(?:<\|message\|>)?|<｜tool▁calls▁(?:begin|end)｜>|` +
		`</?(?:minimax:tool_call|tool_calls|function_calls|tool_call)>|` +
		"```(?:json|tool_code)?\\s*```")

// maxLooked is at how many places of a text a call is looked for, and maxPasses how often, on average, each of its
// bytes is gone through, so that the time is linear.
const (
	maxLooked = 256
	maxPasses = 16
)

// textReader reads the calls in the text of an answer.
type textReader struct {
	text   string
	tools  []ToolSpec
	cut    bool   // the answer was cut off: what has no end is not whole
	left   int    // bytes that may still be gone through
	next   []int  // where each form begins next; its length is that of the text where it does not
	unread string // what is wrong with the first call that can't be read
}

func newTextReader(said string, tools []ToolSpec, cut bool) *textReader {
	return &textReader{text: said, tools: tools, cut: cut, left: maxPasses*len(said) + 64<<10,
		next: slices.Repeat([]int{-1}, len(textForms))}
}

// readTextCalls takes the calls that a model wrote as text. Only a call of a tool that was
// offered counts; anything else stays prose. unread says what is wrong with a call that can't
// be read; it is empty where there is none.
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

// inThought reports whether an answer makes a call only where the model thinks: a server takes a thought without an
// end for all there is.
func (a *answer) inThought(tools []ToolSpec) bool {
	for _, p := range a.opaque {
		if calls, _ := newTextReader(unquoted(p.Raw), tools, false).marked(); len(calls) > 0 {
			return true
		}
	}
	return false
}

// marked reads the calls between marks, and the prose around them.
func (r *textReader) marked() (calls []textCall, prose string) {
	var b strings.Builder
	code := codeState{text: r.text}
	at, written := 0, 0
	for looked := 0; looked < maxLooked && len(calls) < maxAnswerCalls && r.left > 0; looked++ {
		from, form := r.nextMark(at)
		if form == nil {
			break
		}
		at = from + len(form.begin)
		code.to(from)
		if code.quoted() || form.begin == toFunctions && from > 0 && isLiteralByte(r.text[from-1]) {
			continue
		}
		got, n, err := form.read(r, r.text[at:])
		got, unknown := r.offered(got)
		if err = cmp.Or(err, unknown); err != nil && r.meant(r.text[at:], strings.TrimSpace(r.text[code.line:from]) == "") {
			r.fault(fmt.Errorf("what follows %s is no call: %w", strings.TrimSpace(form.begin), err))
		}
		if len(got) == 0 {
			continue
		}
		calls = append(calls, got...)
		b.WriteString(r.text[written:from])
		at = r.past(at+n, form.end)
		written = at
		code.skip(at)
	}
	return calls, b.String() + r.text[written:]
}

// nextMark is where the next form begins, from at on; form is nil where none does.
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

// meant reports whether a mark was meant to begin a call, and is not only spoken of.
func (r *textReader) meant(body string, beginsLine bool) bool {
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

// fault notes what is wrong with the first call that can't be read.
func (r *textReader) fault(err error) {
	if r.unread == "" {
		r.unread = err.Error()
	}
}

// offered are the calls of tools that are offered, by their names there.
func (r *textReader) offered(calls []textCall) (taken []textCall, err error) {
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

// past is the place behind an end that comes next, closed braces, brackets and blocks of code aside; at where
// another thing comes next.
func (r *textReader) past(at int, end string) int {
	rest := strings.TrimLeft(r.text[at:], " \t\r\n}]`")
	if in, is := strings.CutPrefix(rest, end); is || rest == "" {
		return len(r.text) - len(in)
	}
	return at
}
