package flavour

import (
	"crypto/sha256"
	"encoding/json"
)

// Bill is a server's token count.
type Bill struct{ Requests, Input, Cached, Written, Output int }

// Parameters of caching: nothing below least tokens, a prefix in steps of block tokens, or, where cache marks are
// required, what ends at one of the last lookBack blocks before a mark.
// https://developers.openai.com/api/docs/guides/prompt-caching
// https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
const (
	bytesPerToken = 4
	least         = 1024
	block         = 64
	lookBack      = 20
)

// Bill returns the total count so far, and that of each answer.
func (s *Server) Bill() (sum Bill, each []Bill) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bill, append([]Bill(nil), s.bills...)
}

// count bills an answer.
func (s *Server) count(a Ask, t Turn) Bill {
	prompt := promptOf(a)
	b := Bill{Requests: 1, Input: tokensOf(prompt.text), Output: len(t.Text)/bytesPerToken + 4}
	for _, c := range t.Calls {
		b.Output += (len(c.Name)+len(c.Arguments))/bytesPerToken + 8
	}
	switch {
	case s.Uncached:
	case s.Marked:
		s.countMarked(prompt, &b)
	default:
		s.countPrefix(prompt.text, &b)
	}
	s.bill.Requests++
	s.bill.Input += b.Input
	s.bill.Cached += b.Cached
	s.bill.Written += b.Written
	s.bill.Output += b.Output
	s.bills = append(s.bills, b)
	return b
}

// countPrefix counts the longest prefix shared with an earlier prompt.
func (s *Server) countPrefix(text string, b *Bill) {
	for _, earlier := range s.prompts {
		n := 0
		for n < len(earlier) && n < len(text) && earlier[n] == text[n] {
			n++
		}
		if n /= bytesPerToken; n >= least {
			b.Cached = max(b.Cached, n/block*block)
		}
	}
	s.prompts = append(s.prompts, text)
}

// countMarked counts what ends at or shortly before a mark and was marked before, and what is written to the cache.
func (s *Server) countMarked(p prompt, b *Bill) {
	last := -1
	for i, one := range p.blocks {
		if !one.marked || one.tokens < least {
			continue
		}
		last = i
		for k := i; k >= 0 && k > i-lookBack; k-- {
			if s.marked[p.blocks[k].sum] {
				b.Cached = max(b.Cached, p.blocks[k].tokens)
				break
			}
		}
	}
	if last < 0 {
		return
	}
	b.Written = max(0, p.blocks[last].tokens-b.Cached)
	for _, one := range p.blocks {
		if one.marked && one.tokens >= least {
			s.marked[one.sum] = true
		}
	}
}

// prompt is the model's input: tools, system, messages, without the marks.
type prompt struct {
	text   string
	blocks []promptBlock
}

// promptBlock is a block with everything before it.
type promptBlock struct {
	sum    [sha256.Size]byte
	tokens int
	marked bool
}

func tokensOf(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

func promptOf(a Ask) (p prompt) {
	add := func(v any) {
		text, err := json.Marshal(unmarked(v))
		if err != nil {
			panic(err) // it came as JSON
		}
		p.text += string(text)
		p.blocks = append(p.blocks, promptBlock{sha256.Sum256([]byte(p.text)), tokensOf(p.text), Marks(v) > 0})
	}
	for _, name := range []string{"tools", "instructions", "system", "messages", "input"} {
		v, there := a.Body[name]
		list, ok := v.([]any)
		if there && !ok {
			list = []any{v}
		}
		for _, one := range list {
			m, _ := one.(object)
			blocks, ok := m["content"].([]any)
			if text, is := m["content"].(string); is { // treated as a list of one
				blocks, ok = []any{object{"type": "text", "text": text}}, true
			}
			if !ok {
				add(one)
				continue
			}
			for _, b := range blocks {
				add(object{"role": m["role"], "id": m["tool_call_id"], "block": b})
			}
			if m["tool_calls"] != nil {
				add(m["tool_calls"])
			}
		}
	}
	return p
}

// Marks counts the cache marks in a value.
func Marks(v any) (n int) {
	switch x := v.(type) {
	case object:
		for k, in := range x {
			if k == "cache_control" {
				n++
			}
			n += Marks(in)
		}
	case []any:
		for _, in := range x {
			n += Marks(in)
		}
	}
	return n
}

// unmarked is v without marks.
func unmarked(v any) any {
	switch x := v.(type) {
	case object:
		out := object{}
		for k, in := range x {
			if k != "cache_control" {
				out[k] = unmarked(in)
			}
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i, in := range x {
			out[i] = unmarked(in)
		}
		return out
	}
	return v
}
