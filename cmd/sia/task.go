package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sia-bot/sia/app/github"
	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/app/store"
	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

type taskCmd struct {
	List    taskListCmd    `cmd:"" help:"List tasks, the most recently changed first." example:"sia task list --state paused"`
	Show    taskShowCmd    `cmd:"" help:"Show one task: attempts, checks, interventions, cost." example:"sia task show acme/shop#12"`
	Explain taskExplainCmd `cmd:"" help:"Every decision on a task, with its reason." example:"sia task explain acme/shop#12"`
	Stop    taskStopCmd    `cmd:"" help:"End a task; what was done stays on its branch." example:"sia task stop acme/shop#12 --reason \"not wanted any more\""`
	Pause   taskPauseCmd   `cmd:"" help:"Pause one task; what runs is stopped and kept." example:"sia task pause acme/shop#12"`
	Resume  taskResumeCmd  `cmd:"" help:"Have a paused task go on where it stopped, or give a task more credits." example:"sia task resume acme/shop#12 --credits 50"`
	Retry   taskRetryCmd   `cmd:"" help:"Have a task that waits or has stopped tried once more." example:"sia task retry acme/shop#12"`
}

// findTask loads a task by its id or as owner/name#issue.
func findTask(e *cli.Env, s *store.Store, name string) (sia.Task, error) {
	t, err := s.Task(e.Ctx, sia.TaskID(name))
	if !errors.Is(err, store.ErrNotFound) {
		return t, err
	}
	repo, number, _ := strings.Cut(name, "#")
	if issue, err := strconv.Atoi(number); err == nil && issue > 0 {
		if known, err := knownRepository(e, s, repo); err == nil {
			if t, err := s.Task(e.Ctx, sia.NewTaskID(known.ID, issue)); !errors.Is(err, store.ErrNotFound) {
				return t, err
			}
		}
		// SIA may have been uninstalled from the repository, or the repository renamed.
		all, err := s.Tasks(e.Ctx, store.Filter{Issue: issue, Limit: math.MaxInt32})
		if err != nil {
			return t, err
		}
		for _, t := range all {
			if strings.EqualFold(repo, t.Repo.String()) {
				return t, nil
			}
		}
	}
	return t, fmt.Errorf("there is no task %q; `sia task list` shows them all, and a task is named by its id or as "+
		"owner/name#issue", name)
}

type taskShowCmd struct {
	openedDatabase `embed:""`
	Task           string `arg:"" help:"Task id, or owner/name#issue." type:"task"`
}

// Run shows one task.
func (c *taskShowCmd) Run(e *cli.Env) error {
	return c.with(e, func(s *store.Store) error {
		t, err := findTask(e, s, c.Task)
		if err != nil {
			return err
		}
		out, halted := shown(t), ""
		if h, is, err := s.HaltOver(e.Ctx, t.Installation, t.Repo.ID); err != nil {
			return err
		} else if is {
			halted = render.HaltSentence(h.Reason, h.Scope, h.Actor().Operator)
		}
		if out.Limited, err = limited(e, s, t); err != nil {
			return err
		}
		if out.Retries, err = retriedSteps(e, s, t.ID); err != nil {
			return err
		}
		if out.Halted = halted; c.Output == "json" {
			return e.JSON(out)
		}
		if halted != "" && halted != out.Waiting {
			e.Linef("%s %s", e.Style.Amber("paused:"), halted)
		}
		if out.Limited != "" {
			e.Linef("%s", e.Style.Amber(out.Limited))
		}
		showRetries(e, out.Retries)
		showTask(e, t)
		return showRunners(e, s, t)
	})
}

// limited returns a message if work on a task waits for GitHub's write limit of its installation; "" otherwise.
func limited(e *cli.Env, s *store.Store, t sia.Task) (string, error) {
	waits := false
	for _, kind := range t.Pending {
		waits = waits || kind.Creates()
	}
	if !waits {
		return "", nil
	}
	until, err := s.WritesHeld(e.Ctx, t.Installation)
	if err != nil || until.IsZero() {
		return "", err
	}
	return github.WriteLimitMessage(until), nil
}

// shownTask is a task as JSON, with what it waits for, or why it ended, in words.
type shownTask struct {
	sia.Task
	Waiting string `json:"waiting"`
	// the rest is of sia task show only
	Halted  string        `json:"halted,omitempty"`  // a pause that includes other tasks
	Limited string        `json:"limited,omitempty"` // until when GitHub's write limit holds it
	Retries []retriedStep `json:"retries,omitempty"` // steps that are tried again
}

func shown(t sia.Task) shownTask { return shownTask{Task: t, Waiting: render.Waiting(t)} }

