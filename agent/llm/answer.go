package llm

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of an answer. What a model writes is a stranger's text.
const (
	maxCallBytes   = 4 << 20 // of one call's arguments
	maxAnswerCalls = 64      // of one answer; those behind them are left out
	maxBegunCalls  = 4 * maxAnswerCalls
	maxTextBytes   = 8 << 20  // of its words
	maxOpaqueBytes = 16 << 20 // of its opaque parts
	maxCallsBytes  = 16 << 20 // of the arguments of all its calls
)

// errTooMuch is an answer that exceeds one of the bounds. Asking again would not help.
var errTooMuch = errors.New("the answer is more than one may be")

// errMuchReasoning is one with more reasoning than is kept.
var errMuchReasoning = fmt.Errorf("%w: its reasoning has over %d KiB", errTooMuch, maxOpaqueBytes>>10)

// answerReader puts an answer together as it comes in one of the dialects.
type answerReader interface {
	// event takes one event of a stream; done says that nothing follows.
	event(data []byte) (done bool, err error)
	// whole takes an answer that came in one piece.
	whole(body []byte) error
	// end is called when a stream ended; an error says that the answer did not.
	end() error
	// got is what has come so far.
	got() *answer
}

// answer is a model's answer as far as it has come, in whichever dialect.
type answer struct {
	text, refusal strings.Builder
	calls         []*partialCall
	opaque        []OpaquePart
	opaqueBytes   int
	callBytes     int
	thought       int    // bytes of reasoning
	finish        string // as the endpoint calls it
	usage         *Usage
	begun         bool      // the model has said anything
	flowing       bool      // its words are coming; else it may think, or write a call that is held back
	ended         bool      // the answer is whole, whether or not the stream has an end of its own
	like          eventForm // the last event that held a piece of a call and nothing else
	gateway       string    // what the answer says that passes it on, such as a provider's name
}

// partialCall is a tool call with arguments that arrive in pieces.
type partialCall struct {
	of       *answer
	id, name string
	args     strings.Builder
	closed   bool // nothing is added any more
}

// grow adds a piece to b, which may not exceed most bytes. It multiplies what b has room
// for, so that a long text in short pieces costs little.
func grow(b *strings.Builder, piece []byte, most int, what string) error {
	if b.Len()+len(piece) > most {
		return fmt.Errorf("%w: %s has over %d KiB", errTooMuch, what, most>>10)
	}
	if b.Cap()-b.Len() < len(piece) {
		b.Grow(max(len(piece), min(3*b.Cap(), 1<<20), 64))
	}
	b.Write(piece)
	return nil
}

func (a *answer) addText(piece []byte) error {
	a.begun, a.flowing = a.begun || len(piece) > 0, a.flowing || len(piece) > 0
	return grow(&a.text, piece, maxTextBytes, "its text")
}

func (a *answer) addRefusal(piece []byte) error {
	a.begun = a.begun || len(piece) > 0
	return grow(&a.refusal, piece, maxTextBytes, "its refusal")
}

// newCall begins a call. Endpoints may hold an argument back until it is complete
// (https://github.com/github/copilot-cli/issues/4286).
func (a *answer) newCall(id, name string) (*partialCall, error) {
	if len(a.calls) >= maxBegunCalls { // most likely there is no end
		return nil, fmt.Errorf("%w: it makes over %d tool calls at once", errTooMuch, maxBegunCalls)
	}
	a.begun, a.flowing = true, false
	c := &partialCall{of: a, id: id, name: name}
	a.calls = append(a.calls, c)
	return c, nil
}

func (c *partialCall) add(piece []byte) error {
	if c.of.callBytes += len(piece); c.of.callBytes > maxCallsBytes {
		return fmt.Errorf("%w: its tool calls have over %d KiB", errTooMuch, maxCallsBytes>>10)
	}
	return grow(&c.args, piece, maxCallBytes, "a tool call")
}

// keep keeps opaque parts; one without content is none.
func (a *answer) keep(parts ...OpaquePart) error {
	for _, p := range parts {
		if p.Raw == "" {
			continue
		}
		if a.opaqueBytes += len(p.Raw); a.opaqueBytes > maxOpaqueBytes {
			return errMuchReasoning
		}
		a.begun = true
		a.opaque = append(a.opaque, p)
	}
	return nil
}

// count takes over usage. Some servers count in each event, and the last count holds.
func (a *answer) count(w wireUsage) {
	if u := w.tokens().sane(); u.Input > 0 {
		a.usage = &u
	}
}

// think adds a piece of what the model thinks to a part of it.
func (a *answer) think(to *strings.Builder, piece []byte) error {
	a.begun, a.thought = a.begun || len(piece) > 0, a.thought+len(piece)
	return grow(to, piece, maxTextBytes, "its reasoning")
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
