package memory

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
)

// window is how far back the figures beside today's look.
const window = 30 * 24 * time.Hour

// MetricsPath is where the figures of a day stand on the memory branch.
func MetricsPath(day time.Time) string {
	return root + "metrics/" + day.UTC().Format(time.DateOnly) + ".md"
}

// Metrics is a repository's file for a day in UTC: the targets that SIA reports
// about itself (document 1 §1.11), and the tasks that moved that day. tasks are
// all of the repository that moved within the 30 days before; any order.
func Metrics(day time.Time, repo sia.Repo, tasks []sia.Task) []byte {
	start := day.UTC().Truncate(24 * time.Hour)
	end := start.Add(24 * time.Hour)
	var today, month []sia.Task
	for _, t := range tasks {
		switch at := moved(t); {
		case !at.Before(end) || at.Before(end.Add(-window)):
			continue
		case !at.Before(start):
			today = append(today, t)
		}
		month = append(month, t)
	}
	slices.SortFunc(today, func(a, b sia.Task) int { return a.Issue - b.Issue })
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# %s in %s\n", start.Format(time.DateOnly), heading(repo.String()))
	p("How SIA did, by what the checks said. SIA writes this file; what you change here is written over.\n")
	p("| | target | today | 30 days |\n|---|---|---|---|")
	d, m := tally(today), tally(month)
	row := func(name, target string, value func(figures) string) {
		p("| %s | %s | %s | %s |", name, target, value(d), value(m))
	}
	row("Tasks that moved", "", func(f figures) string { return fmt.Sprint(f.tasks) })
	row("Passed", "", func(f figures) string { return fmt.Sprint(f.passed) })
	row("Interventions that resolved", "> 70 %", func(f figures) string { return of(f.resolved, f.judged) })
	row("Resolved by the first technique", "> 50 %", func(f figures) string { return of(f.first, f.intervened) })
	row("Escalated to a person", "< 30 %", func(f figures) string { return of(f.escalated, f.tasks) })
	row("Techniques tried per resolution", "< 3", func(f figures) string { return per(float64(f.tried), f.rescued) })
	row("Credits per solved task", "falling", func(f figures) string { return per(float64(f.credits)/float64(sia.Credit), f.passed) })
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
		p("| [#%d](../tasks/%d.md) %s | %s | %d | %s | %s |", t.Issue, t.Issue, cell(t.Title), t.State, len(t.Attempts), cell(strings.Join(used, ", ")), t.Credits.Spent+t.Credits.Overrun)
	}
	return []byte(b.String())
}

// figures count over tasks.
type figures struct {
	tasks, passed, escalated int
	judged, resolved         int         // interventions whose attempt was judged, and of those the ones that passed
	intervened, first        int         // tasks whose first intervention was judged, and of those resolved by it
	rescued, tried           int         // tasks resolved by an intervention, and interventions judged in them
	credits                  sia.Credits // of the tasks that passed, overruns included
}

func tally(tasks []sia.Task) (f figures) {
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

// of is a share in words: a percentage without its count says too much.
func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %% (%d of %d)", 100*float64(n)/float64(all), n, all)
}

func per(sum float64, n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", sum/float64(n))
}

// cell is text in a table that can't end its cell or open markup.
func cell(s string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "[", `\[`, "`", "\\`", "*", `\*`).Replace(heading(s))
}
