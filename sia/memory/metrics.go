package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// monthWindow is the period of the figures next to today's.
const monthWindow = 30 * 24 * time.Hour

// MetricsPath returns the path of a day's figures on the memory branch.
func MetricsPath(day time.Time) string {
	return memoryFolder + "metrics/" + day.UTC().Format(time.DateOnly) + ".md"
}

// Metrics returns a repository's file for a day in UTC: SIA's figures against its targets (docs/rules.md#targets), and
// the tasks that moved that day. tasks are all tasks of the repository that moved within the 30 days before, in any
// order.
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
	d, m := Tally(today), Tally(month)
	row := func(name, target string, value func(Figures) string) {
		p("| %s | %s | %s | %s |", name, target, value(d), value(m))
	}
	row("Tasks that moved", "", func(f Figures) string { return fmt.Sprint(f.Tasks) })
	row("Passed", "", func(f Figures) string { return fmt.Sprint(f.Passed) })
	row("Interventions that resolved", "> 70 %", func(f Figures) string { return shareInWords(f.Resolved, f.Judged) })
	row("Resolved by the first technique", "> 50 %",
		func(f Figures) string { return shareInWords(f.First, f.Intervened) })
	row("Escalated to a person", "< 30 %", func(f Figures) string { return shareInWords(f.Escalated, f.Tasks) })
	row("Techniques tried per resolution", "< 3",
		func(f Figures) string { return averagePer(float64(f.Tried), f.Rescued) })
	row("Credits per solved task", "falling",
		func(f Figures) string { return averagePer(float64(f.Credits)/float64(sia.Credit), f.Passed) })
	row("Tests that failed before the push, mended there", "", func(f Figures) string {
		return shareInWords(f.Saved, f.Red)
	})
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
			tableCell(strings.Join(used, ", ")), t.Credits.Cost())
	}
	return []byte(b.String())
}

// Figures are SIA's results on some tasks, by which its targets are measured (docs/rules.md#targets).
type Figures struct {
	Tasks, Passed int
	Escalated     int         // tasks with a question to a user how to continue
	Judged        int         // interventions decided by the checks,
	Resolved      int         // and those that resolved the failure
	Intervened    int         // tasks with a judged first intervention,
	First         int         // and those that it resolved
	Rescued       int         // tasks that an intervention resolved,
	Tried         int         // and the interventions judged in them
	Credits       sia.Credits // credits of the tasks that passed, overruns included
	Red           int         // attempts with failed tests before the push,
	Saved         int         // and those without failed tests when pushed
}

// Tally returns the figures of tasks.
func Tally(tasks []sia.Task) (f Figures) {
	f.Tasks = len(tasks)
	for _, t := range tasks {
		if t.State == sia.Passed {
			f.Passed++
			f.Credits += t.Credits.Cost()
		}
		if t.Escalation != nil && t.Escalation.Kind == sia.AskIssue {
			f.Escalated++
		}
		for _, a := range t.Attempts {
			if a.Affected.Said() != "" {
				f.Red++
			}
			if a.Affected.Saved() {
				f.Saved++
			}
		}
		judged, rescued := 0, false
		for i, v := range t.Interventions {
			if v.Resolved == nil {
				continue
			}
			judged++
			rescued = rescued || *v.Resolved
			if i == 0 {
				f.Intervened++
				if *v.Resolved {
					f.First++
				}
			}
			if *v.Resolved {
				f.Resolved++
			}
		}
		f.Judged += judged
		if rescued {
			f.Rescued++
			f.Tried += judged
		}
	}
	return f
}

// shareInWords formats a share with its counts: a percentage alone would claim too much precision.
func shareInWords(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%d of %d)", 100*float64(n)/float64(all), n, all)
}

// averagePer formats an average.
func averagePer(sum float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", sum/float64(n))
}

// tableCell escapes text for a table cell.
func tableCell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "[", `\[`, "`", "\\`", "*", `\*`).Replace(titleText(s))
}
