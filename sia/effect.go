package sia

import (
	"fmt"
	"strings"
	"time"
)

// Effect is one thing that the world should be made to show. The worker reads
// the task for everything that is not here.
type Effect struct {
	Key     string     `json:"key" mask:"-"` // task/attempt/kind, with a suffix where a kind repeats; unique for ever
	Task    TaskID     `json:"task"`
	Kind    EffectKind `json:"kind"`
	Attempt int        `json:"attempt"` // the attempt it belongs to; for begin and attempt the one that starts
	At      time.Time  `json:"at"`      // not before

	Question DecisionType `json:"question,omitempty"` // decide
	Run      int          `json:"run,omitempty"`      // attempt: which of several runs; 0: the only one
	// decide: which it is about; push: the commit's; 0: the attempt
	Part    int    `json:"part,omitempty"`
	SHA     SHA    `json:"sha,omitempty"`      // push: what to push; gate, rerun: the head
	Seq     int    `json:"seq,omitempty"`      // gate: which look; escalate: which question
	Comment int64  `json:"comment,omitempty"`  // react, reply: the comment; 0 is the issue itself
	Thread  int64  `json:"thread,omitempty"`   // react, reply: a comment on a line instead; 0: none
	OnIssue int    `json:"on_issue,omitempty"` // react, reply: the issue or pull request
	Content string `json:"content,omitempty"`  // react: reaction; reply: text for people, or a topic
	// reply: login of who is refused something; empty: nobody is
	To        string  `json:"to,omitempty" mask:"-"`
	CheckIDs  []int64 `json:"check_ids,omitempty"`           // rerun
	TargetKey string  `json:"target_key,omitempty" mask:"-"` // cancel: the attempt effect's key
	Aside     bool    `json:"aside,omitempty"`               // react, reply: the task does not wait for it
}

// again stands in a key between that of an effect and what tells those apart that do the same again.
const again = "-again-"

// First is the key of the first effect that did what f does. One that failed is written down again under another key,
// and what the first wrote to GitHub before it failed bears the first one's.
func (f Effect) First() string {
	key, _, _ := strings.Cut(f.Key, again)
	return key
}

// effectKey builds the key of an effect.
func effectKey(t TaskID, attempt int, kind EffectKind, suffix string) string {
	k := fmt.Sprintf("%s/%d/%s", t, attempt, kind)
	if suffix != "" {
		k += "-" + suffix
	}
	return k
}
