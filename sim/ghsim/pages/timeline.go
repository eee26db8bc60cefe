package pages

import (
	"strings"
	"time"

	"github.com/sia-bot/sia/sim/ghsim/model"
)

// timelineEntry is one entry of a page's timeline: a comment, or one line.
type timelineEntry struct {
	At        time.Time
	By        string
	Text      string
	SHA       string
	Comment   string // Markdown
	ID        int64  // of the comment
	Edits     int
	Reactions string
	Check     int64
	State     string
}

// timeline is an issue's history in order: comments in their present form, everything else as one line. A pull
// request's includes its checks.
func (st *site) timeline(r *model.Repository, i *model.Issue) []timelineEntry {
	var hs []timelineEntry
	shas := map[string]bool{}
	for _, e := range st.journal.Entries() {
		if e.Repo != r.FullName() {
			continue
		}
		h := timelineEntry{At: e.At, By: e.Actor}
		kind, action, _ := strings.Cut(e.Kind, ".")
		switch {
		case e.Number == i.Number && kind == "issue_comment":
			if action != "created" {
				continue
			}
			c := r.Comment(int64(number(e.Ref)))
			if c == nil {
				h.Text = "wrote a comment that was deleted"
				break
			}
			h.Comment, h.ID, h.Edits, h.Reactions = c.Body, c.ID, c.Edits, tally(c.Reactions)
		case e.Number == i.Number && kind == "reaction":
			continue
		case e.Number == i.Number && kind == "pull_request_review":
			h.Text, h.Comment = "reviewed: "+strings.ReplaceAll(e.Ref, "_", " "), e.Detail
		case e.Number == i.Number && kind == "pull_request_review_comment":
			h.Text, h.Comment = "commented on "+e.Ref, e.Detail
		case e.Number == i.Number && kind != "installation":
			h.Text, h.SHA = sentence(action, e.Detail), e.SHA
			shas[e.SHA] = e.SHA != ""
		case i.Pull != nil && e.Kind == "check_run.completed" && shas[e.SHA]:
			h.Text, h.State, h.SHA = "check "+e.Ref, e.Detail, e.SHA
		default:
			continue
		}
		hs = append(hs, h)
	}
	return hs
}

// sentence describes an event's action.
func sentence(action, detail string) string {
	switch action {
	case "opened":
		return "opened this"
	case "labeled":
		return "added the label " + detail
	case "unlabeled":
		return "removed the label " + detail
	case "assigned":
		return "assigned " + detail
	case "synchronize":
		return "pushed"
	case "edited":
		return "edited the " + detail
	case "ready_for_review":
		return "marked this ready for review"
	case "converted_to_draft":
		return "made this a draft"
	}
	return strings.ReplaceAll(action, "_", " ") + " this"
}
