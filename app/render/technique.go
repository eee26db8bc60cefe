package render

import (
	"fmt"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/text"
)

// Proposal is a technique that SIA proposes to a repository.
type Proposal struct {
	ID     sia.TechniqueID
	Name   string
	When   string
	Prompt string
	Path   string // of its file
}

// fixLine says what SIA learned from a person's fix.
func fixLine(t sia.Task) string {
	f := t.Fix
	if f == nil {
		return ""
	}
	s := fmt.Sprintf("**What %s did differently:** %s", person(f.By), Line(f.Summary, 600))
	switch {
	case f.PullURL != "":
		s += " No technique that SIA knows resembles it, so " + link("one is proposed", f.PullURL) + "."
	case f.Resembles != "":
		s += fmt.Sprintf(" That is the technique *%s*.", Line(TechniqueName(f.Resembles), 80))
	}
	return s
}

// TechniqueTitle is the title of the pull request that proposes a technique, and the message of its commit.
func TechniqueTitle(name string) string {
	return title("Technique for SIA: " + name)
}

// TechniqueBody is the text of that pull request: the origin of the technique and the effect of merging it.
func TechniqueBody(t sia.Task, fix sia.Fix, p Proposal, l Links) string {
	var b page
	b.add(fmt.Sprintf("After %s of SIA at #%d, a push by %s made the checks green. None of the "+
		"techniques that SIA knows describes what they did, so this proposes it as one.",
		text.Count(len(t.Attempts), "attempt"), t.Issue, person(fix.By)))
	b.add("**What was done differently:** " + Line(fix.Summary, 600))
	b.add("**Compare:** " + link(Code(fix.From.Short(), 0)+" (SIA) … "+Code(fix.Head.Short(), 0)+" ("+
		Line(fix.By.Login, 60)+")", l.Compare(t.Repo, fix.From, fix.Head)))
	b.add("### The technique\n\n**" + Line(p.Name, 80) + "** — when " + Line(p.When, 300) + ".\n\n" +
		Quote(cut(p.Prompt, 3000)))
	b.add("### What merging does\n\nFrom then on SIA may choose `" + string(p.ID) + "` for tasks of this repository, " +
		"never as its first guess and seldom as a later one until it has proved itself: the line `trial: true` says so. " +
		"Edit " + Code(p.Path, 0) + " as you like, here or later: a model is told what stands in it. Close this to do " +
		"without it.")
	return b.String()
}
