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

// How long a model that could not be asked is passed over. It is long when a person
// must act first, but not so long that their action goes unnoticed.
const (
	shortRest = time.Minute
	longRest  = 10 * time.Minute
)

// Chain asks several models in order: the next is asked what the first can't answer.
// A model that could not be asked is passed over for a while. Then one call without
// retries finds out whether it is back. The last model to ask always has its retries.
// Safe for concurrent use.
type Chain struct {
	clients []*Client

	mu   sync.Mutex
	down []clientDowntime // by client
}

// clientDowntime is when a model may be asked again. The zero downtime is a model that
// answered last.
type clientDowntime struct {
	until time.Time
	why   ErrorKind
}

// NewChain returns the chain of clients, in the order in which they are asked.
// The first client's clock is the chain's.
func NewChain(clients ...*Client) (*Chain, error) {
	if len(clients) == 0 || slices.Contains(clients, nil) {
		return nil, errors.New("configure models: the list of models to ask is empty")
	}
	return &Chain{clients: slices.Clone(clients), down: make([]clientDowntime, len(clients))}, nil
}

// Model is the first model's name as its endpoint spells it.
func (c *Chain) Model() string { return c.clients[0].Model() }

// Price is the highest of the models' prices in each respect: what a call may cost,
// whichever model answers. What it did cost is in [Usage].
func (c *Chain) Price() (p Price) {
	for _, m := range c.clients {
		p = p.Highest(m.cfg.Price)
	}
	return p
}

// Window is the smallest of the models' contexts, so that each can take over.
func (c *Chain) Window() int {
	return slices.MinFunc(c.clients, func(a, b *Client) int { return a.Window() - b.Window() }).Window()
}

// MaxOutput is the smallest of the models' output limits.
func (c *Chain) MaxOutput() int {
	return slices.MinFunc(c.clients, func(a, b *Client) int { return a.MaxOutput() - b.MaxOutput() }).MaxOutput()
}

// Complete asks the models in order until one answers; see [Client.Complete].
// Response.Client says which one did, Response.Passed why others did not.
//
// A conversation that is too long, an answer that is not the JSON asked for, and
// the end of ctx are no reason to ask another model. When none answers, the
// error wraps an [Error] of each: first those that may pass, soonest first.
func (c *Chain) Complete(ctx context.Context, req Request) (Response, error) {
	var lost Usage
	var failed []*Error
	kinds := map[int]ErrorKind{}
	order := c.askingOrder()
	for n, i := range order {
		m, retries := c.clients[i], c.clients[i].cfg.Retries
		if c.downtimeOf(i) != (clientDowntime{}) && n < len(order)-1 {
			retries = 0
		}
		resp, err := m.completeWith(ctx, req, retries)
		lost = lost.Add(resp.Lost)
		resp.Lost, resp.Passed = lost, c.passedOver(i, kinds)
		var e *Error
		switch {
		case err == nil:
			c.setDowntime(i, clientDowntime{})
			return resp, nil
		case !errors.As(err, &e) || !e.othersMayAnswer(resp):
			return resp, err
		}
		failed, kinds[i] = append(failed, e), e.Kind
		if rest := e.restTime(); rest > 0 {
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

// askingOrder is the order in which the models are asked now. Those that are passed over
// come last, since they are better than none.
func (c *Chain) askingOrder() []int {
	now := c.clients[0].cfg.Now()
	var ready, resting []int
	for i := range c.clients {
		if c.downtimeOf(i).until.After(now) {
			resting = append(resting, i)
		} else {
			ready = append(ready, i)
		}
	}
	return append(ready, resting...)
}

// passedOver says why models before the one that answered did not answer; failed are
// those that failed in this call.
func (c *Chain) passedOver(answered int, failed map[int]ErrorKind) (why []string) {
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

// othersMayAnswer reports whether another model may answer what this one did not.
func (e *Error) othersMayAnswer(resp Response) bool {
	return e.Kind != KindContextLength && (e.Kind != KindMalformed || resp.Message.Content == "")
}

// restTime is how long the model is passed over; 0: the trouble is with the request.
func (e *Error) restTime() time.Duration {
	switch {
	case e.Kind == KindAuth, e.Kind == KindQuota, e.Kind == KindUnknownModel, e.Kind == KindDialect,
		e.Kind == KindNoTools, e.Status == http.StatusNotFound:
		return longRest
	case e.Temporary():
		return min(max(shortRest, e.RetryAfter), longRest)
	}
	return 0
}

// ChainError is the error of a [Chain] when no model answered.
type ChainError struct {
	Errors []*Error // one for each model; first those that may pass
}

// Error names every model with its trouble.
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
