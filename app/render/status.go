package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/text"
)

// shownAttempts is how many of the latest attempts the status comment lists; earlier ones are counted.
const shownAttempts = 20

// Status is the only status comment of a task, on its issue: the task's state, every attempt, its cost, links, and what
// people can do. Times come from the task; now only determines the coarse elapsed time of a running task, so the text
// changes with now at most once an hour.
func Status(t sia.Task, l Links, now time.Time) string {
	head, you := "### "+Headline(t), briefCommands(t)
	progress := briefProgress(t)
	edited := editedLine(t)
	room := maxStatus - words(head) - words(you) - words(progress) - words(edited)
	warning := 0 // visible words of the warning
	if t.Warning != "" {
		warning = 16
	}
	said, whole := briefNow(t, room-warning)
	warning = min(warning, room-words(said)-1)
	var p page
	p.add(head)
	p.add(said)
	p.add(edited)
	if t.Warning != "" {
		p.add("> [!WARNING]\n> " + few(t.Warning, warning))
	}
	p.add(progress)
	p.add(briefParts(t, room-warning-words(said)))
	p.add(you)
	p.fold("Attempts, checks, cost and links", statusInFull(t, l, now, whole, fits(t.Warning, warning)))
	return p.String()
}

// briefNow describes the current step, the next, and whom the task waits for, in at most room words; whole reports
// whether nothing was left out.
func briefNow(t sia.Task, room int) (s string, whole bool) {
	if AwaitsTestAcceptance(t) {
		const rest = "It passes when somebody with write access has looked at these changes and accepts them"
		if list := changeList(t, room-words(rest)-3); list != "" { // "- 12 more"
			return rest + ":\n\n" + list, false
		}
		return rest + ".", false
	}
	if after := afterPass(t, room); after != "" {
		return after, false
	}
	if s = nowText(t, room); words(s) > room {
		s = nowText(withoutProgress(t), room)
	}
	return s, s == nowText(t, 0)
}

// cutToFit is foreign text of at most most words that fits in room words next to beside; room 0: unchanged.
func cutToFit(foreign string, most, room int, beside string) string {
	if room == 0 {
		return Line(foreign, 1000)
	}
	return few(foreign, min(most, room-words(beside)))
}

// briefProgress is the task's progress, its checks and links, a line each.
func briefProgress(t sia.Task) string {
	var lines []string
	if n := len(t.Attempts); n > 0 {
		s := fmt.Sprintf("**Attempt** %d of %d", n, mostAttempts(t))
		if t.Pull.Number != 0 {
			s += fmt.Sprintf(" · pull request #%d", t.Pull.Number)
		}
		lines = append(lines, s)
	}
	if said := forecastLine(t); said != "" {
		lines = append(lines, said)
	}
	if len(t.Checks) > 0 && t.Head != "" {
		lines = append(lines, "**Checks:** "+checkLine(t.Checks))
	}
	if said := finalLine(t, 12); said != "" {
		if o := t.Omission; o.StaysUnmet(t.Head) {
			said += " " + text.Sentence(few(sentenceCase(o.Why), 16))
		}
		lines = append(lines, said)
	}
	return strings.Join(lines, "  \n")
}

// shownChecks is how many checks are named on a line; the others are counted.
const shownChecks = 3

// checkLine lists the checks on one line, those that need action first.
func checkLine(checks []sia.Check) string {
	var names []string
	for _, colour := range []sia.CheckColour{sia.Red, sia.Blocked, sia.Running, sia.Excused, sia.Green,
		sia.Skipped} {
		for _, c := range checks {
			if c.Colour != colour {
				continue
			}
			icon, _, _ := strings.Cut(colourWords(c.Colour), " ")
			names = append(names, icon+" "+fewCode(c.Name, 3))
		}
	}
	if more := len(names) - shownChecks; more > 0 {
		return strings.Join(names[:shownChecks], " · ") + fmt.Sprintf(" · %d more", more)
	}
	return strings.Join(names, " · ")
}

