package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Wish is a change request by an authorised user on the pull request: in a review that requests
// changes, in a thread on a line, or in a comment. The task keeps it until the user has an answer.
type Wish struct {
	ID      string    `json:"id" mask:"-"` // of its event, such as "review/17"
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
	Review  int64     `json:"review,omitempty"` // id of the review with the included threads; 0: none
	Thread  int64     `json:"thread,omitempty"` // id of a comment in the thread; 0: none
	Text    string    `json:"text,omitempty"`   // text outside of threads
	Origin  Origin    `json:"origin,omitzero"`
	Attempt int       `json:"attempt,omitempty"` // the first attempt that was given it; 0: none yet
	From    SHA       `json:"from,omitempty"`    // the branch's head when that attempt began
	// threads of a review that were answered, by their first comments, and 0 for its text; empty: none was
	Answered []int64 `json:"answered,omitempty"`
}

// Thread is a thread on lines of the pull request, as an attempt is given it.
type Thread struct {
	ID   int64  `json:"id"` // of its first comment, to which answers are posted
	Path string `json:"path" mask:"-"`
	// 1-based lines that it is about, in the branch's head; 0: the file as a whole, or the line is
	// no longer there
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
	Old   bool   `json:"old,omitempty"`  // the lines are deleted lines of the base
	Seen  string `json:"seen,omitempty"` // the lines as the person saw them, without diff markers
	// comments of authorised users and SIA, in order
	Said []Said `json:"said"`
	// suggested replacement of the lines; nil: none
	Suggestion *string `json:"suggestion,omitempty"`
}

// Said is one comment.
type Said struct {
	By   string `json:"by" mask:"-"` // login
	Text string `json:"text"`
	Own  bool   `json:"own,omitempty"` // it is SIA's, so it requests nothing
}

// Asked contains the change requests on the pull request, as the next attempt is given them.
type Asked struct {
	Wishes []string `json:"wishes" mask:"-"` // ids of the requests that were read
	// ids of the requests that wait for the next attempt, whole or in part: more than an attempt can be given at once
	Rest    []string `json:"rest,omitempty" mask:"-"`
	Words   []Said   `json:"words,omitempty"` // comments outside of threads
	Threads []Thread `json:"threads,omitempty"`
}

// Owed is a report to people on their change requests, posted once.
type Owed struct {
	Key     string   `json:"key" mask:"-"`      // of the effect that posts it
	From    SHA      `json:"from"`              // the branch's head before
	Head    SHA      `json:"head"`              // the green commit with the requested changes; empty: none
	Summary string   `json:"summary,omitempty"` // the agent's summary of its last attempt
	Why     string   `json:"why,omitempty"`     // why there is no such commit, for people
	Threads []Thread `json:"threads,omitempty"`
	Words   []Said   `json:"words,omitempty"` // comments outside of threads
}

const (
	// maxWishWaits is the maximum wait for more change requests, in multiples of review.wait.
	maxWishWaits = 5
	// maxWishes is the maximum number of requests that a task keeps.
	maxWishes = 50
)

// hasOpenWishes reports whether there is a change request that no attempt was given, or a part of one.
func (t *Task) hasOpenWishes() bool {
	return slices.ContainsFunc(t.Wishes, func(w Wish) bool { return w.Attempt == 0 || t.Brief.Asked.postpones(w.ID) })
}

// postpones reports whether a request waits for the next attempt, whole or in part.
func (a *Asked) postpones(wish string) bool { return a != nil && slices.Contains(a.Rest, wish) }

func (a *Asked) empty() bool { return a == nil || len(a.Words)+len(a.Threads) == 0 }

// Answers parses the summary of an attempt that was given n numbered requests. It returns the answer to each:
// the text after its number in brackets at the start of a line, up to the next number or empty line.
// A missing answer is empty.
func Answers(summary string, n int) []string {
	out := make([]string, n)
	at := -1
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-* "))
		var k int
		if _, err := fmt.Sscanf(line, "[%d]", &k); err == nil {
			at = -1
			if k >= 1 && k <= n {
				at = k - 1
			}
			_, line, _ = strings.Cut(line, "]")
			line = strings.TrimLeft(line, " :–-")
		} else if line == "" {
			at = -1
		}
		if at >= 0 && line != "" {
			out[at] = strings.TrimSpace(out[at] + " " + line)
		}
	}
	return out
}
