package github

import (
	"context"
	"fmt"
	"net/http"
)

// Blocker is an issue that must be closed before work on another begins. It may be in another repository.
type Blocker struct {
	Repo   string // owner/name
	Number int
	URL    string
}

// maxBlockers is GitHub's limit on the issues that block one.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/creating-issue-dependencies
const maxBlockers = 50

// OpenBlockers returns the open issues that block an issue. If GitHub hides them from the app, as an old server or
// the owner of another repository may, the result is empty without an error.
// https://docs.github.com/en/rest/issues/issue-dependencies#list-dependencies-an-issue-is-blocked-by
func (r *Repo) OpenBlockers(ctx context.Context, number int) ([]Blocker, error) {
	var got []struct {
		Number     int    `json:"number"`
		State      string `json:"state"`
		HTMLURL    string `json:"html_url"`
		Repository struct {
			FullName string `json:"full_name"`
		} `json:"repository"`
	}
	path := fmt.Sprintf("issues/%d/dependencies/blocked_by?per_page=%d", number, maxBlockers)
	if err := r.rest.send(ctx, http.MethodGet, path, nil, &got); err != nil {
		failed := r.app.failure(err, "read what blocks issue %s#%d", r.repo, number)
		if hiddenFromApp(err) {
			r.app.log.WarnContext(ctx, "what blocks an issue is not known", "error", failed)
			return nil, nil
		}
		return nil, failed
	}
	var out []Blocker
	for _, b := range got {
		if b.State == "open" && b.Number != 0 {
			out = append(out, Blocker{Repo: b.Repository.FullName, Number: b.Number, URL: b.HTMLURL})
		}
	}
	return out, nil
}
