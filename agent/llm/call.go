package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// errSilent ends a try when its answer does not begin, or does not go on.
var errSilent = errors.New("the answer fell silent")

// errBrokenOff says that an answer ended before the model had finished it.
var errBrokenOff = errors.New("the answer broke off before its end")

// maxLessons bounds how often one try adapts.
const maxLessons = 12

// callAdapting makes one try, and makes it again in another form when the endpoint
// refuses the form. What it learns holds for later calls.
func (c *Client) callAdapting(ctx context.Context, req Request) (Response, *Error) {
	var lost Usage
	before := c.cfg.Memory.of(c.Key())
	t := &trial{req: req, tokens: sync.OnceValue(req.Tokens), window: c.cfg.Window, effort: c.cfg.Reasoning,
		l: before.clone(), auto: c.cfg.Protocol == ProtocolAuto, dialect: c.protocolOf(before)}
	conversation := conversationKey(req)
	t.apartness = c.apart.of(conversation)
	var first *Error // before dialects were guessed
	for n := 0; ; n++ {
		resp, err := c.callOnce(ctx, t)
		lost = lost.Add(resp.Lost)
		resp.Lost = lost
		if err == nil {
			// An endpoint's own limit is lower.
			cut := resp.CutInThought() && (resp.Usage.Estimated || full(resp.Usage.Output, t.asked))
			if cut && t.asked < c.grown && t.asked == c.maxOutput(t.l) && t.adopt(formLongThoughts, "") {
				c.log.InfoContext(ctx, "model thinks longer than its answers may be; they may be longer from now on",
					"was", t.asked, "max_output", c.grown)
			}
			c.apart.keep(conversation, t.apartness)
			c.cfg.Memory.learn(c.Key(), before, t.l)
			return resp, nil
		}
		was := t.l.clone()
		if n == maxLessons || !t.learn(err) {
			if t.guessed && err.nothingThere() { // none of the guesses was right: the first error says most
				return resp, first
			}
			c.keepWindow(before, t.l)
			return resp, err
		}
		if t.guessed && first == nil {
			first = err
		}
		c.noteLesson(ctx, err, was, t)
	}
}

// keepWindow keeps what a request that failed taught of the window: the conversation has to
// be shortened to it. Its other lessons were not shown to be right.
func (c *Client) keepWindow(before, l Learned) {
	if l.Window != before.Window {
		next := before.clone()
		next.Window, next.Weaker = l.Window, l.Weaker
		c.cfg.Memory.learn(c.Key(), before, next)
	}
}

// noteLesson says in the log what was learned. Nothing is weakened silently.
func (c *Client) noteLesson(ctx context.Context, err *Error, was Learned, t *trial) {
	switch {
	case t.l.Protocol != was.Protocol:
		c.log.WarnContext(ctx, "model is asked in another dialect from now on", "protocol", t.l.Protocol, "message",
			err.Message)
	case len(t.l.Weaker) > len(was.Weaker):
		c.log.WarnContext(ctx, "model works with less than was asked for", "weaker", t.l.Weaker[len(t.l.Weaker)-1],
			"message", err.Message)
	case t.l.effort(t.effort) != was.effort(t.effort):
		c.log.WarnContext(ctx, "model works with less than was asked for", "weaker", t.l.lessEffort(t.effort), "message",
			err.Message)
	case t.noThinking || t.noOpaque:
		c.log.WarnContext(ctx, "model goes on without its earlier reasoning in this conversation", "message", err.Message)
	default:
		c.log.InfoContext(ctx, "model endpoint refuses a part of the protocol; asking in another form", "message",
			err.Message)
	}
}

// protocolOf is the dialect in which the model is asked.
func (c *Client) protocolOf(l Learned) Protocol {
	if c.cfg.Protocol != ProtocolAuto {
		return c.cfg.Protocol
	}
	return cmp.Or(l.Protocol, suggestedProtocol(c.cfg.BaseURL))
}

