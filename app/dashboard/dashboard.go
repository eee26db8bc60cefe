package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
)

// Store is what a dashboard needs of the database. [store.Store] implements it.
type Store interface {
	Costs(ctx context.Context, v store.Visibility, times ...time.Time) ([]store.Cost, error)
	Dashboard(ctx context.Context, repo int64) (number int, err error)
	Experiments(ctx context.Context, installation int64, open bool) ([]store.Experiment, error)
	FindTasks(ctx context.Context, v store.Visibility, f store.Find) ([]sia.Task, error)
	HaltOver(ctx context.Context, installation, repo int64) (store.Halt, bool, error)
	Lessons(ctx context.Context, repo int64) ([]lesson.Lesson, error)
	Repositories(ctx context.Context, installation int64) ([]store.Repository, error)
	SaveDashboard(ctx context.Context, repo int64, number int) error
	Tasks(ctx context.Context, f store.Filter) ([]sia.Task, error)
}

// Settings provides the settings in force in a repository, without asking GitHub.
type Settings interface {
	Kept(ctx context.Context, installation int64, repo sia.Repo) (set sia.InForce, read bool, err error)
}

const (
	recheckInterval = time.Hour      // of an unchanged issue: somebody may have deleted or edited it
	refusedInterval = 24 * time.Hour // after a repository took no issue
	maxTasks        = 200            // of each list
	maxLessons      = 5              // latest lessons
	costWeeks       = 12             // on which the forecast is based
)

// Dashboards updates the dashboards of all repositories. It is safe for concurrent use.
type Dashboards struct {
	store    Store
	github   *github.App
	settings Settings
	links    render.Links
	now      func() time.Time

	mu   sync.Mutex
	last map[int64]lastIssue // by repository
}

// lastIssue is the dashboard of a repository as last written or found.
type lastIssue struct {
	body    string
	at      time.Time
	refused bool // the repository can't have one: it is archived, say, or its issues are turned off
}

// New returns the dashboards of all repositories.
func New(s Store, gh *github.App, settings Settings, l render.Links, now func() time.Time) *Dashboards {
	return &Dashboards{store: s, github: gh, settings: settings, links: l, now: now, last: map[int64]lastIssue{}}
}

// All updates every dashboard. An error in one repository does not affect the others.
func (d *Dashboards) All(ctx context.Context) error {
	repos, err := d.store.Repositories(ctx, 0)
	if err != nil {
		return err
	}
	var all []error
	for _, r := range repos {
		if err := d.update(ctx, r.Installation, r.Repo, 0); err != nil {
			all = append(all, fmt.Errorf("keep the dashboard of %s: %w", r, err))
		}
	}
	return errors.Join(all...)
}

// Refresh updates a repository's dashboard, even if it seems unchanged. issue is the number of a dashboard in it, used
// if none is stored.
func (d *Dashboards) Refresh(ctx context.Context, installation int64, repo sia.Repo, issue int) error {
	return d.update(ctx, installation, repo, issue)
}

// Closed explains on a closed dashboard what closing it means, once for each event.
func (d *Dashboards) Closed(ctx context.Context, installation int64, repo sia.Repo, issue int, event string) error {
	m := render.Marker{Kind: "dashboard-closed", Key: event}
	_, err := d.github.Repo(installation, repo).UpsertComment(ctx, issue, m.String(), render.BoardClosed, 0)
	return err
}

// update updates a dashboard. issue is as in [Dashboards.Refresh]; 0: it need not be updated if it seems unchanged.
func (d *Dashboards) update(ctx context.Context, installation int64, repo sia.Repo, issue int) error {
	set, read, err := d.settings.Kept(ctx, installation, repo)
	if err != nil || !read || !set.Dashboard {
		return err
	}
	d.mu.Lock()
	last := d.last[repo.ID]
	d.mu.Unlock()
	age := d.now().Sub(last.at)
	if issue == 0 && last.refused && age < refusedInterval {
		return nil
	}
	view, err := d.view(ctx, installation, repo)
	if err != nil {
		return err
	}
	body := render.BoardBody(view, d.links)
	if issue == 0 && last.body == body && age < recheckInterval {
		return nil
	}
	next := lastIssue{body: body, at: d.now()}
	next.refused, err = d.write(ctx, installation, repo, issue, body)
	if err == nil || next.refused {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last[repo.ID] = next
	}
	return err
}

