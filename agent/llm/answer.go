package llm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// Maximum sizes of an answer, in bytes unless noted. A model's output is untrusted.
const (
	maxCallBytes   = 4 << 20 // one call's arguments
	maxAnswerCalls = 64      // calls of one answer; further ones are left out
	maxBegunCalls  = 4 * maxAnswerCalls
	maxTextBytes   = 8 << 20  // text
	maxOpaqueBytes = 16 << 20 // opaque parts
	maxCallsBytes  = 16 << 20 // arguments of all calls
)

// errLimitExceeded means that an answer exceeds one of the limits. A retry would not help.
var errLimitExceeded = errors.New("the answer is more than one may be")

// errReasoningTooLarge means that an answer has more reasoning than maxOpaqueBytes.
var errReasoningTooLarge = fmt.Errorf("%w: its reasoning has over %d KiB", errLimitExceeded, maxOpaqueBytes>>10)

// answerReader assembles an answer from its events in one of the dialects.
type answerReader interface {
	// event reads one event of a stream; done means that none follows
	event(data []byte) (done bool, err error)
	// whole reads an answer that is not streamed
	whole(body []byte) error
	// end is called at the end of a stream; it fails if the answer is incomplete
	end() error
	// partial returns the answer read so far
	partial() *answer
}

// answer is the part of a model's answer read so far, in any dialect.
type answer struct {
	text, refusal  strings.Builder
	calls          []*partialCall
	opaque         []OpaquePart
	opaqueBytes    int
	callBytes      int
	reasoningBytes int    // bytes of reasoning
	finish         string // in the endpoint's terms
	usage          *Usage
	started        bool      // the model has produced output
	streamingText  bool      // text is being streamed; otherwise the model may think, or buffer a call
	ended          bool      // the answer is complete, even if the stream has not ended
	lastForm       eventForm // form of the last event that held only a piece of a call
	gateway        string    // name of the gateway in the answer, such as a provider's name
}

// partialCall is a tool call with arguments that arrive in pieces.
type partialCall struct {
	of       *answer
	id, name string
	args     strings.Builder
	closed   bool // complete
}

// grow appends a piece to b, up to limit bytes. It multiplies the capacity, so that a long text in short pieces is
// cheap.
func grow(b *strings.Builder, piece []byte, limit int, what string) error {
	if b.Len()+len(piece) > limit {
		return fmt.Errorf("%w: %s has over %d KiB", errLimitExceeded, what, limit>>10)
	}
	if b.Cap()-b.Len() < len(piece) {
		b.Grow(max(len(piece), min(3*b.Cap(), 1<<20), 64))
	}
	b.Write(piece)
	return nil
}

func (a *answer) addText(piece []byte) error {
	a.started, a.streamingText = a.started || len(piece) > 0, a.streamingText || len(piece) > 0
	return grow(&a.text, piece, maxTextBytes, "its text")
}

func (a *answer) addRefusal(piece []byte) error {
	a.started = a.started || len(piece) > 0
	return grow(&a.refusal, piece, maxTextBytes, "its refusal")
}

// newCall starts a call. Endpoints may buffer an argument until it is complete
// (https://github.com/github/copilot-cli/issues/4286).
func (a *answer) newCall(id, name string) (*partialCall, error) {
	if len(a.calls) >= maxBegunCalls { // most likely an endless answer
		return nil, fmt.Errorf("%w: it makes over %d tool calls at once", errLimitExceeded, maxBegunCalls)
	}
	a.started, a.streamingText = true, false
	c := &partialCall{of: a, id: id, name: name}
	a.calls = append(a.calls, c)
	return c, nil
}

func (c *partialCall) add(piece []byte) error {
	if c.of.callBytes += len(piece); c.of.callBytes > maxCallsBytes {
		return fmt.Errorf("%w: its tool calls have over %d KiB", errLimitExceeded, maxCallsBytes>>10)
	}
	return grow(&c.args, piece, maxCallBytes, "a tool call")
}

// addOpaque adds opaque parts, except empty ones.
func (a *answer) addOpaque(parts ...OpaquePart) error {
	for _, p := range parts {
		if p.Raw == "" {
			continue
		}
		if a.opaqueBytes += len(p.Raw); a.opaqueBytes > maxOpaqueBytes {
			return errReasoningTooLarge
		}
		a.started = true
		a.opaque = append(a.opaque, p)
	}
	return nil
}

// setUsage replaces the usage. Some servers count in each event; the last count is the total.
func (a *answer) setUsage(t usage.Tokens) {
	if t.Input > 0 {
		a.usage = &Usage{Input: t.Input, CachedInput: t.Cached, CacheWrite: t.Written, Output: t.Output}
	}
}

// addReasoning appends a piece of reasoning to one of its parts.
func (a *answer) addReasoning(to *strings.Builder, piece []byte) error {
	a.started, a.reasoningBytes = a.started || len(piece) > 0, a.reasoningBytes+len(piece)
	return grow(to, piece, maxTextBytes, "its reasoning")
}

// visibleParts returns the number of parts that are not opaque.
func (a *answer) visibleParts() int {
	n := len(a.calls)
	if a.text.Len() > 0 {
		n++
	}
	return n
}

// usedTokens returns the usage of an answer that broke off, as counted by the endpoint or else estimated. An answer
// without output costs nothing if the endpoint refused it, and its prompt if the endpoint accepted the request and was
// lost before it said more.
func (a *answer) usedTokens(req Request, lost bool) Usage {
	switch {
	case a.usage != nil && a.usage.Input > 0:
		u := a.reported(req.MaxOutput)
		if u.Output == 0 || !a.ended { // the endpoint has not counted all of it
			u.Output = max(u.Output, a.estimatedOutput())
			u.Estimated = true
		}
		return u
	case a.started:
	case lost:
		return Usage{Input: req.Tokens(), Estimated: true}
	default:
		return Usage{}
	}
	return Usage{Input: req.Tokens(), Output: a.estimatedOutput(), Estimated: true}
}

// reported returns the usage that the endpoint reports for an answer of at most limit tokens, with a bound on the
// output.
func (a *answer) reported(limit int) Usage {
	u := *a.usage
	if u.Output > usage.MaxOutput(limit) {
		u.Output, u.Estimated = max(usage.MaxOutput(limit), a.estimatedOutput()), true
	}
	return u
}

func (a *answer) estimatedOutput() int {
	m := Message{Content: a.text.String() + a.refusal.String()}
	for _, c := range a.calls {
		m.ToolCalls = append(m.ToolCalls, ToolCall{Name: c.name, Arguments: c.args.String()})
	}
	return m.Tokens() + a.reasoningBytes/4
}
