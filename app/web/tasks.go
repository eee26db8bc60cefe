package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Bounds of the list of tasks.
const (
	perPage  = 50
	lastPage = 1000
	wanted   = 100 // characters of the searched text
	months   = 12  // to choose from
)

// Pseudo-states: every task that waits for a person, and every pull request to be reviewed.
const (
	waiting sia.State = "waiting"
	ready   sia.State = "ready"
)

// tasksPage is one page of search results.
type tasksPage struct {
	repoChoice
	State      sia.State       `json:"state,omitempty"` // or waiting, or ready
	Technique  sia.TechniqueID `json:"technique,omitempty"`
	Text       string          `json:"text,omitempty"`
	Month      string          `json:"month,omitempty"` // of the last change, YYYY-MM
	Page       int             `json:"page"`            // from 1
	Tasks      []taskLine      `json:"tasks"`
	More       bool            `json:"more"` // there is a next page
	States     []sia.State     `json:"-"`    // to choose from
	Techniques []string        `json:"-"`
	Months     []string        `json:"-"`
	Earlier    string          `json:"-"` // addresses of the adjacent pages; empty: none
	Later      string          `json:"-"`
}

func (s *site) tasks(r *http.Request) (frame, error) {
	q := r.URL.Query()
	p := tasksPage{State: sia.State(q.Get("state")), Technique: sia.TechniqueID(q.Get("technique")),
		Text: text.Clip(q.Get("text"), wanted), Month: q.Get("month"), States: sia.States,
		Months: lastMonths(s.Now())}
	var err error
	if p.repoChoice, err = s.choice(r); err != nil {
		return frame{}, err
	}
	if p.Page, err = pageNumber(r); err != nil {
		return frame{}, err
	}
	f := store.Find{Repo: p.Repo, Technique: p.Technique, Text: p.Text, Skip: (p.Page - 1) * perPage, Limit: perPage + 1}
	switch {
	case p.State == waiting:
		f.Temperatures = []sia.Temperature{sia.Warm, sia.Cool}
	case p.State == ready:
		f.Temperatures = []sia.Temperature{sia.Cold}
	case slices.Contains(sia.States, p.State):
		f.States = []sia.State{p.State}
	case p.State != "":
		return frame{}, badRequest("state: there is no such state of a task.")
	}
	if p.Month != "" {
		if f.From, err = time.Parse("2006-01", p.Month); err != nil {
			return frame{}, badRequest("month: want a year and a month, such as 2026-05.")
		}
		f.To = f.From.AddDate(0, 1, 0)
	}
	tasks, err := s.From.FindTasks(r.Context(), p.sight, f)
	if err != nil {
		return frame{}, err
	}
	p.More = len(tasks) > perPage
	p.Tasks = s.lines(r, tasks[:min(len(tasks), perPage)])
	tallies, err := s.From.TechniqueTallies(r.Context(), p.sight, p.Repo)
	for _, t := range tallies {
		p.Techniques = append(p.Techniques, t.Name)
	}
	p.Earlier, p.Later = adjacent("/tasks", url.Values{"repo": q["repo"], "state": q["state"],
		"technique": q["technique"], "text": q["text"], "month": q["month"]}, p.Page, len(p.Tasks), p.More)
	live := slices.ContainsFunc(p.Tasks, func(l taskLine) bool { return !l.State.Final() })
	return frame{Title: "Tasks", Live: live, Body: p}, err
}

// pageNumber is the number of the page of a list, from 1.
func pageNumber(r *http.Request) (int, error) {
	n := r.URL.Query().Get("page")
	if n == "" {
		return 1, nil
	}
	page, err := strconv.Atoi(n)
	if err != nil || page < 1 || page > lastPage {
		return 0, badRequest("page: want a number from 1 to 1000; filters find what is further back.")
	}
	return page, nil
}

// adjacent are the addresses of the pages beside one that shows some entries of a list, with the same filters; empty:
// there is none.
func adjacent(path string, filters url.Values, page, shown int, more bool) (earlier, later string) {
	at := func(n int) string {
		q := maps.Clone(filters)
		q.Set("page", strconv.Itoa(n))
		return path + "?" + q.Encode()
	}
	switch {
	case page > 1 && shown == 0:
		earlier = at(1)
	case page > 1:
		earlier = at(page - 1)
	}
	if more && page < lastPage {
		later = at(page + 1)
	}
	return earlier, later
}

// lastMonths are the months up to now, as YYYY-MM, newest first.
func lastMonths(now time.Time) (all []string) {
	for i := range months {
		all = append(all, monthOf(now).AddDate(0, -i, 0).Format("2006-01"))
	}
	return all
}