// callOnce makes one HTTP request and puts the answer together as it comes. The connection
// is cut as soon as ctx ends, or nothing comes for too long. The Response of an answer that
// broke off says what it used.
func (c *Client) callOnce(ctx context.Context, t *trial) (Response, *Error) {
	most := t.mostOutput(c.maxOutput(t.l))
	var s seenAnswer
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	d := dialects[t.dialect]
	req, l := t.shaped()
	whole, first := l.wants(formNoStream), c.cfg.First
	if whole { // it is silent until all of it is made
		first = c.cfg.Timeout
	}
	silence := time.AfterFunc(first, func() { stop(errSilent) })
	defer silence.Stop()

	b, err := d.encode(c, req, l, most)
	if err != nil {
		return Response{}, &Error{Client: c.cfg.Name, Kind: KindBadRequest, Message: "the request can't be encoded",
			Err: err}
	}
	resp, err := c.post(ctx, t.dialect, b, !whole, &s)
	if err != nil {
		return Response{}, c.errorOf(ctx, s, err)
	}
	defer resp.Body.Close()
	r := d.reader()
	in := bufio.NewReaderSize(watchedReader{resp.Body, &s.begun, func() {
		switch { // what came so far is read by now
		case whole || !s.begun:
		case r.got().flowing:
			silence.Reset(c.cfg.Idle)
		default:
			silence.Reset(c.cfg.First)
		}
	}}, 64<<10)
	req.MaxOutput = most
	if err := readAnswer(in, r); err != nil {
		lost := Response{Lost: r.got().usedTokens(req)}
		lost.Lost.USD = c.cfg.Price.Cost(lost.Lost)
		return lost, c.errorOf(ctx, s, err)
	}
	if t.dialect == ProtocolChat && (r.got().gateway != "" || s.gateway) {
		t.adopt(formCacheMarks, "")
	}
	return c.responseOf(r.got(), s, req, t.dialect, most)
}

// mostOutput is how many tokens the answer may have.
func (t *trial) mostOutput(configured int) int {
	most := configured
	if t.req.MaxOutput > 0 {
		most = min(most, t.req.MaxOutput)
	}
	if t.l.MostOutput > 0 {
		most = min(most, t.l.MostOutput)
	}
	if t.l.Window > 0 { // what the estimate leaves, with a quarter to spare
		most = max(min(most, t.l.Window/4, t.l.Window-t.tokens()*5/4), minMostOutput)
	}
	t.asked = most
	return most
}

// shaped is the request with what holds for its conversation alone.
func (t *trial) shaped() (Request, Learned) {
	req, l := t.req, t.l.clone()
	if t.noThinking {
		l.Forms = append(l.Forms, "without thinking", "without effort "+t.l.effort(t.effort))
	}
	if t.noOpaque {
		req.Messages = slices.Clone(req.Messages)
		for i := range req.Messages {
			if o := req.Messages[i].Opaque; o != nil {
				req.Messages[i].Opaque = &Opaque{Maker: o.Maker}
			}
		}
	}
	return req, l
}

// post sends a request, and notes in s what the head of the answer says. An error tells what the endpoint said.
func (c *Client) post(
	ctx context.Context, p Protocol, body []byte, stream bool, s *seenAnswer,
) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address(p)+c.query, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	c.authorize(req, p)
	resp, err := c.http.Do(req)
	if resp != nil { // there is one beside an error where a redirect is not followed
		s.see(resp, c.cfg.Now())
	}
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		return resp, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	if err != nil {
		return nil, err
	}
	said := saidIn(text)
	if !said.any() {
		said.message = plainWords(text)
	}
	return nil, &saidError{said}
}

// authorize adds the key. Anthropic's own endpoint wants it in a header of its own; those
// that speak its dialect take either.
func (c *Client) authorize(req *http.Request, p Protocol) {
	if p == ProtocolMessages {
		req.Header.Set("Anthropic-Version", anthropicVersion)
	}
	if c.cfg.APIKey == "" {
		return
	}
	if c.query != "" { // Azure's wants it so, but for its newest addresses
		req.Header.Set("Api-Key", c.cfg.APIKey)
	}
	if p == ProtocolMessages {
		req.Header.Set("X-Api-Key", c.cfg.APIKey)
		if req.URL.Hostname() == "api.anthropic.com" {
			return
		}
	}
	req.Header.Set("Authorization", "Bearer "+c.cfg.APIKey)
}

