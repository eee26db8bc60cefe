package sia

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// Claim is what a coder says at the end of an attempt: what the issue asks for is so already, and what shows it.
type Claim struct {
	Command string   `json:"command,omitempty"` // runs a test that shows it; empty: none
	Commit  SHA      `json:"commit,omitempty"`  // that did it, at least 7 hexadecimal digits; empty: none
	Paths   []string `json:"paths,omitempty"`   // that this commit changed
}

var claimedCommit = regexp.MustCompile(`^[0-9a-f]{7,40}$`)

// ClaimOf reads the claim in a coder's last words: the line "Already so", and after it lines such as "Test: go test ./x
// -run TestY" and "Commit: 1a2b3c4 x/y.go". False where nothing is claimed.
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

// So is a claim, and what SIA saw of it.
type So struct {
	Claim Claim  `json:"claim"`
	Base  SHA    `json:"base"`                   // the commit that it is about
	URL   string `json:"url,omitempty" mask:"-"` // of the commit that did it, or else of the base
	// which of the evidence does not hold and why, for people; empty: all holds
	Wrong string `json:"wrong,omitempty"`
}

// shows says what SIA saw, for people.
func (o So) shows(branch string) string {
	var seen []string
	if o.Claim.Command != "" {
		seen = append(seen, fmt.Sprintf("SIA ran `%s` on `%s`, and it passes", o.Claim.Command, branch))
	}
	if o.Claim.Commit != "" {
		seen = append(seen, fmt.Sprintf("commit %s did it", o.Claim.Commit.Short()))
	}
	return strings.Join(seen, "; ")
}

// isSo reports whether a coder says that what the issue asks for is so already, where that is an answer. It asks a
// person where the evidence holds, at no approach; else the attempt has failed, and the next is told why.
func (s *step) isSo(f AttemptEnded) bool {
	if f.So == nil {
		return false
	}
	a, why := s.t.Attempt(), f.So.Wrong
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
	s.forgetPrompt(a.PromptHash)
	s.open(soAlready(f.So.shows(s.t.BaseBranch), f.So.URL))
	s.because("%s: SIA asks whether that resolves the issue", f.So.shows(s.t.BaseBranch))
	return true
}

// stillBroken has the next attempt told that what a coder said does not resolve the issue, in a person's words too.
func (s *step) stillBroken(text string) {
	if a := s.t.Escalation.Already; a.Claimed {
		s.words("It is still broken, although this was found: " + a.What + ". " + strings.TrimSpace(text))
		return
	}
	s.words(text)
}

// notShown asks a person whether the issue is resolved, at no approach, where SIA saw the test that was to show its
// fault run and pass on the base. A test may miss the fault: who says that it is still broken has
// the issue worked on, with or without such a test.
func (s *step) notShown(test Part) {
	a, c := s.t.Attempt(), test.Checked
	if c == nil || !c.Ran || c.Holds || test.Kept == "" || a.From != "" || s.t.Anyway {
		return
	}
	s.closeParts()
	a.Outcome, a.Reason = AttemptAsked, "the test that was to show the fault passes on the code as it is"
	s.forgetPrompt(a.PromptHash)
	s.open(soAlready(fmt.Sprintf("a test written to show the fault passes on `%s`: `%s`", s.t.BaseBranch, c.Command), ""))
	s.because("`%s` passes on `%s`: SIA asks whether the issue is resolved", c.Command, s.t.BaseBranch)
}

// soAlready asks whether what is so already resolves the issue. url shows it; empty: the attempt's transcript does.
func soAlready(what, url string) Escalation {
	return Escalation{
		Kind: AskAlready, Blocker: strings.TrimSuffix(what+": "+url, ": "), Question: "Is this resolved already?",
		Already: &Already{URL: url, What: what, Claimed: true},
		Options: []Option{{Letter: alreadyGo, Text: "It is still broken: work on it"},
			{Letter: alreadyStop, Text: "It is resolved: stop", Fastest: true}},
	}
}
