package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/agent"
	"github.com/sia-bot/sia/agent/gateway"
	"github.com/sia-bot/sia/agent/llm"
	"github.com/sia-bot/sia/sia"
)

const (
	settleTimeout = 30 * time.Second // for recording the cost of a call
	hangUpTimeout = 30 * time.Second // for the rest of an answer whose usage is needed, after the runner has hung up
)

// model forwards a request to one of the models of an attempt's coder, by the rules of agent/gateway.
func (h *Handler) model(w http.ResponseWriter, r *http.Request, a claim) {
	number := r.PathValue("number")
	models := h.agentNamed(a.Coder).Models
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n >= len(models) {
		writeError(w, http.StatusNotFound, "there is no such model")
		return
	}
	m := models[n]
	pays := &meter{ctx: context.WithoutCancel(r.Context()), handler: h, attempt: a, model: m}
	g, err := gateway.New(gateway.Config{Upstream: m.URL, Key: m.Key, Model: m.Model.Model, Window: m.Window,
		Token: bearerToken(r), Room: h.room, Client: h.client, Begin: m.Timeout, Logger: h.Logger, Meter: pays,
		Observe: pays.observe})
	if err != nil {
		h.unavailable(w, r, err)
		return
	}
	ctx, cancel := afterHangUp(r.Context())
	defer cancel()
	inner := r.Clone(ctx)
	inner.URL.Path = strings.TrimPrefix(r.URL.Path, Prefix+ModelPath+number)
	defer h.beginCall(a.Key)()
	g.ServeHTTP(lenientWriter{w}, inner)
}

// afterHangUp returns a context that ends hangUpTimeout after ctx, so that the usage of a call is known although its
// runner stops or is lost.
func afterHangUp(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.NewTimer(hangUpTimeout)
		defer t.Stop()
		select {
		case <-t.C:
			cancel()
		case <-late.Done():
		}
	})
	return late, func() {
		stop()
		cancel()
	}
}

// lenientWriter is a response that a runner may have stopped reading: the gateway then reads the answer to its end.
type lenientWriter struct{ http.ResponseWriter }

// Write implements io.Writer, and never fails.
func (u lenientWriter) Write(b []byte) (int, error) {
	_, _ = u.ResponseWriter.Write(b)
	return len(b), nil
}

// Unwrap is for [http.ResponseController].
func (u lenientWriter) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// meter accounts for one model call of a runner. It implements [gateway.Meter].
type meter struct {
	ctx     context.Context
	handler *Handler
	attempt claim
	model   Upstream
}

// Reserve reserves the maximum cost of the call.
func (m *meter) Reserve(prompt, want int) (gateway.Call, error) {
	a := m.attempt
	call, ok := agent.ReserveCall(m.model.Price, a.Credits-a.Spent, prompt, want)
	if ok {
		var err error
		if ok, err = m.handler.Store.ReserveCall(m.ctx, a.pass, sia.Credits(call.Held)); err != nil {
			return call, fmt.Errorf("the server's database did not answer: %w", gateway.ErrUnavailable)
		}
	}
	if ok {
		return call, nil
	}
	why := fmt.Sprintf("%s of %s credits are spent, and the rest does not cover another call", a.Spent, a.Credits)
	if a.Calls >= a.MostCalls {
		why = fmt.Sprintf("%d calls of models were made, and an attempt may make no more", a.Calls)
	}
	if err := m.handler.Store.RefuseCall(m.ctx, a.pass, why); err != nil {
		m.handler.Logger.WarnContext(m.ctx, "a refused call is not noted", "effect", a.Key, "error", err)
	}
	return call, errors.New(why)
}

// observe passes the call on to Observe.
func (m *meter) observe(_ context.Context, e gateway.Ended) {
	if m.model.Observe != nil {
		m.model.Observe(m.ctx, m.attempt.Task, agent.ObservedCall(llm.Config{Name: m.model.Name, BaseURL: m.model.URL,
			Model: m.model.Model.Model, Price: m.model.Price}, e))
	}
}

// Settle replaces the reservation by the cost of the call.
func (m *meter) Settle(c gateway.Call, u gateway.Usage) {
	cost := sia.Credits(0)
	if u != (gateway.Usage{}) {
		cost = sia.CreditsOf(agent.CallUsage(m.model.Price, c, u).USD)
	}
	ctx, cancel := context.WithTimeout(m.ctx, settleTimeout)
	defer cancel()
	if err := m.handler.Store.SettleCall(ctx, m.attempt.Key, sia.Credits(c.Held), cost); err != nil {
		m.handler.Logger.ErrorContext(ctx, "a call of a model is booked at its most", "effect", m.attempt.Key, "error", err)
	}
}
