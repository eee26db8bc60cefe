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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// errStalled ends a try if its answer does not begin or continue in time.
var errStalled = errors.New("the answer fell silent")

// errTruncated means that an answer ended before the model had finished it.
var errTruncated = errors.New("the answer broke off before its end")

// maxLessons is the maximum number of adaptations of one try.
const maxLessons = 12

// callAdapting makes one try. If the endpoint refuses the form of the request, it repeats the try in another form,
// which is also used for later calls.
func (c *Client) callAdapting(ctx context.Context, req Request) (Response, *Error) {
	var lost Usage
	before := c.cfg.Memory.of(c.Key())
	t := &trial{req: req, tokens: sync.OnceValue(req.Tokens), window: c.cfg.Window, effort: c.cfg.Reasoning,
		l: before.clone(), auto: c.cfg.Protocol == ProtocolAuto, dialect: c.protocolOf(before)}
	conversation := conversationKey(req)
	t.restrictions = c.restricted.get(conversation)
	var first *Error // error before any dialect was guessed
	for n := 0; ; n++ {
		resp, err := c.callOnce(ctx, t)
		lost = lost.Add(resp.Lost)
		resp.Lost = lost
		if err == nil {
			// If the endpoint has a lower limit of its own, raising ours would not help.
			cut := resp.CutWhileThinking() && (resp.Usage.Estimated || nearLimit(resp.Usage.Output, t.asked))
			if cut && t.asked < c.extendedOutput && t.asked == c.maxOutput(t.l) && t.adopt(formExtendedOutput, "") {
				c.log.InfoContext(ctx, "model thinks longer than its answers may be; they may be longer from now on",
					"was", t.asked, "max_output", c.extendedOutput)
			}
			c.restricted.put(conversation, t.restrictions)
			c.cfg.Memory.learn(c.Key(), before, t.l)
			return resp, nil
		}
		was := t.l.clone()
		if n == maxLessons || !t.learn(err) {
			if t.guessed && (err.isNotServed() || err.Kind == KindDialect) {
				return resp, first // no guess was right: the first error is the most telling
			}
			c.saveWindow(before, t.l)
			return resp, err
		}
		if t.guessed && first == nil {
			first = err
		}
		c.logLesson(ctx, err, was, t)
	}
}

// saveWindow saves the window learned from a request that failed, since the conversation must be shortened to it. Other
// lessons of that request are unconfirmed.
func (c *Client) saveWindow(before, l Learned) {
	if l.Window != before.Window {
		next := before.clone()
		next.Window, next.Weaker = l.Window, l.Weaker
		c.cfg.Memory.learn(c.Key(), before, next)
	}
}

// logLesson logs a lesson, so that no feature is lost silently.
func (c *Client) logLesson(ctx context.Context, err *Error, was Learned, t *trial) {
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
	case t.noThinking || t.opaqueUpTo != "":
		c.log.WarnContext(ctx, "model goes on without its earlier reasoning in this conversation", "message", err.Message)
	default:
		c.log.InfoContext(ctx, "model endpoint refuses a part of the protocol; asking in another form", "message",
			err.Message)
	}
}

// protocolOf returns the dialect for the model.
func (c *Client) protocolOf(l Learned) Protocol {
	if c.cfg.Protocol != ProtocolAuto {
		return c.cfg.Protocol
	}
	return cmp.Or(l.Protocol, suggestedProtocol(c.cfg.BaseURL))
}

// callOnce makes one HTTP request and reads the answer as a stream. It closes the connection when ctx ends, or when no
// data arrives for too long. If an answer breaks off, the Response holds its usage.
func (c *Client) callOnce(ctx context.Context, t *trial) (Response, *Error) {
	limit := t.outputLimit(c.maxOutput(t.l))
	var s responseMeta
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	d := dialects[t.dialect]
	req, l := t.adapted()
	whole, first := l.uses(formNoStream), c.cfg.First
	if whole { // silent until the answer is complete
		first = c.cfg.Timeout
	}
	silence := time.AfterFunc(first, func() { stop(errStalled) })
	defer silence.Stop()

	b, err := d.encode(c, req, l, limit)
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
	in := bufio.NewReaderSize(watchedReader{resp.Body, &s.started, func() {
		switch { // all received data is read
		case whole || !s.started:
		case r.partial().streamingText:
			silence.Reset(c.cfg.Idle)
		default:
			silence.Reset(c.cfg.First)
		}
	}}, 64<<10)
	req.MaxOutput = limit
	if err := readAnswer(in, r); err != nil {
		failed := c.errorOf(ctx, s, err)
		lost := r.partial().usedTokens(req, failed.Kind == KindTimeout || failed.Kind == KindNetwork)
		lost.USD = c.cfg.Price.Cost(lost)
		return Response{Lost: lost}, failed
	}
	if t.dialect == ProtocolChat && (r.partial().gateway != "" || s.gateway) {
		t.adopt(formCacheMarks, "")
	}
	return c.newResponse(r.partial(), s, req, t.dialect, limit)
}

// outputLimit returns the maximum number of tokens of the answer.
func (t *trial) outputLimit(configured int) int {
	limit := configured
	if t.req.MaxOutput > 0 {
		limit = min(limit, t.req.MaxOutput)
	}
	if t.l.MostOutput > 0 {
		limit = min(limit, t.l.MostOutput)
	}
	if t.l.Window > 0 { // the rest of the window after the estimate, with a margin of a quarter
		limit = max(min(limit, t.l.Window/4, t.l.Window-t.tokens()*5/4), minMaxOutput)
	}
	t.asked = limit
	return limit
}

