package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Count is how often a check went red and green on one and the same commit, of
// the commits on which it went green. A commit on which a check stayed red says
// nothing: nobody knows who is at fault.
type Count struct {
	Commits int // on which the check went green
	Flips   int // of those, on which it went red, too
}

// Prior is a belief about a rate before anything was counted: a Beta distribution of this
// mean, 0–1, that counts like weight observations. The rerun policy has those in force.
type Prior struct{ Mean, Weight float64 }

// FlakeRate is the posterior mean, between 0 and 1, of the rate at which a check
// fails on a commit that is right. own are the commits of this check, others
// those of every other check that is known, in all repositories: they move the
// prior's mean, and its weight stays what it is.
func (p Prior) FlakeRate(own, others Count) float64 {
	p.Mean = p.after(others.Flips, others.Commits)
	return p.after(own.Flips, own.Commits)
}

// GoodRate is the posterior mean of the chance that an attempt is right, from
// how many of the attempts that were judged passed.
func (p Prior) GoodRate(passed, judged int) float64 { return p.after(passed, judged) }

func (p Prior) after(yes, all int) float64 {
	return (p.Weight*p.Mean + float64(yes)) / (p.Weight + float64(all))
}

// Doubt is what speaks for and against the thought that a red check is red by
// chance.
type Doubt struct {
	Good    float64            // the chance that the attempt is right, as [Prior.GoodRate] gives it
	Rates   map[string]float64 // by check, as [Prior.FlakeRate] gives it
	Other   float64            // of checks that are not among the Rates
	Attempt float64            // credits that one more attempt costs, without its checks
}

// plain are the failure classes in which chance plays no part. Package failure
// makes them; the gate must not import its sibling.
var plain = map[string]bool{"compile_error": true, "syntax_error": true, "type_error": true, "lint_format": true,
	"config_error": true}

// doubtable reports whether there is something to weigh about the red checks. There
// is not when a person looks at them, when they were run again already or can't be,
// when the settings say never, or when chance plays no part in how they failed and
// the settings don't say always.
func (j *judgement) doubtable() bool {
	if j.ByPerson || j.Doubted || j.Reruns >= sia.MaxReruns || j.Settings.Rerun == sia.RerunNever || len(j.absent) > 0 {
		return false
	}
	return !slices.ContainsFunc(j.reds(), func(c check) bool {
		return c.run.WorkflowRun == 0 || plain[c.run.Class] && j.Settings.Rerun != sia.RerunAlways
	})
}

// reds are the required checks that are red.
func (j *judgement) reds() []check {
	var out []check
	for _, c := range j.checks {
		if c.required && c.outcome == red && !c.follows {
			out = append(out, c)
		}
	}
	return out
}

// doubted weighs whether the red checks are worth one re-run: when the chance
// that a right attempt failed by bad luck, gφ/(gφ+1−g), is greater than what the
// re-run costs in units of what it may save, another attempt and its checks. nil
// when there is nothing to weigh, or the attempt touched what validates it.
func (j *judgement) doubted() *sia.Doubt {
	if !j.DoubtKnown || len(j.Tampering) > 0 || !j.doubtable() {
		return nil
	}
	all, minutes := 1.0, 0.0
	var names []string
	for _, c := range j.reds() {
		if rate, ok := j.Doubt.Rates[c.name]; ok {
			all *= rate
		} else {
			all *= j.Doubt.Other
		}
		minutes += billed(c.run)
		names = append(names, c.name)
	}
	g, again := j.Doubt.Good, minutes*j.Settings.MinuteCost
	d := &sia.Doubt{Checks: names, Good: g, Flake: all, Chance: g * all / (g*all + 1 - g), Cost: 0}
	if again > 0 {
		d.Cost = again / (again + j.Doubt.Attempt)
	}
	d.Rerun = j.Settings.Rerun == sia.RerunAlways || d.Chance > d.Cost
	j.explainDoubt(*d)
	return d
}

func (j *judgement) explainDoubt(d sia.Doubt) {
	what := "it is"
	if len(d.Checks) > 1 {
		what = "they are"
	}
	weighed := fmt.Sprintf("%s chance that %s failed by accident; a re-run costs %s of another attempt",
		text.Percent(d.Chance), strings.Join(d.Checks, ", "), text.Percent(d.Cost))
	switch {
	case d.Rerun && j.Settings.Rerun == sia.RerunAlways:
		j.explain("%s: %s run again once, as `checks.rerun` says.", strings.Join(d.Checks, ", "), what)
	case d.Rerun:
		j.explain("%s: %s run again once.", weighed, what)
	default:
		j.explain("%s: %s not run again.", weighed, what)
	}
}

// billed is how many minutes a run of a check is paid for: whole ones, and at least one, as GitHub
// bills jobs
// (https://docs.github.com/billing/managing-billing-for-your-products/about-billing-for-github-actions).
func billed(r Run) float64 { return max(1, math.Ceil(r.CompletedAt.Sub(r.StartedAt).Minutes())) }
