package pages

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

type checkPage struct {
	checkCard
	SHA               string
	Summary, Text     string
	Started, Finished time.Time
	Annotations       []model.Annotation
	Buttons           []buttonCard
	Steps             []stepCard
	Log               []logLine
	Earlier           int // log lines left out
}

func (p checkPage) title() string { return p.Name + " · check" }

type buttonCard struct{ Label, Description, Identifier string }

type stepCard struct{ Name, State string }

// logLine is one line of a log; Class marks sections and errors.
type logLine struct{ Class, Text string }

func (st *site) checkPage(repo *model.Repository, r *http.Request) (string, any, error) {
	k := repo.Check(int64(number(r.PathValue("check"))))
	if k == nil {
		return "", nil, fmt.Errorf("check run %s: %w", r.PathValue("check"), errNoPage)
	}
	p := checkPage{checkCard: checkCardOf(k), SHA: k.SHA, Started: k.Started, Finished: k.Completed,
		Annotations: k.Annotations}
	if k.Summary != nil {
		p.Summary = *k.Summary
	}
	if k.Text != nil {
		p.Text = *k.Text
	}
	for _, a := range k.Actions {
		p.Buttons = append(p.Buttons, buttonCard{fmt.Sprint(a["label"]), fmt.Sprint(a["description"]),
			fmt.Sprint(a["identifier"])})
	}
	if k.Job != nil {
		for _, s := range k.Job.Steps {
			p.Steps = append(p.Steps, stepCard{s.Name, s.Conclusion})
		}
		p.Log, p.Earlier = logLines(string(k.Job.Log))
	}
	return "check", p, nil
}

// maxLogLines is how many lines of a log a page shows: the last ones.
const maxLogLines = 3000

var (
	ansi     = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`)
	logStamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT[\d:.]+Z `)
)

func logLines(log string) (lines []logLine, earlier int) {
	all := strings.Split(strings.TrimRight(log, "\n"), "\n")
	earlier = max(0, len(all)-maxLogLines)
	for _, l := range all[earlier:] {
		l = ansi.ReplaceAllString(logStamp.ReplaceAllString(l, ""), "")
		class := ""
		for _, c := range []string{"group", "error", "warning", "endgroup"} {
			if rest, is := strings.CutPrefix(l, "##["+c+"]"); is {
				l, class = rest, c
			}
		}
		if class != "endgroup" {
			lines = append(lines, logLine{class, l})
		}
	}
	return lines, earlier
}
