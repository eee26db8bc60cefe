package sia

import "slices"

// Mask takes what must not be kept out of a text, such as a secret. It is
// idempotent.
type Mask func(string) string

// Each is a copy of texts with each masked; nil stays nil.
func (m Mask) Each(texts []string) []string { return maskedEach(texts, m) }

// maskedEach is a copy of xs with each element masked; nil stays nil.
func maskedEach[T any](xs []T, masked func(T) T) []T {
	out := slices.Clone(xs)
	for i := range out {
		out[i] = masked(out[i])
	}
	return out
}

// maskedAt is a masked copy of what p points to; nil stays nil.
func maskedAt[T any](p *T, masked func(T) T) *T {
	if p == nil {
		return nil
	}
	v := masked(*p)
	return &v
}

// Masked is the event with every text that comes from outside masked. What stays is
// what something is found by: ids, keys, logins, commits, names of repositories and
// branches, and addresses that GitHub makes; a test lists them. The event itself is
// not changed.
func (e Event) Masked(mask Mask) Event {
	if e.Fact != nil {
		e.Fact = e.Fact.Masked(mask)
	}
	return e
}

// Masked masks what a person wrote.
func (f Start) Masked(mask Mask) Fact {
	f.Title, f.Body, f.Text = mask(f.Title), mask(f.Body), mask(f.Text)
	return f
}

// Masked masks the reason.
func (f Stop) Masked(mask Mask) Fact { f.Reason = mask(f.Reason); return f }

// Masked masks the reason.
func (f PauseAsked) Masked(mask Mask) Fact { f.Reason = mask(f.Reason); return f }

// Masked masks the name, which is any word that a person wrote.
func (f Use) Masked(mask Mask) Fact {
	f.Technique, f.Coder = TechniqueID(mask(string(f.Technique))), mask(f.Coder)
	return f
}

// Masked masks what a person wrote.
func (f AnswerGiven) Masked(mask Mask) Fact { f.Text = mask(f.Text); return f }

// Masked masks what a person wrote.
func (f Edited) Masked(mask Mask) Fact { f.Title, f.Body = mask(f.Title), mask(f.Body); return f }

// Masked masks the answer, which may quote the question.
func (f Query) Masked(mask Mask) Fact { f.Text = mask(f.Text); return f }

// Masked masks the task.
func (f Restored) Masked(mask Mask) Fact { f.Task = f.Task.Masked(mask); return f }

// Masked masks the reason, which may quote the labels.
func (f Decided) Masked(mask Mask) Fact {
	f.Reason, f.Agent = mask(f.Reason), mask(f.Agent)
	f.Racers = maskedEach(f.Racers, func(r Racer) Racer {
		r.Agent = mask(r.Agent)
		return r
	})
	return f
}

// Masked masks what the issue, the repository and its settings say.
func (f Begun) Masked(mask Mask) Fact {
	f.Settings, f.Warning = f.Settings.masked(mask), mask(f.Warning)
	f.Title, f.Body, f.Hold = mask(f.Title), mask(f.Body), mask(f.Hold)
	f.Already = maskedAt(f.Already, func(a Already) Already { return a.masked(mask) })
	f.Lessons = maskedEach(f.Lessons, func(l LessonRef) LessonRef {
		l.Text, l.Test = mask(l.Text), mask(l.Test)
		return l
	})
	f.ToolLessons, f.Asked = maskedToolLessons(f.ToolLessons, mask), f.Asked.masked(mask)
	return f
}

// Masked masks what a person wrote.
func (f ChangesAsked) Masked(mask Mask) Fact { f.Text = mask(f.Text); return f }

// Masked masks what the tests said.
func (f Progressed) Masked(mask Mask) Fact { f.Tests = mask(f.Tests); return f }

// Masked has nothing to mask.
func (f ThreadSettled) Masked(Mask) Fact { return f }

// Masked has nothing to mask.
func (f ChangesWithdrawn) Masked(Mask) Fact { return f }

// Masked masks what the agent said and changed.
func (f AttemptEnded) Masked(mask Mask) Fact {
	f.Reason, f.Agent, f.Summary = mask(f.Reason), mask(f.Agent), mask(f.Summary)
	f.Diff, f.Signals = f.Diff.masked(mask), maskedSignals(f.Signals, mask)
	f.Check = maskedAt(f.Check, func(c CheckRun) CheckRun { return c.Masked(mask) })
	f.So = maskedAt(f.So, func(o So) So { return o.masked(mask) })
	f.Ask = maskedAt(f.Ask, func(a Ask) Ask {
		a.Question, a.Why, a.Options = mask(a.Question), mask(a.Why), mask.Each(a.Options)
		a.Plan = maskedPlan(a.Plan, mask)
		return a
	})
	return f
}

