package sia

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Already is a reason not to work on the issue now: other work that claims to resolve it, or issues
// that have to be resolved first.
type Already struct {
	URL  string `json:"url" mask:"-"`
	What string `json:"what"` // for people, such as "pull request #7, which is open, closes this issue"
	// a coder found it at the end of an attempt, and SIA checked the evidence
	Claimed bool `json:"claimed,omitempty"`
}

// The letters of the options of the question whether to work on the issue anyway.
const (
	alreadyGo   = "A" // work on it
	alreadyStop = "B" // the task ends
)

// alreadyQuestion returns the question whether to work on the issue anyway.
func alreadyQuestion(a Already) Escalation {
	return Escalation{
		Kind: AskAlready, Blocker: a.What + ": " + a.URL, Question: "Shall SIA work on this issue anyway?", Already: &a,
		Options: []Option{{Letter: alreadyGo, Text: "Work on it anyway"}, {Letter: alreadyStop, Text: "Stop", Fastest: true}},
	}
}

// ChecksIfResolved reports whether the next attempt must first check if the issue is resolved already or
// depends on others: no attempt of the present run has worked on it, or the issue was edited; and nobody
// asked to work on it anyway.
func (t *Task) ChecksIfResolved() bool {
	s := step{t: *t}
	return !t.Anyway && (!s.worked() || t.Edited != nil)
}

// answerAlready handles the answer to alreadyQuestion. An answer in free text is taken as a
// request to work on the issue, with the text as a constraint.
func (s *step) answerAlready(f AnswerGiven) {
	if f.Letter == alreadyStop {
		s.end(s.who()+" chose to stop: "+s.t.Escalation.Already.What, false)
		return
	}
	s.addStillBroken(f.Text)
	s.t.Anyway = true
	s.requeue()
}

// startAnyway handles "/sia start anyway" while that question is open.
func (s *step) startAnyway() {
	f := s.e.Fact.(Start)
	switch {
	case s.t.Escalation.Kind == AskEdited:
		s.startEdited()
	case s.t.Escalation.Kind != AskAlready:
		s.ignore("SIA waits for a person: `/sia answer …` answers its question, `/sia go` starts its plan")
	case !f.Anyway:
		s.ignore("%s; `/sia start anyway` has it worked on, `/sia stop` ends the task", s.t.Escalation.Already.What)
	default:
		s.answered(alreadyGo, s.t.Escalation.Options[0].Text)
		s.addStillBroken(f.Text)
		s.t.Anyway = true
		s.requeue()
		s.because("%s wants it worked on anyway", s.who())
	}
}

// Commit is one commit of a branch, with the message that names the issues it closes.
type Commit struct {
	SHA     SHA
	Message string
	URL     string
}

// Closes reports whether a text closes an issue of a repository by GitHub's rules: a
// keyword and the issue's number.
// https://docs.github.com/en/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
func Closes(text string, repo Repo, issue int) bool {
	name := regexp.QuoteMeta(repo.String())
	closing := regexp.MustCompile(fmt.Sprintf(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?[ \t]+`+
		`(?:#|GH-|%[1]s#|https?://[^/\s]+/%[1]s/issues/)%[2]d\b`, name, issue))
	return closing.MatchString(text)
}

var (
	revertsCommit = regexp.MustCompile(`\bThis reverts commit ([0-9a-f]{7,64})\b`)
	revertsPull   = regexp.MustCompile(`(?m)^Reverts (?:[\w.-]+/[\w.-]+)?#(\d+)\b`)
	ofPull        = regexp.MustCompile(`\(#(\d+)\)$|^Merge pull request #(\d+) `)
)

// ClosingCommit returns the newest of a branch's commits that closes an issue and was not
// reverted by a later one, and whether there is one. The commits are ordered newest first.
func ClosingCommit(commits []Commit, repo Repo, issue int) (Commit, bool) {
	takenBack, pulls := []string{}, map[string]bool{}
	for _, c := range commits {
		if revoked(c, takenBack, pulls) {
			continue
		}
		sha, pull := revertsCommit.FindStringSubmatch(c.Message), revertsPull.FindStringSubmatch(c.Message)
		switch {
		case sha != nil || pull != nil:
			if sha != nil {
				takenBack = append(takenBack, sha[1])
			}
			if pull != nil {
				pulls[pull[1]] = true
			}
		case Closes(c.Message, repo, issue):
			return c, true
		}
	}
	return Commit{}, false
}

// revoked reports whether a later commit reverted c, by its SHA or by the number of its pull
// request.
func revoked(c Commit, takenBack []string, pulls map[string]bool) bool {
	if slices.ContainsFunc(takenBack, func(sha string) bool { return strings.HasPrefix(string(c.SHA), sha) }) {
		return true
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	m := ofPull.FindStringSubmatch(strings.TrimSpace(subject))
	return m != nil && pulls[m[1]+m[2]]
}
