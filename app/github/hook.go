package github

import (
	"context"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Hook is the app's webhook as GitHub has it.
type Hook struct {
	URL      string // where deliveries go; "" when none is set
	Secret   bool   // whether there is one; GitHub does not show it
	Insecure bool   // certificates are not verified
}

// Hook returns the app's webhook, the zero Hook when it has none. It is asked of GitHub each
// time, so it also tells whether GitHub accepts the app.
// https://docs.github.com/en/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
func (a *App) Hook(ctx context.Context) (Hook, error) {
	got, resp, err := a.gh.Apps.GetHookConfig(ctx)
	if resp != nil && resp.StatusCode == http.StatusNotFound {
		return Hook{}, nil
	}
	if err != nil {
		return Hook{}, a.failure(err, "read the app's webhook")
	}
	return Hook{URL: got.GetURL(), Secret: got.GetSecret() != "", Insecure: got.GetInsecureSSL() == "1"}, nil
}

// Tried is one try to deliver a webhook.
type Tried struct {
	ID     int64 // with which it can be sent again
	Event  string
	At     time.Time
	Code   int    // of the answer; 0 when there was none
	Status string // GitHub's words for it
}

// OK reports whether it arrived.
func (d Tried) OK() bool { return d.Code >= 200 && d.Code <= 299 }

// LatestDeliveries returns the last tries to deliver a webhook, newest first, a page at
// most.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) LatestDeliveries(ctx context.Context) ([]Tried, error) {
	got, _, err := a.gh.Apps.ListHookDeliveries(ctx, &gh.ListCursorOptions{PerPage: perPage})
	if err != nil {
		return nil, a.failure(err, "list webhook deliveries")
	}
	out := make([]Tried, len(got))
	for i, d := range got {
		out[i] = Tried{ID: d.GetID(), Event: d.GetEvent(), At: d.GetDeliveredAt().Time, Code: d.GetStatusCode(),
			Status: d.GetStatus()}
	}
	return out, nil
}

// Subscriptions are the events that GitHub sends: what the app asks for, and by
// installation what it has there.
type Subscriptions struct {
	App           []string
	Installations map[int64][]string
}

// Subscriptions returns the events that are subscribed to.
// https://docs.github.com/en/rest/apps/apps#get-the-authenticated-app
func (a *App) Subscriptions(ctx context.Context) (Subscriptions, error) {
	self, _, err := a.gh.Apps.Get(ctx, "")
	if err != nil {
		return Subscriptions{}, a.failure(err, "read the app itself")
	}
	s := Subscriptions{App: self.Events, Installations: map[int64][]string{}}
	installations, err := a.Installations(ctx)
	for _, in := range installations {
		s.Installations[in.ID] = in.Events
	}
	return s, err
}
