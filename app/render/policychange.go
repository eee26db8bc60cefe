package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// PolicyChange is a change of a policy, for texts about it.
type PolicyChange struct {
	Decision, Name string
	File           string // path
	Change         string // in words, such as "parameters.threshold: 0.65 -> 0.5"
	Diff           string // unified, without the file names
	Reason         string
	By             string // who proposed it: a login, or a model's name
	Person         bool   // By is a login
	Number         int    // number of the change among all proposed for this policy
	Gate           string // result of replayed tasks
	Phase          string
	Why            string // reason of the phase
	Everywhere     bool   // for all repositories of the owner
	Place          sia.Repo
	Waits          bool // whether it waits for a person's approval
	Pull           int  // number of its pull request; 0: none yet

	Present, Candidate [2]int // tasks resolved, and tried
	Open               int
	E, Harm            float64
	Usual              [2]int // of the present policy: tasks in the baseline, and how many are needed to monitor it
	Guards             []PolicyGuard
}

// PolicyGuard is a monitored metric of a policy in force.
type PolicyGuard struct {
	Metric      string
	Before      float64 // share, 0–1
	Well, Tried int
	Alarm       bool
}

// PolicyMarker is the first line of the only comment on the pull request of an experiment.
func PolicyMarker(experiment string) string {
	return Marker{Kind: "experiment", Key: experiment}.String()
}

// PolicyTitle is the title of the pull request that changes a policy, and the message of its commit.
func PolicyTitle(c PolicyChange) string {
	return title(fmt.Sprintf("Policy %s: %s", c.Name, c.Change))
}

// PolicyBody is the text of that pull request.
func PolicyBody(c PolicyChange) string {
	var p page
	by := "**" + Line(c.By, 80) + "**"
	if c.Person {
		by = "@" + Neutralise(c.By)
	}
	p.add(fmt.Sprintf("One number or rule of how SIA decides about %s (%s) would change. %s proposes it:",
		Code(c.Decision, 0), Code(c.File, 0), by))
	p.add(Fence("diff", c.Diff))
	p.add("**Why:** " + Line(c.Reason, 400))
	p.add("### What happens now\n\n" + policyNext(c))
	p.fold("What speaks for it so far", "It is change "+fmt.Sprint(c.Number)+
		" that was proposed for this policy. Tasks of the log: "+Line(c.Gate, 400)+".\n\n"+
		"Most changes are no better, so nothing is taken up because it sounds right: half of the new tasks of "+
		policyWhere(c)+" are decided by the change and half without it, chosen at random, until one side has proved itself. "+
		"docs/evolution.md of SIA says how, and how often that errs.")
	return p.String()
}

func policyWhere(c PolicyChange) string {
	if c.Everywhere {
		return "all repositories of " + Code(c.Place.Owner, 0)
	}
	return Code(c.Place.String(), 0)
}

// policyNext says what people can do about a proposed change.
func policyNext(c PolicyChange) string {
	start := "The experiment begins by itself, because `policies.autonomy` says so."
	if c.Waits {
		start = "**Put a 👍 on SIA's comment below** to have it tried on half of the new tasks. It is merged when it has " +
			"proved better, and closed when it has not."
	}
	return "- " + start + "\n- **Close** this to do without it.\n- **Merge** this to take it up at once, untried; " +
		"SIA watches it and takes it back if it does harm."
}

// PolicyWaiting says what a change that waits for a person waits for. It contains foreign text unchanged.
func PolicyWaiting(c PolicyChange) string {
	if c.Phase == "better" {
		return sentenceCase(strings.TrimRight(c.Why, ".")) + "."
	}
	return "A 👍 on SIA's comment there has it tried on half of the new tasks. Merged, it holds at once, untried; " +
		"closed, it is dropped."
}