// readAnswer reads an answer: a stream of events, or one piece where the endpoint does not
// stream, whatever it was asked.
func readAnswer(in *bufio.Reader, r answerReader) error {
	first, err := firstByte(in)
	if err == nil && (first == '{' || first == '[') {
		body, err := io.ReadAll(io.LimitReader(in, maxAnswerBytes+1))
		switch {
		case err != nil:
			return err
		case len(body) > maxAnswerBytes:
			return errAnswerTooLarge
		}
		err = r.whole(body)
		if errors.Is(err, errNoChoices) || errors.Is(err, errNotProtocol) {
			if said := saidIn(body); said.message != "" { // an error in a form of its own
				return &saidError{said}
			}
		}
		return err
	}
	if first == '<' {
		page, _ := io.ReadAll(io.LimitReader(in, maxErrorBytes)) // what can't be read has no title
		return fmt.Errorf("%w: it is %s", errPage, plainWords(page))
	}
	events := eventReader{in: in}
	a := r.got()
	for {
		data, err := events.nextData()
		if err == nil {
			data, done := bytes.TrimSpace(data), false
			if string(data) == "[DONE]" { // some end so in each dialect
				return r.end()
			}
			known, err := a.like.takes(data)
			if !known {
				done, err = r.event(data)
			}
			if err != nil || done {
				return err
			}
			continue
		}
		whole := a.ended || a.finish != "" && (errors.Is(err, io.EOF) || a.usage != nil)
		switch {
		case whole: // all that matters is here
			return r.end()
		case errors.Is(err, io.EOF):
			return errBrokenOff
		}
		return err
	}
}

// firstByte is the first byte that is no white space; it is not read.
func firstByte(in *bufio.Reader) (byte, error) {
	for n := 1; n <= 4096; n++ {
		b, err := in.Peek(n)
		if len(b) < n {
			return 0, err
		}
		if c := b[n-1]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
	}
	return 0, nil
}

// watchedReader calls wait before it waits for more, and notes in begun that something came.
type watchedReader struct {
	io.Reader
	begun *bool
	wait  func()
}

func (w watchedReader) Read(p []byte) (int, error) {
	w.wait()
	n, err := w.Reader.Read(p)
	*w.begun = *w.begun || n > 0
	return n, err
}

// errorOf turns what went wrong with one request into an error of ours.
func (c *Client) errorOf(ctx context.Context, s seenAnswer, err error) *Error {
	e := &Error{Client: c.cfg.Name, Status: s.status, RetryAfter: s.retryAfter}
	var told *saidError
	var redirect redirectError
	switch {
	case errors.As(err, &told):
		e.Code, e.Message, e.said = cmp.Or(told.said.code, told.said.kind), told.said.message, told.said.text()
		e.Kind = kindOf(e.Status, told.said)
		if param := told.said.param; param != "" && !strings.Contains(e.Message, param) {
			e.Message = strings.TrimSpace(e.Message + " (" + param + ")")
		}
		if e.Kind == KindRateLimit {
			e.RetryAfter = max(e.RetryAfter, told.said.wait, waitIn(told.said.message))
			if reset := told.said.reset; !reset.IsZero() {
				e.RetryAfter = max(e.RetryAfter, min(reset.Sub(c.cfg.Now()), longestWait))
			}
		}
	case errors.As(err, &redirect):
		e.Kind, e.Message = KindBadRequest, redirect.Error()
	case errors.Is(context.Cause(ctx), errSilent):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.First)
		if s.begun {
			e.Message = errSilent.Error()
		}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.Timeout)
		if s.begun {
			e.Message = fmt.Sprintf("no complete answer within %s", c.cfg.Timeout)
		}
	case errors.Is(err, errAnswerTooLarge), errors.Is(err, errTooMuch), errors.Is(err, errGarbage),
		errors.Is(err, errNotProtocol), errors.Is(err, errNoChoices):
		e.Kind, e.Message, e.Err = KindMalformed, err.Error(), err
	case errors.Is(err, errBrokenOff), s.streamed && errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Message = KindNetwork, errBrokenOff.Error()
	default:
		e.Kind, e.Message = KindNetwork, err.Error()
	}
	e.Code = c.scrubText(e.Code)
	e.Message = c.scrubText(e.Message)
	return e
}

// waitTold is how endpoints say in words how long to wait: "try again in 20s", "in 1.5
// seconds", "in 6m0s", "after 30 seconds".
var waitTold = lazyregexp.New(`(?i)(?:again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s)\w*\s?)+)`)

// waitPiece is one of its parts.
var waitPiece = lazyregexp.New(`(\d+(?:\.\d+)?)\s?(ms|h|m|s)`)

// waitIn is how long the words ask to wait; 0 when they do not say.
func waitIn(words string) (wait time.Duration) {
	m := waitTold.FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	for _, p := range waitPiece.FindAllStringSubmatch(strings.ToLower(m[1]), 4) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil || n > 1e6 {
			return 0
		}
		wait += time.Duration(n * float64(units[p[2]]))
	}
	return min(wait, longestWait)
}
