package github

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/view"
)

// EnsureLabels creates labels, or updates their color and description. It leaves other labels alone. GitHub and SIA
// ignore the case of names, so the case of an existing label is kept.
// https://docs.github.com/en/rest/issues/labels
func (r *Repo) EnsureLabels(ctx context.Context, want []view.Label) error {
	have := map[string]*gh.Label{}
	for l, err := range eachPage(func(o gh.ListOptions) ([]*gh.Label, *gh.Response, error) {
		return r.gh.Issues.ListLabels(ctx, r.repo.Owner, r.repo.Name, &o)
	}) {
		if err != nil {
			return r.app.failure(err, "list labels of %s", r.repo)
		}
		have[strings.ToLower(l.GetName())] = l
	}
	for _, w := range want {
		w.Description = text.Clip(w.Description, 100)
		body := gh.Label{Color: &w.Color, Description: &w.Description}
		now := have[strings.ToLower(w.Name)]
		var err error
		switch {
		case now == nil:
			made := body
			made.Name = &w.Name
			_, _, err = r.gh.Issues.CreateLabel(ctx, r.repo.Owner, r.repo.Name, &made)
			if statusOf(err) == http.StatusUnprocessableEntity && refusalContains(err, "already_exists") {
				err = nil
			}
		case !strings.EqualFold(now.GetColor(), w.Color) || now.GetDescription() != w.Description:
			_, _, err = r.gh.Issues.EditLabel(ctx, r.repo.Owner, r.repo.Name, url.PathEscape(now.GetName()), &body)
		}
		if err != nil {
			return r.app.failure(err, "make label %s in %s", w.Name, r.repo)
		}
	}
	return nil
}

// SwapLabels adds and removes labels of an issue. It leaves all other labels alone, including those added at the same
// time.
func (r *Repo) SwapLabels(ctx context.Context, issue int, add, remove []string) error {
	on := map[string]string{}
	for l, err := range eachPage(func(o gh.ListOptions) ([]*gh.Label, *gh.Response, error) {
		return r.gh.Issues.ListLabelsByIssue(ctx, r.repo.Owner, r.repo.Name, issue, &o)
	}) {
		if err != nil {
			return r.app.failure(err, "read labels of %s#%d", r.repo, issue)
		}
		on[strings.ToLower(l.GetName())] = l.GetName()
	}
	var missing []string
	wanted := map[string]bool{}
	for _, l := range add {
		wanted[strings.ToLower(l)] = true
		if _, ok := on[strings.ToLower(l)]; !ok {
			missing = append(missing, l)
		}
	}
	if len(missing) > 0 {
		if _, _, err := r.gh.Issues.AddLabelsToIssue(ctx, r.repo.Owner, r.repo.Name, issue, missing); err != nil {
			return r.app.failure(err, "label %s#%d", r.repo, issue)
		}
	}
	for _, l := range remove {
		name, ok := on[strings.ToLower(l)]
		if !ok || wanted[strings.ToLower(l)] {
			continue
		}
		_, err := r.gh.Issues.RemoveLabelForIssue(ctx, r.repo.Owner, r.repo.Name, issue, url.PathEscape(name))
		if err != nil && statusOf(err) != http.StatusNotFound { // 404: already removed
			return r.app.failure(err, "take label %s off %s#%d", name, r.repo, issue)
		}
	}
	return nil
}

// MoveLabel adds the label to to an issue and removes from, without reading the issue's labels. from may be empty or
// removed already.
func (r *Repo) MoveLabel(ctx context.Context, issue int, from, to string) error {
	if _, _, err := r.gh.Issues.AddLabelsToIssue(ctx, r.repo.Owner, r.repo.Name, issue, []string{to}); err != nil {
		return r.app.failure(err, "label %s#%d", r.repo, issue)
	}
	if from == "" || strings.EqualFold(from, to) {
		return nil
	}
	_, err := r.gh.Issues.RemoveLabelForIssue(ctx, r.repo.Owner, r.repo.Name, issue, url.PathEscape(from))
	if err != nil && statusOf(err) != http.StatusNotFound { // 404: already removed
		return r.app.failure(err, "take label %s off %s#%d", from, r.repo, issue)
	}
	return nil
}
