package render

import (
	"strings"

	"github.com/sia-bot/sia/sia"
	"github.com/sia-bot/sia/sia/failure"
	"github.com/sia-bot/sia/sia/gate"
	"github.com/sia-bot/sia/sia/tamper"
	"github.com/sia-bot/sia/sia/text"
	"github.com/sia-bot/sia/sia/view"
)

// CheckName is the name of SIA's check run on each head commit.
const CheckName = "SIA"

const maxAnnotations = 50

// CheckRun is SIA's check run on the task's head. It is "success" only when the task has passed. A task that waits for
// people is completed as "neutral", which neither blocks a merge nor looks like work in progress; only changes to tests
// that nobody has accepted yet are "action_required", so that they are not merged unseen. in maps the [NamedLines] to
// files of the head.
func CheckRun(t sia.Task, in Placed, l Links) view.CheckRun {
	v := view.CheckRun{
		Title:       strings.TrimSpace(strings.TrimLeft(Headline(t), "⏳🛠️📝🔎🧭✋⏸✅⏹ ")),
		Text:        checkText(t, l),
		Annotations: annotations(t, in),
		Actions:     actions(t),
	}
	var p page
	p.add(nowText(t, 0))
	p.add("**Credits:** " + credits(t.Credits))
	p.add(placeLine(t, l))
	p.add(commandLine(t))
	v.Summary = p.String()
	switch t.State {
	case sia.Queued:
		v.Status = "queued"
	case sia.Passed:
		v.Status, v.Conclusion = "completed", "success"
	case sia.Stopped:
		v.Status, v.Conclusion = "completed", "cancelled"
	case sia.Escalated, sia.OnHold:
		v.Status, v.Conclusion = "completed", "neutral"
	default:
		v.Status = "in_progress"
		if AwaitsTestAcceptance(t) {
			v.Status, v.Conclusion = "completed", "action_required"
		}
	}
	return v
}

// Superseded is SIA's check run on a commit that is no longer the task's head, so that no old commit shows work in
// progress forever.
func Superseded(t sia.Task, l Links) view.CheckRun {
	return view.CheckRun{
		Status: "completed", Conclusion: "neutral", Title: "A newer commit took this one's place",
		Summary: "SIA's work went on in " + link(Code(t.Head.Short(), 0), l.Commit(t.Repo, t.Head)) + ". The newest " +
			"commit's check run says where it stands.\n",
	}
}

// checkText is the details: attempts and the gate's reasons.
func checkText(t sia.Task, l Links) string {
	var p page
	p.add(attemptList(t, l))
	if r := reasons(t); r != "" {
		p.add("**What the checks say**\n\n" + r)
	}
	if len(t.Checks) > 0 {
		p.add(validation(t))
	}
	if len(p.blocks) == 0 {
		return ""
	}
	return p.String()
}

// maxActions is GitHub's limit on buttons.
const maxActions = 3

func actions(t sia.Task) (out []view.Action) {
	for _, o := range clicks(t) {
		if o.Button() != "" && len(out) < maxActions {
			out = append(out, view.Action{Label: o.Button(), Description: text.Capital(o.Does), Identifier: o.Name})
		}
	}
	return out
}

// NamedLine is a line of a file as named in the log of a failed check.
type NamedLine struct {
	Name string // often a path of the machine where the check ran, or the last part of a path
	Line int    // 1-based
}

// Placed maps named lines to paths of the head's files. Lines without a certain path are absent.
type Placed map[NamedLine]string

// maxNamed bounds the named lines of a head.
const maxNamed = 200

// NamedLines returns the lines that the failures of the task's head name, in order; none once it has passed.
func NamedLines(t sia.Task) (all []NamedLine) {
	a := t.Attempt()
	if a == nil || a.Head == "" || a.Head != t.Head || t.State == sia.Passed {
		return nil
	}
	for _, f := range a.Failures {
		for _, p := range failure.Locations(f.Excerpt, maxNamed-len(all)) {
			all = append(all, NamedLine{p.File, p.Line})
		}
	}
	return all[:min(len(all), maxNamed)]
}

// annotations point at lines of the head's files that failures name, or at changes that a person has to accept.
func annotations(t sia.Task, in Placed) []view.Annotation {
	if AwaitsTestAcceptance(t) {
		return toAccept(t)
	}
	if len(in) == 0 {
		return nil
	}
	var out []view.Annotation
	seen := map[NamedLine]bool{}
	for _, f := range t.Attempt().Failures {
		for _, p := range failure.Locations(f.Excerpt, maxNamed) {
			path := in[NamedLine{p.File, p.Line}]
			if path == "" || seen[NamedLine{path, p.Line}] || len(out) == maxAnnotations {
				continue
			}
			seen[NamedLine{path, p.Line}] = true
			out = append(out, view.Annotation{
				Path: path, Line: p.Line, Level: "failure", Title: cut(oneLine(f.Check), 255),
				Message: cut(oneLine(lineAround(f.Excerpt, p.At)), 1000),
			})
		}
	}
	return out
}

// toAccept annotates the changes of tests and protected paths that wait for a person. A removed line is annotated at
// its former place.
func toAccept(t sia.Task) []view.Annotation {
	var out []view.Annotation
	for _, reason := range t.Gate.Explain {
		finding, ok := gate.TamperingIn(reason)
		if !ok || len(out) == maxAnnotations {
			continue
		}
		path, line, what, ok := tamper.Located(finding)
		if !ok {
			continue
		}
		out = append(out, view.Annotation{
			Path: path, Line: line, Level: "warning", Title: "To be accepted by a person",
			Message: cut(sentenceCase(oneLine(what)), 1000),
		})
	}
	return out
}

// lineAround is the line of s at offset i.
func lineAround(s string, i int) string {
	from := strings.LastIndexByte(s[:i], '\n') + 1
	line, _, _ := strings.Cut(s[from:], "\n")
	return line
}
