package coder

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/sia-bot/sia/sia/text"
)

// explain sets the reason of the decision.
func (d *Decision) explain(r Request, chosen int) {
	var b strings.Builder
	if chosen < 0 {
		b.WriteString(d.nobody(r))
	} else {
		d.somebody(&b, r, chosen)
	}
	if len(r.Failed) > 0 && len(d.Options) > 0 {
		fmt.Fprintf(&b, " That %s failed on this task before is part of all these chances.",
			strings.Join(slices.Compact(slices.Sorted(slices.Values(r.Failed))), ", "))
	}
	d.Reason = b.String()
}

func (d *Decision) somebody(b *strings.Builder, r Request, chosen int) {
	c := d.Options[chosen]
	fmt.Fprintf(b, "%s is expected to resolve this task with a chance of %.0f %% (80 %% interval %.0f–%.0f %%), for %s; "+
		"that is %s for each task resolved. ", c.Coder, 100*c.Chance, 100*c.Low, 100*c.High, amount(c.Cost), amount(c.Index))
	b.WriteString(c.evidence(r))
	if !c.Worth && r.Value > 0 {
		fmt.Fprintf(b, " A task has a value of %s; little is known of this coder, so it may be better than it looks.",
			amount(r.Value))
	}
	if all := Racers(d.Options, d.Choice); len(all) > 0 {
		fmt.Fprintf(b, " %s at the same time, because the best one's chance is only %.0f %%: together they come to %.0f %%, "+
			"for %s.", work(all[1:]), 100*d.Options[0].Chance, 100*d.Together, amount(d.cost()))
	}
	switch best := d.Options[0]; {
	case d.Explored:
		fmt.Fprintf(b, " It was picked by chance, as a small share of decisions is, so that there is something to compare "+
			"with; the evidence was for %s, with %.0f %% for %s.", best.Coder, 100*best.Chance, amount(best.Cost))
	case len(d.Options) == 1:
		b.WriteString(" There is nobody else.")
	default:
		i := slices.IndexFunc(d.Options, func(o Option) bool { return o.Coder != d.Choice && !o.Races })
		if i < 0 {
			return
		}
		next := d.Options[i]
		fmt.Fprintf(b, " Next would be %s, with %.0f %% for %s.", next.Coder, 100*next.Chance, amount(next.Cost))
	}
}

// work returns the subject and verb of a sentence about working coders.
func work(names []string) string {
	if len(names) == 1 {
		return names[0] + " works"
	}
	return text.List(names) + " work"
}

// cost returns the expected cost of the racers, in credits.
func (d *Decision) cost() (credits float64) {
	for _, o := range d.Options {
		if o.Races {
			credits += o.Cost
		}
	}
	return credits
}

// nobody returns the reason why no coder justifies its cost.
func (d *Decision) nobody(r Request) string {
	if len(d.Options) == 0 {
		return "Nobody is left to ask."
	}
	payable := slices.DeleteFunc(slices.Clone(d.Options), func(o Option) bool { return o.Cost > r.Left })
	if len(payable) == 0 {
		return fmt.Sprintf("%s are left to spend, and everybody is expected to cost more.", amount(r.Left))
	}
	best := payable[0]
	for _, o := range payable {
		if o.Index < best.Index {
			best = o
		}
	}
	return fmt.Sprintf("No coder that is left is worth its cost: the best, %s, would cost %s for each task resolved, "+
		"with a chance of %.0f %%; the value of a resolved task is %s.",
		best.Coder, amount(best.Index), 100*best.Chance, amount(r.Value))
}

// evidence returns the counts behind the expectation, for display.
func (o Option) evidence(r Request) string {
	if slices.Contains(r.Failed, o.Coder) {
		return "It failed on this task before, and who failed seldom resolves a task when asked again."
	}
	var parts []string
	for _, p := range []struct {
		t     Tally
		where string
	}{{o.Here, "here"}, {o.Org, "elsewhere in the organisation"}, {o.Elsewhere, "elsewhere"},
		{o.Imported, "by what was imported"}} {
		if p.t.Tried >= 0.5 {
			parts = append(parts, fmt.Sprintf("%.0f of %.0f %s", p.t.Resolved, p.t.Tried, p.where))
		}
	}
	if len(parts) == 0 {
		return "Nobody has seen it at work yet, so this rests on what is said of it and on its price."
	}
	return "It resolved " + strings.Join(parts, ", ") + "."
}

func amount(credits float64) string {
	if math.IsInf(credits, 1) {
		return "any number of credits"
	}
	return fmt.Sprintf("%.3g credits", credits)
}
