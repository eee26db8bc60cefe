package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/project"
	"github.com/sia-bot/sia/sia/text"
)

// Welcome is a pull request that proposes the first settings to a repository.
type Welcome struct {
	Repo     sia.Repo
	Label    string // trigger label for issues
	Project  project.Project
	Required []string // names of checks that the branch's rules require
	Blocked  []string // hosts that setup needs and the server does not allow
}

// WelcomeTitle is the title of that pull request, and the message of its commit.
func WelcomeTitle() string { return "Tell SIA how this repository is set up and tested" }

// WelcomeBody is its text.
func WelcomeBody(w Welcome) string {
	var p page
	p.add(Marker{Kind: "welcome", Key: fmt.Sprint(w.Repo.ID)}.String())
	p.add(fmt.Sprintf("SIA was installed on this repository. It resolves issues: it opens a draft pull request, waits "+
		"for your checks, and where one is red it finds out why and tries another way.\n\n"+
		"**To start:** put the label %s on an issue, or comment `/sia start` there. That works without this pull request.",
		Code(w.Label, 50)))
	p.add("### What this file does\n\n" + welcomeLines(w))
	p.add("### What you can do\n\n- **Merge** it, after changing what is wrong: it is a guess from the repository's " +
		"files and workflows.\n- **Close** it: that is fine. SIA works without the file, and does not ask here again.")
	p.fold("Not in the next repositories", "`welcome: false` in `.sia/config.yml` of "+
		Code(w.Repo.Owner+"/"+sia.OwnersRepo, 0)+" keeps SIA from proposing this elsewhere; the app has to be installed on "+
		"that repository, too.")
	return p.String()
}

// welcomeLines lists the file's settings, one per line.
func welcomeLines(w Welcome) string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, "- "+fmt.Sprintf(format, args...)) }
	var names []string
	for _, l := range w.Project.Languages {
		names = append(names, l.Name)
	}
	if len(names) > 0 {
		add("It was written for **%s**.", strings.Join(names, "**, **"))
	}
	if t := w.Project.Test; t.Line != "" {
		add("The agent tests its work with %s, because %s.", Code(t.Line, 200), t.Why)
	}
	if n := len(w.Project.Setup); n > 0 {
		say := "Before an attempt, %s prepares the checkout in a sandbox."
		var all []string
		for _, c := range w.Project.Setup {
			all = append(all, Code(c.Line, 200))
		}
		if len(w.Blocked) > 0 {
			say = "To prepare the checkout, %s would run; what needs a host that this server does not allow (" +
				strings.Join(w.Blocked, ", ") + ") is there as a comment."
		}
		add(say, strings.Join(all, ", then "))
	}
	if len(w.Required) > 0 {
		verb := "are"
		if len(w.Required) == 1 {
			verb = "is"
		}
		add("A change is right when %s %s green, as the branch's rules say.", codes(w.Required, welcomeChecks), verb)
	}
	return strings.Join(lines, "\n")
}

// welcomeChecks is how many checks the text names; the file has all.
const welcomeChecks = 10

// StartedChecks says how many checks the pull request started; empty for nil, if nobody looked.
func StartedChecks(n *int) string {
	switch {
	case n == nil:
		return ""
	case *n == 0:
		return "it started no check: is Actions switched on, and does a workflow run on pull requests, whatever they change?"
	}
	return "it started " + text.Count(*n, "check")
}
