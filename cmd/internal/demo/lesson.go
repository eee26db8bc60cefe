package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/lesson"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// reminderTitle and reminderIssue are the third issue.
const reminderTitle = "Text guests a reminder the day before"

//go:embed story/issue-3.md
var reminderIssue string

// reminder plays the issue that passes at once, because its first prompt contains the lesson of an earlier issue.
// Without the lesson it fails as the earlier one did. It returns the issue's number.
//
// One task in ten does not get a lesson, by a hash of both ids. The simulator's ids are the same in every run, and with
// them this task gets it; checkLessonShown fails if that changes. The failing first attempt of signIn got it, too. The
// evidence against the lesson from that attempt does not outweigh the outcome that taught it.
func (n *narrator) reminder(earlier int) (int, error) {
	n.heading("3. An issue like the first: the first prompt has what was learned there")
	l, err := n.awaitLesson(earlier)
	if err != nil {
		return 0, err
	}
	n.tell("SIA keeps what #%d taught: “%s”", earlier, l.Text)
	issue, err := n.open(reminderTitle, reminderIssue)
	if err != nil {
		return 0, err
	}
	push, err := n.await("attempt 1 is pushed", stage.Pushed(fmt.Sprintf("sia/issue-%d-", issue)))
	if err != nil {
		return 0, err
	}
	if err := n.checkLessonShown(issue, l); err != nil {
		return 0, err
	}
	n.tell("attempt 1: the first prompt has what #%d taught, word for word, and the case that its tests should cover",
		earlier)
	n.tell("the agent puts the provider behind an interface from the start; commit %s is pushed",
		sia.SHA(push.SHA).Short())
	end, err := n.await("the check `test` ends", func(e ghsim.Entry) bool {
		return e.Kind == "check_run.completed" && e.Ref == "test"
	})
	if err != nil {
		return 0, err
	}
	if end.Detail != "success" {
		return 0, fmt.Errorf("the check `test` of #%d ended as %s, although its first attempt had the lesson", issue,
			end.Detail)
	}
	n.tell("the check `test` really runs, and is green at once")
	if err := n.awaitLabel(issue, render.LabelPassed); err != nil {
		return 0, err
	}
	t, err := n.task(issue)
	if err == nil && len(t.Attempts) != 1 {
		err = fmt.Errorf("#%d took %d attempts, not one", issue, len(t.Attempts))
	}
	return issue, err
}

// awaitLesson waits for the lesson about a service that SIA keeps of an issue. The lesson is saved before the memory of
// the issue is pushed, so it is looked up after each push.
func (n *narrator) awaitLesson(issue int) (lesson.Lesson, error) {
	t, err := n.task(issue)
	if err != nil {
		return lesson.Lesson{}, err
	}
	from := n.Seen
	n.Seen = 0 // it was most likely pushed earlier
	defer func() { n.Seen = max(from, n.Seen) }()
	for {
		kept, err := n.App.Store.Lessons(n.Ctx, t.Repo.ID)
		if err != nil {
			return lesson.Lesson{}, err
		}
		for _, l := range kept {
			if l.From.Issue == issue && l.Kind == lesson.Workaround && l.Live() {
				return l, nil
			}
		}
		if _, err := n.await(fmt.Sprintf("SIA keeps what #%d taught", issue), stage.Pushed(memoryBranch)); err != nil {
			return lesson.Lesson{}, err
		}
	}
}

// checkLessonShown checks that the first attempt at an issue got a lesson: in the stored task, and in the prompt.
func (n *narrator) checkLessonShown(issue int, l lesson.Lesson) error {
	t, err := n.task(issue)
	if err != nil {
		return err
	}
	switch first := t.Attempts[0]; {
	case slices.Contains(first.LessonsWithheld, string(l.ID)):
		return fmt.Errorf("attempt 1 at #%d did not get lesson %s: it is in the control group, which shows the "+
			"lesson's benefit", issue, l.ID)
	case !slices.Contains(first.LessonsShown, string(l.ID)):
		return fmt.Errorf("attempt 1 at #%d did not get lesson %s", issue, l.ID)
	}
	if n.Model == nil {
		return nil // the requests to a real model are not recorded
	}
	for _, q := range n.Model.Requests() {
		if q.Model == "coder" && q.Turn() == 0 && strings.Contains(q.User(), t.Title) {
			if !strings.Contains(q.User(), l.Told()) {
				return fmt.Errorf("the first prompt for #%d lacks lesson %s", issue, l.ID)
			}
			if hint := l.Test(); !slices.Contains(t.Brief.TestHints, hint) || !strings.Contains(q.User(), hint) {
				return fmt.Errorf("the first prompt for #%d lacks the case that lesson %s has for tests: %q", issue, l.ID, hint)
			}
			return nil
		}
	}
	return fmt.Errorf("the model was never asked about #%d", issue)
}

// task returns SIA's task for an issue. It is an error if the task has no attempt.
func (n *narrator) task(issue int) (sia.Task, error) {
	t, err := n.TaskOf(n.Ctx, issue)
	if err == nil && len(t.Attempts) == 0 {
		err = fmt.Errorf("SIA made no attempt at #%d", issue)
	}
	return t, err
}
