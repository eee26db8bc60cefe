package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// Board is the content of a repository's dashboard issue.
type Board struct {
	Tasks   []sia.Task     // not ended, or passed with a draft that a person has to mark ready
	Changes []PolicyChange // of policies here, that wait for a person
	Ready   []sia.Task     // passed, with a pull request to review
	Spent   sia.Credits    // this month
	Next    *sia.Span      // forecast of the next 30 days, in thousandths of a credit; nil: too little history
	Learned []string       // the latest lessons
	Halted  string         // why everything here is paused; empty: nothing is
	Lifts   bool           // whether people with command permission here can resume
}

// BoardTitle is the title of the dashboard issue.
const BoardTitle = "SIA dashboard"

// BoardKind is the kind of the dashboard issue's marker.
const BoardKind = "dashboard"

// BoardMarker is the marker of a repository's dashboard issue.
func BoardMarker(repo int64) Marker { return Marker{Kind: BoardKind, Key: strconv.FormatInt(repo, 10)} }

// IsBoard reports whether an issue written by the app is a dashboard.
func IsBoard(body string) bool {
	m, ok := ParseMarker(body)
	return ok && m.Kind == BoardKind
}

// maxBoard bounds the tasks of each list, boardRoom the bytes of the lists of tasks that have not ended together, and
// readyRoom those of the list of tasks to review: the rest of the page is far shorter than what remains.
const (
	maxBoard        = 50
	maxBoardChanges = 10 // of a repository's policies; each has at most one
	readyRoom       = 12_000
	boardRoom       = MaxBody - readyRoom - 8_000
)

// BoardBody is the text of the dashboard issue: tasks that wait for people, tasks to review, tasks in progress, costs,
// and boxes that give commands.
func BoardBody(v Board, l Links) string {
	var p page
	p.add("What SIA does in this repository. People who may give it commands can tick a box: it is cleared at once, " +
		"and answered below. Close this issue to have it left alone; reopen it to have it kept again.")
	if v.Halted != "" {
		p.add("⏸️ **Everything here is paused:** " + Line(v.Halted, 300))
	}
	waits := func(t sia.Task) bool { return Waiting(t) != "" }
	waiting := boardTasks(slices.DeleteFunc(slices.Clone(v.Tasks), func(t sia.Task) bool { return !waits(t) }), l,
		boardRoom*2/3)
	p.add("### Waits for you\n\n" + waiting)
	p.add(boardChanges(v.Changes, l))
	if len(v.Ready) > 0 {
		p.add("### Ready to review\n\n" + boardReady(v.Ready, l))
	}
	p.add("### Under way\n\n" + boardTasks(slices.DeleteFunc(slices.Clone(v.Tasks), waits), l, boardRoom-len(waiting)))
	cost := fmt.Sprintf("### Costs\n\n%s credits spent this month. ", v.Spent)
	if v.Next != nil {
		cost += fmt.Sprintf("The next 30 days may cost %d (%d–%d).", v.Next.Mid/int64(sia.Credit),
			v.Next.Low/int64(sia.Credit),
			v.Next.High/int64(sia.Credit))
	} else {
		cost += "There are too few weeks for a forecast."
	}
	p.add(cost)
	if len(v.Learned) > 0 {
		s := "### Learned lately\n\n"
		for _, lesson := range v.Learned {
			s += "- " + Line(lesson, 200) + "\n"
		}
		p.add(s)
	}
	whole := boardBox("pause all", 0, "Pause everything in this repository")
	switch {
	case v.Halted != "" && v.Lifts:
		whole = boardBox("resume all", 0, "Go on with everything that was paused here")
	case v.Halted != "":
		whole = ""
	}
	if whole != "" {
		p.add("### The whole repository\n\n" + whole)
	}
	return p.String()
}

// boardTasks lists tasks with their boxes in at most room bytes, and counts the tasks left out.
func boardTasks(tasks []sia.Task, l Links, room int) string {
	if len(tasks) == 0 {
		return "Nothing."
	}
	slices.SortFunc(tasks, func(a, b sia.Task) int { return a.Issue - b.Issue })
	return boardRows(tasks, room, func(t sia.Task) string { return boardTask(t, l) })
}

