package sia

import (
	"fmt"
	"strings"
	"time"
)

// Effect is one side effect to carry out. The worker takes everything that is not
// here from the task.
type Effect struct {
	Key     string     `json:"key" mask:"-"` // task/attempt/kind, with a suffix if a kind repeats; never reused
	Task    TaskID     `json:"task"`
	Kind    EffectKind `json:"kind"`
	Attempt int        `json:"attempt"` // the attempt it belongs to; for begin and attempt the one that starts
	At      time.Time  `json:"at"`      // not to be carried out before this time

	Question DecisionType `json:"question,omitempty"` // decide
	Run      int          `json:"run,omitempty"`      // attempt: number of the run; 0: the only one
	// decide: the part in question; push: the part of the commit; 0: the attempt
	Part    int    `json:"part,omitempty"`
	SHA     SHA    `json:"sha,omitempty"`      // push: the commit; gate, rerun: the head
	Seq     int    `json:"seq,omitempty"`      // gate: number of the look; escalate: number of the question
	Comment int64  `json:"comment,omitempty"`  // react, reply: the comment; 0: the issue itself
	Thread  int64  `json:"thread,omitempty"`   // react, reply: a comment on a line instead; 0: none
	OnIssue int    `json:"on_issue,omitempty"` // react, reply: the issue or pull request
	Content string `json:"content,omitempty"`  // react: reaction; reply: text for people, or a topic
	// reply: login of the person who is refused something; empty: no refusal
	To        string  `json:"to,omitempty" mask:"-"`
	CheckIDs  []int64 `json:"check_ids,omitempty"`           // rerun
	TargetKey string  `json:"target_key,omitempty" mask:"-"` // cancel: the attempt effect's key
	Aside     bool    `json:"aside,omitempty"`               // react, reply: the task does not wait for it
}

// repeatInfix separates, in the key of a repeated effect, the original key from a unique suffix.
const repeatInfix = "-again-"

// First returns the key of the effect that f repeats, or f's own. A failed effect is recorded again under another key,
// but anything it wrote to GitHub before it failed carries the first key.
func (f Effect) First() string {
	key, _, _ := strings.Cut(f.Key, repeatInfix)
	return key
}

// effectKey returns the key of an effect.
func effectKey(t TaskID, attempt int, kind EffectKind, suffix string) string {
	k := fmt.Sprintf("%s/%d/%s", t, attempt, kind)
	if suffix != "" {
		k += "-" + suffix
	}
	return k
}
