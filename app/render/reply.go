package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	grammar "github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sia/text"
)

// Move is one decision on a task, from its event log.
type Move struct {
	At       time.Time
	Event    sia.Kind
	From, To sia.State
	Why      string // one sentence: the decision and its reason
}

// topicPrefix marks the content of a reply effect that names a topic.
const topicPrefix = "topic:"

// Reply answers a person's command: content is that of the reply effect, a sentence of SIA's or "topic:" and a topic of
// sia.Query. status is the id of the status comment, 0 when unknown; halted is [HaltLine] for the task's repository,
// empty when nothing is paused as a whole; moves and decisions are read for explain only.
func Reply(
	t sia.Task, content string, l Links, status int64, halted string, moves []Move, ds []sia.Decision,
) string {
	topic, ok := strings.CutPrefix(content, topicPrefix)
	if !ok {
		return Say(content)
	}
	switch topic {
	case "status":
		return StatusReply(t, l, status, halted)
	case "explain":
		return Explain(t, moves, ds)
	case "spent":
		return Spent(t)
	case "help":
		return Help(t)
	case "talk":
		return talkIsNoAnswer(t)
	case "shut":
		return closingIsNoAnswer(t)
	}
	return Say("this version of SIA has no answer to that; `/sia help` lists what it understands")
}

