package github

import (
	"context"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Delivery is one webhook delivery that GitHub made, or tried to make.
type Delivery struct {
	ID           int64  // of this try
	GUID         string // of the event: the same for its redeliveries
	Event        string
	Installation int64
	At           time.Time
}

// FailedDeliveries returns the webhooks sent since a time that did not arrive:
// no try of them was answered 2xx. Each is there once, as its last try, newest
// first. GitHub keeps deliveries for three days.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) FailedDeliveries(ctx context.Context, since time.Time) ([]Delivery, error) {
	var failed []Delivery
	seen, arrived := map[string]bool{}, map[string]bool{}
	opts := &gh.ListCursorOptions{PerPage: perPage}
	for range maxPages {
		got, resp, err := a.gh.Apps.ListHookDeliveries(ctx, opts)
		if err != nil {
			return nil, a.failure(err, "list webhook deliveries")
		}
		old := len(got) == 0
		for _, d := range got {
			if d.GetDeliveredAt().Before(since) {
				old = true
				break
			}
			guid := d.GetGUID()
			if c := d.GetStatusCode(); c >= 200 && c <= 299 {
				arrived[guid] = true
			} else if !seen[guid] {
				seen[guid] = true
				failed = append(failed, Delivery{
					ID: d.GetID(), GUID: guid, Event: d.GetEvent(),
					Installation: d.GetInstallationID(), At: d.GetDeliveredAt().Time,
				})
			}
		}
		if old || resp.Cursor == "" || resp.Cursor == opts.Cursor {
			break
		}
		opts.Cursor = resp.Cursor
	}
	out := failed[:0]
	for _, d := range failed {
		if !arrived[d.GUID] {
			out = append(out, d)
		}
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
