package bandit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mathext"
)

// interval returns the 80 % credible interval of a share of resolutions, given the posterior's mean and strength: the
// quantiles .1 and .9 of Beta(mean·strength, (1-mean)·strength).
func interval(mean, strength float64) (low, high float64) {
	a, b := mean*strength, (1-mean)*strength
	return mathext.InvRegIncBeta(a, b, 0.1), mathext.InvRegIncBeta(a, b, 0.9)
}

// explain sets the intervals and the reason.
func (d *Decision) explain(r Request, chosen int, w weights) {
	for i := range d.Options {
		o := &d.Options[i]
		o.Low, o.High = interval(o.Mean, o.strength)
	}
	c := d.Options[chosen]
	var b strings.Builder
	fmt.Fprintf(&b, "%s is expected to resolve %.0f %% of tasks that look like %s (80 %% interval %.0f–%.0f %%): %s.",
		c.Technique, 100*c.Mean, r.Pattern, 100*c.Low, 100*c.High, c.evidence())
	said, move := r.ratings(d.Options), w.confidence.value*c.Z
	switch {
	case said != "" && move > 0.05:
		fmt.Fprintf(&b, " The model's ratings (%s) speak for it.", said)
	case said != "" && move < -0.05:
		fmt.Fprintf(&b, " The model's ratings (%s) count against it.", said)
	case said != "":
		fmt.Fprintf(&b, " The model's ratings are %s.", said)
	case move > 0.05:
		b.WriteString(" The model's confidence in it speaks for it.")
	case move < -0.05:
		b.WriteString(" The model's confidence in it is low, which counts against it.")
	}
	switch best := d.Options[0]; {
	case c.trial && best.trial:
		b.WriteString(" It is on trial, and nothing else is left to try.")
	case c.trial:
		fmt.Fprintf(&b, " It is on trial: a small share of decisions, when another technique has failed already, is left to "+
			"such techniques; the evidence was for %s, with %.0f %%.", best.Technique, 100*best.Mean)
	case d.Explored:
		fmt.Fprintf(&b, " It was picked by chance, as a small share of decisions is, so that there is something to "+
			"compare with; the evidence was for %s, with %.0f %%.", best.Technique, 100*best.Mean)
	case len(d.Options) == 1:
		b.WriteString(" Nothing else is left to try.")
	default:
		if ahead := slices.MaxFunc(d.Options,
			func(a, b Option) int { return cmp.Compare(a.Mean, b.Mean) }); ahead.Mean > c.Mean {
			fmt.Fprintf(&b, " By that measure %s would be ahead, with %.0f %%; what is known of this task alone puts it behind.",
				ahead.Technique, 100*ahead.Mean)
			break
		}
		fmt.Fprintf(&b, " Next would be %s, with %.0f %%.", d.Options[1].Technique, 100*d.Options[1].Mean)
	}
	d.Reason = b.String()
}

// ratings returns the model's ratings of the options, in order, for display; empty when it rated fewer than two of
// them.
func (r Request) ratings(options []Option) string {
	var parts []string
	for _, o := range options {
		if c, ok := r.Confidence[o.Technique]; ok && isProbability(c) {
			parts = append(parts, fmt.Sprintf("%s %.0f %%", o.Technique, 100*c))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts, ", ")
}

// evidence returns the counts behind the expectation, for display.
func (o Option) evidence() string {
	var parts []string
	for _, p := range []struct {
		t     Tally
		where string
	}{{o.Here, "here"}, {o.Org, "elsewhere in the organisation"}, {o.Elsewhere, "in other organisations"},
		{o.Imported, "by what was imported"}} {
		if p.t.Tried >= 0.5 {
			parts = append(parts, fmt.Sprintf("%.0f of %.0f %s", p.t.Resolved, p.t.Tried, p.where))
		}
	}
	if len(parts) == 0 {
		return "nobody has tried it on this pattern yet, so this rests on what SIA ships with and on what the model " +
			"usually says of it"
	}
	return "it resolved " + strings.Join(parts, ", ")
}