// statusInFull is all the rest: also the current step and the warning, if the visible part shortened them.
func statusInFull(t sia.Task, l Links, now time.Time, whole, warned bool) string {
	var p page
	if !whole {
		p.add(nowText(t, 0))
	}
	if !warned {
		p.add(Quote(t.Warning))
	}
	p.add(attemptList(t, l))
	p.add(passChecksLine(t))
	if len(t.Checks) > 0 && t.Head != "" {
		p.add("**Checks**\n\n" + validation(t))
		p.add(strings.Join(gate.Unread(t.Gate.Explain), " "))
	}
	p.add(mergeRulesLine(t))
	p.add(fixLine(t))
	p.add(figures(t, now))
	p.add(placeLine(t, l))
	p.add(commandLine(t))
	return p.text()
}

// editedLine says that an edit of the issue was noticed, until an attempt has read it; a passed task answers the
// earlier text.
func editedLine(t sia.Task) string {
	if t.Edited == nil || t.State == sia.Stopped {
		return ""
	}
	by := ""
	if t.Edited.By.Login != "" {
		by = " by " + loginOr(t.Edited.By, "")
	}
	if t.State == sia.Passed {
		return fmt.Sprintf("⚠️ **Edited**%s meanwhile: this may answer the text before.", by)
	}
	return fmt.Sprintf("**Edited**%s: the next attempt reads the new text.", by)
}

// Headline is the task's state in a few words.
func Headline(t sia.Task) string {
	n := max(1, len(t.Attempts))
	switch t.State {
	case sia.Queued:
		return fmt.Sprintf("⏳ Attempt %d is about to start", len(t.Attempts)+1)
	case sia.Working:
		if plans(t) {
			return fmt.Sprintf("📝 Attempt %d makes a plan", n)
		}
		if a := multiRunAttempt(t); a != nil {
			return partsHead(*a)
		}
		return fmt.Sprintf("🛠️ Attempt %d is under way", n)
	case sia.PushedOut:
		return fmt.Sprintf("🛠️ Attempt %d is pushed", n)
	case sia.Checking:
		if AwaitsTestAcceptance(t) {
			return "✋ The checks are green, but a person has to accept changes to the tests"
		}
		switch by := t.HeadBy; {
		case strings.HasSuffix(by.Login, "[bot]"):
			return "🔎 A bot's commit is being checked"
		case by != (sia.Actor{}):
			return "🔎 A person's commit is being checked"
		}
		return fmt.Sprintf("🔎 Attempt %d is being checked", n)
	case sia.Diagnosing, sia.Reviewing:
		return fmt.Sprintf("🧭 Attempt %d did not pass; SIA is working out why", n)
	case sia.Announced:
		return fmt.Sprintf("🧭 SIA has a new approach; attempt %d is about to start", n+1)
	case sia.Escalated:
		if waitsForYes(t) {
			return "✋ A plan waits for somebody's yes"
		}
		return "✋ SIA needs an answer from a person"
	case sia.OnHold:
		return "⏸️ Paused"
	case sia.Passed:
		if t.Pull.Merged {
			return "✅ Done and merged"
		}
		if t.Aftermath == sia.Abandoned {
			return "✅ " + allGreen(t, "was", "") + "; the pull request was closed unmerged"
		}
		if said := doneWords(t); said != "" {
			return "✅ " + allGreen(t, "is", "") + "; " + said
		}
		return "✅ " + allGreen(t, "is", "")
	case sia.Stopped:
		return "⏹️ Stopped"
	}
	return "SIA"
}

// progress is the running attempt's progress; empty before it is reported.
func progress(t sia.Task) string {
	switch a := t.Attempt(); {
	case a == nil || a.Progress == nil:
		return ""
	case a.Divided():
		return progressOf(*a.Progress, 0)
	default:
		return progressOf(*a.Progress, t.Settings.Agent.MaxTurns)
	}
}

// progressOf is the progress of a run with a maximum number of turns; 0: it is not known.
func progressOf(p sia.Progress, most int) string {
	s := fmt.Sprintf(" (turn %d", p.Turn)
	if most > 0 {
		s += fmt.Sprintf(" of %d", most)
	}
	if p.Tests != "" {
		s += "; " + few(strings.TrimRight(p.Tests, ".,"), 6)
	}
	return s + ")"
}

// withoutProgress is the task without its attempt's progress.
func withoutProgress(t sia.Task) sia.Task {
	if progress(t) != "" {
		t.Attempts = slices.Clone(t.Attempts)
		t.Attempt().Progress = nil
	}
	return t
}

