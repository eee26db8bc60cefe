package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"time"
)

// Maximum sizes of the kept output of a command.
const (
	maxTurnText = 64 << 10 // bytes of text between two answers of the model
	maxCall     = 16 << 10 // bytes of a call's arguments and of its result
	maxSteps    = 200      // calls between two answers
	maxLine     = 1 << 20  // bytes of a line that is parsed
)

// outputEvent is one parsed line of a command's output.
type outputEvent struct {
	text  string       // for the transcript
	calls []outputCall // tool calls
	last  string       // text by the agent; the last of all lines is its answer
}

// outputCall is a tool call, or the result of an earlier one.
type outputCall struct {
	id   string
	call Call
	open bool // its result is outstanding
}

// timedCall is a call with the time when its line was read.
type timedCall struct {
	outputCall
	at time.Time
}

// outputParser collects a command's output until it is taken as a turn. It is an io.Writer, and safe for concurrent
// use.
type outputParser struct {
	read func(line []byte) outputEvent // parses a line; nil: lines are text
	now  func() time.Time

	mu     sync.Mutex
	line   []byte
	text   strings.Builder
	cut    bool // text was left out
	calls  []timedCall
	last   string // last text by the agent
	ending []byte // last lines, unparsed
}

// Write parses the complete lines of p and keeps the rest.
func (h *outputParser) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(p)
	h.ending = append(h.ending, p...)
	if over := len(h.ending) - 4000; over > 0 {
		h.ending = append(h.ending[:0], h.ending[over:]...)
	}
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			h.keepBytes(p)
			return n, nil
		}
		h.keepBytes(p[:i])
		h.parseLine()
		p = p[i+1:]
	}
}

func (h *outputParser) keepBytes(p []byte) {
	h.line = append(h.line, p[:min(len(p), max(0, maxLine-len(h.line)))]...)
}

// parseLine parses the buffered line.
func (h *outputParser) parseLine() {
	line := strings.ToValidUTF8(string(h.line), "\uFFFD")
	h.line = h.line[:0]
	s := outputEvent{text: line, last: line}
	if h.read != nil && strings.HasPrefix(line, "{") {
		s = h.read([]byte(line))
	} else if h.read != nil {
		s.last = "" // these agents' output other than events is not their answer
	}
	if s.text != "" || h.read == nil {
		if h.text.Len()+len(s.text) > maxTurnText {
			h.cut = true
		} else {
			h.text.WriteString(s.text + "\n")
		}
	}
	if strings.TrimSpace(s.last) != "" {
		h.last = s.last
	}
	for _, c := range s.calls {
		h.addCall(c)
	}
}

// addCall adds a call, or adds a result to its call.
func (h *outputParser) addCall(s outputCall) {
	s.call.Arguments, s.call.Result = middleOut(s.call.Arguments, maxCall), middleOut(s.call.Result, maxCall)
	for i := range h.calls {
		if s.id != "" && h.calls[i].id == s.id {
			h.calls[i].call.Result, h.calls[i].call.IsError = s.call.Result, s.call.IsError
			h.calls[i].open, h.calls[i].call.Took = s.open, h.now().Sub(h.calls[i].at)
			if s.call.Name != "" && s.call.Arguments != "" {
				h.calls[i].call.Name, h.calls[i].call.Arguments = s.call.Name, s.call.Arguments
			}
			return
		}
	}
	if len(h.calls) < maxSteps {
		h.calls = append(h.calls, timedCall{s, h.now()})
	}
}

// takeTurn returns the text and the calls since the last time. Unless last is set, it keeps calls without results for
// the next turn: an agent may call its model again before its output has arrived here.
func (h *outputParser) takeTurn(last bool) (text string, calls []Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text = strings.TrimSpace(h.text.String())
	if h.cut {
		text += "\n[more output was left out]"
	}
	var open []timedCall
	for _, s := range h.calls {
		if s.open && !last {
			open = append(open, s)
			continue
		}
		calls = append(calls, s.call)
	}
	h.text.Reset()
	h.calls, h.cut = open, false
	return text, calls
}

// lastWords returns the agent's last text, and the end of its output.
func (h *outputParser) lastWords() (last, ending string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.line) > 0 {
		h.parseLine()
	}
	return strings.TrimSpace(h.last), strings.TrimSpace(strings.ToValidUTF8(string(h.ending), "\uFFFD"))
}

// compactJSON returns a JSON string's value, or other JSON as text.
func compactJSON(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