// Say is a short answer: what is not possible now, why, and what would be.
func Say(text string) string {
	s := strings.TrimSpace(Neutralise(sentenceCase(text)))
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?`)>") {
		s += "."
	}
	return cutAtLine(s, MaxBody) + "\n"
}

// Help lists the commands, those that make sense now first.
func Help(t sia.Task) string {
	var p page
	p.add("**What you can do now**\n\n" + commandTable(Offers(t)))
	p.fold("Every command", commandTable(everyCommand()))
	p.add(fmt.Sprintf("A command is the first line of a comment, on the issue or the pull request. Those that change "+
		"something count from people with %s access to this repository; 🚀 on your comment says that yours was obeyed, "+
		"👀 and a reply that it waits, and for what.",
		permission(t)))
	return p.String()
}

// everyCommand lists the commands of package command.
func everyCommand() []Offer {
	var all []Offer
	for _, c := range grammar.Commands() {
		does := c.Does
		if c.Open {
			does += " (for anybody)"
		}
		all = append(all, Offer{c.Name, strings.TrimSpace("/sia " + c.Name + " " + c.Args), does})
	}
	return all
}

func commandTable(cs []Offer) string {
	var b strings.Builder
	b.WriteString("| write | what it does |\n|---|---|\n")
	for _, c := range cs {
		fmt.Fprintf(&b, "| %s | %s |\n", cell(Code(c.Write, 0)), cell(c.Does))
	}
	return b.String()
}

// StatusReply answers /sia status: the task's state on one line, any pause, and a link to the status comment, which has
// the details and stays current. status is its id, 0 when unknown; halted is as in [Reply].
func StatusReply(t sia.Task, l Links, status int64, halted string) string {
	s := "**" + Headline(t) + "**, since " + at(t.Since) + "."
	if t.State == sia.OnHold && t.Pause != nil {
		s += " " + Line(sentenceCase(Waiting(t)), 400)
	}
	if halted != "" && (t.State != sia.OnHold || t.Pause == nil || t.Pause.Kind != sia.PausedByHalt) {
		s += " " + halted
	}
	if status == 0 {
		return s + " The status comment with everything else is about to be written.\n"
	}
	return s + " " + link("The status comment", l.Comment(t.Repo, t.Issue, status)) +
		" has everything else, and is kept up to date.\n"
}

// shownMoves are visible; earlier ones are folded.
const shownMoves = 15

// Explain answers /sia explain: the decisions so far, newest last, each with its reason, and the reasons for the chosen
// techniques. Moves without a reason are left out, and consecutive equal decisions are one line.
func Explain(t sia.Task, moves []Move, ds []sia.Decision) string {
	lines := decisions(moves)
	var p page
	p.add("**" + Headline(t) + "**. What happened, oldest first:")
	if len(lines) == 0 {
		p.add("Nothing has been decided yet.")
	}
	p.newest(lines, "earlier decisions")
	if len(ds) > 0 {
		p.add("**What SIA chose, and why**")
		p.newest(choices(ds), "earlier choices")
	}
	return p.String()
}

// newest adds the last lines visibly, and those before them folded.
func (p *page) newest(lines []string, earlier string) {
	first := max(0, len(lines)-shownMoves)
	if first > 0 {
		p.fold(fmt.Sprintf("%d %s", first, earlier), strings.Join(lines[:first], "\n"))
	}
	p.add(strings.Join(lines[first:], "\n"))
}

// undecided are the events that need no decision except when to check next.
var undecided = map[sia.Kind]bool{sia.KSyncDone: true, sia.KDone: true, sia.KCheckSeen: true,
	sia.KProgressed: true}

func decisions(moves []Move) []string {
	var lines []string
	last, repeated := Move{}, 1
	for _, m := range moves {
		if m.Why == "" || undecided[m.Event] {
			continue
		}
		line := "- " + at(m.At) + " — " + Line(sentenceCase(m.Why), 500)
		if m.From != m.To && m.To != "" {
			line += fmt.Sprintf(" *(%s)*", Line(string(m.To), 20))
		}
		if len(lines) > 0 && m.Why == last.Why && m.To == last.To {
			repeated++
			lines[len(lines)-1] = line + " (" + times(repeated) + " in a row)"
		} else {
			lines, repeated = append(lines, line), 1
		}
		last = m
	}
	return lines
}

// NoTask answers a command on an issue that has no task. halted is as in [Reply].
func NoTask(set sia.Settings, halted string) string {
	s := "SIA is not working on this issue. `/sia start` or the label " + Code(set.Label, 50) + " starts it."
	if halted != "" {
		s += " " + halted
	}
	return s
}

// NoTechnique answers /sia use with an unknown technique or coder. ids are the available techniques, coders those
// allowed to work if there is a choice.
func NoTechnique(asked sia.TechniqueID, ids []sia.TechniqueID, coders []string) string {
	names, shown := make([]string, len(ids)), make([]string, len(ids))
	for i, id := range ids {
		names[i], shown[i] = string(id), Code(string(id), 60)
	}
	what := "no technique "
	if len(coders) > 0 {
		what = "no technique and no coder "
	}
	s := "There is " + what + Code(string(asked), 60) + ", so nothing was changed."
	words, near := strings.Fields(string(asked)), ""
	for n := len(words); n > 0 && near == ""; n-- { // the last ones may not belong to the name
		near = text.Nearest(strings.Join(words[:n], "-"), slices.Concat(names, coders))
	}
	if near != "" {
		s += " Did you mean " + Code("/sia use "+near, 0) + "?"
	}
	if len(shown) == 0 {
		s += " Every technique was used in this task already."
	} else {
		s += " Those that this task has not used: " + text.List(shown) + "."
	}
	if len(coders) > 0 {
		s += " The coders: " + codes(coders, 20) + "."
	}
	return s
}

// Understood answers words to SIA that are no command, when it expects none. meant is the command that was probably
// intended, or ""; t is the task, zero where there is none.
func Understood(meant string, t sia.Task) string {
	s := "That is no command, and SIA has asked nothing here."
	if meant != grammar.NoneMeant {
		s += " Did you mean `/sia " + meant + "`?"
	}
	var can []string
	for _, c := range Offers(t) {
		can = append(can, Code(c.Write, 0))
	}
	return s + " You can write " + strings.Join(can, ", ") + ", `/sia status`, or `/sia help`."
}

// StartOnPull answers /sia start on a pull request.
const StartOnPull = "`/sia start` belongs on an issue. On SIA's pull request, `/sia start` followed by words asks " +
	"for a change."

// NotAllowed answers a start in a repository that the server does not serve.
const NotAllowed = "SIA is installed here, but whoever runs it has it work in other repositories only. They can add " +
	"this one to `--repos`; then label the issue again."

// NotPermitted is the only reply to somebody without permission for a command.
func NotPermitted(login, need string) string {
	return fmt.Sprintf("Thank you, %s. SIA takes this command only from people with %s access, so "+
		"nothing was done. "+
		"Somebody who has it can give the command for you; your words stay here for them to read.\n", Code(login, 40),
		Line(need, 20))
}

// LabelNotPermitted is the only reply to somebody who added a label without permission to start SIA.
func LabelNotPermitted(login, label, need string) string {
	return fmt.Sprintf("Thank you, %s. The label %s starts SIA when somebody with %s access puts it on, so nothing was "+
		"started. Somebody who has it can take the label off and put it on again.\n", Code(login, 40), Code(label, 50),
		Line(need, 20))
}

// TooMany says once that SIA stops answering in a thread for a while.
func TooMany(limit int, per string) string {
	return fmt.Sprintf("SIA has written %d times here within %s, which looks like a loop. It stays silent on this "+
		"thread until then; commands are still obeyed.\n", limit, Line(per, 20))
}

// Learned confirms /sia learn. known reports whether the lesson existed already. against are lessons that advise the
// opposite.
func Learned(l lesson.Lesson, known bool, against []lesson.Lesson) string {
	return learned(l, known, against, "")
}

// LearningOff answers /sia learn where learning is off.
const LearningOff = "This repository has lessons turned off (`learning.enabled` in its settings). Nothing was " +
	"noted, because no attempt would see it.\n"

// NothingToCorrect answers a correction before anything was done.
const NothingToCorrect = "No attempt at this has ended yet, so nothing can have been wrong yet. `/sia learn <text>` " +
	"notes what SIA should remember in any case.\n"

// Corrected confirms a person's correction of an attempt. told counts the lessons that the attempt was given, which the
// correction counts against; known and against are as in [Learned].
func Corrected(l lesson.Lesson, known bool, told int, against []lesson.Lesson) string {
	counted := ""
	switch {
	case told == 1:
		counted = "It counts against the one lesson in the attempt's prompt."
	case told > 1:
		counted = fmt.Sprintf("It counts against the %d lessons in the attempt's prompt.", told)
	}
	return learned(l, known, against, counted)
}

func learned(l lesson.Lesson, known bool, against []lesson.Lesson, counted string) string {
	var p page
	switch {
	case known && l.State == lesson.Forgotten:
		p.add("A lesson that says the same was forgotten here, so nothing was noted:")
	case known:
		p.add("This was known already; that it was said again is noted:")
	default:
		p.add("Noted. Attempts at issues that it fits get it from now on:")
	}
	p.add(Quote(cut(l.Told(), 2000)))
	if counted != "" {
		p.add(counted)
	}
	if len(against) > 0 {
		p.add("It contradicts an earlier lesson. An attempt gets only the one that fits better; " +
			"forget the one that is wrong:\n\n" + lessonList(against))
	}
	p.add(fmt.Sprintf("`/sia forget %s` takes it back.", l.ID))
	return p.String()
}

// Forgot confirms /sia forget.
func Forgot(l lesson.Lesson) string {
	return "Forgotten for good; no attempt gets it any more:\n\n" + Quote(cut(l.Told(), 2000)) + "\n"
}

// LessonEdited confirms on a page that a person edited a lesson.
func LessonEdited(l lesson.Lesson) string {
	told := "the next attempt gets it like this"
	if !l.Live() {
		told = "no attempt gets it"
	}
	return "Changed: " + told + ". `.sia/lessons.md` on the memory branch follows with the next commit there."
}

// ForgotNone says that /sia forget did nothing, because it matched no lesson or several.
func ForgotNone(text string, found []lesson.Lesson) string {
	if len(found) == 0 {
		return "No lesson here is like " + Code(text, 100) + ", so nothing was forgotten. `.sia/lessons.md` on the memory " +
			"branch lists them all.\n"
	}
	return "Several lessons of this repository are like " + Code(text, 100) + ", so nothing was forgotten. Say which, " +
		"by its id:\n\n" + lessonList(found) + "\n"
}

func lessonList(lessons []lesson.Lesson) string {
	var lines []string
	for _, l := range lessons[:min(len(lessons), 10)] {
		lines = append(lines, fmt.Sprintf("- `/sia forget %s` — %s", l.ID, Line(l.Told(), 300)))
	}
	return strings.Join(lines, "\n")
}
