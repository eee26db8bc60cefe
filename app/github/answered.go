package github

import (
	"context"
	"time"
)

// maxAnsweredPages is the maximum number of pages of answered deliveries to read at once: an app may make 5,000
// requests an hour.
const maxAnsweredPages = 50

// AnsweredDeliveries returns the attempts since a time to deliver webhooks that were answered, newest first, from a
// cursor on; "": from the newest. next is the cursor of the older ones; "": there are none.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) AnsweredDeliveries(
	ctx context.Context, since time.Time, cursor string,
) (answered []Delivery, next string, err error) {
	attempts, next, err := a.attempts(ctx, "success", since, cursor, maxAnsweredPages)
	if err != nil {
		return nil, "", a.failure(err, "list webhook deliveries that were answered")
	}
	for _, d := range attempts {
		if !succeeded(d) {
			continue
		}
		at := d.GetDeliveredAt().Time
		answered = append(answered, Delivery{ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), First: at, Last: at,
			Tries: 1, Answered: true})
	}
	return answered, next, nil
}