// requesters are the people who request changes on the pull request, if no attempt was given their requests.
func requesters(t sia.Task) string {
	var who []string
	for _, w := range t.Wishes {
		if one := Code(w.By.Login, 40); w.Attempt == 0 && !slices.Contains(who, one) {
			who = append(who, one)
		}
	}
	if len(who) > 3 {
		who = append(who[:3], "others")
	}
	return strings.Join(who, ", ")
}

// nowText describes the current step, the next, and whom the task waits for. Foreign words in it are cut to room words;
// 0: uncut.
func nowText(t sia.Task, room int) string {
	if t.State == sia.Queued || t.State == sia.Working || t.State == sia.PushedOut || t.State == sia.Checking {
		if said := followUpNow(t); said != "" {
			return said
		}
	}
	if (t.State == sia.Queued || t.State == sia.Announced) && !t.BeginsAt.IsZero() && t.NoRoom {
		return "A budget of the day is spent, or set aside for what is running: the next attempt begins by itself when " +
			"there is room."
	}
	switch t.State {
	case sia.Queued:
		if !t.BeginsAt.IsZero() && len(t.Wishes) > 0 {
			return fmt.Sprintf("%s asked for changes on the pull request. The next attempt begins at %s and is given all that "+
				"is asked for until then.", requesters(t), t.BeginsAt.UTC().Format("15:04:05 UTC"))
		}
		if !t.BeginsAt.IsZero() && len(t.Attempts) > t.Earlier {
			return fmt.Sprintf("The last failure says nothing about the attempt, so SIA waits until %s before it tries the "+
				"same again.", t.BeginsAt.UTC().Format("15:04:05 UTC"))
		}
		if !t.BeginsAt.IsZero() {
			return fmt.Sprintf("It waits for its turn and begins at %s: for each person SIA starts at most 3 tasks a minute, "+
				"and %s started more.", t.BeginsAt.UTC().Format("15:04:05 UTC"), Code(t.AskedBy.Login, 40))
		}
		return "A coding agent will work on a branch of its own. The repository's checks then decide whether the work is " +
			"right."
	case sia.Working:
		if plans(t) {
			return "The coding agent reads the repository and makes a plan; it changes nothing. The work begins when " +
				"somebody has approved the plan."
		}
		if a := multiRunAttempt(t); a != nil {
			return partsNow(*a, progress(t))
		}
		s := "The coding agent is at work"
		if a := t.Attempt(); a != nil && a.Technique != "" {
			s += ", with " + approach(*a)
		}
		return s + progress(t) + ". When it ends, its commit is pushed and the repository's checks decide."
	case sia.PushedOut:
		return "The commit is on the branch; the draft pull request is being brought up to date. The checks decide what " +
			"happens next."
	case sia.Checking:
		return checkingText(t)
	case sia.Diagnosing:
		return "SIA reads the transcript and the failing checks. Before another attempt starts, the diagnosis is " +
			"reviewed, recorded and posted."
	case sia.Reviewing:
		return "The diagnosis is made. It is reviewed independently, recorded in the task's memory and posted as a " +
			"comment before the next attempt starts."
	case sia.Announced:
		return "The diagnosis is posted and recorded. Comment `/sia stop` or `/sia pause` if the new approach should not " +
			"be tried."
	case sia.Escalated:
		return escalatedText(t, room)
	case sia.OnHold:
		return pausedText(t, room)
	case sia.Passed:
		if t.Pull.Merged {
			return "A person merged it. What SIA learned on the way is kept in its memory."
		}
		if t.Aftermath == sia.Abandoned {
			return abandonedText(t)
		}
		if t.Pull.LeftDraft {
			return fmt.Sprintf("#%d is green, and a draft because somebody made it one: press **Ready for review** there when "+
				"it is. SIA never merges: whether the change is wanted is for you to say.", t.Pull.Number)
		}
		if t.Pull.Refused != "" {
			return fmt.Sprintf("#%d is green and still a draft, because SIA may not change that: a person has to press **Ready "+
				"for review** there. SIA never merges: whether the change is wanted is for you to say.", t.Pull.Number)
		}
		if t.Pull.Number != 0 {
			return fmt.Sprintf("#%d is ready for review. SIA never merges: whether the change is wanted is for you to say.",
				t.Pull.Number)
		}
		return "The work is ready for review. SIA never merges: whether the change is wanted is for you to say."
	case sia.Stopped:
		return stoppedText(t, room)
	}
	return ""
}

