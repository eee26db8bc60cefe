package gateway

import (
	"bytes"
	"encoding/json"
)

// maxEvent bounds what usage is read from, in bytes: one event of a stream, or an answer
// that came whole.
const maxEvent = 16 << 20

// counter reads the usage from an answer as it passes.
type counter struct {
	stream bool
	buf    []byte // the line under way, or the whole answer
	over   bool   // buf was too long and is not read
	total  int    // bytes
	found  bool
	u      Usage
}

func newCounter(stream bool) *counter { return &counter{stream: stream} }

func (c *counter) add(b []byte) {
	c.total += len(b)
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
		if data, ok := bytes.CutPrefix(c.buf, []byte("data:")); ok && !c.over {
			c.read(data)
		}
		c.buf, c.over = c.buf[:0], false
		b = b[i+1:]
	}
}

func (c *counter) keep(b []byte) {
	if c.over = c.over || len(c.buf)+len(b) > maxEvent; !c.over {
		c.buf = append(c.buf, b...)
	}
}

// wireUsage is usage as any of the protocols tells it.
type wireUsage struct {
	Prompt        int `json:"prompt_tokens"`
	Completion    int `json:"completion_tokens"`
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`     // beside Input
	CacheCreation int `json:"cache_creation_input_tokens"` // beside Input
	PromptDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
}

// read takes the usage out of an answer, or out of one of its events. Later events say
// what changed, so the largest of each number holds.
func (c *counter) read(data []byte) {
	if !bytes.Contains(data, []byte(`"usage"`)) {
		return
	}
	var v struct {
		Usage    *wireUsage
		Message  *struct{ Usage *wireUsage }
		Response *struct{ Usage *wireUsage }
	}
	if json.Unmarshal(data, &v) != nil {
		return
	}
	w := v.Usage
	if w == nil && v.Message != nil {
		w = v.Message.Usage
	}
	if w == nil && v.Response != nil {
		w = v.Response.Usage
	}
	if w == nil {
		return
	}
	c.found = true
	c.u.Input = max(c.u.Input, w.Prompt, w.Input+w.CacheRead+w.CacheCreation)
	c.u.Cached = max(c.u.Cached, w.CacheRead, w.PromptDetails.Cached, w.InputDetails.Cached)
	c.u.Output = max(c.u.Output, w.Completion, w.Output)
}

// usage is what the call took: what the endpoint said, or else an estimate from the
// lengths.
func (c *counter) usage(call Call) Usage {
	if !c.stream && !c.over {
		c.read(c.buf)
	}
	if !c.found || c.u.Input == 0 {
		c.u.Input = max(c.u.Input, call.Prompt)
	}
	if c.u.Output == 0 || c.stream && c.u.Output <= 1 { // a stream that was cut
		c.u.Output = max(c.u.Output, min(max(call.Most, 1), c.total/bytesPerToken))
	}
	return c.u
}
