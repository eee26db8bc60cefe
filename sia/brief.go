package sia

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/sia-bot/sia/sia/plan"
)

// Brief is the input of an attempt. A technique transforms it: it changes tools,
// context, steps or starting commit, so that it has an effect even when the model
// ignores prose.
type Brief struct {
	Technique TechniqueID `json:"technique,omitempty"` // empty: the original brief, or an answer
	Prompt    string      `json:"prompt,omitempty"`    // SIA's instructions; empty: the task's text alone

	Tools        []string    `json:"tools,omitempty" mask:"-"`         // if set, only these tools are offered
	WithoutTools []string    `json:"without_tools,omitempty" mask:"-"` // tools that are not offered
	Steps        []plan.Part `json:"steps,omitempty"`                  // ordered, each with its own done-when
	OnlyFiles    []string    `json:"only_files,omitempty"`             // if set, the only files put into the context
	DropHistory  bool        `json:"drop_history,omitempty"`           // of earlier attempts include only their ledgers
	Examples     []Example   `json:"examples,omitempty"`               // taken from the repository
	// the constraint lifted; its restoration is the last step
	Relaxed string   `json:"relaxed,omitempty"`
	Quotes  []string `json:"quotes,omitempty"` // error lines to avoid, quoted
	// start at the base commit instead of the branch's head
	FromBase bool `json:"from_base,omitempty"`
	FromKept bool `json:"from_kept,omitempty"` // start at Task.Kept instead of the branch's head
	// a person's additional request after the change had passed; empty: it has not passed yet
	FollowUp string `json:"follow_up,omitempty"`
	Asked    *Asked `json:"asked,omitempty"` // change requests on the pull request; nil: none
	// demands of the issue that a passed head does not meet; empty: no reviewer found any
	Demands []Demand `json:"demands,omitempty"`
	// the approved plan; nil: none is required, or none is approved yet
	Plan    *Plan    `json:"plan,omitempty"`
	Answers []string `json:"answers,omitempty"` // constraints that people gave
	Lessons []string `json:"lessons,omitempty"` // matching lessons from earlier tasks
	// cases that tests should cover, from those lessons; at most three
	TestHints []string `json:"test_hints,omitempty"`
	// lessons about tools, for the first call of each
	ToolLessons []ToolLesson `json:"tool_lessons,omitempty"`
}

// Example is an excerpt of the repository that shows the desired form.
type Example struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	Text string `json:"text"`
}

// Hash identifies the prompt of a task text and this brief: 16 hexadecimal
// digits of SHA-256 over the words, so that prompts that differ only in white
// space are equal. Two briefs with the same hash are one approach.
func (b Brief) Hash(title, body string) string {
	h := sha256.New()
	write := func(s string) { h.Write([]byte(strings.Join(strings.Fields(s), " "))); h.Write([]byte{0}) }
	write(title)
	write(body)
	write(b.Prompt)
	for _, a := range b.Answers {
		write(a)
	}
	if b.FollowUp != "" {
		write(b.FollowUp)
	}
	for _, d := range b.Demands {
		write(d.Quote)
	}
	if b.Asked != nil {
		for _, said := range b.Asked.said() {
			write(said.Text)
		}
	}
	if b.Plan != nil {
		write(b.Plan.Summary)
		for _, t := range b.Plan.Steps {
			write(t.Do)
			write(t.DoneWhen)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}
