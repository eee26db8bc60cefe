package gateway

import (
	"bytes"
	"encoding/json"

	"github.com/sia-bot/sia/agent/llm/usage"
)

// maxEvent is the maximum size of data that usage is read from, in bytes: one event of a stream, or a complete answer.
const maxEvent = 16 << 20

// counter reads the usage from an answer while it is passed on.
type counter struct {
	stream    bool
	beside    bool   // cached tokens are reported beside the input, as in Anthropic's protocol
	buf       []byte // current line, or the whole answer
	truncated bool   // buf was too long and is ignored
	hasUsage  bool   // the usage of the complete answer was received
	ended     bool   // an event marked the end
	sum       usage.Sum
}

func (c *counter) add(b []byte) {
	if !c.stream {
		c.keep(b)
		return
	}
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			c.keep(b)
			return
		}
		c.keep(b[:i])
		c.readLine()
		b = b[i+1:]
	}
}

func (c *counter) keep(b []byte) {
	if c.truncated = c.truncated || len(c.buf)+len(b) > maxEvent; !c.truncated {
		c.buf = append(c.buf, b...)
	}
}

// readLine parses a line of a stream.
func (c *counter) readLine() {
	if data, ok := bytes.CutPrefix(c.buf, []byte("data:")); ok && !c.truncated {
		c.read(bytes.TrimSpace(data))
	}
	c.buf, c.truncated = c.buf[:0], false
}

// read reads the usage from an answer, or from one of its events. The usage at the start of a message, or of an
// unfinished response, is not final.
func (c *counter) read(data []byte) {
	if string(data) == "[DONE]" {
		c.ended = true
		return
	}
	var v struct {
		Type     string
		Usage    *usage.Report
		Message  *struct{ Usage *usage.Report }
		Response *struct{ Usage *usage.Report }
		Choices  []struct{ Usage *usage.Report } // Moonshot's
	}
	if json.Unmarshal(data, &v) != nil {
		return
	}
	w := v.Usage
	if w == nil && len(v.Choices) > 0 {
		w = v.Choices[0].Usage
	}
	switch v.Type {
	case "message_stop":
		c.ended = true
	case "message_start":
		if v.Message != nil && v.Message.Usage != nil {
			c.sum.Add(*v.Message.Usage)
		}
		return
	case "response.completed", "response.done", "response.incomplete", "response.failed":
		if c.ended = true; v.Response != nil {
			w = v.Response.Usage
		}
	}
	if w != nil {
		c.hasUsage = true
		c.sum.Add(*w)
	}
}

// usage returns the usage of the call, with a bound on the output. whole reports whether the answer is complete. If the
// final usage is unknown, it returns the reservation.
func (c *counter) usage(call Call, whole bool) Usage {
	switch {
	case c.stream && whole:
		c.readLine() // the last line has no newline
	case !c.stream && whole && !c.truncated:
		c.read(c.buf)
	}
	u := c.sum.Tokens(c.beside)
	if call.Most > 0 {
		u.Output = min(u.Output, usage.MaxOutput(call.Most))
	}
	if c.hasUsage && (whole || c.ended) && u != (Usage{}) {
		return u
	}
	return Usage{Input: max(call.Prompt, call.Input, u.Input), Output: max(call.Most, u.Output, 1)}
}
