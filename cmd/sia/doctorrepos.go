package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/sia-bot/sia/app/github"
)

// repositoriesShown is the number of repositories of an installation that doctor checks for pull requests.
const repositoriesShown = 20

// pullRequestFinding is the name of findings about pull requests.
const pullRequestFinding = "pull requests"

// checkPullRequests checks whether pull requests can be opened in an installation's repositories.
func checkPullRequests(ctx context.Context, a *github.App, in github.Installation) []doctorFinding {
	all, more, err := a.Openings(ctx, in.ID, repositoriesShown)
	if err != nil {
		return []doctorFinding{failed(pullRequestFinding, err, "look at the repositories of "+in.Account+" on GitHub")}
	}
	var found []doctorFinding
	fine := 0
	for _, o := range all {
		found = append(found, pullRequestProblems(o)...)
		if o.Silent = false; len(pullRequestProblems(o)) == 0 { // which keeps SIA from opening none
			fine++
		}
	}
	sum := fmt.Sprintf("nothing is known to keep SIA from opening them in %d of %d repositories of %s", fine, len(all),
		in.Account)
	if more > 0 {
		sum += fmt.Sprintf("; %d more were not looked at", more)
	}
	return append([]doctorFinding{{What: pullRequestFinding, OK: true, Detail: sum}}, found...)
}

// pullRequestProblems returns what prevents pull requests in a repository, or may prevent them.
func pullRequestProblems(o github.Opening) (all []doctorFinding) {
	problem := func(weaker bool, detail, fix string) {
		all = append(all, doctorFinding{What: pullRequestFinding, OK: weaker, Weaker: weaker,
			Detail: o.Repo + ": " + detail, Fix: fix})
	}
	if o.Archived {
		problem(true, "it is archived, so nothing can be done there", "unarchive it, or take it out of the installation")
		return all
	}
	if o.Disabled {
		problem(false, "GitHub has disabled it", "ask GitHub's support, or take it out of the installation")
		return all
	}
	if o.NoIssues {
		problem(false, "issues are switched off, so no task can be started",
			"switch them on under Settings → General → Features, or take it out of the installation")
	}
	if o.NoPulls {
		problem(false, "pull requests are switched off, so no change can be shown",
			"switch them on under Settings → General → Features, or take it out of the installation")
	}
	if o.CollaboratorsOnly {
		problem(true, "only collaborators may open pull requests, and an app may not count as one",
			"if the app's are refused, let everybody open them under Settings → General → Features → Pull requests")
	}
	if o.Silent {
		problem(true, "no check has run on the head of its default branch; if none runs on pull requests either, nothing "+
			"says whether a change is right", "see that Actions is switched on, and that a workflow runs on pull requests")
	}
	if len(o.Rules) > 0 {
		problem(true, "rules for the branches sia/** may refuse what SIA pushes: "+ruleWords(o.Rules),
			"let the app bypass them, or leave sia/** out, under Settings → Rules → Rulesets")
	}
	return all
}

// ruleWords describes kinds of rules, with what they prevent where the name does not say it.
func ruleWords(kinds []string) string {
	known := map[string]string{
		"creation":                "restricted creations (no branch can be made)",
		"update":                  "restricted updates (nothing can be pushed)",
		"pull_request":            "a pull request before merging (nothing can be pushed)",
		"required_signatures":     "signed commits (where the base wants them too, GitHub signs SIA's)",
		"required_status_checks":  "required checks (nothing can be pushed that has none yet)",
		"workflows":               "required workflows (nothing can be pushed that has not run)",
		"required_linear_history": "a linear history (the base can't be merged into the branch)",
	}
	words := make([]string, len(kinds))
	for i, kind := range kinds {
		if words[i] = known[kind]; words[i] == "" {
			words[i] = strings.ReplaceAll(kind, "_", " ")
		}
	}
	return strings.Join(words, ", ")
}
