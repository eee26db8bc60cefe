package github

import (
	"context"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Delivery is one webhook delivery that GitHub made, or tried to make.
type Delivery struct {
	ID    int64  // of the last try
	GUID  string // of the event: the same for its redeliveries
	Event string
	First time.Time // of the first
	Tries int
}

// DeliveriesKept is how long GitHub keeps deliveries to send them again: a week on
// GitHub Enterprise Server, three days elsewhere.
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
// https://docs.github.com/en/enterprise-server/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
func (a *App) DeliveriesKept() time.Duration {
	if strings.HasSuffix(a.api.Path, enterprisePath) {
		return 7 * 24 * time.Hour
	}
	return 3 * 24 * time.Hour
}

// FailedDeliveries returns the webhooks first sent since a time that did not
// arrive: no try of them was answered 2xx. Each is there once, as its last try,
// newest first.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) ([]Delivery, error) {
	tries, err := a.deliveries(ctx, since)
	if err != nil {
		return nil, a.failure(err, "list webhook deliveries")
	}
	type history struct {
		delivery   Delivery
		arrived    bool
		redelivery bool // the first try that is known is one: GitHub has dropped the first
	}
	var order []*history
	of := map[string]*history{}
	for _, d := range tries {
		h := of[d.GetGUID()]
		if h == nil {
			h = &history{delivery: Delivery{ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent()}}
			of[d.GetGUID()] = h
			order = append(order, h)
		}
		code := d.GetStatusCode()
		h.arrived = h.arrived || code >= 200 && code <= 299
		h.delivery.First, h.redelivery = d.GetDeliveredAt().Time, d.GetRedelivery()
		h.delivery.Tries++
	}
	var failed []Delivery
	for _, h := range order {
		if !h.arrived && !h.redelivery {
			failed = append(failed, h.delivery)
		}
	}
	return failed, nil
}

// deliveries are all tries since a time, newest first.
func (a *App) deliveries(ctx context.Context, since time.Time) ([]*gh.HookDelivery, error) {
	var out []*gh.HookDelivery
	opts := &gh.ListCursorOptions{PerPage: perPage}
	for range maxPages {
		got, resp, err := a.gh.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, err
		}
		for _, d := range got {
			if d.GetDeliveredAt().Before(since) {
				return out, nil
			}
			out = append(out, d)
		}
		if len(got) == 0 || resp.Cursor == "" || resp.Cursor == opts.Cursor {
			break
		}
		opts.Cursor = resp.Cursor
	}
	return out, nil
}

// Redeliver asks GitHub to send a delivery again.
// https://docs.github.com/en/rest/apps/webhooks#redeliver-a-delivery-for-an-app-webhook
func (a *App) Redeliver(ctx context.Context, id int64) error {
	_, _, err := a.gh.Apps.RedeliverHookDelivery(ctx, id)
	if isAccepted(err) {
		return nil
	}
	return a.failure(err, "have webhook delivery %d sent again", id)
}