// adapted returns the request and the lessons with the restrictions of its conversation.
func (t *trial) adapted() (Request, Learned) {
	req, l := t.req, t.l.clone()
	if t.noThinking {
		l.Forms = append(l.Forms, "without thinking", "without effort "+t.l.effort(t.effort))
	}
	req.Messages = t.withoutOpaque(req.Messages)
	return req, l
}

// post sends a request and records the response's header in s. Its error has the endpoint's message.
func (c *Client) post(
	ctx context.Context, p Protocol, body []byte, stream bool, s *responseMeta,
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
	if resp != nil { // if a redirect is not followed, there is a response as well as an error
		s.record(resp, c.cfg.Now())
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
	parsed := parseErrorBody(text)
	if !parsed.isPresent() {
		parsed.message = bodyText(text)
	}
	return nil, &endpointError{parsed}
}

// authorize adds the key. Anthropic's own endpoint expects it in a header of its own; others that speak its dialect
// accept either.
func (c *Client) authorize(req *http.Request, p Protocol) {
	if p == ProtocolMessages {
		req.Header.Set("Anthropic-Version", anthropicVersion)
	}
	if c.cfg.APIKey == "" {
		return
	}
	if c.query != "" { // required by Azure, except at its newest addresses
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

// readAnswer reads an answer: a stream of events, or a single object if the endpoint does not stream.
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
			if parsed := parseErrorBody(body); parsed.message != "" { // an error in another form
				return &endpointError{parsed}
			}
		}
		return err
	}
	if first == '<' {
		page, _ := io.ReadAll(io.LimitReader(in, maxErrorBytes)) // an unreadable page has no title
		return fmt.Errorf("%w: it is %s", errPage, bodyText(page))
	}
	events := eventReader{in: in}
	a := r.partial()
	for {
		data, err := events.nextData()
		if err == nil {
			data, done := bytes.TrimSpace(data), false
			if string(data) == "[DONE]" { // some servers end so in every dialect
				return r.end()
			}
			known, err := a.lastForm.consume(data)
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
		case whole: // the rest is not needed
			return r.end()
		case errors.Is(err, io.EOF):
			return errTruncated
		}
		return err
	}
}

// firstByte peeks at the first byte that is not white space.
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

// watchedReader calls wait before each read, and sets begun when data arrives.
type watchedReader struct {
	io.Reader
	started *bool
	wait    func()
}

func (w watchedReader) Read(p []byte) (int, error) {
	w.wait()
	n, err := w.Reader.Read(p)
	*w.started = *w.started || n > 0
	return n, err
}

// errorOf converts the error of one request.
func (c *Client) errorOf(ctx context.Context, s responseMeta, err error) *Error {
	e := &Error{Client: c.cfg.Name, Status: s.status, RetryAfter: s.retryAfter}
	var reported *endpointError
	var redirect redirectError
	switch {
	case errors.As(err, &reported):
		body := reported.body
		e.Code, e.Message, e.allText = cmp.Or(body.code, body.kind), body.message, body.text()
		e.Kind = kindOf(e.Status, body)
		if param := body.param; param != "" && !strings.Contains(e.Message, param) {
			e.Message = strings.TrimSpace(e.Message + " (" + param + ")")
		}
		if e.Kind == KindRateLimit {
			e.RetryAfter = max(e.RetryAfter, body.wait, parseWait(body.message))
			if reset := body.reset; !reset.IsZero() {
				e.RetryAfter = max(e.RetryAfter, min(reset.Sub(c.cfg.Now()), maxRetryAfter))
			}
		}
	case errors.As(err, &redirect):
		e.Kind, e.Message = KindBadRequest, redirect.Error()
	case errors.Is(context.Cause(ctx), errStalled):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.First)
		if s.started {
			e.Message = errStalled.Error()
		}
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		e.Kind, e.Message = KindTimeout, fmt.Sprintf("no answer within %s", c.cfg.Timeout)
		if s.started {
			e.Message = fmt.Sprintf("no complete answer within %s", c.cfg.Timeout)
		}
	case errors.Is(err, errAnswerTooLarge), errors.Is(err, errLimitExceeded), errors.Is(err, errGarbage),
		errors.Is(err, errNotProtocol), errors.Is(err, errNoChoices):
		e.Kind, e.Message, e.Err = KindMalformed, err.Error(), err
	case errors.Is(err, errTruncated), s.streamed && errors.Is(err, io.ErrUnexpectedEOF):
		e.Kind, e.Message = KindNetwork, errTruncated.Error()
	default:
		e.Kind, e.Message = KindNetwork, err.Error()
	}
	e.Code = c.scrubText(e.Code)
	e.Message = c.scrubText(e.Message)
	return e
}

// waitPattern matches how long to wait in an endpoint's message: "try again in 20s", "in 1.5 seconds", "in 6m0s",
// "after 30 seconds".
var waitPattern = lazyregexp.New(`(?i)(?:again|retry) (?:in|after) ((?:\d+(?:\.\d+)?\s?(?:ms|h|m|s)\w*\s?)+)`)

// durationPattern matches one of its parts.
var durationPattern = lazyregexp.New(`(\d+(?:\.\d+)?)\s?(ms|h|m|s)`)

// parseWait returns how long a message asks to wait; 0: it does not say.
func parseWait(words string) (wait time.Duration) {
	m := waitPattern.FindStringSubmatch(words)
	if m == nil {
		return 0
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour}
	for _, p := range durationPattern.FindAllStringSubmatch(strings.ToLower(m[1]), 4) {
		n, err := strconv.ParseFloat(p[1], 64)
		if err != nil || n > 1e6 {
			return 0
		}
		wait += time.Duration(n * float64(units[p[2]]))
	}
	return min(wait, maxRetryAfter)
}
