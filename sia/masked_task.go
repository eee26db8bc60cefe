package sia

import "github.com/sia-bot/sia/sia/plan"

// Masked is the task with every text that comes from outside masked; see
// [Event.Masked]. The task itself is not changed.
func (t Task) Masked(mask Mask) Task {
	t.Title, t.Body, t.Ended, t.Warning = mask(t.Title), mask(t.Body), mask(t.Ended), mask(t.Warning)
	t.Settings, t.Brief = t.Settings.masked(mask), t.Brief.masked(mask)
	t.Wanted, t.WantedCoder = TechniqueID(mask(string(t.Wanted))), mask(t.WantedCoder)
	t.Attempts = maskedEach(t.Attempts, func(a Attempt) Attempt { return a.masked(mask) })
	intervention := func(i Intervention) Intervention { return i.masked(mask) }
	t.Interventions, t.Next = maskedEach(t.Interventions, intervention), maskedAt(t.Next, intervention)
	t.Fix = maskedAt(t.Fix, func(f Fix) Fix { return f.masked(mask) })
	t.Checks, t.Gate.Explain = maskedChecks(t.Checks, mask), mask.Each(t.Gate.Explain)
	t.Reported, t.MergeRules = maskedReported(t.Reported, mask), mask.Each(t.MergeRules)
	t.Waived = mask.Each(t.Waived)
	t.Afterwards = maskedAt(t.Afterwards, func(a Afterwards) Afterwards {
		a.Red = maskedChecks(a.Red, mask)
		return a
	})
	t.Pull.Refused = mask(t.Pull.Refused)
	t.Merging = maskedAt(t.Merging, func(m Merging) Merging {
		m.Conflicts = maskedConflicts(m.Conflicts, mask)
		return m
	})
	t.Gate.Evidence = maskedAt(t.Gate.Evidence, func(e TestEvidence) TestEvidence { return e.masked(mask) })
	t.Gate.Weighing = maskedAt(t.Gate.Weighing, func(w Weighing) Weighing {
		w.Findings, w.Quotes = mask.Each(w.Findings), mask.Each(w.Quotes)
		return w
	})
	t.Final = maskedAt(t.Final, func(r FinalReview) FinalReview { return r.masked(mask) })
	t.Omission = maskedAt(t.Omission, func(o Omission) Omission { return o.masked(mask) })
	t.Escalation = maskedAt(t.Escalation, func(e Escalation) Escalation {
		e.Blocker, e.Early, e.Question = mask(e.Blocker), mask(e.Early), mask(e.Question)
		e.Waives = mask.Each(e.Waives)
		e.Options, e.Plan = maskedOptions(e.Options, mask), maskedPlan(e.Plan, mask)
		e.Edition = maskedAt(e.Edition, func(x Edition) Edition {
			x.Title, x.Body = mask(x.Title), mask(x.Body)
			return x
		})
		e.Already = maskedAt(e.Already, func(a Already) Already { return a.masked(mask) })
		return e
	})
	t.Answers = maskedEach(t.Answers, func(a Answer) Answer {
		a.Text = mask(a.Text)
		return a
	})
	t.Wishes = maskedEach(t.Wishes, func(w Wish) Wish { return w.masked(mask) })
	t.Owed = maskedEach(t.Owed, func(o Owed) Owed { return o.masked(mask) })
	t.Opening = maskedAt(t.Opening, func(o Opening) Opening {
		o.Shape = mask(o.Shape)
		return o
	})
	t.Pause = maskedAt(t.Pause, func(p Pause) Pause {
		p.Reason = mask(p.Reason)
		p.Held = maskedEach(p.Held, func(f Effect) Effect {
			f.Content = mask(f.Content)
			return f
		})
		return p
	})
	return t
}

// masked masks what a server runs. The other settings are compared with what
// GitHub, git and the server call things.
func (s Settings) masked(mask Mask) Settings {
	a := &s.Agent
	a.Command, a.Setup, a.Test = mask(a.Command), mask.Each(a.Setup), mask(a.Test)
	return s
}

func (b Brief) masked(mask Mask) Brief {
	b.Prompt, b.Relaxed, b.Steps = mask(b.Prompt), mask(b.Relaxed), maskedSteps(b.Steps, mask)
	b.OnlyFiles, b.Quotes, b.Answers = mask.Each(b.OnlyFiles), mask.Each(b.Quotes), mask.Each(b.Answers)
	b.Lessons, b.TestHints, b.FollowUp = mask.Each(b.Lessons), mask.Each(b.TestHints), mask(b.FollowUp)
	b.Demands = FinalReview{Demands: b.Demands}.masked(mask).Demands
	b.ToolLessons, b.Asked = maskedToolLessons(b.ToolLessons, mask), b.Asked.masked(mask)
	b.Examples = maskedEach(b.Examples, func(x Example) Example {
		x.Path, x.Why, x.Text = mask(x.Path), mask(x.Why), mask(x.Text)
		return x
	})
	b.Plan = maskedPlan(b.Plan, mask)
	return b
}

func maskedToolLessons(lessons []ToolLesson, mask Mask) []ToolLesson {
	return maskedEach(lessons, func(l ToolLesson) ToolLesson {
		l.Tool, l.Text = mask(l.Tool), mask(l.Text)
		return l
	})
}

