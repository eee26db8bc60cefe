package agent

import (
	"context"
	"strings"

	"github.com/sia-bot/sia/agent/locate"
	"github.com/sia-bot/sia/agent/tool"
	"github.com/sia-bot/sia/sia/tamper"
)

// maxPlaces is the maximum size of the list of places in the brief, in bytes.
const maxPlaces = 2500

// placeSections returns the section with the files that the change probably belongs in, if there is evidence for any.
func placeSections(ctx context.Context, in Input, env tool.Env) (sections []promptSection, notes []string) {
	if len(in.Brief.OnlyFiles) > 0 || len(in.Merging) > 0 { // the input itself names the files
		return nil, nil
	}
	places, whole, left, err := tool.Locate(ctx, env, placeQuery(in))
	if left != "" {
		notes = append(notes, left)
	}
	if err != nil {
		return nil, append(notes, "where the change may belong was left out: "+err.Error())
	}
	if len(places) == 0 {
		return nil, notes
	}
	intro := "SIA guessed this before you began, from the words of the task, failing tests and their output where there " +
		"are any, and which files changed together before. The likeliest file comes first. Look there first; where it " +
		"does not fit, look elsewhere."
	if !whole {
		intro += " Not all files were read: others may fit as well."
	}
	return []promptSection{{heading: "## Where it may belong", intro: intro, source: "file names",
		body: tool.PlaceList(places, maxPlaces), priority: priorityPlaces}}, notes
}

// placeQuery builds the query from what is known about the fault: the issue, and the failures of the last attempt that
// was judged.
func placeQuery(in Input) locate.Query {
	text := []string{in.Title, in.Body, in.Brief.FollowUp}
	if in.Part != nil {
		text = append(text, in.Part.Do)
	}
	q := locate.Query{Text: strings.TrimSpace(Sanitize(strings.Join(text, "\n")))}
	if in.Brief.DropHistory {
		return q
	}
	for _, p := range in.Shown {
		if tamper.IsTest(p) {
			q.Tests = append(q.Tests, locate.Test{File: p})
		}
	}
	for _, f := range in.Failures {
		q.Output = append(q.Output, f.Text)
	}
	if n := len(in.Previous); n > 0 {
		for _, f := range in.Previous[n-1].Failures {
			for _, name := range f.Tests {
				q.Tests = append(q.Tests, locate.Test{Name: name})
			}
			if len(in.Failures) == 0 {
				q.Output = append(append(q.Output, f.Excerpt), f.Others...)
			}
		}
	}
	return q
}
