package github

import (
	"context"
	"net/http"
	"time"

	gh "github.com/google/go-github/v66/github"
)

// Hook is the configuration of the app's webhook.
type Hook struct {
	URL      string // "": none is set
	Secret   bool   // whether one is set; GitHub does not return it
	Insecure bool   // certificates are not verified
}

// Hook returns the app's webhook, or the zero Hook if it has none. It is not cached, so it also tests whether GitHub
// accepts the app's credentials.
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

// DeliveryAttempt is one attempt to deliver a webhook.
type DeliveryAttempt struct {
	ID     int64 // for [App.Redeliver]
	Event  string
	At     time.Time
	Code   int    // HTTP status; 0: no response
	Status string // GitHub's description of it
}

// OK reports whether it was delivered.
func (d DeliveryAttempt) OK() bool { return d.Code >= 200 && d.Code <= 299 }

// LatestDeliveries returns the latest attempts to deliver a webhook, newest first, up to one page.
// https://docs.github.com/en/rest/apps/webhooks#list-deliveries-for-an-app-webhook
func (a *App) LatestDeliveries(ctx context.Context) ([]DeliveryAttempt, error) {
	got, _, err := a.gh.Apps.ListHookDeliveries(ctx, &gh.ListCursorOptions{PerPage: perPage})
	if err != nil {
		return nil, a.failure(err, "list webhook deliveries")
	}
	out := make([]DeliveryAttempt, len(got))
	for i, d := range got {
		out[i] = DeliveryAttempt{ID: d.GetID(), Event: d.GetEvent(), At: d.GetDeliveredAt().Time, Code: d.GetStatusCode(),
			Status: d.GetStatus()}
	}
	return out, nil
}

// Subscriptions lists the events that GitHub sends: those that the app requests, and those of each installation.
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
