package gate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Count is how often a check was both red and green on one commit, among the
// commits on which it was green. A commit on which a check stayed red is not
// counted, because the cause is unknown.
type Count struct {
	Commits int // commits on which the check was green
	Flips   int // of those, commits on which it was red, too
}

// Prior is the prior of a rate: a Beta distribution with this mean, 0–1, and the weight of
// that many observations. The rerun policy contains the priors in force.
type Prior struct{ Mean, Weight float64 }

// FlakeRate returns the posterior mean, 0–1, of the rate at which a check fails
// on a correct commit. own counts the commits of this check, others those of all
// other known checks in all repositories: they change the prior's mean but not its
// weight.
func (p Prior) FlakeRate(own, others Count) float64 {
	p.Mean = p.after(others.Flips, others.Commits)
	return p.after(own.Flips, own.Commits)
}

// GoodRate returns the posterior mean of the probability that an attempt is right,
// from the number of judged attempts that passed.
func (p Prior) GoodRate(passed, judged int) float64 { return p.after(passed, judged) }

func (p Prior) after(yes, all int) float64 {
	return (p.Weight*p.Mean + float64(yes)) / (p.Weight + float64(all))
}

// Doubt contains the inputs for estimating whether red checks are red by chance.
type Doubt struct {
	Good    float64            // probability that the attempt is right, from [Prior.GoodRate]
	Rates   map[string]float64 // flake rate by check, from [Prior.FlakeRate]
	Other   float64            // flake rate of checks that are not in Rates
	Attempt float64            // cost of another attempt without its checks, in credits
}

// deterministic contains the failure classes that are not due to chance. Package
// failure defines them; the gate must not import its sibling.
var deterministic = map[string]bool{"compile_error": true, "syntax_error": true, "type_error": true,
	"lint_format": true, "config_error": true}

// canDoubt reports whether a re-run of the red checks for doubt is possible. It is not
// if a person looks at them, if they were run again already or can't be, if the settings
// say never, or if their failures are deterministic and the settings don't say always.
func (j *judgement) canDoubt() bool {
	f := j.facts
	if f.ByPerson || f.Doubted || f.Reruns >= sia.MaxReruns || f.Settings.Rerun == sia.RerunNever ||
		len(j.required.absent) > 0 {
		return false
	}
	return !slices.ContainsFunc(j.assessment.redChecks(), func(c *assessed) bool {
		why, _ := f.notRerun(c.check)
		return c.run.WorkflowRun == 0 || why != "" || deterministic[c.run.Class] && f.Settings.Rerun != sia.RerunAlways
	})
}

// weighDoubt decides whether the red checks are run again once: it does so if the
// probability that a correct attempt failed by chance, gφ/(gφ+1−g), is greater than
// the cost of the re-run relative to what it may save, another attempt and its
// checks. It returns nil if no re-run is possible, or if the attempt changed what
// validates it.
func (j *judgement) weighDoubt() *sia.Doubt {
	if !j.facts.DoubtKnown || len(j.facts.findings) > 0 || !j.canDoubt() {
		return nil
	}
	all, minutes := 1.0, 0.0
	var names []string
	for _, c := range j.assessment.redChecks() {
		if rate, ok := j.facts.Doubt.Rates[c.name]; ok {
			all *= rate
		} else {
			all *= j.facts.Doubt.Other
		}
		minutes += billed(c.run)
		names = append(names, c.name)
	}
	g, again := j.facts.Doubt.Good, minutes*j.facts.Settings.MinuteCost
	d := &sia.Doubt{Checks: names, Good: g, Flake: all, Chance: g * all / (g*all + 1 - g), Cost: 0}
	if again > 0 {
		d.Cost = again / (again + j.facts.Doubt.Attempt)
	}
	d.Rerun = j.facts.Settings.Rerun == sia.RerunAlways || d.Chance > d.Cost
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
	case d.Rerun && j.facts.Settings.Rerun == sia.RerunAlways:
		j.explain("%s: %s run again once, as `checks.rerun` says.", strings.Join(d.Checks, ", "), what)
	case d.Rerun:
		j.explain("%s: %s run again once.", weighed, what)
	default:
		j.explain("%s: %s not run again.", weighed, what)
	}
}

// billed returns the billed minutes of a run of a check: whole minutes, at least one, as GitHub
// bills jobs
// (https://docs.github.com/billing/managing-billing-for-your-products/about-billing-for-github-actions).
func billed(r Run) float64 { return max(1, math.Ceil(r.CompletedAt.Sub(r.StartedAt).Minutes())) }
