package sia

import (
	"fmt"
	"time"
)

// EffectKind says what an effect does.
type EffectKind string

// The effects. Each is carried out by one file of app/work.
const (
	DoBegin    EffectKind = "begin"    // look at the issue, the settings and the base, and say whether the next attempt may start
	DoAttempt  EffectKind = "attempt"  // run the coding agent; commit what it did, unpushed
	DoCancel   EffectKind = "cancel"   // stop the running attempt
	DoPush     EffectKind = "push"     // put the attempt's commit on the task's branch
	DoPull     EffectKind = "pull"     // make sure there is a draft pull request
	DoGate     EffectKind = "gate"     // read the checks of the head and judge them
	DoRerun    EffectKind = "rerun"    // ask for checks to be run again
	DoDiagnose EffectKind = "diagnose" // work out why the attempt failed and what to try
	DoReview   EffectKind = "review"   // have the diagnosis reviewed independently
	DoMemory   EffectKind = "memory"   // commit the task's memory
	DoAnnounce EffectKind = "announce" // post the intervention's comment
	DoEscalate EffectKind = "escalate" // open the escalation issue, or ask on the task's issue
	DoClose    EffectKind = "close"    // close the escalation issue with the result
	DoReady    EffectKind = "ready"    // mark the pull request ready for review
	DoSync     EffectKind = "sync"     // make status comment, labels and check run show the task's present state
	DoReact    EffectKind = "react"    // put a reaction on an issue or comment
	DoReply    EffectKind = "reply"    // answer a person's comment
	DoStudy    EffectKind = "study"    // learn what a person did differently, and propose it as a technique
)

// EffectKinds lists every kind of effect.
var EffectKinds = []EffectKind{
	DoBegin, DoAttempt, DoCancel, DoPush, DoPull, DoGate, DoRerun, DoDiagnose, DoReview,
	DoMemory, DoAnnounce, DoEscalate, DoClose, DoReady, DoSync, DoReact, DoReply, DoStudy,
}

// Effect is one thing that the world should be made to show. The worker reads
// the task for everything that is not here.
type Effect struct {
	Key     string     `json:"key"` // task/attempt/kind, with a suffix where a kind repeats; unique for ever
	Task    TaskID     `json:"task"`
	Kind    EffectKind `json:"kind"`
	Attempt int        `json:"attempt"` // the attempt it belongs to; for begin and attempt the one that starts
	At      time.Time  `json:"at"`      // not before

	SHA       string  `json:"sha,omitempty"`        // push: what to push; gate, rerun: the head
	Seq       int     `json:"seq,omitempty"`        // gate: which look
	Comment   int64   `json:"comment,omitempty"`    // react, reply: the comment; 0 is the issue itself
	OnIssue   int     `json:"on_issue,omitempty"`   // react, reply: the issue or pull request
	Content   string  `json:"content,omitempty"`    // react: reaction; reply: text for people, or a topic
	CheckIDs  []int64 `json:"check_ids,omitempty"`  // rerun
	TargetKey string  `json:"target_key,omitempty"` // cancel: the attempt effect's key
}

// effectKey builds the key of an effect.
func effectKey(t TaskID, attempt int, kind EffectKind, suffix string) string {
	k := fmt.Sprintf("%s/%d/%s", t, attempt, kind)
	if suffix != "" {
		k += "-" + suffix
	}
	return k
}
