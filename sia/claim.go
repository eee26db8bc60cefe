package sia

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Claim is a coder's claim at the end of an attempt that the issue is resolved already, with its evidence.
type Claim struct {
	Command string   `json:"command,omitempty"` // command of a test that shows it; empty: none
	Commit  SHA      `json:"commit,omitempty"`  // commit that resolved it, at least 7 hexadecimal digits; empty: none
	Paths   []string `json:"paths,omitempty"`   // files that the commit changed
}

var claimedCommit = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// ClaimOf parses the claim in a coder's summary: the line "Already so", and after it lines such as "Test: go test ./x
// -run TestY" and "Commit: 1a2b3c4 x/y.go". It reports whether there is a claim.
func ClaimOf(summary string) (c Claim, claims bool) {
	for line := range strings.Lines(summary) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*> ")
		key, rest, _ := strings.Cut(line, ":")
		rest = strings.Trim(strings.TrimSpace(rest), "`")
		switch key = strings.ToLower(strings.Trim(key, "*. ")); {
		case key == "already so":
			claims = true
		case !claims:
		case key == "test" && c.Command == "":
			c.Command = rest
		case key == "commit" && c.Commit == "":
			if words := strings.Fields(rest); len(words) > 0 && claimedCommit.MatchString(words[0]) {
				c.Commit, c.Paths = SHA(words[0]), words[1:]
			}
		}
	}
	return c, claims
}

// ClaimCheck is a claim and the result of checking it.
type ClaimCheck struct {
	Claim Claim `json:"claim"`
	Base  SHA   `json:"base"` // the base commit to which the claim applies
	// address of the commit that resolved it, or else of the base; empty: the test was not run there
	URL string `json:"url,omitempty" mask:"-"`
	// which evidence does not hold and why, for people; empty: all holds
	Wrong string `json:"wrong,omitempty"`
	// why the test could not be run, which says nothing about the claim; empty: it was run, or there is none
	NotRun string `json:"not_run,omitempty"`
}

// evidence describes the checked evidence, for people.
func (o ClaimCheck) evidence(branch string) string {
	var seen []string
	if o.Claim.Command != "" && o.NotRun == "" {
		seen = append(seen, fmt.Sprintf("SIA ran `%s` on `%s`, and it passes", o.Claim.Command, branch))
	}
	if o.Claim.Commit != "" {
		seen = append(seen, fmt.Sprintf("commit %s did it", o.Claim.Commit.Short()))
	}
	if len(seen) == 0 {
		return fmt.Sprintf("an attempt says so, but its test `%s` could not be run: %s", o.Claim.Command, o.NotRun)
	}
	return strings.Join(seen, "; ")
}

// handleClaim ends an attempt with a claim that the issue is resolved already, and reports whether there is one. If the
// evidence holds, or could not be checked, it asks a person, which costs no approach; else the attempt fails, with the
// reason as its failure.
func (s *step) handleClaim(f AttemptEnded) bool {
	if f.Claim == nil {
		return false
	}
	a, why := s.t.Attempt(), f.Claim.Wrong
	if why == "" && s.t.Anyway {
		why = "a person wants the issue worked on anyway"
	}
	if why != "" {
		a.Reason = "it says that this is so already, and the evidence does not hold: " + text.OneLine(why)
		a.Failures = []CheckFailure{{Check: "already so", Excerpt: why, Signature: "already-so", Class: "unknown"}}
		s.fail(f.Signals)
		return true
	}
	a.Outcome, a.Reason = AttemptAsked, "it says that this is so already"
	s.dropPrompt(a.PromptHash)
	s.open(claimQuestion(f.Claim.evidence(s.t.BaseBranch), f.Claim.URL))
	s.because("%s: SIA asks whether that resolves the issue", f.Claim.evidence(s.t.BaseBranch))
	return true
}

// addStillBroken adds a constraint for the next attempt: a person's text, and that a coder's claim did not hold.
func (s *step) addStillBroken(text string) {
	if a := s.t.Escalation.Already; a.Claimed {
		s.addConstraint("It is still broken, although this was found: " + a.What + ". " + strings.TrimSpace(text))
		return
	}
	s.addConstraint(text)
}

// askIfResolved asks a person whether the issue is resolved, which costs no approach, if the test that was to show its
// fault ran and passed on the base. The test may miss the fault: if the person answers that it is still broken, the
// next attempt works on the issue with or without such a test.
func (s *step) askIfResolved(test Part) {
	a, c := s.t.Attempt(), test.Checked
	if c == nil || !c.Ran || c.Holds || test.Kept == "" || a.From != "" || s.t.Anyway {
		return
	}
	s.closeParts()
	a.Outcome, a.Reason = AttemptAsked, "the test that was to show the fault passes on the code as it is"
	s.dropPrompt(a.PromptHash)
	what := fmt.Sprintf("a test written to show the fault passes on `%s`: `%s`", s.t.BaseBranch, c.Command)
	s.open(claimQuestion(what, ""))
	s.because("`%s` passes on `%s`: SIA asks whether the issue is resolved", c.Command, s.t.BaseBranch)
}

// claimQuestion returns the question whether the issue is resolved by what, the finding. url is the address of the
// evidence; empty: it is in the attempt's transcript.
func claimQuestion(what, url string) Escalation {
	return Escalation{
		Kind: AskAlready, Blocker: strings.TrimSuffix(what+": "+url, ": "), Question: "Is this resolved already?",
		Already: &Already{URL: url, What: what, Claimed: true},
		Options: []Option{{Letter: alreadyGo, Text: "It is still broken: work on it"},
			{Letter: alreadyStop, Text: "It is resolved: stop", Fastest: true}},
	}
}

// AuthorResolves reports whether an event is the issue author's word that the issue is resolved, the open question. It
// ends the task and spends nothing, so it counts whatever access the author has.
func (t Task) AuthorResolves(e Event) bool {
	q := t.Escalation
	if q == nil || q.Answered || q.Already == nil || !q.Already.Claimed || t.Author == "" ||
		!strings.EqualFold(e.By.Login, t.Author) {
		return false
	}
	switch f := e.Fact.(type) {
	case AnswerGiven:
		return f.Letter == alreadyStop
	case Stop:
		return e.Origin.Command
	}
	return false
}
