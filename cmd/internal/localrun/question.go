package localrun

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/command"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/visible"
)

// ask asks the user at the terminal the task's question and forwards the answer. done: standard input has ended.
func (r *run) ask(t sia.Task) (done bool, err error) {
	about, number := waitsForUser(t), r.issue
	var options []sia.Option
	if e := t.Escalation; t.State == sia.Escalated {
		about, options = fmt.Sprintf("%s\n%s", e.Blocker, e.Question), e.Options
		if !e.Kind.OnIssue() {
			number = e.Issue
		}
	}
	key := fmt.Sprint(t.State, about, t.Credits.Budget, len(t.Attempts), t.Wanted, t.WantedCoder)
	switch {
	case key == r.lastQuestion && time.Since(r.answeredAt) < answerTimeout:
		return false, nil // the answer is still being processed
	case key == r.lastQuestion:
		r.progress("The answer was not understood, or changes nothing: the task still waits, so the question is asked again.")
	}
	r.progress("%s\n%s", r.Style.Bold("SIA asks:"), r.withoutLinks(about))
	if t.Gate.AwaitsPerson {
		r.list(gate.Findings(t.Gate.Explain))
	}
	for _, o := range options {
		r.progress("  %s) %s", o.Letter, o.Text)
	}
	fmt.Fprint(r.Err, "Answer with a letter, words, or a command such as /sia stop: ")
	line, _ := r.in.ReadString('\n') // the last one may lack a newline
	if line == "" {                  // standard input has ended: nobody answers
		return true, nil
	}
	answer := strings.TrimSpace(line)
	if answer == "" { // ask again
		return false, nil
	}
	if wrong := answerProblem(t, answer); wrong != "" {
		r.progress("%s", text.Capital(text.Sentence(wrong)))
		return false, nil
	}
	said, _ := command.Parse(answer, "sia")
	if q, _ := said.Fact.(sia.Query); q.Topic == "help" || q.Topic == "status" {
		r.lastQuestion = ""
		r.progress("%s\n%s", r.Style.Bold("SIA answers:"), answerHere(t, q.Topic))
		return false, nil
	}
	if said.Teach.Learn != "" && !r.job.opts.Memory {
		r.progress("Without --memory, that is forgotten when this run ends.")
	}
	r.lastQuestion, r.answeredAt = key, time.Now()
	if i := slices.IndexFunc(options, func(o sia.Option) bool { return strings.EqualFold(o.Letter, answer) }); i >= 0 {
		answer = options[i].Letter
	}
	if t.State == sia.Escalated && !strings.HasPrefix(answer, "/") { // on the task's own issue, plain text is a comment
		answer = "/sia answer " + answer
	}
	_, err = r.Sim.Comment(r.repo, number, login, answer)
	return false, err
}

// waitsForUser returns what the task waits for.
func waitsForUser(t sia.Task) string {
	if render.AwaitsTestAcceptance(t) {
		return "The check passes, but tests or protected files were changed: `/sia accept-tests` accepts that, `/sia stop` " +
			"ends the run."
	}
	return render.Waiting(t)
}

// answerHere answers /sia help and /sia status: on GitHub, the replies are about comments and who may write them.
func answerHere(t sia.Task, topic string) string {
	if topic == "status" {
		return render.Headline(t) + "."
	}
	said := "What you can do now:"
	for _, o := range render.Offers(t) {
		said += fmt.Sprintf("\n  `%s` %s", o.Write, o.Does)
	}
	said += "\nAlways:"
	for _, c := range command.Commands() {
		if c.Open || c.Name == "learn" || c.Name == "forget" || c.Name == "wrong" {
			said += fmt.Sprintf("\n  `%s` %s", strings.TrimSpace("/sia "+c.Name+" "+c.Args), c.Does)
		}
	}
	return said
}

// foldTags matches the tags with which GitHub folds a part of a comment.
var foldTags = lazyregexp.New(`</?(?:details|summary)>`)

// printReplies prints SIA's replies to commands, such as /sia spent. Its open question is asked again.
func (r *run) printReplies() {
	for _, e := range r.Sim.Timeline("issue_comment.created") {
		if m, ok := render.ParseMarker(e.Detail); ok && m.Kind == string(sia.DoReply) && e.Seq > r.lastReply {
			r.lastReply, r.lastQuestion = e.Seq, ""
			said := foldTags.ReplaceAllString(visible.Markdown(e.Detail), "")
			r.progress("%s\n%s", r.Style.Bold("SIA answers:"), strings.TrimSpace(r.withoutLinks(said)))
		}
	}
}

// markdownLink matches a link of Markdown, or an address by itself.
var markdownLink = lazyregexp.New(`\[([^\]\n]*)\]\((http://[^\s)]*)\)|http://[^\s)>\]]+`)

// withoutLinks leaves only the words of links to the servers of this process, which no browser can show and which end
// with the run.
func (r *run) withoutLinks(said string) string {
	return markdownLink.ReplaceAllStringFunc(said, func(link string) string {
		m := markdownLink.FindStringSubmatch(link)
		address := cmp.Or(m[2], link)
		if !strings.HasPrefix(address, r.Sim.URL()+"/") && !strings.HasPrefix(address, r.Pages()+"/") {
			return link
		}
		return cmp.Or(m[1], "a page that is not shown in a terminal")
	})
}

// answerProblem returns why an answer would have no effect; "" if it may have one.
func answerProblem(t sia.Task, answer string) string {
	said, ok := command.Parse(answer, "sia")
	switch {
	case ok:
		return said.Problem
	case render.AwaitsTestAcceptance(t):
		return "only a command is understood here: /sia accept-tests, /sia retry or /sia stop"
	case t.State != sia.Escalated: // plain text would be a comment on the issue
		return "only a command is understood here, such as /sia resume or /sia stop"
	}
	return ""
}

// answerTimeout is how long an answer may take to change the task. After that it counts as not understood.
const answerTimeout = 15 * time.Second
