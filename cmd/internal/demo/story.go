package demo

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sim/ghsim"
	"github.com/sia-bot/sia/sim/stage"
)

// memoryBranch is the branch with the repository's memory.
const memoryBranch = "sia/memory"

// Bodies of the issues in this file.
var (
	//go:embed story/issue-1.md
	mailIssue string

	//go:embed story/issue-2.md
	signInIssue string
)

// play plays the story's issues. Each step really has to happen, in this order.
func (n *narrator) play() error {
	mail, err := n.confirmationMail()
	if err != nil {
		return err
	}
	if err := n.signIn(); err != nil {
		return err
	}
	passed, err := n.reminder(mail)
	if err != nil {
		return err
	}
	return n.review(passed)
}

// confirmationMail plays the issue that SIA rescues. It returns the issue's number.
func (n *narrator) confirmationMail() (int, error) {
	n.heading("1. An issue that the first attempt gets wrong")
	issue, err := n.open("Send a confirmation email when a booking is made", mailIssue)
	if err != nil {
		return 0, err
	}
	branch := fmt.Sprintf("sia/issue-%d-", issue)
	err = n.expect(
		step{"attempt 1 is pushed", stage.Pushed(branch), func(e ghsim.Entry) string {
			return fmt.Sprintf("attempt 1: the agent wires a hosted email provider into the handler; commit %s is pushed",
				sia.SHA(e.SHA).Short())
		}},
		step{"a draft pull request is opened", ofKind("pull_request.opened"), func(e ghsim.Entry) string {
			return fmt.Sprintf("draft pull request #%d  %s", e.Number, n.link("/pull/%d", e.Number))
		}},
		step{"the check `test` fails", stage.Concluded("test", "failure"), func(e ghsim.Entry) string {
			return "the check `test` really runs, and fails: " + n.failure(e.SHA)
		}},
		step{"memory is committed", stage.Pushed(memoryBranch), func(e ghsim.Entry) string {
			return fmt.Sprintf("SIA diagnoses, the reviewer approves, and memory is committed as %s", sia.SHA(e.SHA).Short())
		}},
		step{"SIA comments on the pull request", stage.Commented("announce"), func(e ghsim.Entry) string {
			return "SIA says on the pull request why it failed and what changes: " + announced(e.Detail)
		}},
		step{"attempt 2 is pushed after the comment", stage.Pushed(branch), func(e ghsim.Entry) string {
			return fmt.Sprintf("attempt 2: an interface with a recording double; commit %s is pushed", sia.SHA(e.SHA).Short())
		}},
		step{"the check `test` turns green", stage.Concluded("test", "success"), nil},
		step{"a fresh reviewer reads the final change", ofKind("pull_request_review_comment.created"),
			func(ghsim.Entry) string {
				return "a fresh reviewer reads the final change against the issue, and says on a line what is not done yet"
			}},
	)
	if err != nil {
		return 0, err
	}
	ready := "the pull request is ready for review"
	if _, err = n.await(ready, ofKind("pull_request.ready_for_review")); err != nil {
		return 0, err
	}
	if err = n.followedUp(issue); err != nil {
		return 0, err
	}
	n.tell("%s", ready)
	if err := n.awaitLabel(issue, render.LabelPassed); err != nil {
		return 0, err
	}
	return issue, n.checkMemory(issue)
}

// followedUp prints the follow-up attempt that the final review started. It ends before the pull request is ready.
func (n *narrator) followedUp(issue int) error {
	t, err := n.task(issue)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(t.Attempts, func(a sia.Attempt) bool { return a.Demands > 0 })
	if i < 0 || t.Omission == nil {
		if n.Model != nil {
			return fmt.Errorf("what the review of #%d found not to be done started no follow-up attempt", issue)
		}
		return nil // a real model may have found everything done
	}
	came := "it is not green, so the commit before it stays"
	switch answers := strings.Join(t.Omission.Answers, " "); {
	case t.Attempts[i].Outcome == sia.AttemptPass:
		came = fmt.Sprintf("commit %s is green, too", t.Attempts[i].Head.Short())
	case answers != "":
		came = "the coder changes nothing and says why: “" + text.Clip(answers, 90) + "”"
	}
	n.tell("attempt %d: one follow-up for what the reviewer found; %s", t.Attempts[i].Number, came)
	return nil
}