func showTask(e *cli.Env, t sia.Task) {
	p := e.Linef
	p("%s  %s#%d  %s", e.Style.Bold(t.Title), t.Repo, t.Issue, e.Style.Bold(string(t.State)))
	if waiting := render.Waiting(t); waiting != "" {
		p("  waits for   %s", waiting)
	}
	if t.Warning != "" {
		p("  warning     %s", e.Style.Amber(t.Warning))
	}
	p("  asked by    @%s, %s", t.AskedBy.Login, t.StartedAt.Local().Format(time.DateTime))
	p("  branch      %s at %s", t.Branch, t.Head.Short())
	if t.Pull.Number != 0 {
		p("  pull        #%d %s", t.Pull.Number, t.Pull.URL)
	}
	if len(t.Attempts) > 0 {
		p("  settings    %s", cmp.Or(t.SettingsFrom, "defaults: there is no .sia/config.yml"))
	}
	p("  credits     %s spent, %s reserved, of %s", t.Credits.Spent, t.Credits.Reserved, t.Credits.Budget)
	if t.Settings.Team != "" {
		p("  team        %s", t.Settings.Team)
	}
	tried, most := t.ApproachesTried()
	p("  approaches  %d of at most %d tried", tried, most)
	if plan := shownPlan(t); plan != nil {
		state := "waits for a yes: `/sia go` on the issue, or 👍 on its comment"
		if plan.By.Login != "" {
			state = "approved by @" + plan.By.Login
		}
		p("  plan        %s\n%s", state, indentLines(plan.String(), "    "))
	}
	for _, a := range t.Attempts {
		name := fmt.Sprintf("attempt %d", a.Number)
		if a.Planning {
			name += ", a plan"
		}
		p("\n%s  %s  %s", e.Style.Bold(name), colouredOutcome(e.Style, a.Outcome), a.Reason)
		if a.Coder != "" && a.Assigned != "" {
			p("  by %s: %s", a.Coder, a.Assigned)
		}
		p("  %s, %s credits, %s +%d −%d, %s", text.Count(a.Turns, "turn"), a.Cost, text.Count(a.Diff.Files, "file"),
			a.Diff.Added, a.Diff.Deleted, a.Head.Short())
		showParts(e, a, p)
		for _, line := range a.Ledger.Lines() {
			p("  · %s", line)
		}
		for _, f := range a.Failures {
			p("  %s %s (%s)\n%s", e.Style.Red("✗"), f.Check, f.Class, indentLines(f.Excerpt, "      "))
		}
		for _, iv := range t.Interventions {
			if iv.After == a.Number {
				p("  SIA: %s → %s (confidence %.2f, review %s)\n%s", iv.Diagnosis.Pattern, iv.Diagnosis.Technique,
					iv.Diagnosis.Confidence, iv.Review.Verdict, indentLines(iv.Diagnosis.Summary, "      "))
			}
		}
	}
	showQuestions(t, p)
	if r := t.Final; r.Of(t.Head) && r.Done {
		p("\n  final review: %s %s", r, r.URL)
	}
	for _, c := range t.Checks {
		p("\n  check %s: %s %s", c.Name, c.Colour, c.Why)
	}
}

// showQuestions prints the questions and their answers, then the open question with its options.
func showQuestions(t sia.Task, p func(format string, args ...any)) {
	for _, a := range t.Answers {
		p("\n  asked       %s", cmp.Or(text.OneLine(a.Question), "(the question was not kept)"))
		said := text.OneLine(a.Text)
		if a.Letter != "" {
			said = a.Letter + ") " + said
		}
		p("  answer      %s (@%s, %s)", said, a.By.Login, a.At.Local().Format(time.DateTime))
	}
	if e := t.Escalation; t.State == sia.Escalated && e != nil && e.Kind != sia.AskPlan {
		p("\n  asked       %s", text.OneLine(e.Question))
		for _, o := range e.Options {
			p("    %s) %s", o.Letter, text.OneLine(o.Text))
		}
		p("  answer      none yet: `/sia answer …` at %s", cmp.Or(e.URL, "the issue"))
	}
}

// shownPlan returns the approved plan of a task, or the one that waits for approval; nil without any.
func shownPlan(t sia.Task) *sia.Plan {
	if e := t.Escalation; t.State == sia.Escalated && e.Kind == sia.AskPlan {
		return e.Plan
	}
	return t.Brief.Plan
}

func colouredOutcome(s cli.Style, o sia.AttemptOutcome) cli.Styled {
	switch o {
	case sia.AttemptPass:
		return s.Green("passed")
	case sia.AttemptFail:
		return s.Red("failed")
	case "":
		return "running"
	default:
		return s.Amber(string(o))
	}
}

func indentLines(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n"+by)
}
