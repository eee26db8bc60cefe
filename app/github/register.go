package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/lazyregexp"
)

// maxRegistration is the maximum size of GitHub's response to a code, in bytes.
const maxRegistration = 1 << 20

// Registration is an app as registered at GitHub, with its keys.
type Registration struct {
	ID    int64  `json:"id"`
	Slug  string `json:"slug"`
	Name  string `json:"name"`
	Owner string `json:"owner"` // the person or organisation
	Page  string `json:"page"`  // of the app, for people

	ClientID      string `json:"client_id,omitempty"`
	ClientSecret  string `json:"client_secret,omitempty"`
	WebhookSecret string `json:"webhook_secret"`
	PrivateKey    string `json:"pem"`
}

// manifestCode matches codes; a code becomes part of a URL.
var manifestCode = lazyregexp.New(`^[A-Za-z0-9_-]{1,200}$`)

// Register exchanges a code of the manifest flow, which is valid once and for an hour, for an app's keys. Errors are
// sentences for the person who registers the app, and don't contain the code.
// https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
func Register(ctx context.Context, api, code string) (Registration, error) {
	if !manifestCode.MatchString(code) {
		return Registration{}, errors.New("GitHub's answer holds no code; begin again")
	}
	base, err := httpURL(api)
	if err != nil {
		return Registration{}, fmt.Errorf("GitHub's API: %w", err)
	}
	client := gh.NewClient(&http.Client{Transport: strictTransport{http.DefaultTransport, maxRegistration},
		CheckRedirect: noRedirect})
	client.BaseURL, client.UserAgent = base, "sia"
	got, _, err := client.Apps.CompleteAppManifest(ctx, code)
	switch status := statusOf(err); {
	case status == http.StatusNotFound || status == http.StatusUnprocessableEntity:
		return Registration{}, errors.New("GitHub does not know the code: it works once, and for an hour. If the app " +
			"stands in GitHub's settings, delete it there, and begin again")
	case err != nil:
		return Registration{}, fmt.Errorf("GitHub's API at %s did not hand out the keys (%s); load this page again, which "+
			"asks again", api, withoutAddress(err))
	}
	return Registration{ID: got.GetID(), Slug: got.GetSlug(), Name: got.GetName(), Owner: got.GetOwner().GetLogin(),
		Page: got.GetHTMLURL(), ClientID: got.GetClientID(), ClientSecret: got.GetClientSecret(),
		WebhookSecret: got.GetWebhookSecret(), PrivateKey: got.GetPEM()}, nil
}

// withoutAddress returns the reason in err without the URL, which contains a code.
func withoutAddress(err error) string {
	var refused *gh.ErrorResponse
	if errors.As(err, &refused) && refused.Response != nil {
		return refused.Response.Status
	}
	var lost *url.Error
	if errors.As(err, &lost) {
		return lost.Err.Error()
	}
	return "its answer can't be read"
}