// signIn plays the issue that needs a person's decision.
func (n *narrator) signIn() error {
	n.heading("2. An issue that does not say what only a person can decide")
	issue, err := n.open("Let guests sign in with their social account", signInIssue)
	if err != nil {
		return err
	}
	branch := fmt.Sprintf("sia/issue-%d-", issue)
	var question int
	err = n.expect(
		step{"attempt 1 is pushed", stage.Pushed(branch), nil},
		step{"the check `test` fails", stage.Concluded("test", "failure"),
			func(e ghsim.Entry) string { return "the check `test` fails: " + n.failure(e.SHA) }},
		step{"SIA comments and changes the approach", stage.Commented("announce"),
			func(e ghsim.Entry) string { return "SIA changes the approach: " + announced(e.Detail) }},
		step{"attempt 2 is pushed", stage.Pushed(branch), nil},
		step{"the check `test` fails again", stage.Concluded("test", "failure"), nil},
		step{"SIA asks a person", func(e ghsim.Entry) bool {
			return e.Kind == "issues.opened" && strings.HasSuffix(e.Actor, "[bot]")
		}, func(e ghsim.Entry) string {
			question = e.Number
			return fmt.Sprintf("SIA asks a person: #%d %s  %s", e.Number, e.Detail, n.link("/issues/%d", e.Number))
		}},
	)
	if err != nil {
		return err
	}
	if err := n.awaitLabel(issue, render.LabelNeedsHuman); err != nil {
		return err
	}
	if err := n.Sim.TickBox(repo, question, user, "A"); err != nil {
		return fmt.Errorf("tick the box: %w", err)
	}
	n.tell("@%s ticks box A", user)
	err = n.expect(
		step{"the next attempt is pushed with the answer", stage.Pushed(branch), nil},
		step{"the check `test` turns green", stage.Concluded("test", "success"), nil},
		step{"the escalation issue is closed",
			func(e ghsim.Entry) bool { return e.Kind == "issues.closed" && e.Number == question }, nil},
	)
	if err != nil {
		return err
	}
	return n.awaitLabel(issue, render.LabelPassed)
}

// awaitLabel waits until an issue carries a label.
func (n *narrator) awaitLabel(issue int, label string) error {
	return n.awaitLabelSince(0, issue, label)
}

// awaitLabelSince waits until an issue is labelled after the given journal entry, which may be before the last step.
func (n *narrator) awaitLabelSince(entry, issue int, label string) error {
	from := n.Seen
	n.Seen = entry
	_, err := n.await(fmt.Sprintf("#%d is labelled %s", issue, label), stage.Labelled(issue, label))
	n.Seen = max(from, n.Seen)
	if err == nil {
		n.tell("#%d is labelled `%s`", issue, label)
	}
	return err
}

// checkMemory checks that the memory branch has the task.
func (n *narrator) checkMemory(issue int) error {
	path := fmt.Sprintf(".sia/tasks/%d.md", issue)
	text, err := n.Sim.File(repo, memoryBranch, path)
	if err != nil {
		return fmt.Errorf("the memory file %s: %w", path, err)
	}
	if _, err := n.Sim.File(repo, memoryBranch, fmt.Sprintf(".sia/tasks/%d.json", issue)); err != nil {
		return fmt.Errorf("the memory file for programs: %w", err)
	}
	n.tell("what was learned is on %s: %d lines in %s", memoryBranch, strings.Count(text, "\n"), path)
	return nil
}

// failure returns the most informative line of a failed job's log.
func (n *narrator) failure(sha string) string {
	runs, err := n.Sim.CheckRuns(repo, sha)
	if err != nil {
		return err.Error()
	}
	for _, r := range runs {
		if r.Conclusion != "failure" {
			continue
		}
		for _, line := range strings.Split(r.Log, "\n") {
			if _, said, ok := strings.Cut(line, "_test.go:"); ok {
				_, said, _ = strings.Cut(said, ": ")
				return string(n.Style.Red(text.Clip(said, 100)))
			}
		}
	}
	return "see its log"
}

// announced returns what a diagnosis announces for the next attempt, without markup.
func announced(body string) string {
	for line := range strings.Lines(body) {
		if _, next, ok := strings.Cut(line, "**Next:** "); ok {
			return strings.ReplaceAll(strings.TrimSpace(next), "*", "")
		}
	}
	return ""
}