// PolicyComment is SIA's only comment on that pull request: the state of the experiment.
func PolicyComment(c PolicyChange) string {
	var p page
	switch c.Phase {
	case "proposed":
		if c.Waits {
			p.add("### 🧪 Shall this be tried?\n\nA 👍 on this comment starts it on half of the new tasks. Nothing is decided " +
				"by it before.")
		} else {
			p.add("### 🧪 This is about to be tried")
		}
	case "running":
		p.add("### 🧪 Being tried on half of the new tasks")
		p.add(policyTally(c))
	case "better":
		p.add("### ✅ It does better\n\n**Please merge this pull request:** " + Line(strings.TrimRight(c.Why, "."), 300) +
			".")
		p.add(policyTally(c))
	case "promoted":
		if c.Usual[0] < c.Usual[1] {
			p.add(fmt.Sprintf("### ✅ In force, not watched yet: %d of %d tasks\n\n%s.\n\nSome tasks are still decided without "+
				"the change. When %d of them have ended, they say what is usual, and SIA watches the change.", c.Usual[0],
				c.Usual[1], Line(c.Why, 300), c.Usual[1]))
			break
		}
		p.add("### ✅ In force, and watched\n\n" + Line(c.Why, 300) + ".")
		p.add(policyGuards(c))
	case "kept":
		p.add("### ✅ In force\n\n" + Line(c.Why, 300) + ".")
	case "reverting", "rolled-back":
		p.add("### ⏪ Taken back\n\nThe version before it decides again, and the policy is left alone for 14 days. " +
			Line(c.Why, 400) + ".")
		p.add(policyGuards(c))
	default:
		p.add("### ❌ Not taken up\n\n" + Line(c.Why, 400) + ".")
		p.add(policyTally(c))
	}
	if c.Present[1]+c.Candidate[1] > 0 {
		p.fold("What the numbers mean",
			fmt.Sprintf("The evidence that the change is better is %.3g; at 20 it is taken up. That it is worse: %.3g; at 10 "+
				"it ends. A task counts as resolved when its checks were green without a person's answer, and counts in the order "+
				"in which tasks began. %s under way.", c.E, c.Harm, text.Count(c.Open, "such task")))
	}
	return p.String()
}

// policyTally is a table of the results of both arms.
func policyTally(c PolicyChange) string {
	if c.Present[1]+c.Candidate[1] == 0 {
		return ""
	}
	row := func(name string, a [2]int) string {
		share := "–"
		if a[1] > 0 {
			share = fmt.Sprintf("%.0f %%", 100*float64(a[0])/float64(a[1]))
		}
		return fmt.Sprintf("| %s | %d of %d | %s |\n", name, a[0], a[1], share)
	}
	return "| | resolved | |\n|---|---|---|\n" + row("with the change", c.Candidate) + row("without it", c.Present)
}

func policyGuards(c PolicyChange) string {
	if len(c.Guards) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| tasks | before | since |\n|---|---|---|\n")
	for _, g := range c.Guards {
		since := "–"
		if g.Tried > 0 {
			since = fmt.Sprintf("%.0f %% of %d", 100*float64(g.Well)/float64(g.Tried), g.Tried)
		}
		if g.Alarm {
			since = "**" + since + "** ⚠️"
		}
		fmt.Fprintf(&b, "| %s | %.0f %% | %s |\n", g.Metric, 100*g.Before, since)
	}
	return b.String()
}

// PolicyRevertTitle is the title of the pull request that reverts a change.
func PolicyRevertTitle(c PolicyChange) string {
	return title(fmt.Sprintf("Take back: policy %s, %s", c.Name, c.Change))
}

// PolicyRevertBody is its text.
func PolicyRevertBody(c PolicyChange, was string) string {
	var p page
	p.add("The version before " + link("that change", was) + " decides again already, so that it does no more harm. " +
		"This puts the file back, so that it says so too.")
	p.add("**Why:** " + Line(c.Why, 400) + ".")
	p.add(policyGuards(c))
	return p.String()
}