// boardReady lists pull requests to review, the one that has waited longest first.
func boardReady(tasks []sia.Task, l Links) string {
	slices.SortStableFunc(tasks, func(a, b sia.Task) int { return a.Since.Compare(b.Since) })
	return boardRows(tasks, readyRoom, func(t sia.Task) string {
		pull := link(fmt.Sprintf("#%d", t.Pull.Number), l.Pull(t.Repo, t.Pull.Number))
		return fmt.Sprintf("- **%s %s**, since %s\n", pull, Line(t.Title, 100), t.Since.UTC().Format("2 January 2006"))
	})
}

// boardChanges lists changes of policies that wait for a person.
func boardChanges(changes []PolicyChange, l Links) string {
	var b strings.Builder
	for _, c := range changes[:min(len(changes), maxBoardChanges)] {
		fmt.Fprintf(&b, "**%s Policy %s**  \n%s\n\n", link(fmt.Sprintf("#%d", c.Pull), l.Pull(c.Place, c.Pull)),
			Line(c.Name+": "+c.Change, 200), Line(PolicyWaiting(c), 300))
	}
	return b.String()
}

// boardRows is the rows of tasks that fit in room bytes, and the number of those left out.
func boardRows(tasks []sia.Task, room int, row func(sia.Task) string) string {
	var b strings.Builder
	for i, t := range tasks {
		row := row(t)
		if i == maxBoard || b.Len()+len(row) > room {
			fmt.Fprintf(&b, "And %s.\n", text.Count(len(tasks)-i, "more task"))
			break
		}
		b.WriteString(row)
	}
	return b.String()
}

// boardTask is one task of a list.
func boardTask(t sia.Task, l Links) string {
	said := strings.TrimLeft(Headline(t), "⏳🛠️📝🔎🧭✋⏸✅⏹ ")
	if waiting := Waiting(t); waiting != "" {
		said = waiting
	}
	if e := t.Escalation; t.State == sia.Escalated && e != nil && e.Question != "" {
		said = e.Question
	}
	row := fmt.Sprintf("**%s %s**  \n%s\n", link(fmt.Sprintf("#%d", t.Issue), l.Issue(t.Repo, t.Issue)),
		Line(t.Title, 100), Line(said, 300))
	for _, o := range clicks(t) {
		switch o.Name {
		case actionGo, ActionRetry, ActionResume, ActionPause, ActionStop:
			row += boardBox(o.Name, t.Issue, text.Capital(o.Does))
		}
	}
	return row + "\n"
}

// boardBox is a box to tick. A comment on its line holds its command.
func boardBox(command string, issue int, words string) string {
	if issue != 0 {
		command += " " + strconv.Itoa(issue)
	}
	return fmt.Sprintf("- [ ] <!-- sia:do %s --> %s\n", command, words)
}

// BoardCommand is the command of a ticked box of a dashboard.
type BoardCommand struct {
	Words string // such as "stop" or "pause all", as after /sia
	Issue int    // of the task; 0: it is about the repository
}

// maxTicks bounds the boxes that are handled per edit.
const maxTicks = 10

var boardTick = lazyregexp.New(`(?m)^[-*] \[[xX]\] <!-- sia:do ` +
	`(pause all|resume all|(?:go|retry|resume|pause|stop) [0-9]{1,9}) -->`)

// Ticked returns the commands of boxes that an edit ticked.
func Ticked(before, after string) (all []BoardCommand) {
	was := boardTick.FindAllStringSubmatch(before, -1)
	for _, m := range boardTick.FindAllStringSubmatch(after, -1) {
		ticked := func(old []string) bool { return old[1] == m[1] }
		words, number, _ := strings.Cut(m[1], " ")
		c := BoardCommand{Words: words}
		if c.Issue, _ = strconv.Atoi(number); c.Issue == 0 { // "all"
			c.Words = m[1]
		}
		if slices.ContainsFunc(was, ticked) || slices.Contains(all, c) || len(all) == maxTicks {
			continue
		}
		all = append(all, c)
	}
	return all
}

// Texts on the dashboard issue.
const (
	BoardClosed = "SIA leaves this issue alone as long as it is closed. Reopen it to have it kept again, or set " +
		"`dashboard: false` in `.sia/config.yml`.\n"
	BoardIsNoTask = "This is SIA's dashboard and no task. " +
		"Tick a box here, or write the command on the issue that it is about."
)
