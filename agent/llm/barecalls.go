package llm

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// callBlock is a range of a text that consists of calls without a mark.
type callBlock struct {
	from, to int
	calls    []textCall
}

var (
	bareBegin = lazyregexp.New("^(?:```(?:json|tool_code)?\\s*)?[{\\[]")
	bareName  = lazyregexp.New("^(?:```(?:json|tool_code)?\\s*)?(?:\\[?\\s*\\{\\s*[\"']?name[\"']?\\s*:\\s*[\"']" +
		`(\w+)["']|\[\s*(\w+)\()`)
	midlineName = lazyregexp.New(`\{\s*"name"\s*:\s*"(\w+)"\s*,\s*"(?:arguments|parameters)"`)
)

// bare reads calls without a mark, on lines of their own or in a code block, as smaller models write them
// (https://github.com/jundot/omlx/issues/2565, https://github.com/vllm-project/vllm/issues/32926). They count at the
// end of the answer, and elsewhere only if there is a single block: several may be examples.
func (r *textReader) bare() (calls []textCall, prose string) {
	var blocks []callBlock
	code := codeState{text: r.text}
	for at, looked := 0, 0; looked < maxCandidates && r.left > 0; looked++ {
		if at = r.nextBare(&code, at); at == len(r.text) {
			break
		}
		b := r.readBlock(&code, at)
		if at = b.to; b.calls == nil {
			continue
		}
		if n := len(blocks) - 1; n >= 0 && strings.TrimSpace(r.text[blocks[n].to:b.from]) == "" {
			b.from, b.calls, blocks = blocks[n].from, append(blocks[n].calls, b.calls...), blocks[:n]
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		r.findMidlineCall()
		return nil, r.text
	}
	last := blocks[len(blocks)-1]
	if len(blocks) > 1 && strings.TrimSpace(aroundCalls.ReplaceAllString(r.text[last.to:], "")) != "" {
		r.fault(errors.New("calls stand at several places and none at the end, so that it is not clear which are meant"))
		return nil, r.text
	}
	return last.calls, r.text[:last.from] + r.text[last.to:]
}

// nextBare returns the start of the next line, at or after at, that may be a call, or the text's length.
func (r *textReader) nextBare(code *codeState, at int) int {
	for at < len(r.text) {
		code.advance(at)
		in := strings.TrimLeft(r.text[at:], " \t")
		head := in[:min(len(in), maxHead)]
		if code.line == at && !code.quoted() &&
			(bareBegin.MatchString(head) || code.language == toolCode && pythonCall.MatchString(head)) {
			return len(r.text) - len(in)
		}
		n := strings.IndexByte(in, '\n')
		if n < 0 {
			break
		}
		at = len(r.text) - len(in) + n + 1
	}
	return len(r.text)
}

// readBlock reads the calls at a position. If there are none, the end of the block is where the search continues.
func (r *textReader) readBlock(code *codeState, at int) callBlock {
	in := r.text[at:]
	head := in[:min(len(in), maxHead)]
	var calls []textCall
	var n int
	var err error
	name := ""
	if m := pythonCall.FindStringSubmatch(head); m != nil {
		var call textCall
		call, n, err = r.python(in)
		calls, name = []textCall{call}, m[2]
	} else {
		calls, n, err = r.objects(in)
		if m := bareName.FindStringSubmatch(head); m != nil {
			name = m[1] + m[2]
		}
	}
	if err != nil {
		if _, is := toolNamed(name, r.tools); is {
			r.fault(fmt.Errorf("the call of %s is none: %w", text.Clip(name, 60), err))
		}
		return callBlock{at, at + 1, nil}
	}
	b := callBlock{from: at, to: at + n}
	for _, c := range calls {
		if !strings.HasPrefix(c.args, "{") { // another object with a name
			return b
		}
	}
	taken, unknown := r.matchTools(calls)
	if unknown != nil {
		return b
	}
	if b.calls = taken; code.fence != "" && strings.TrimSpace(r.text[code.inside:at]) == "" {
		b.from = code.opened
	}
	rest := strings.TrimLeft(r.text[b.to:], space+"}")
	end := strings.TrimLeft(rest, "`")
	switch {
	case rest == "":
		b.to = len(r.text)
	case (code.fence != "" || in[0] == '`') && len(rest)-len(end) >= 3:
		b.to, code.fence = len(r.text)-len(end), ""
	}
	code.skip(b.to)
	return b
}

// findMidlineCall records a fault if a call is within a line, where it is not carried out.
func (r *textReader) findMidlineCall() {
	code := codeState{text: r.text}
	for _, m := range midlineName.FindAllStringSubmatchIndex(r.text, maxCandidates) {
		code.advance(m[0])
		name := r.text[m[2]:m[3]]
		if _, is := toolNamed(name, r.tools); is && !code.quoted() {
			r.fault(fmt.Errorf("the call of %s does not begin a line", name))
		}
	}
}

// toolCode is the language of code blocks in which Gemma 3 writes calls as Python.
const toolCode = "tool_code"

// codeState tracks whether a position in a Markdown text is in a code block or in inline code.
type codeState struct {
	text     string
	at, line int // current position, and start of its line
	ticks    int // open back quotes on the line

	fence, language string // of the open code block
	opened, inside  int    // start of the block, with and without its fence
}

// advance moves to a position.
func (c *codeState) advance(at int) {
	for c.at < at {
		n := strings.IndexAny(c.text[c.at:at], "`\n")
		if n < 0 {
			c.at = at
			return
		}
		if c.at += n; c.text[c.at] == '\n' {
			c.endLine()
			continue
		}
		run := c.text[c.at:at]
		run = run[:len(run)-len(strings.TrimLeft(run, "`"))]
		switch c.ticks {
		case 0:
			c.ticks = len(run)
		case len(run):
			c.ticks = 0
		}
		c.at += len(run)
	}
}

// endLine handles the end of a line, which may be a fence.
func (c *codeState) endLine() {
	line, from := c.text[c.line:c.at], c.line
	c.at++
	c.line, c.ticks = c.at, 0
	fence := text.OpensFence(line)
	switch {
	case c.fence != "" && text.ClosesFence(line, c.fence):
		c.fence, c.language = "", ""
	case c.fence == "" && fence != "":
		c.language, _, _ = strings.Cut(strings.TrimSpace(strings.TrimLeft(line, " ")[len(fence):]), " ")
		c.fence, c.opened, c.inside = fence, from, c.at
	}
}

// skip moves past a call, which is not Markdown.
func (c *codeState) skip(at int) { c.at, c.line, c.ticks = at, at, 0 }

// quoted reports whether the current position is quoted: in inline code, or in a code block of a language in which no
// calls are written.
func (c *codeState) quoted() bool {
	if c.fence == "" {
		return c.ticks > 0
	}
	return c.language != "" && c.language != "json" && c.language != toolCode
}
