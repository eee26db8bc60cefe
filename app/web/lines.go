package web

import (
	"net/http"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/policies/mine"
	"github.com/sia-bot/sia/sia"
)

// taskLine is one task in a list.
type taskLine struct {
	ID       sia.TaskID  `json:"id"`
	Repo     sia.Repo    `json:"repo"`
	Issue    int         `json:"issue"`
	Title    string      `json:"title"`
	State    sia.State   `json:"state"`
	Headline string      `json:"headline"`
	Waits    string      `json:"waits,omitempty"`    // what it waits for, and what a person can do
	Question string      `json:"question,omitempty"` // an open question of SIA's
	Attempts int         `json:"attempts"`
	Spent    sia.Credits `json:"spent"`
	Budget   sia.Credits `json:"budget"`
	Since    time.Time   `json:"since"`
	URL      string      `json:"issue_url"`
	Pull     string      `json:"pull_url,omitempty"` // of the open pull request of a task that has passed
	Answers  bool        `json:"-"`                  // whether the viewer may answer the question
	Badge    badge       `json:"-"`
	Which    string      `json:"-"` // which attempt, of how many
}

func (s *site) line(v viewer.Viewer, t sia.Task) taskLine {
	l := taskLine{ID: t.ID, Repo: t.Repo, Issue: t.Issue, Title: t.Title, State: t.State, Headline: render.Headline(t),
		Attempts: len(t.Attempts), Spent: t.Credits.Spent, Budget: t.Credits.Budget, Since: t.Since,
		URL: s.Links.Issue(t.Repo, t.Issue), Badge: stateBadge(t)}
	if len(t.Attempts) > 0 {
		l.Which = attemptOf(t, len(t.Attempts))
	}
	if t.State != sia.Stopped {
		l.Waits = render.Waiting(t)
	}
	if t.State == sia.Passed && t.Temperature() != "" {
		l.Pull = s.Links.Pull(t.Repo, t.Pull.Number)
	}
	if e := openQuestion(t); e != nil {
		l.Question, l.Answers = e.Question, v.May(t.Repo.ID, viewer.Writes)
	}
	return l
}

func (s *site) lines(r *http.Request, tasks []sia.Task) []taskLine {
	out := make([]taskLine, len(tasks))
	for i, t := range tasks {
		out[i] = s.line(viewer.From(r.Context()), t)
	}
	return out
}

// openQuestion is the question that a task waits for; nil: none.
func openQuestion(t sia.Task) *sia.Escalation {
	if t.State == sia.Escalated && t.Escalation != nil && !t.Escalation.Answered {
		return t.Escalation
	}
	return nil
}

// share is a proportion with its 95 % confidence interval.
type share struct {
	Of   int     `json:"of"`
	In   int     `json:"in"`
	Low  float64 `json:"low"` // 0–1
	High float64 `json:"high"`
}

func shareOf(of, in int) share {
	s := share{Of: of, In: in, High: 1}
	if in > 0 {
		s.Low, s.High = mine.Interval(of, in)
	}
	return s
}

// Mean is the share itself, 0 without any cases.
func (s share) Mean() float64 { return float64(s.Of) / float64(max(1, s.In)) }
