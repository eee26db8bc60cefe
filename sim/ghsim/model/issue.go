package model

import (
	"slices"
	"strings"
	"time"
)

// Label is a label of a repository.
type Label struct {
	ID                       int64
	Name, Color, Description string
}

// DefaultColor is the colour of a label without one.
const DefaultColor = "ededed"

// Issue is an issue, or the issue side of a pull request.
type Issue struct {
	ID        int64
	Number    int
	Title     string
	Body      string
	By        *User
	App       *App  // set when an app wrote it
	EditedBy  *User // whose edit of Body was the last; nil: nobody's, or an app's
	Labels    []*Label
	Assignees []*User
	State     string // open or closed
	Locked    bool   // the conversation is
	Reason    string
	Made      time.Time
	Updated   time.Time
	Closed    time.Time
	ClosedBy  *User
	Reopened  time.Time // last time; zero: never
	Comments  []*Comment
	Reactions []*Reaction
	Pull      *Pull // nil for a plain issue
	BlockedBy []*Issue
	SubIssues []*Issue
}

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID            int64
	Issue         *Issue
	By            *User
	App           *App
	Body          string
	Made, Updated time.Time
	Edits         int
	EditedBy      *User // the last time
	Reactions     []*Reaction
}

// Reaction is an emoji on an issue or a comment.
type Reaction struct {
	ID      int64
	By      *User
	Content string
	Made    time.Time
}

// Event is the name of the events about an issue or a pull request.
func (i *Issue) Event() string {
	if i.Pull != nil {
		return "pull_request"
	}
	return "issues"
}

// Assignee is the first assignee, or nil.
func (i *Issue) Assignee() *User {
	if len(i.Assignees) == 0 {
		return nil
	}
	return i.Assignees[0]
}

// HasLabels reports whether the issue carries all of the named labels.
func (i *Issue) HasLabels(names []string) bool {
	for _, n := range names {
		if !slices.ContainsFunc(i.Labels, func(l *Label) bool { return strings.EqualFold(l.Name, n) }) {
			return false
		}
	}
	return true
}

// ReactionKinds are the kinds of reactions, in display order.
func ReactionKinds() []string {
	return []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
}

// DefaultLabels are the labels that a new repository has.
func DefaultLabels() []Label {
	return []Label{
		{Name: "bug", Color: "d73a4a", Description: "Something isn't working"},
		{Name: "documentation", Color: "0075ca", Description: "Improvements or additions to documentation"},
		{Name: "enhancement", Color: "a2eeef", Description: "New feature or request"},
		{Name: "good first issue", Color: "7057ff", Description: "Good for newcomers"},
		{Name: "help wanted", Color: "008672", Description: "Extra attention is needed"},
		{Name: "question", Color: "d876e3", Description: "Further information is requested"},
	}
}
