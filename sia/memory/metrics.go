package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// monthWindow is the time of the figures beside today's.
const monthWindow = 30 * 24 * time.Hour

// MetricsPath is where the figures of a day stand on the memory branch.
func MetricsPath(day time.Time) string {
	return memoryFolder + "metrics/" + day.UTC().Format(time.DateOnly) + ".md"
}

// Metrics is a repository's file for a day in UTC: how SIA did against its targets
// (docs/rules.md#targets), and the tasks that moved that day. tasks are all tasks of the repository
// that moved within the 30 days before, in any order.
func Metrics(day time.Time, repo sia.Repo, tasks []sia.Task) []byte {
	start := day.UTC().Truncate(24 * time.Hour)
	end := start.Add(24 * time.Hour)
	var today, month []sia.Task
	for _, t := range tasks {
		switch at := lastMoved(t); {
		case !at.Before(end) || at.Before(end.Add(-monthWindow)):
			continue
		case !at.Before(start):
			today = append(today, t)
		}
		month = append(month, t)
	}
	slices.SortFunc(today, func(a, b sia.Task) int { return a.Issue - b.Issue })
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# %s in %s\n", start.Format(time.DateOnly), titleText(repo.String()))
	p("How SIA did, by what the checks said. SIA writes this file; what you change here is written over.\n")
	p("| | target | today | 30 days |\n|---|---|---|---|")
	d, m := tallyTasks(today), tallyTasks(month)
	row := func(name, target string, value func(taskFigures) string) {
		p("| %s | %s | %s | %s |", name, target, value(d), value(m))
	}
	row("Tasks that moved", "", func(f taskFigures) string { return fmt.Sprint(f.tasks) })
	row("Passed", "", func(f taskFigures) string { return fmt.Sprint(f.passed) })
	row("Interventions that resolved", "> 70 %", func(f taskFigures) string { return shareInWords(f.resolved, f.judged) })
	row("Resolved by the first technique", "> 50 %",
		func(f taskFigures) string { return shareInWords(f.first, f.intervened) })
	row("Escalated to a person", "< 30 %", func(f taskFigures) string { return shareInWords(f.escalated, f.tasks) })
	row("Techniques tried per resolution", "< 3",
		func(f taskFigures) string { return averagePer(float64(f.tried), f.rescued) })
	row("Credits per solved task", "falling",
		func(f taskFigures) string { return averagePer(float64(f.credits)/float64(sia.Credit), f.passed) })
	p("\n## Tasks of the day\n")
	if len(today) == 0 {
		p("None.")
		return []byte(b.String())
	}
	p("| issue | state | attempts | techniques | credits |\n|---|---|---|---|---|")
	for _, t := range today {
		var used []string
		for _, id := range t.UsedTechniques() {
			used = append(used, string(id))
		}
		p("| [#%d](../tasks/%d.md) %s | %s | %d | %s | %s |", t.Issue, t.Issue, tableCell(t.Title), t.State, len(t.Attempts),
			tableCell(strings.Join(used, ", ")), t.Credits.Spent+t.Credits.Overrun)
	}
	return []byte(b.String())
}

// taskFigures count over tasks.
type taskFigures struct {
	tasks, passed, escalated int
	judged, resolved         int         // judged interventions, and how many of them resolved the failure
	intervened, first        int         // tasks with a judged first intervention, and how many it resolved
	rescued, tried           int         // tasks resolved by an intervention, and interventions judged in them
	credits                  sia.Credits // of the tasks that passed, overruns included
}

func tallyTasks(tasks []sia.Task) (f taskFigures) {
	f.tasks = len(tasks)
	for _, t := range tasks {
		if t.State == sia.Passed {
			f.passed++
			f.credits += t.Credits.Spent + t.Credits.Overrun
		}
		if t.Escalation != nil && t.Escalation.Kind == sia.AskIssue {
			f.escalated++
		}
		judged, rescued := 0, false
		for i, v := range t.Interventions {
			if v.Resolved == nil {
				continue
			}
			judged++
			rescued = rescued || *v.Resolved
			if i == 0 {
				f.intervened++
				if *v.Resolved {
					f.first++
				}
			}
			if *v.Resolved {
				f.resolved++
			}
		}
		f.judged += judged
		if rescued {
			f.rescued++
			f.tried += judged
		}
	}
	return f
}

// shareInWords is a share with its count: a percentage alone would claim too much.
func shareInWords(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%d of %d)", 100*float64(n)/float64(all), n, all)
}

// averagePer is a sum per piece, for people.
func averagePer(sum float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", sum/float64(n))
}

// tableCell is text in a table that can't end its cell or open markup.
func tableCell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "[", `\[`, "`", "\\`", "*", `\*`).Replace(titleText(s))
}