// monthOf is the beginning of a time's month, in UTC.
func monthOf(t time.Time) time.Time {
	t = t.UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// costsPage is the cost of repositories and teams, by month.
type costsPage struct {
	Months []string   `json:"months"` // YYYY-MM in UTC, newest first
	Repos  []costLine `json:"repositories"`
	Teams  []teamLine `json:"teams"` // empty: no repository's settings name one
}

// teamLine is one team's cost by month, over the repositories that the viewer sees.
type teamLine struct {
	Team  string        `json:"team"` // empty: the settings name none
	Spent []sia.Credits `json:"spent"`
	All   sia.Credits   `json:"all"`
}

// costLine is one repository's cost by month.
type costLine struct {
	ID    int64         `json:"repo_id"`
	Name  string        `json:"repo"`
	Spent []sia.Credits `json:"spent"`
	All   sia.Credits   `json:"all"`
	Next  *sia.Span     `json:"next_30_days,omitempty"` // in thousandths of a credit; nil: too little history
}

// costMonths is how many months are shown.
const costMonths = 6

func (s *site) costs(r *http.Request) (frame, error) {
	c, err := s.choice(r)
	if err != nil {
		return frame{}, err
	}
	p := costsPage{Months: lastMonths(s.Now())[:costMonths], Repos: []costLine{}}
	var times []time.Time // from the first month's beginning to the last one's end
	for i := costMonths - 1; i >= -1; i-- {
		times = append(times, monthOf(s.Now()).AddDate(0, -i, 0))
	}
	costs, err := s.From.Costs(r.Context(), c.sight, times...)
	if err != nil {
		return frame{}, err
	}
	byRepo := map[int64]*costLine{}
	for _, cost := range costs {
		l := byRepo[cost.Repo]
		if l == nil {
			l = &costLine{ID: cost.Repo, Name: c.name(cost.Repo), Spent: make([]sia.Credits, costMonths)}
			byRepo[cost.Repo] = l
		}
		l.Spent[costMonths-1-cost.Period], l.All = cost.Spent, l.All+cost.Spent
	}
	next, err := s.nextMonth(r, c.sight)
	if err != nil {
		return frame{}, err
	}
	for _, l := range byRepo {
		l.Next = next[l.ID]
		p.Repos = append(p.Repos, *l)
	}
	slices.SortFunc(p.Repos, func(a, b costLine) int {
		return cmp.Or(cmp.Compare(b.All, a.All), cmp.Compare(a.ID, b.ID))
	})
	p.Teams, err = s.teamCosts(r, c.sight, p.Repos, times)
	return frame{Title: "What repositories cost", Body: p}, err
}

// teamCosts is the cost of teams between times, the most expensive first, and last the cost without a team.
func (s *site) teamCosts(
	r *http.Request, sight store.Visibility, repos []costLine, times []time.Time,
) ([]teamLine, error) {
	costs, err := s.From.TeamCosts(r.Context(), sight, times...)
	if err != nil || len(costs) == 0 {
		return []teamLine{}, err
	}
	none := teamLine{Spent: make([]sia.Credits, costMonths)}
	for _, l := range repos {
		none.All += l.All
		for i, c := range l.Spent {
			none.Spent[i] += c
		}
	}
	byTeam := map[string]*teamLine{}
	for _, c := range costs {
		l := byTeam[c.Team]
		if l == nil {
			l = &teamLine{Team: c.Team, Spent: make([]sia.Credits, costMonths)}
			byTeam[c.Team] = l
		}
		month := costMonths - 1 - c.Period
		l.Spent[month], l.All = c.Spent, l.All+c.Spent
		none.Spent[month], none.All = none.Spent[month]-c.Spent, none.All-c.Spent
	}
	teams := []teamLine{}
	for _, l := range byTeam {
		teams = append(teams, *l)
	}
	slices.SortFunc(teams, func(a, b teamLine) int {
		return cmp.Or(cmp.Compare(b.All, a.All), cmp.Compare(a.Team, b.Team))
	})
	if none.All > 0 {
		teams = append(teams, none)
	}
	return teams, nil
}

// nextMonth forecasts the cost of repositories in the next 30 days, for those with enough history.
func (s *site) nextMonth(r *http.Request, sight store.Visibility) (map[int64]*sia.Span, error) {
	const week = 7 * 24 * time.Hour
	var times []time.Time
	for i := range shownWeeks + 1 {
		times = append(times, s.Now().Add(-time.Duration(shownWeeks-i)*week))
	}
	costs, err := s.From.Costs(r.Context(), sight, times...)
	if err != nil {
		return nil, err
	}
	weeks := map[int64][]sia.Credits{}
	for _, cost := range costs {
		if weeks[cost.Repo] == nil {
			weeks[cost.Repo] = make([]sia.Credits, shownWeeks)
		}
		weeks[cost.Repo][cost.Period] = cost.Spent
	}
	out := map[int64]*sia.Span{}
	for repo, spent := range weeks {
		if span, known := sia.NextMonth(spent); known {
			out[repo] = &span
		}
	}
	return out, nil
}

// creditSpan is a forecast of credits for people.
func creditSpan(s *sia.Span) string {
	if s == nil {
		return "too few weeks"
	}
	whole := func(c int64) int64 { return (c + int64(sia.Credit)/2) / int64(sia.Credit) }
	return fmt.Sprintf("%d (%d–%d)", whole(s.Mid), whole(s.Low), whole(s.High))
}
