package demo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// reviewer is the login of the demo's reviewer.
const reviewer = "grace"

// The reviewed lines, found by their text.
const (
	reviewedFile = "reminder/reminder.go"
	reviewedText = `text := fmt.Sprintf("Dear %s, see you tomorrow`
	reviewedTick = "day := time.NewTicker(24 * time.Hour)"
)

// review plays a review of the change that passed: one attempt deals with all comments, and each thread is answered.
func (n *narrator) review(issue int) error {
	n.heading("4. A person reviews: a follow-up from the green commit, and an answer in each thread")
	t, err := n.task(issue)
	if err != nil {
		return err
	}
	lines, err := n.remarks(string(t.Head))
	if err != nil {
		return err
	}
	n.Sim.CreateUser(reviewer)
	if err := n.Sim.SetPermission(repo, reviewer, "write"); err != nil {
		return err
	}
	pull, before := t.Pull.Number, n.Seen
	if err := n.Sim.Review(repo, pull, reviewer, "changes_requested", "", lines...); err != nil {
		return fmt.Errorf("review #%d: %w", pull, err)
	}
	n.tell("@%s requests changes on #%d: a suggestion on one line, a question on another  %s", reviewer, pull,
		n.link("/pull/%d", pull))
	answered := func(said string) func(ghsim.Entry) bool {
		return func(e ghsim.Entry) bool {
			m, ok := render.ParseMarker(e.Detail)
			return e.Kind == "pull_request_review_comment.created" && ok && m.Kind == string(sia.DoRespond) &&
				strings.Contains(e.Detail, said)
		}
	}
	err = n.expect(
		step{"one attempt begins with both threads and is pushed", stage.Pushed(t.Branch), nil},
		step{"the check `test` is green", stage.Concluded("test", "success"), nil},
		step{"the suggestion is answered: applied, with the commit", answered("Applied in"), nil},
		step{"the question is answered: not changed, and why", answered("Not changed here"), nil},
	)
	if err != nil {
		return err
	}
	if err := n.awaitPassedAgain(issue, before); err != nil {
		return err
	}
	after, err := n.task(issue)
	if err == nil && len(after.Attempts) != len(t.Attempts)+1 {
		err = fmt.Errorf("the review took %d attempts, not one", len(after.Attempts)-len(t.Attempts))
	}
	return err
}

// awaitPassedAgain waits until an issue carries the label of a passed task again. It still has the label if the attempt
// took less time than SIA leaves between two label changes. Otherwise it gets the label after the given journal entry.
func (n *narrator) awaitPassedAgain(issue, entry int) error {
	v, err := n.Sim.Issue(repo, issue)
	if err != nil {
		return fmt.Errorf("look at #%d: %w", issue, err)
	}
	if !slices.Contains(v.Labels, render.LabelPassed) {
		return n.awaitLabelSince(entry, issue, render.LabelPassed)
	}
	n.tell("#%d is still labelled `%s`", issue, render.LabelPassed)
	return nil
}

// remarks returns the reviewer's comments, on the lines that they are about.
func (n *narrator) remarks(head string) ([]ghsim.ReviewLine, error) {
	file, err := n.Sim.File(repo, head, reviewedFile)
	if err != nil {
		return nil, fmt.Errorf("the file that is reviewed: %w", err)
	}
	var remarks []ghsim.ReviewLine
	for i, line := range strings.Split(file, "\n") {
		switch {
		case strings.Contains(line, reviewedText):
			signed := strings.Replace(line, `booking %d."`, `booking %d. Bistro Ada"`, 1)
			remarks = append(remarks, ghsim.ReviewLine{Path: reviewedFile, Line: i + 1,
				Body: "Guests should see who writes:\n```suggestion\n" + signed + "\n```"})
		case strings.Contains(line, reviewedTick):
			remarks = append(remarks, ghsim.ReviewLine{Path: reviewedFile, Line: i + 1,
				Body: "Why not at nine in the morning?"})
		}
	}
	if len(remarks) != 2 {
		return nil, fmt.Errorf("%s of %s lacks the lines that are reviewed", reviewedFile, head)
	}
	return remarks, nil
}
