package github

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Delivery is a webhook that failed to be delivered, or was answered by a server whose database is lost.
type Delivery struct {
	ID    int64  // of the last attempt
	GUID  string // of the event; redeliveries have the same
	Event string
	First time.Time // time of the first attempt
	Last  time.Time // time of the last attempt
	Tries int       // number of failed attempts

	Answered bool // a server answered it with success
}

// DeliveryRetention returns how long GitHub keeps deliveries for redelivery: a week on GitHub Enterprise Server,
// three days elsewhere.
// https://docs.github.com/en/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
// https://docs.github.com/en/enterprise-server/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
func (a *App) DeliveryRetention() time.Duration {
	if strings.HasSuffix(a.api.Path, enterprisePath) {
		return 7 * 24 * time.Hour
	}
	return 3 * 24 * time.Hour
}

// maxFailed is the maximum number of pages of failed deliveries: 100,000 deliveries.
const maxFailed = 1000

// FailedDeliveries returns the webhooks first sent since a time that have a failed attempt, each once, newest first.
// Attempts that succeeded later are not considered. complete is false if there are more, older ones.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) (failed []Delivery, complete bool, err error) {
	attempts, next, err := a.attempts(ctx, "failure", since, "", maxFailed)
	if err != nil {
		return nil, false, a.failure(err, "list webhook deliveries")
	}
	type history struct {
		delivery   Delivery
		redelivery bool // the earliest known attempt is one: GitHub has dropped the first
	}
	var order []*history
	of := map[string]*history{}
	for _, d := range attempts {
		if succeeded(d) {
			continue
		}
		h := of[d.GetGUID()]
		if h == nil {
			h = &history{delivery: Delivery{ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(),
				Last: d.GetDeliveredAt().Time}}
			of[d.GetGUID()] = h
			order = append(order, h)
		}
		h.delivery.First, h.redelivery = d.GetDeliveredAt().Time, d.GetRedelivery()
		h.delivery.Tries++
	}
	for _, h := range order {
		if !h.redelivery {
			failed = append(failed, h.delivery)
		}
	}
	return failed, next == "", nil
}

// succeeded reports whether an attempt was answered. GitHub Enterprise Server before 3.17 ignores the status filter.
func succeeded(d *gh.HookDelivery) bool { return d.GetStatusCode() >= 200 && d.GetStatusCode() <= 399 }

// attempts returns the attempts since a time with a status, "success" or "failure", newest first, from a cursor on,
// up to a number of pages. next is the cursor of the older ones; "": there are none.
func (a *App) attempts(
	ctx context.Context, status string, since time.Time, cursor string, pages int,
) (out []*gh.HookDelivery, next string, err error) {
	for range pages {
		q := url.Values{"per_page": {strconv.Itoa(perPage)}, "status": {status}}
		if cursor != "" {
			q.Set("cursor", cursor)
		}
		req, err := a.gh.NewRequest(http.MethodGet, "app/hook/deliveries?"+q.Encode(), nil)
		if err != nil {
			return nil, "", err
		}
		var got []*gh.HookDelivery
		resp, err := a.gh.Do(ctx, req, &got)
		if err != nil {
			return nil, "", err
		}
		for _, d := range got {
			if d.GetDeliveredAt().Before(since) {
				return out, "", nil
			}
			out = append(out, d)
		}
		if len(got) == 0 || resp.Cursor == "" || resp.Cursor == cursor {
			return out, "", nil
		}
		cursor = resp.Cursor
	}
	return out, cursor, nil
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
