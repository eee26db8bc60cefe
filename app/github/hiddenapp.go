package github

import (
	"cmp"
	"context"

	gh "github.com/google/go-github/v66/github"
)

// unknownApp is the slug of the app of a check if GitHub does not tell it.
const unknownApp = "unknown"

// hiddenApp is an app that GraphQL hides.
type hiddenApp struct {
	id   int64
	slug string
}

// nameApps sets the apps of the checks in a look at a commit that GraphQL shows without one. REST tells them. It is
// asked about the commit's checks, and about each name once an hour.
// https://docs.github.com/en/rest/checks/runs#list-check-runs-for-a-git-reference
func (s *Checks) nameApps(ctx context.Context, sha string, look *Look) {
	if s.setApps(look.Checks.Runs, nil) {
		byID := map[int64]hiddenApp{}
		for c, err := range s.list(ctx, sha, gh.ListCheckRunsOptions{Filter: gh.String("all")}) {
			if err != nil {
				s.app.log.DebugContext(ctx, "the apps of checks are not known", "error", err)
				break
			}
			byID[c.GetID()] = hiddenApp{c.GetApp().GetID(), c.GetApp().GetSlug()}
		}
		s.setApps(look.Checks.Runs, byID)
	}
	if look.Base != nil {
		s.setApps(look.Base.Checks.Runs, map[int64]hiddenApp{})
	}
	for i := range look.Earlier {
		s.setApps(look.Earlier[i].Checks.Runs, map[int64]hiddenApp{})
	}
}

// setApps sets the apps of check runs without one: as given by id, as known by name, or as unknown. If none are given,
// it leaves those whose names are not known, and reports whether there are any.
func (s *Checks) setApps(runs []CheckRun, given map[int64]hiddenApp) (left bool) {
	for i := range runs {
		r := &runs[i]
		if r.AppSlug != "" {
			continue
		}
		app, told := given[r.ID]
		known := told
		if !told {
			app, known = s.apps.Get(r.Name)
		}
		if !known && given == nil {
			left = true
			continue
		}
		app.slug = cmp.Or(app.slug, unknownApp)
		if told {
			s.apps.Put(r.Name, app)
		}
		r.AppID, r.AppSlug = app.id, app.slug
		r.setJob()
	}
	return left
}