func checkingText(t sia.Task) string {
	if AwaitsTestAcceptance(t) {
		s := "The task does not pass until somebody with write access has looked at these changes and accepts them." +
			lapsedAcceptance(t)
		if q := reasons(t); q != "" {
			s += "\n\n" + q
		}
		return s
	}
	var green, red, running int
	for _, c := range t.Checks {
		switch c.Colour {
		case sia.Green, sia.Excused:
			green++
		case sia.Red:
			red++
		case sia.Running, sia.Blocked:
			running++
		}
	}
	s := "SIA waits for the checks of " + Code(t.Head.Short(), 0)
	if t.HeadBy != (sia.Actor{}) {
		s += ", a commit by " + pushedBy(t.HeadBy)
	}
	if len(t.Checks) == 0 {
		return s + "; none has reported yet. Nothing but the checks decides whether the work is right."
	}
	return s + fmt.Sprintf(": %d green, %d running, %d red. Nothing but the checks decides whether the work is right.",
		green, running, red)
}

func escalatedText(t sia.Task, room int) string {
	e := t.Escalation
	if e == nil {
		return ""
	}
	if waitsForYes(t) {
		return planWaits(t, *e)
	}
	rest := "The options are " + answerPlace(t, *e) + ". Nothing runs until somebody answers."
	return "**" + cutToFit(e.Question, 30, room, rest) + "**\n\n" + rest
}

// answerPlace is where a question can be answered.
func answerPlace(t sia.Task, e sia.Escalation) string {
	switch {
	case e.Issue != 0 && e.Issue != t.Issue:
		return fmt.Sprintf("in #%d", e.Issue)
	case e.URL != "":
		return "in " + link("this comment", e.URL)
	}
	return "in a comment below"
}

func pausedText(t sia.Task, room int) string {
	const rest = "Nothing runs and nothing is spent; the work so far is kept."
	switch p := t.Pause; {
	case p == nil:
		return rest
	case p.Kind == sia.PausedByPerson && p.By.Login != "":
		return "Paused by " + loginOr(p.By, "") + ". " + rest
	default:
		return "> " + cutToFit(sentenceCase(Waiting(t)), 50, room, rest+" >") + "\n\n" + rest
	}
}

func stoppedText(t sia.Task, room int) string {
	s := "Nothing runs any more."
	if t.Branch != "" && t.Head != "" {
		s += " What had been done is kept on " + Code(t.Branch, 200) + "."
	}
	if t.Ended != "" {
		s = "> " + cutToFit(sentenceCase(t.Ended), 30, room, s+" >") + "\n\n" + s
	}
	return s
}

// lapsedAcceptance says that an earlier acceptance does not cover the present question; empty if there was none.
func lapsedAcceptance(t sia.Task) string {
	switch n := len(t.Accepted); {
	case n > 0:
		return fmt.Sprintf(" What was accepted before was %s: that does not hold for %s.",
			Code(t.Accepted[n-1].Short(), 0), Code(t.Head.Short(), 0))
	case t.Lapsed:
		return " What was accepted before was for another base: that does not hold for " + Code(t.BaseBranch, 100) + "."
	}
	return ""
}

// reasons is the gate's explanation of its last verdict.
func reasons(t sia.Task) string {
	var b strings.Builder
	for i, r := range t.Gate.Explain {
		if i == 20 {
			fmt.Fprintf(&b, "- and %d more\n", len(t.Gate.Explain)-i)
			break
		}
		b.WriteString("- " + Line(r, 300) + "\n")
	}
	return b.String()
}

// attemptList has one line for each attempt, and its parts below. It has no tick boxes: ticking them would have no
// effect.
func attemptList(t sia.Task, l Links) string {
	if len(t.Attempts) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("**Attempts**\n\n")
	first := max(0, len(t.Attempts)-shownAttempts)
	if first > 0 {
		fmt.Fprintf(&b, "- %s before these; the memory file lists them\n", text.Count(first, "attempt"))
	}
	for _, a := range t.Attempts[first:] {
		b.WriteString("- " + attemptLine(t, a, l) + "\n" + partList(a))
	}
	if a := t.Attempt(); a.Assigned != "" {
		b.WriteString("\nWhy " + Line(a.Coder, 40) + ": " + Line(a.Assigned, 400) + "\n")
	}
	return b.String()
}

