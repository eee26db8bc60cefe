package sia

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Wish is a change that somebody with a say asks for on the pull request: in a review that requests
// changes, in a thread on a line, or in words. It stays with the task until the person has an answer.
type Wish struct {
	ID      string    `json:"id" mask:"-"` // of the event that brought it, such as "review/17"
	By      Actor     `json:"by"`
	At      time.Time `json:"at"`
	Review  int64     `json:"review,omitempty"` // of all threads of this review; 0: of none
	Thread  int64     `json:"thread,omitempty"` // of the thread that this comment on a line stands in; 0: of none
	Text    string    `json:"text,omitempty"`   // words beside the threads
	Origin  Origin    `json:"origin,omitzero"`
	Attempt int       `json:"attempt,omitempty"` // the first attempt that was given it; 0: none was yet
	From    SHA       `json:"from,omitempty"`    // the branch's head when that attempt began
}

// Thread is a thread on a line of the pull request, as an attempt is given it.
type Thread struct {
	ID   int64  `json:"id"` // of its first comment: answers go there
	Path string `json:"path" mask:"-"`
	// 1-based lines that it is about, in the branch's head; 0: the file as a whole, or the line can't
	// be found there any more
	First int    `json:"first,omitempty"`
	Last  int    `json:"last,omitempty"`
	Old   bool   `json:"old,omitempty"`  // the lines are of the base, and were deleted
	Seen  string `json:"seen,omitempty"` // the lines as the person saw them, without the signs of a diff
	// people with a say in the repository, and SIA, in their order
	Said []Said `json:"said"`
	// what the lines are to be replaced with; nil: nothing was suggested
	Suggestion *string `json:"suggestion,omitempty"`
}

// Said is what somebody said.
type Said struct {
	By   string `json:"by" mask:"-"` // login
	Text string `json:"text"`
}

// Asked is what people ask for on the pull request, as the next attempt is given it.
type Asked struct {
	Wishes  []string `json:"wishes" mask:"-"` // ids of those that were read
	Words   []Said   `json:"words,omitempty"` // beside threads
	Threads []Thread `json:"threads,omitempty"`
}

// Owed is a report due to people about what they asked for, once.
type Owed struct {
	Key     string   `json:"key" mask:"-"`      // of the effect that tells them
	From    SHA      `json:"from"`              // where the branch stood before
	Head    SHA      `json:"head"`              // the green commit that deals with it; empty: none does
	Summary string   `json:"summary,omitempty"` // the agent's words about its last attempt
	Why     string   `json:"why,omitempty"`     // none does, for people
	Threads []Thread `json:"threads,omitempty"`
	Words   []Said   `json:"words,omitempty"` // beside threads
}

const (
	// wishPatience is how many times review.wait SIA waits at most for more that is asked for.
	wishPatience = 5
	// mostWishes bounds what waits at once.
	mostWishes = 50
)

// wishing reports whether something is asked for that no attempt was given.
func (t *Task) wishing() bool {
	return slices.ContainsFunc(t.Wishes, func(w Wish) bool { return w.Attempt == 0 })
}

func (a *Asked) empty() bool { return a == nil || len(a.Words)+len(a.Threads) == 0 }

// Answers reads, in the summary of an attempt that was given n things to do, what it says about each:
// the text of the lines that begin with its number in brackets, up to the next number or empty line.
// What is not answered is empty.
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