func (a Attempt) masked(mask Mask) Attempt {
	a.Agent, a.Assigned, a.Reason, a.Summary = mask(a.Agent), mask(a.Assigned), mask(a.Reason), mask(a.Summary)
	a.Diff, a.Failures = a.Diff.masked(mask), maskedFailures(a.Failures, mask)
	a.Passing, a.Signals = mask.Each(a.Passing), maskedSignals(a.Signals, mask)
	a.Shape = mask(a.Shape)
	a.Progress = maskedAt(a.Progress, func(p Progress) Progress { p.Tests = mask(p.Tests); return p })
	a.Parts = maskedEach(a.Parts, func(p Part) Part { return p.masked(mask) })
	return a
}

func (p Part) masked(mask Mask) Part {
	p.Part = maskedStep(p.Part, mask)
	p.Agent, p.Assigned, p.Reason, p.Summary = mask(p.Agent), mask(p.Assigned), mask(p.Reason), mask(p.Summary)
	p.Checked = maskedAt(p.Checked, func(c CheckRun) CheckRun { return c.Masked(mask) })
	p.Diff = p.Diff.masked(mask)
	return p
}

// Masked is the run with its texts masked.
func (c CheckRun) Masked(mask Mask) CheckRun {
	c.Command, c.Missing, c.Excerpt, c.Tests = mask(c.Command), mask(c.Missing), mask(c.Excerpt), mask.Each(c.Tests)
	return c
}

func (d DiffStat) masked(mask Mask) DiffStat {
	d.Paths = mask.Each(d.Paths)
	return d
}

func (i Intervention) masked(mask Mask) Intervention {
	i.Signals, i.Diagnosis, i.Review = maskedSignals(i.Signals, mask), i.Diagnosis.masked(mask), i.Review.masked(mask)
	i.Warning = mask(i.Warning)
	return i
}

func (d Diagnosis) masked(mask Mask) Diagnosis {
	d.Summary, d.Prompt, d.Hypothesis = mask(d.Summary), mask(d.Prompt), mask(d.Hypothesis)
	d.Blocker, d.Question, d.Options = mask(d.Blocker), mask(d.Question), maskedOptions(d.Options, mask)
	d.Why, d.Fallback, d.Brief = mask(d.Why), mask(d.Fallback), d.Brief.masked(mask)
	six := &d.Answers
	six.Goal, six.FailedAt = mask(six.Goal), mask(six.FailedAt)
	six.Pattern, six.SeenBefore = mask(six.Pattern), mask(six.SeenBefore)
	d.Candidates = maskedEach(d.Candidates, func(c Candidate) Candidate {
		c.Reason = mask(c.Reason)
		return c
	})
	return d
}

func (r Review) masked(mask Mask) Review {
	r.Points, r.Amended = mask.Each(r.Points), mask.Each(r.Amended)
	return r
}

func (f Fix) masked(mask Mask) Fix {
	f.Paths, f.Summary = mask.Each(f.Paths), mask(f.Summary)
	return f
}

func (a Already) masked(mask Mask) Already {
	a.What = mask(a.What)
	return a
}

func maskedPlan(p *Plan, mask Mask) *Plan {
	return maskedAt(p, func(p Plan) Plan {
		p.Summary, p.Steps = mask(p.Summary), maskedSteps(p.Steps, mask)
		return p
	})
}

func maskedSteps(steps []plan.Part, mask Mask) []plan.Part {
	return maskedEach(steps, func(s plan.Part) plan.Part { return maskedStep(s, mask) })
}

func maskedStep(s plan.Part, mask Mask) plan.Part {
	s.Do, s.DoneWhen, s.Check, s.Paths = mask(s.Do), mask(s.DoneWhen), mask(s.Check), mask.Each(s.Paths)
	return s
}

func maskedOptions(options []Option, mask Mask) []Option {
	return maskedEach(options, func(o Option) Option {
		o.Text = mask(o.Text)
		return o
	})
}

func maskedSignals(signals []Signal, mask Mask) []Signal {
	return maskedEach(signals, func(s Signal) Signal {
		s.Evidence = mask(s.Evidence)
		return s
	})
}

func maskedChecks(checks []Check, mask Mask) []Check {
	return maskedEach(checks, func(c Check) Check {
		c.Name, c.URL, c.Why, c.From = mask(c.Name), mask(c.URL), mask(c.Why), mask(c.From)
		return c
	})
}

func maskedReported(all []Reported, mask Mask) []Reported {
	return maskedEach(all, func(r Reported) Reported {
		r.Name, r.App, r.Workflow = mask(r.Name), mask(r.App), mask(r.Workflow)
		return r
	})
}

func maskedFailures(failures []CheckFailure, mask Mask) []CheckFailure {
	return maskedEach(failures, func(f CheckFailure) CheckFailure {
		f.Check, f.URL, f.Excerpt, f.Tests = mask(f.Check), mask(f.URL), mask(f.Excerpt), mask.Each(f.Tests)
		f.Others = mask.Each(f.Others)
		return f
	})
}
