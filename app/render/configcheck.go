package render

import (
	"fmt"
	"strings"

	"github.com/sia-bot/sia/sia/config"
)

// ConfigCheckName is the name of the check run on a commit that changes the
// settings.
const ConfigCheckName = "SIA config"

// ConfigCheckRun is the check run on a commit that changes the settings: what is
// wrong with them, on the lines that it is about, or that nothing is.
func ConfigCheckRun(problems []config.Problem) CheckRunView {
	if len(problems) == 0 {
		return CheckRunView{
			Status: "completed", Conclusion: "success", Title: "The settings are in order",
			Summary: "Tasks whose next attempt begins from now on use " + Code(config.Path, 0) + " as of this commit.\n",
		}
	}
	v := CheckRunView{Status: "completed", Conclusion: "failure",
		Title: plural(len(problems), "problem") + " in " + config.Path}
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
			v.Annotations = append(v.Annotations, Annotation{
				Path: config.Path, Line: max(1, p.Line), Level: "failure", Title: cut(oneLine(p.Path), 255),
				Message: cut(oneLine(words), 1000),
			})
		}
	}
	var p page
	p.add("SIA can't use these settings, so the last good ones stay in force. Nothing else is affected.")
	p.add(b.String())
	p.add("`sia config check " + config.Path + "` says the same before you commit, and `sia config schema` prints a " +
		"JSON Schema for your editor.")
	v.Summary = p.String()
	return v
}
