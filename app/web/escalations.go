package web

import (
	"net/http"

	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/app/web/viewer"
	"github.com/sia-bot/sia/sia"
)

// shownQuestions is how many open questions are shown, those of the most recently changed tasks.
const shownQuestions = 50

// questionLine is an open question of a task.
type questionLine struct {
	taskLine
	Asked sia.Escalation `json:"asked"`
	May   bool           `json:"may_answer"` // whether the viewer may answer
}

// escalationsPage lists the questions that wait for a person's answer.
type escalationsPage struct {
	Questions []questionLine `json:"questions"`
	More      bool           `json:"more"` // there are others
}

func (s *site) escalations(r *http.Request) (frame, error) {
	v := viewer.From(r.Context())
	tasks, err := s.From.FindTasks(r.Context(), visibilityOf(v), store.Find{States: []sia.State{sia.Escalated},
		Limit: shownQuestions + 1})
	if err != nil {
		return frame{}, err
	}
	p := escalationsPage{Questions: []questionLine{}, More: len(tasks) > shownQuestions}
	for _, t := range tasks[:min(len(tasks), shownQuestions)] {
		if e := openQuestion(t); e != nil {
			l := s.line(v, t)
			p.Questions = append(p.Questions, questionLine{l, *e, l.Answers})
		}
	}
	return frame{Title: "Questions that wait for people", Live: true, Body: p}, nil
}