func attemptLine(t sia.Task, a sia.Attempt, l Links) string {
	icon, words := outcomeWords(a)
	if a.Outcome == "" && !a.EndedAt.IsZero() {
		words = "waits for its checks"
	}
	s := fmt.Sprintf("%s **Attempt %d** — %s — %s", icon, a.Number, approach(a), words)
	if a.Assigned != "" {
		s = fmt.Sprintf("%s **Attempt %d** by %s — %s — %s", icon, a.Number, Line(a.Coder, 40), approach(a), words)
	}
	if names := failing(a); len(names) > 0 && a.Outcome != sia.AttemptPass {
		s += ": " + codes(names, 3)
	} else if a.Reason != "" {
		s += ": " + Line(a.Reason, 200)
	}
	var facts []string
	if a.Head != "" {
		facts = append(facts, link(Code(a.Head.Short(), 0), l.Commit(t.Repo, a.Head)))
	}
	if !a.EndedAt.IsZero() && !a.StartedAt.IsZero() {
		facts = append(facts, Duration(a.EndedAt.Sub(a.StartedAt)))
	} else if !a.StartedAt.IsZero() {
		facts = append(facts, "since "+at(a.StartedAt))
	}
	if a.Cost > 0 {
		facts = append(facts, a.Cost.String()+" credits")
	}
	if said := a.Affected.Said(); said != "" {
		facts = append(facts, said)
	}
	if a.Outcome != "" { // memory is committed with the outcome
		facts = append(facts, link("transcript", l.Transcript(t, a.Number)))
	}
	for _, iv := range t.Interventions {
		if iv.After == a.Number && iv.CommentURL != "" {
			facts = append(facts, link("diagnosis", iv.CommentURL))
		}
	}
	if len(facts) > 0 {
		s += " (" + strings.Join(facts, ", ") + ")"
	}
	return s
}

func failing(a sia.Attempt) []string {
	names := make([]string, 0, len(a.Failures))
	for _, f := range a.Failures {
		names = append(names, f.Check)
	}
	return names
}

// figures are credits, approaches and time.
func figures(t sia.Task, now time.Time) string {
	var lines []string
	if t.BaseSHA != "" { // else the repository's settings, which give the number, are not read yet
		lines = append(lines, "**Credits:** "+credits(t.Credits), "**Approaches left:** "+approachesLeft(t))
	}
	if !t.StartedAt.IsZero() {
		s := "**Time:** started " + at(t.StartedAt)
		if t.AskedBy.Login != "" {
			s += " by " + Code(t.AskedBy.Login, 40)
		}
		if t.State.Final() {
			s += ", took " + Duration(t.Since.Sub(t.StartedAt))
		} else if long := elapsed(now.Sub(t.StartedAt)); long != "" {
			s += ", " + long + " ago"
		}
		lines = append(lines, s)
	}
	if said := forecastInFull(t); said != "" {
		lines = append(lines, said)
	}
	return strings.Join(lines, "  \n")
}

// approachesLeft is the only count of approaches that people read: with the number of the attempt it adds up to the
// maximum number of attempts.
func approachesLeft(t sia.Task) string {
	if left := t.ApproachesLeft(); left > 0 {
		return fmt.Sprint(left)
	}
	return "none"
}

// hasMemory reports whether the task's memory file is known to be on the memory branch: it is committed before each
// intervention's comment and each question, and when the task ends.
func hasMemory(t sia.Task) bool {
	return len(t.Interventions) > 0 || t.Escalation != nil && t.Escalation.URL != "" ||
		t.State.Final() && !t.Unwritten && t.MemoryWarning == "" && !t.SavesMemory()
}

// placeLine links to everything that belongs to the task.
func placeLine(t sia.Task, l Links) string {
	var places []string
	if t.Pull.Number != 0 {
		places = append(places, fmt.Sprintf("pull request #%d", t.Pull.Number),
			link("checks", l.Pull(t.Repo, t.Pull.Number)+"/checks"))
	}
	if t.Head != "" {
		places = append(places, link("branch "+Code(t.Branch, 200), l.Branch(t.Repo, t.Branch)))
	}
	if hasMemory(t) {
		places = append(places, link("memory", l.Memory(t)))
	}
	if u := l.Task(t.ID); u != "" {
		places = append(places, link("timeline", u))
	}
	if len(places) == 0 {
		return ""
	}
	return "**Look:** " + strings.Join(places, " · ")
}
