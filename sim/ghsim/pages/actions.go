package pages

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

type actionsPage struct{ Runs []runCard }

func (actionsPage) title() string { return "Workflow runs" }

type runCard struct {
	ID, Number          int64
	Attempt             int
	Name, Title, Branch string
	SHA, State, Event   string
	At                  time.Time
	Jobs                []checkCard
}

func (st *site) actionsPage(repo *model.Repository, r *http.Request) (string, any, error) {
	var p actionsPage
	for _, run := range slices.Backward(repo.Runs) {
		if id := r.PathValue("run"); id != "" && id != strconv.FormatInt(run.ID, 10) {
			continue
		}
		c := runCard{ID: run.ID, Number: run.Number, Attempt: run.Attempt, Name: run.Name,
			Title:  st.git.Facts(repo.Dir, run.SHA).Subject(),
			Branch: run.Branch, SHA: run.SHA, State: run.Status, Event: run.Event.Name, At: run.Made}
		if run.Status == "completed" {
			c.State = run.Conclusion
		}
		for _, j := range run.Latest() {
			c.Jobs = append(c.Jobs, checkCardOf(j.Check))
		}
		p.Runs = append(p.Runs, c)
	}
	return "actions", p, nil
}