// Masked masks what the parts changed, and what the checks of them say.
func (f Aggregated) Masked(mask Mask) Fact {
	f.Reason, f.Diff, f.Conflicts = mask(f.Reason), f.Diff.masked(mask), maskedConflicts(f.Conflicts, mask)
	f.Checks = maskedEach(f.Checks, func(c CheckRun) CheckRun { return c.Masked(mask) })
	return f
}

// Masked masks the reason.
func (f PushRefused) Masked(mask Mask) Fact { f.Reason = mask(f.Reason); return f }

// Masked masks what the checks say.
func (f Judged) Masked(mask Mask) Fact {
	f.Checks, f.Failures = maskedChecks(f.Checks, mask), maskedFailures(f.Failures, mask)
	f.Explain, f.Signals, f.Weigh = mask.Each(f.Explain), maskedSignals(f.Signals, mask), mask.Each(f.Weigh)
	f.Reported, f.MergeRules = maskedReported(f.Reported, mask), mask.Each(f.MergeRules)
	f.Doubt = maskedAt(f.Doubt, func(d Doubt) Doubt {
		d.Checks = mask.Each(d.Checks)
		return d
	})
	f.Blocked = maskedEach(f.Blocked, func(o Obstacle) Obstacle {
		o.Check, o.Reason, o.URL = mask(o.Check), mask(o.Reason), mask(o.URL)
		return o
	})
	return f
}

// Masked masks the checks' names and reasons.
func (f Watched) Masked(mask Mask) Fact {
	f.Red = maskedChecks(f.Red, mask)
	return f
}

// Masked masks the reason.
func (f Readied) Masked(mask Mask) Fact { f.Refused = mask(f.Refused); return f }

// Masked masks the reason.
func (f Drafted) Masked(mask Mask) Fact { f.Refused = mask(f.Refused); return f }

// Masked masks the files' names and the reason.
func (f Updated) Masked(mask Mask) Fact {
	f.Conflicts, f.Refused = maskedConflicts(f.Conflicts, mask), mask(f.Refused)
	f.Warning = mask(f.Warning)
	return f
}

func maskedConflicts(all []Conflict, mask Mask) []Conflict {
	return maskedEach(all, func(c Conflict) Conflict {
		c.Path, c.What = mask(c.Path), mask(c.What)
		return c
	})
}

// Masked masks what the diagnosis says.
func (f Diagnosed) Masked(mask Mask) Fact {
	f.Diagnosis, f.Warning = f.Diagnosis.masked(mask), mask(f.Warning)
	return f
}

// Masked masks the names of tests, and what people see.
func (f Evidenced) Masked(mask Mask) Fact { f.Evidence = f.Evidence.masked(mask); return f }

// Masked masks what the reviewer said and quoted.
func (f Weighed) Masked(mask Mask) Fact {
	f.Quotes, f.Why = mask.Each(f.Quotes), mask(f.Why)
	return f
}

// Masked masks what the reviewer says.
func (f Reviewed) Masked(mask Mask) Fact {
	f.Review, f.Prompt = f.Review.masked(mask), mask(f.Prompt)
	return f
}

// Masked masks what the reviewer says.
func (f FinalReviewed) Masked(mask Mask) Fact { f.Review = f.Review.masked(mask); return f }

// Masked masks the warning.
func (f MemoryCommitted) Masked(mask Mask) Fact { f.Warning = mask(f.Warning); return f }

// Masked masks the warning.
func (f Pushed) Masked(mask Mask) Fact { f.Warning = mask(f.Warning); return f }

// Masked masks the reason.
func (f EffectFailed) Masked(mask Mask) Fact { f.Reason = mask(f.Reason); return f }

// Masked masks what was learned.
func (f FixStudied) Masked(mask Mask) Fact {
	f.Fix, f.Warning = f.Fix.masked(mask), mask(f.Warning)
	return f
}

// What these say is names and numbers.

func (f Resume) Masked(Mask) Fact      { return f }
func (f Retry) Masked(Mask) Fact       { return f }
func (f Approve) Masked(Mask) Fact     { return f }
func (f AcceptTests) Masked(Mask) Fact { return f }
func (f Rated) Masked(Mask) Fact       { return f }
func (f CheckSeen) Masked(Mask) Fact   { return f }
func (f BranchMoved) Masked(Mask) Fact { return f }
func (f PullClosed) Masked(Mask) Fact  { return f }

// Masked changes nothing: an id and an address that GitHub makes.
func (f PullReopened) Masked(Mask) Fact     { return f }
func (f Retargeted) Masked(Mask) Fact       { return f }
func (f PullOpened) Masked(Mask) Fact       { return f }
func (f CommentPosted) Masked(Mask) Fact    { return f }
func (f EscalationOpened) Masked(Mask) Fact { return f }
func (f SyncDone) Masked(Mask) Fact         { return f }
func (f Done) Masked(Mask) Fact             { return f }
