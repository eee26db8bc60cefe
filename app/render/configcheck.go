package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/config"
	"github.com/sia-bot/sia/sia/invalid"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/view"
)

// ConfigCheckName is the name of the check run on a commit that changes the settings.
const ConfigCheckName = "SIA config"

// ConfigCheckRun is the check run on a commit that changes the settings, with an annotation for each problem.
func ConfigCheckRun(problems []invalid.Problem) view.CheckRun {
	if len(problems) == 0 {
		return view.CheckRun{
			Status: "completed", Conclusion: "success", Title: "The settings are in order",
			Summary: "Tasks whose next attempt begins from now on use " + Code(config.Path, 0) + " as of this commit.\n",
		}
	}
	v := problemsRun(text.Count(len(problems), "problem") + " in " + config.Path)
	told := addProblems(&v, config.Path, problems)
	var p page
	p.add("SIA can't use these settings, so the last good ones stay in force. Nothing else is affected.")
	p.add(told)
	p.add("`sia config check " + config.Path + "` says the same before you commit, and `sia config schema` prints a " +
		"JSON Schema for your editor.")
	v.Summary = p.String()
	return v
}

// PolicyCheckName is the name of the check run on a commit with invalid policies.
const PolicyCheckName = "SIA policies"

// PolicyCheckRun is the check run on a commit with invalid policies, with an annotation for each problem.
func PolicyCheckRun(files []*invalid.File) view.CheckRun {
	v := problemsRun("A policy that can't be used")
	if len(files) > 1 {
		v.Title = fmt.Sprintf("%d policies that can't be used", len(files))
	}
	var p page
	p.add("SIA can't use these policies, so the last good state of each stays in force. Nothing else is affected.")
	for _, f := range files {
		p.add(Code(f.Name, 200) + "\n\n" + addProblems(&v, f.Name, f.Problems))
	}
	p.add("`sia policies check FILE` says the same before you commit.")
	v.Summary = p.String()
	return v
}

func problemsRun(title string) view.CheckRun {
	return view.CheckRun{Status: "completed", Conclusion: "failure", Title: title}
}

// addProblems annotates a file's lines with its problems, and returns them as a list.
func addProblems(v *view.CheckRun, path string, problems []invalid.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		words := p.Message
		if p.Nearest != "" {
			words += fmt.Sprintf(" (did you mean %s?)", p.Nearest)
		}
		where := "The file"
		if p.Line > 0 {
			where = fmt.Sprintf("Line %d, column %d", p.Line, p.Column)
		}
		if p.Path != "" {
			where += ", " + Code(p.Path, 100)
		}
		b.WriteString("- " + where + ": " + Line(words, 300) + "\n")
		if len(v.Annotations) < maxAnnotations {
			v.Annotations = append(v.Annotations, view.Annotation{
				Path: path, Line: max(1, p.Line), Level: "failure", Title: cut(oneLine(p.Path), 255),
				Message: cut(oneLine(words), 1000),
			})
		}
	}
	return b.String()
}
