package lesson

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lazyregexp"
	"github.com/sia-bot/sia/sia/text"
)

// ID identifies a lesson: 12 hexadecimal digits. The same thing learned from the same source has the same id, so that
// learning it twice changes nothing.
type ID string

// NewID returns the id of a lesson of a repository from a source, such as "1005-1/2/resolved".
func NewID(repo int64, source string) ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", repo, source))
	return ID(hex.EncodeToString(sum[:6]))
}

// Valid reports whether id is well-formed.
func (id ID) Valid() bool {
	_, err := hex.DecodeString(string(id))
	return err == nil && len(id) == 12
}

// Kind is the kind of a lesson.
type Kind string

// The kinds. Tool lessons record how well a tool does in a repository.
const (
	Mistake    Kind = "mistake"
	Success    Kind = "success"
	Workaround Kind = "workaround"
	Discovery  Kind = "discovery"
	Tool       Kind = "tool"

	// Model is a kind of earlier versions: how an agent and its model did. No lesson of this version has it; see
	// [Lesson.Upgrade].
	Model Kind = "model"
)

// Kinds lists every kind in display order.
var Kinds = []Kind{Workaround, Success, Mistake, Discovery, Tool}

// State is the state of a lesson.
type State string

// The states. Only active and promoted lessons are used.
const (
	Active    State = "active"
	Promoted  State = "promoted"  // proven by evidence
	Archived  State = "archived"  // did not help
	Forgotten State = "forgotten" // deleted by a user; never restored automatically
	Merged    State = "merged"    // replaced by another lesson
)

// Source is the kind of a lesson's origin.
type Source string

// The sources.
const (
	FromOutcome      Source = "outcome"      // outcomes of attempts, by rules
	FromPerson       Source = "person"       // a user with write access to the repository
	FromPattern      Source = "pattern"      // three similar outcomes
	FromOrganisation Source = "organisation" // other repositories of the owner, with approval ([Lesson.CopyTo])
)

// Provenance is the origin of a lesson.
type Provenance struct {
	Source  Source     `json:"source"`
	Task    sia.TaskID `json:"task,omitempty"`
	Issue   int        `json:"issue,omitempty"`
	Attempt int        `json:"attempt,omitempty"` // the attempt that failed or ended; 0: none
	By      sia.Actor  `json:"by,omitzero"`       // the user
}

// Lesson is one thing learned in a repository.
type Lesson struct {
	ID         ID     `json:"id"`
	Repo       int64  `json:"repo"` // GitHub's repository id; other repositories use copies
	Kind       Kind   `json:"type"`
	State      State  `json:"state"`
	Context    string `json:"context,omitempty"`    // when it applies
	Action     string `json:"action,omitempty"`     // what was done
	Outcome    string `json:"outcome,omitempty"`    // result of that action
	Text       string `json:"lesson"`               // the advice that an attempt gets
	Correction string `json:"correction,omitempty"` // the earlier behaviour that it corrects

	Good        float64   `json:"good"` // weight of the evidence for it at CountedAt
	Bad         float64   `json:"bad"`
	CountedAt   time.Time `json:"counted_at"`           // time of the last evidence
	Decay       int       `json:"decay_days,omitempty"` // learning.decay_days of the repository; 0: [DecayDays]
	Occurrences int       `json:"occurrences"`          // number of times it was learned
	CreatedAt   time.Time `json:"created_at"`
	LastSeen    time.Time `json:"last_seen"`

	Tags      []string   `json:"tags,omitempty"`          // patterns, techniques, classes
	Tools     []string   `json:"related_tools,omitempty"` // names of tools
	Words     []string   `json:"words,omitempty"`         // words by which it is found; see [Words]
	From      Provenance `json:"provenance"`
	Into      ID         `json:"into,omitempty"`      // of a merged lesson: the one that replaces it
	Conflicts []ID       `json:"conflicts,omitempty"` // lessons that advise the opposite

	ForgottenBy    string `json:"forgotten_by,omitempty"`     // id of the user's event that deleted it
	ArchivedByHand bool   `json:"archived_by_hand,omitempty"` // archived by a user; no evidence revives it
}

// Maximum lengths of a lesson's texts, in characters.
const (
	MaxText  = 600 // Lesson.Text
	maxShort = 300 // any other text
	maxLabel = 80  // a tag, the name of a tool, or a word
)

// maxListed is the maximum length of each list of a lesson from outside.
const maxListed = 200

// Live reports whether attempts may get the lesson.
func (l Lesson) Live() bool { return l.State == Active || l.State == Promoted }

// Told returns the lesson as text for an attempt: when it applies, the advice, and what it corrects.
func (l Lesson) Told() string {
	s := l.Text
	if l.Context != "" {
		s = "When " + lowerFirst(l.Context) + ": " + s
	}
	if l.Correction != "" {
		s = strings.TrimRight(s, ".") + ". It corrects: " + l.Correction
	}
	return s
}

// MayQuote reports whether the lesson may quote a line of a log.
func (l Lesson) MayQuote() bool { return l.Context != "" || l.Kind == Tool }

