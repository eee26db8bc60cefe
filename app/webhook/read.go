package webhook

import (
	"fmt"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
)

// handled maps the GitHub events that are stored and read to their readers. Other events are acknowledged and
// dropped.
var handled = map[string]func(any, meta) ([]sia.Intent, *administration){
	"issues":                      readIssues,
	"issue_comment":               readIssueComment,
	"check_run":                   readCheckRun,
	"check_suite":                 readCheckSuite,
	"status":                      readStatus,
	"workflow_run":                readWorkflowRun,
	"pull_request":                readPullRequest,
	"pull_request_review":         readReview,
	"pull_request_review_comment": readReviewComment,
	"pull_request_review_thread":  readReviewThread,
	"push":                        readPush,
	"installation":                readInstallation,
	"installation_repositories":   readInstallationRepositories,
	"ping":                        readPing,
}

// Handled reports whether deliveries of a GitHub event are read.
func Handled(event string) bool { return handled[event] != nil }

// Handles is [Handled], as a method for callers that hold an intake behind an interface.
func (*Intake) Handles(event string) bool { return Handled(event) }

// meta is what a reader needs in addition to the payload.
type meta struct {
	guid string
	slug string // the app's
	body []byte // as GitHub sent it
}

// read parses a delivery into intents, and into administration of the installation. It is pure, and returns an error
// for a malformed payload.
func read(d store.Delivery, slug string) ([]sia.Intent, *administration, error) {
	f := handled[d.Event]
	if f == nil {
		return nil, nil, fmt.Errorf("event %q is not read", d.Event)
	}
	payload, err := gh.ParseWebHook(d.Event, d.Body)
	if err != nil { // some deliveries have dates that are not in RFC 3339
		payload, err = gh.ParseWebHook(d.Event, normalizeDates(d.Body))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("payload of %s: %w", d.Event, err)
	}
	intents, admin := f(payload, meta{guid: d.GUID, slug: slug, body: d.Body})
	for i := range intents {
		if intents[i].Installation == 0 {
			intents[i].Installation = d.Installation
		}
		if intents[i].Installation == 0 || intents[i].Repo.ID == 0 {
			return nil, nil, fmt.Errorf("%s names no installation or repository: is the webhook the app's own?", d.Event)
		}
	}
	return intents, admin, nil
}

// intent returns an intent with the fields that every payload carries.
func (r meta) intent(repo *gh.Repository, installation *gh.Installation, sender *gh.User, fact sia.Fact) sia.Intent {
	return sia.Intent{
		Installation: installation.GetID(),
		Repo:         sia.Repo{ID: repo.GetID(), Owner: repo.GetOwner().GetLogin(), Name: repo.GetName()},
		Bot:          sender.GetType() == "Bot",
		Event: sia.Event{
			ID:   "delivery/" + r.guid,
			By:   sia.Actor{Login: sender.GetLogin(), ID: sender.GetID()},
			Fact: fact,
		},
	}
}
