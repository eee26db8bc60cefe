package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/sia-bot/sia/sim/ghsim/refusal"
)

// lag simulates replication: GitHub's servers receive a push or a new pull request one after another. For a number of
// answers, requests about a new object are refused.
type lag struct {
	answers int            // for each object; 0: no lag
	seq     int            // last journal entry that was read
	left    map[string]int // remaining answers by commit, and by repository and branch or number
}

// Lag makes each later commit, branch and pull request unknown to the API for a number of answers about it; 0 ends it.
// Git knows it at once.
func (h *Handler) Lag(answers int) {
	h.world.Lock()
	defer h.world.Unlock()
	h.lag = lag{answers: answers, seq: len(h.journal.Entries()), left: map[string]int{}}
}

// lags refuses a request about an object that is not known yet; the lock is held.
func (c *call) lags() error {
	l := &c.Handler.lag
	if l.answers == 0 || c.repo == nil {
		return nil
	}
	name := c.repo.FullName()
	for _, e := range c.journal.Entries()[l.seq:] {
		switch e.Kind {
		case "push", "push.created", "push.forced":
			l.left[e.SHA], l.left[e.Repo+" "+e.Ref] = l.answers, l.answers
		case "pull_request.opened":
			l.left[fmt.Sprintf("%s#%d", e.Repo, e.Number)] = l.answers
		}
	}
	l.seq = len(c.journal.Entries())

	branch := strings.TrimPrefix(c.params["ref"], "heads/")
	if c.params["branch"] != "" {
		branch = c.params["branch"]
	}
	var in struct {
		Head    string `json:"head"`
		HeadSHA string `json:"head_sha"`
	}
	if c.r.Method == http.MethodPost {
		_ = c.decode(&in) // an invalid body is refused later
	}
	number := c.params["number"]
	switch {
	case c.unknown(in.HeadSHA), len(branch) == 40 && c.unknown(branch):
		return refusal.Unprocessable("No commit found for SHA: " + in.HeadSHA + branch)
	case in.Head != "" && c.unknown(name+" "+in.Head):
		return refusal.Invalid("PullRequest", "head", "invalid", "")
	case c.params["branch"] != "" && c.asksRules():
		return nil // a missing branch has rules, too
	case c.params["branch"] != "" && c.unknown(name+" "+branch):
		return &refusal.Error{Code: http.StatusNotFound, Message: "Branch not found"}
	case branch != "" && c.unknown(name+" "+branch), number != "" && c.unknown(name+"#"+number):
		return refusal.NotFound()
	}
	return nil
}

// asksRules reports whether the request is for the rules of a branch.
// https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (c *call) asksRules() bool { return strings.Contains(c.r.URL.Path, "/rules/branches/") }

// unknown reports whether an object is not known yet, and counts the answer.
func (c *call) unknown(what string) bool {
	if what == "" || c.Handler.lag.left[what] == 0 {
		return false
	}
	c.Handler.lag.left[what]--
	return true
}
