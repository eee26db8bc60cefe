package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sia-bot/sia/app/render"
	"github.com/sia-bot/sia/sia"
)

// finalReview has a remark of every kind about the head of a task.
func finalReview(t sia.Task) sia.FinalReview {
	return sia.FinalReview{SHA: t.Head,
		Demands: []sia.Demand{
			{Quote: "Send a confirmation email when a booking is made", State: sia.DemandMet,
				At: sia.Place{Path: "mail/send.go", Line: 12, Diff: true}},
			{Quote: "Guests should get an email.", State: sia.DemandUnmet,
				Why: "The recorder keeps the message and sends it to nobody."},
			{Quote: "Keep the handler small.", State: sia.DemandUnclear, Why: "Whether it was small before can't be seen.",
				At: sia.Place{Path: "booking/handler.go", Line: 48}},
		},
		Remarks: []sia.Remark{
			{About: sia.RemarkScope, Why: "Bookings are exported as CSV here, which nobody asked for.",
				At: sia.Place{Path: "booking/export.go", Line: 3, Diff: true}},
			{About: sia.RemarkSecurity, Why: "The guest's name goes into the header, line breaks included.",
				At: sia.Place{Path: "mail/send.go", Line: 31, Diff: true}},
			{About: sia.RemarkTests, Why: "This test passes without the change.",
				At: sia.Place{Path: "booking/handler_test.go", Line: 9, Old: true, Diff: true}},
		},
	}
}

func TestFinalReview(t *testing.T) {
	task := passed()
	cases := map[string]func(*sia.FinalReview){
		"everything": func(*sia.FinalReview) {},
		"cut":        func(r *sia.FinalReview) { r.Cut, r.Remarks = true, nil },
		"scope": func(r *sia.FinalReview) {
			r.Demands, r.Remarks = r.Demands[:1], r.Remarks[:1]
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			r := finalReview(task)
			change(&r)
			got := render.FinalReview(task, r, links)
			var b strings.Builder
			fmt.Fprintf(&b, "%s\n\n=== without lines ===\n\n%s\n", got.Body, got.Whole)
			for _, l := range got.Lines {
				fmt.Fprintf(&b, "\n=== %s:%d, old %v ===\n\n%s\n", l.Path, l.Line, l.Old, l.Body)
			}
			golden(t, "finalreview/"+name+".md", b.String())
		})
	}
	r := finalReview(task)
	r.URL = "https://github.com/acme/bookings/pull/13#pullrequestreview-7"
	task.Final = &r
	golden(t, "status/reviewed.md", render.Status(task, links, now))
	golden(t, "pull/reviewed.md", render.PullBody(task, nil, links))
	task.Final = &sia.FinalReview{SHA: task.Head, Done: true, Why: "the model could not be asked: @ana, HTTP 500"}
	const failed = "**Final review** (advice only): failed: the model could not be asked: @\u200bana, HTTP 500."
	for where, text := range map[string]string{"status": render.Status(task, links, now),
		"pull request": render.PullBody(task, nil, links), "check run": render.CheckRun(task, nil, links).Text} {
		if !strings.Contains(text, failed) {
			t.Errorf("the %s does not say that the review failed:\n%s", where, text)
		}
	}
	task.Head = "another"
	if body := render.Status(task, links, now); strings.Contains(body, "pullrequestreview") {
		t.Error("the review of an earlier head is shown")
	}
}
