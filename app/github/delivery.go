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

// Delivery is one webhook that GitHub tried to deliver, and did not, or not to the database that there is now.
type Delivery struct {
	ID    int64  // of the last try
	GUID  string // of the event: the same for its redeliveries
	Event string
	First time.Time // of the first
	Last  time.Time // of the last
	Tries int       // that were in vain

	Answered bool // by a server that said that it has it
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

// maxFailed bounds the pages of deliveries that failed: 100,000 of them.
const maxFailed = 1000

// FailedDeliveries returns the webhooks first sent since a time of which a try failed, each once, newest first. A later
// try may have arrived: what did is not in the list. whole is false when there are more, older ones.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) (failed []Delivery, whole bool, err error) {
	tries, next, err := a.tries(ctx, "failure", since, "", maxFailed)
	if err != nil {
		return nil, false, a.failure(err, "list webhook deliveries")
	}
	type history struct {
		delivery   Delivery
		redelivery bool // the first try that is known is one: GitHub has dropped the first
	}
	var order []*history
	of := map[string]*history{}
	for _, d := range tries {
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

// succeeded reports whether a try was answered. GitHub Enterprise Server before 3.17 does not know the filter for that.
func succeeded(d *gh.HookDelivery) bool { return d.GetStatusCode() >= 200 && d.GetStatusCode() <= 399 }

// tries are all tries since a time that ended as status says, "success" or "failure", newest first, beginning at a
// cursor: at most so many pages. next is where the older ones begin; "" when these are all.
func (a *App) tries(
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