// Test returns the case that a test should cover, as text for an attempt that gets the lesson. It is "" unless the
// lesson was learned from a failed test. Like [Lesson.Told] it consists of the lesson's and SIA's own words.
func (l Lesson) Test() string {
	if l.Context == "" || !slices.Contains(l.Tags, testFailure) {
		return ""
	}
	for _, tag := range l.Tags {
		if does := testVocabulary[sia.Pattern(tag)]; does != "" {
			return "When " + lowerFirst(l.Context) + ": " + does + "."
		}
	}
	if !strings.Contains(l.Context, quotedLine) {
		return ""
	}
	return "When " + lowerFirst(l.Context) + ": " + anyTest + "."
}

// Clean applies f, such as a redaction, to every text that people or models will read, puts each text on one line and
// truncates it. Words that f removed from a text are also removed from [Lesson.Words], because f would not recognise
// the parts of a secret there.
func (l Lesson) Clean(f func(string) string) Lesson {
	var gone []string
	clean := func(raw string, most int) string {
		masked := f(raw)
		if masked != raw {
			left := Words(masked, len(masked))
			for _, w := range Words(raw, len(raw)) {
				if !slices.Contains(left, w) {
					gone = append(gone, w)
				}
			}
		}
		return text.Clip(text.OneLine(masked), most)
	}
	for _, p := range []*string{&l.Context, &l.Action, &l.Outcome, &l.Correction} {
		*p = clean(*p, maxShort)
	}
	l.Text = clean(l.Text, MaxText)
	l.Tags, l.Tools, l.Words = slices.Clone(l.Tags), slices.Clone(l.Tools), slices.Clone(l.Words)
	l.Words = slices.DeleteFunc(l.Words, func(w string) bool { return slices.Contains(gone, w) })
	for _, list := range [][]string{l.Tags, l.Tools, l.Words} {
		for i := range list {
			list[i] = text.Clip(text.OneLine(f(list[i])), maxLabel)
		}
	}
	return l
}

// Restrain limits a lesson from outside to what a lesson can have: no time after now, counts and lists of usual sizes.
func (l Lesson) Restrain(now time.Time) Lesson {
	for _, at := range []*time.Time{&l.CountedAt, &l.CreatedAt, &l.LastSeen} {
		if at.After(now) {
			*at = now
		}
	}
	l.Good, l.Bad = min(l.Good, maxCount), min(l.Bad, maxCount)
	l.Occurrences = min(max(l.Occurrences, 0), maxCount)
	for _, list := range []*[]string{&l.Tags, &l.Tools, &l.Words} {
		*list = slices.Clip((*list)[:min(len(*list), maxListed)])
	}
	l.Conflicts = slices.Clip(l.Conflicts[:min(len(l.Conflicts), maxListed)])
	return l
}

// NewTaught returns a lesson in a user's own words.
func NewTaught(repo int64, source, words string, by sia.Actor, task sia.Task, now time.Time) Lesson {
	l := Lesson{
		ID: NewID(repo, source), Repo: repo, Kind: Discovery, State: Active, Text: text.Clip(text.OneLine(words), MaxText),
		Good: PersonWeight, CountedAt: now, Occurrences: 1, CreatedAt: now, LastSeen: now,
		From: Provenance{Source: FromPerson, Task: task.ID, Issue: task.Issue, By: by},
	}
	l.Words = Words(words, maxWords)
	return l
}

// Upgrade returns a lesson of an earlier version as one of this version. A lesson of kind [Model] in a user's words is
// a discovery. ok is false for one in SIA's words: it counted how an agent did, and is no lesson any more.
func (l Lesson) Upgrade() (_ Lesson, ok bool) {
	if l.Kind != Model {
		return l, true
	}
	l.Kind = Discovery
	return l, l.From.Source != FromOutcome || !modelText.MatchString(l.Text)
}

// modelText matches the text of SIA's lessons about an agent and its model.
var modelText = lazyregexp.New("^How `.*` does at .*\\.$")

// lowerFirst returns s with its first letter in lower case, unless s begins with an acronym.
func lowerFirst(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && (s[1] == ' ' || s[1] >= 'a' && s[1] <= 'z') {
		return strings.ToLower(s[:1]) + s[1:]
	}
	return s
}

// Valid returns an error if a lesson from outside is invalid.
func (l Lesson) Valid() error {
	states := []State{Active, Promoted, Archived, Forgotten, Merged}
	switch {
	case !l.ID.Valid():
		return fmt.Errorf("the id %q is not 12 hexadecimal digits", l.ID)
	case l.Text == "":
		return fmt.Errorf("lesson %s says nothing", l.ID)
	case !slices.Contains(Kinds, l.Kind):
		return fmt.Errorf("lesson %s has the unknown type %q", l.ID, l.Kind)
	case !slices.Contains(states, l.State):
		return fmt.Errorf("lesson %s has the unknown state %q", l.ID, l.State)
	case l.Good < 0 || l.Bad < 0:
		return fmt.Errorf("lesson %s has negative counts", l.ID)
	}
	return nil
}
