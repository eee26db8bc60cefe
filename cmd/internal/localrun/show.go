package localrun

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sia-bot/sia/cmd/internal/cli"
	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// maxDiffBytes is the maximum size of a printed diff, in bytes.
const maxDiffBytes = 20_000

// show prints the result as text.
func (r *run) show(out Result) {
	r.progress("")
	if out.Passed {
		r.progress("%s in %s, %s, %s credits (%.2f USD).", r.Style.Green("Passed"),
			(time.Duration(out.Seconds * float64(time.Second))).Round(time.Second), text.Count(len(out.Attempts), "attempt"),
			out.Credits, out.USD)
	} else {
		r.progress("%s: %s", r.Style.Red("Not passed"), text.Sentence(out.Reason))
		r.progress("%s, %s credits (%.2f USD).", text.Count(len(out.Attempts), "attempt"), out.Credits, out.USD)
	}
	if out.SecondRun {
		r.progress("The check failed on the result before it passed there when it was run again.")
	}
	if out.asks {
		for _, o := range out.Options {
			r.progress("  %s) %s", o.Letter, o.Text)
		}
		r.progress("Put the answer into the text of the issue, and run again.")
	}
	for i, a := range out.Attempts {
		by := ""
		if a.Technique != "" {
			by = ", by " + a.Technique
		}
		open := "not finished"
		if out.awaits {
			open = "waits to be accepted"
		}
		line := fmt.Sprintf("  attempt %d%s: %s", a.Number, by, cmp.Or(a.Outcome, open))
		if a.Reason != "" && !strings.Contains(out.Reason, strings.TrimRight(a.Reason, ".")) {
			line += ": " + text.Clip(cli.Plain(a.Reason), 160)
		}
		r.progress("%s", line)
		if !strings.Contains(out.Reason, a.LeftOut) && (i == 0 || a.LeftOut != out.Attempts[i-1].LeftOut) {
			r.progress("    %s", a.LeftOut)
		}
	}
	for _, m := range out.Weaker {
		r.progress("  %s works with less than was asked for (dialect %s): %s.", m.Model, m.Protocol,
			strings.Join(m.Without, "; "))
	}
	if out.Branch == "" {
		if out.Head == "" {
			r.progress("No change was committed.")
		}
		return
	}
	stat, _ := r.job.git.Run(context.WithoutCancel(r.Ctx), "-c", "core.quotePath=false", "diff", "--stat=200",
		"--stat-graph-width=40", "--no-color", "--end-of-options", out.Base, out.Head)
	r.progress("\nThe change is on the branch %s:\n%s", r.Style.Bold(out.Branch), strings.TrimRight(string(stat), "\n"))
	if r.job.opts.Diff {
		r.progress("\n%s", cli.Plain(strings.TrimRight(text.Fit(out.Diff, maxDiffBytes, text.Head), "\n")))
	}
	r.list(out.Evidence.Shown())
	r.showReview(out.Review)
	r.progress("Look at it with `git diff %.9s %s`; with --binary that is a patch for `git apply`.", out.Base, out.Branch)
	switch {
	case out.Passed:
	case len(out.Findings) > 0:
		r.progress("A person has to accept this first; a run that begins at this branch would take it for wanted:")
		r.list(out.Findings)
		if e := out.Evidence; e != nil && e.NotRun != "" && len(r.editFindings(out.Head)) == 0 {
			r.progress("SIA goes by their text, since it did not run the tests: %s.", e.NotRun)
		}
		r.progress("At a terminal SIA asks about them when the checks pass. Undo what is not wanted before you go on " +
			"from there.")
	default:
		r.progress("To go on from there: sia run --base %s, with the same --issue.", out.Branch)
	}
}

// showReview prints what a model's review of the change against the issue found. It is advice: only checks decide.
func (r *run) showReview(f *sia.FinalReview) {
	switch {
	case f == nil:
	case f.Why != "":
		r.progress("The change was not reviewed against the issue: %s", text.Sentence(cli.Plain(text.OneLine(f.Why))))
	default:
		r.progress("A model that had not seen the work reviewed the change against the issue. This is advice:")
		r.list(reviewNotes(*f))
	}
}

// demandNames and remarkNames are the states of demands that are not met, and the kinds of remarks, in words.
var (
	demandNames = map[sia.DemandState]string{sia.DemandUnmet: "Not done", sia.DemandUnclear: "Can't tell"}
	remarkNames = map[sia.RemarkKind]string{sia.RemarkScope: "Not asked for", sia.RemarkSecurity: "Security",
		sia.RemarkTests: "Tests", sia.RemarkAPI: "Interface"}
)

// reviewNotes returns what a review found, without the demands that are met.
func reviewNotes(f sia.FinalReview) (notes []string) {
	add := func(about, said string, at sia.Place) {
		if at.Path != "" {
			about += fmt.Sprintf(" (%s:%d)", at.Path, at.Line)
		}
		notes = append(notes, cli.Plain(about+": "+text.OneLine(said)))
	}
	for _, d := range f.Demands {
		if name := demandNames[d.State]; name != "" {
			add(name, strings.TrimSuffix(fmt.Sprintf("“%s”: %s", d.Quote, d.Why), ": "), d.At)
		}
	}
	for _, m := range f.Remarks {
		add(remarkNames[m.About], m.Why, m.At)
	}
	return notes
}

// list prints sentences.
func (r *run) list(sentences []string) {
	for _, s := range sentences {
		r.progress("  %s", text.Sentence(s))
	}
}