// write writes a dashboard, and stores the issue's number. The repository has refused it if it can't have an issue, or
// for any other reason that another try does not change: each try would count as a write to GitHub.
func (d *Dashboards) write(
	ctx context.Context, installation int64, repo sia.Repo, issue int, body string,
) (refused bool, err error) {
	known, err := d.store.Dashboard(ctx, repo.ID)
	if err != nil {
		return false, err
	}
	r := d.github.Repo(installation, repo)
	if known == 0 && issue == 0 {
		now, err := r.ByID(ctx)
		if err != nil || now.Archived || now.IssuesOff {
			return err == nil || sia.IsPermanent(err), err
		}
	}
	number, err := r.EnsureIssue(ctx, cmp.Or(known, issue), github.NewIssue{
		Marker: render.BoardMarker(repo.ID).String(), Title: render.BoardTitle, Body: body,
	})
	if err != nil || number == known {
		return sia.IsPermanent(err), err
	}
	return false, d.store.SaveDashboard(ctx, repo.ID, number)
}

// view gathers the content of a dashboard.
func (d *Dashboards) view(ctx context.Context, installation int64, repo sia.Repo) (v render.Board, err error) {
	if v.Tasks, err = d.store.Tasks(ctx, store.Filter{Repo: repo.ID, Open: true, Limit: maxTasks}); err != nil {
		return v, err
	}
	passed := store.Find{Repo: repo.ID, Oldest: true, Limit: maxTasks, Temperatures: []sia.Temperature{sia.Cool}}
	drafts, err := d.store.FindTasks(ctx, store.SeesAll(), passed)
	if err != nil {
		return v, err
	}
	v.Tasks = append(v.Tasks, drafts...)
	passed.Temperatures = []sia.Temperature{sia.Cold}
	if v.Ready, err = d.store.FindTasks(ctx, store.SeesAll(), passed); err != nil {
		return v, err
	}
	changes, err := d.store.Experiments(ctx, installation, true)
	if err != nil {
		return v, err
	}
	for _, x := range changes {
		if x.Waits() && x.Place.ID == repo.ID {
			v.Changes = append(v.Changes, render.PolicyChange{Name: x.Name, Change: x.Change, Phase: string(x.Phase), Why: x.Why,
				Place: x.Place, Pull: x.Pull})
		}
	}
	halt, halted, err := d.store.HaltOver(ctx, installation, repo.ID)
	if err != nil {
		return v, err
	}
	if halted {
		v.Halted = cmp.Or(halt.Reason, string(halt.Scope))
		v.Lifts = halt.Scope == sia.RepositoryHalt(repo.ID) && !halt.Actor().Operator
	}
	now := d.now().UTC()
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	spent, err := d.store.Costs(ctx, store.SeesOnly(repo.ID), month, month.AddDate(0, 1, 0))
	if err != nil {
		return v, err
	}
	for _, c := range spent {
		v.Spent += c.Spent
	}
	// Whole days keep the text from changing by the minute.
	today := now.Truncate(24 * time.Hour)
	times := make([]time.Time, costWeeks+1)
	for i := range times {
		times[i] = today.AddDate(0, 0, -7*(costWeeks-i))
	}
	weeks := make([]sia.Credits, costWeeks)
	costs, err := d.store.Costs(ctx, store.SeesOnly(repo.ID), times...)
	if err != nil {
		return v, err
	}
	for _, c := range costs {
		weeks[c.Period] += c.Spent
	}
	if span, known := sia.NextMonth(weeks); known {
		v.Next = &span
	}
	lessons, err := d.store.Lessons(ctx, repo.ID)
	if err != nil {
		return v, err
	}
	lessons = slices.DeleteFunc(lessons, func(l lesson.Lesson) bool { return !l.Live() })
	slices.SortStableFunc(lessons, func(a, b lesson.Lesson) int { return b.CreatedAt.Compare(a.CreatedAt) })
	for _, l := range lessons[:min(len(lessons), maxLessons)] {
		v.Learned = append(v.Learned, l.Text)
	}
	return v, nil
}
