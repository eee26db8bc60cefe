package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Times for which a failed model is skipped. The long one applies if someone must act first; it is short enough to
// notice that soon.
const (
	shortDowntime = time.Minute
	longDowntime  = 10 * time.Minute
)

// Chain calls several models in order: each is called if those before it can't answer. A model that failed is skipped
// for a while. After that, one call without retries tests it. The last model to call always has its retries. Chain is
// safe for concurrent use.
type Chain struct {
	clients []*Client

	mu   sync.Mutex
	down []clientDowntime // by client
}

// clientDowntime is when a model may be called again. It is zero if the model answered last.
type clientDowntime struct {
	until time.Time
	why   ErrorKind
}

// NewChain returns a chain of clients, in the order in which they are called. It uses the first client's clock.
func NewChain(clients ...*Client) (*Chain, error) {
	if len(clients) == 0 || slices.Contains(clients, nil) {
		return nil, errors.New("configure models: the list of models to ask is empty")
	}
	return &Chain{clients: slices.Clone(clients), down: make([]clientDowntime, len(clients))}, nil
}

// Model returns the endpoint's name of the first model.
func (c *Chain) Model() string { return c.clients[0].Model() }

// Price returns the highest of the models' prices in each respect: the maximum cost of a call. The actual cost is in
// [Usage].
func (c *Chain) Price() (p Price) {
	for _, m := range c.clients {
		p = p.Highest(m.cfg.Price)
	}
	return p
}

// Window returns the smallest of the models' windows, so that each can take over.
func (c *Chain) Window() int {
	return slices.MinFunc(c.clients, func(a, b *Client) int { return a.Window() - b.Window() }).Window()
}

// MaxOutput returns the smallest of the models' output limits.
func (c *Chain) MaxOutput() int {
	return slices.MinFunc(c.clients, func(a, b *Client) int { return a.MaxOutput() - b.MaxOutput() }).MaxOutput()
}

// Complete calls the models in order until one answers; see [Client.Complete]. Response.Client names the one that
// answered, and Response.Passed the reasons why others did not.
//
// It calls no other model if the conversation is too long, if ctx ends, or if the answer is not the JSON that was
// requested, unless that answer is empty for no known reason. If no model answers, the error wraps an [Error] of each:
// temporary ones first, soonest first. The answer of the last model is returned even if it is empty.
func (c *Chain) Complete(ctx context.Context, req Request) (Response, error) {
	var lost Usage
	var failed []*Error
	kinds := map[int]ErrorKind{}
	order := c.callOrder()
	for n, i := range order {
		m, retries := c.clients[i], c.clients[i].cfg.Retries
		if c.downtimeOf(i) != (clientDowntime{}) && n < len(order)-1 {
			retries = 0
		}
		resp, err := m.completeWith(ctx, req, retries)
		lost = lost.Add(resp.Lost)
		resp.Lost, resp.Passed = lost, c.skipReasons(i, kinds)
		if resp.answered() {
			c.setDowntime(i, clientDowntime{})
		}
		var e *Error
		if !errors.As(err, &e) || !e.othersMayAnswer(resp) || resp.answered() && n == len(order)-1 {
			return resp, err
		}
		lost = lost.Add(resp.Usage) // of an empty answer
		failed, kinds[i] = append(failed, e), e.Kind
		if rest := e.downtime(); rest > 0 && !resp.answered() {
			c.setDowntime(i, clientDowntime{m.cfg.Now().Add(rest), e.Kind})
			m.log.WarnContext(ctx, "model is passed over for a while", "kind", e.Kind, "rest", rest)
		}
	}
	if len(failed) == 1 {
		return Response{Lost: lost}, failed[0]
	}
	slices.SortStableFunc(failed, func(a, b *Error) int {
		if a.Temporary() != b.Temporary() {
			if a.Temporary() {
				return -1
			}
			return 1
		}
		return int(a.RetryAfter - b.RetryAfter)
	})
	return Response{Lost: lost}, &ChainError{failed}
}

// callOrder returns the order in which the models are called now. Skipped ones are last, as a fallback.
func (c *Chain) callOrder() []int {
	now := c.clients[0].cfg.Now()
	var ready, skipped []int
	for i := range c.clients {
		if c.downtimeOf(i).until.After(now) {
			skipped = append(skipped, i)
		} else {
			ready = append(ready, i)
		}
	}
	return append(ready, skipped...)
}

// skipReasons returns why models before the one that answered did not answer. failed are those that failed in this
// call.
func (c *Chain) skipReasons(answered int, failed map[int]ErrorKind) (why []string) {
	now := c.clients[0].cfg.Now()
	for i, m := range c.clients {
		kind := failed[i]
		if d := c.downtimeOf(i); kind == "" && i < answered && d.until.After(now) {
			kind = d.why
		}
		if kind != "" {
			why = append(why, fmt.Sprintf("%s: %s", m.cfg.Name, kind))
		}
	}
	return why
}

func (c *Chain) downtimeOf(i int) clientDowntime {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.down[i]
}

func (c *Chain) setDowntime(i int, d clientDowntime) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down[i] = d
}

// othersMayAnswer reports whether another model may answer the request. Not after an answer that was cut off, since its
// model may answer at more length next time, and not after one that was withheld.
func (e *Error) othersMayAnswer(resp Response) bool {
	if !resp.answered() {
		return e.Kind != KindContextLength
	}
	return resp.isEmpty() && resp.Finish != FinishLength && resp.Finish != FinishContentFilter
}

// downtime returns how long the model is skipped; 0: the error is caused by the request.
func (e *Error) downtime() time.Duration {
	switch {
	case e.Kind == KindAuth, e.Kind == KindQuota, e.Kind == KindUnknownModel, e.Kind == KindDialect,
		e.Kind == KindNoTools, e.Status == http.StatusNotFound:
		return longDowntime
	case e.Temporary():
		return min(max(shortDowntime, e.RetryAfter), longDowntime)
	}
	return 0
}

// ChainError is the error of a [Chain] when no model answered.
type ChainError struct {
	Errors []*Error // one for each model; temporary ones first
}

// Error lists every model with its error.
func (e *ChainError) Error() string {
	texts := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the models' errors.
func (e *ChainError) Unwrap() []error {
	list := make([]error, len(e.Errors))
	for i, one := range e.Errors {
		list[i] = one
	}
	return list
}
