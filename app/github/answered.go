package github

import (
	"context"
	"time"
)

// answeredPages bounds the pages of answered deliveries that are read at a time: an app may ask for 5,000 in an hour.
const answeredPages = 50

// AnsweredDeliveries returns webhooks that were answered since a time, newest first, each try by itself, beginning at a
// cursor; "" is the newest. next is the cursor of the older ones; "" when these are all.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) AnsweredDeliveries(
	ctx context.Context, since time.Time, cursor string,
) (answered []Delivery, next string, err error) {
	tries, next, err := a.tries(ctx, "success", since, cursor, answeredPages)
	if err != nil {
		return nil, "", a.failure(err, "list webhook deliveries that were answered")
	}
	for _, d := range tries {
		if !succeeded(d) {
			continue
		}
		at := d.GetDeliveredAt().Time
		answered = append(answered, Delivery{ID: d.GetID(), GUID: d.GetGUID(), Event: d.GetEvent(), First: at, Last: at,
			Tries: 1, Answered: true})
	}
	return answered, next, nil
}
